//! Flows of data that a user probably means: one tool says that it returns what another one takes.
//!
//! The rule: the tool's description says after "returns" (or a similar word), or its output schema names, an id of
//! something (`customer_id`, "the customer's id", "the id of the customer", or "its id" in the description of
//! `create_customer`) or another value with several words, and another tool has an argument of that name. A tool that
//! takes the value itself does not count as its source.

use std::collections::BTreeMap;

use planproof_synth::{Topic, TopicFlow};
use planproof_trace::Tool;

/// Words after which a description says what the tool returns.
const RETURNS: [&str; 9] =
    ["gives", "outputs", "produces", "return", "returning", "returns", "responds", "yielding", "yields"];

/// Words between an id and what it belongs to, and others that mean nothing here.
const FILLERS: [&str; 12] =
    ["a", "an", "created", "existing", "found", "its", "matching", "new", "that", "the", "their", "this"];

/// Words that can follow a value in a sentence, so that it is the whole phrase.
const ENDS: [&str; 15] = [
    "and", "as", "for", "from", "if", "in", "of", "on", "or", "that", "to", "when", "where", "which", "with",
];

/// Single words that say too little of a value to recognise it.
const VAGUE: [&str; 34] = [
    "address",
    "amount",
    "body",
    "category",
    "code",
    "content",
    "count",
    "currency",
    "data",
    "date",
    "description",
    "email",
    "error",
    "field",
    "format",
    "key",
    "language",
    "limit",
    "list",
    "message",
    "name",
    "number",
    "query",
    "reason",
    "result",
    "state",
    "status",
    "success",
    "text",
    "time",
    "title",
    "type",
    "user",
    "value",
];

/// The plausible flows between tools of this topic, in the order of the taking tools, without those that the topic
/// states. Each of them could be added to the topic; all of them together may contradict each other.
///
/// `outputs` has the members of the tools' output schemas, by the tools' names, as far as they have one.
pub fn suggested_flows(topic: &Topic, outputs: &BTreeMap<String, Vec<String>>) -> Vec<TopicFlow> {
    let tools: Vec<&Tool> = topic.activities.iter().filter_map(|activity| activity.tool.as_ref()).collect();
    let sources: Vec<Source> = tools.iter().map(|tool| Source::of(tool, outputs.get(&tool.name))).collect();
    let mut found = Vec::new();
    let mut checked = topic.clone();
    for tool in &tools {
        for argument in arguments(tool) {
            let value = Value::of(argument, &tool.name);
            for (source, from) in sources.iter().zip(&tools) {
                if from.name == tool.name || !value.is_returned_by(source) {
                    continue;
                }
                let flow = TopicFlow {
                    from: from.name.clone(),
                    to: tool.name.clone(),
                    argument: argument.to_owned(),
                };
                // The schema may not allow it, or the flows and orders that are stated.
                checked.flows.push(flow);
                let is_possible = checked.check_rules().is_ok();
                found.extend(checked.flows.pop().filter(|_| is_possible));
            }
        }
    }
    found
}

fn arguments(tool: &Tool) -> impl Iterator<Item = &str> {
    let properties = tool.input_schema.get("properties").and_then(|properties| properties.as_object());
    properties.into_iter().flat_map(|properties| properties.keys()).map(String::as_str)
}

/// What is known of the values of a tool.
struct Source {
    /// The words of its name.
    name: Vec<String>,
    /// The words of what it takes.
    takes: Vec<Vec<String>>,
    /// The words of sentences from where they say what is returned.
    returns: Vec<Vec<String>>,
    /// The words of the members of its output.
    members: Vec<Vec<String>>,
}

impl Source {
    fn of(tool: &Tool, members: Option<&Vec<String>>) -> Self {
        let sentences = tool.description.split(['.', ';']);
        let returns = sentences.filter_map(|sentence| {
            // A comma ends a value as "and" does.
            let words = words(&sentence.replace([',', '(', ')'], " and "));
            let at = words.iter().position(|word| RETURNS.contains(&word.as_str()))?;
            Some(words[at + 1..].to_vec())
        });
        Self {
            name: words(&tool.name),
            takes: arguments(tool).map(words).collect(),
            returns: returns.collect(),
            members: members.into_iter().flatten().map(|member| words(member)).collect(),
        }
    }
}

/// What an argument takes.
struct Value {
    /// The words of its name; for an argument `id` with those of what it belongs to.
    words: Vec<String>,
}

impl Value {
    fn of(argument: &str, tool: &str) -> Self {
        let mut value = words(argument);
        if value == ["id"] {
            // The id of `close_ticket` is that of a ticket.
            value = words(tool).into_iter().skip(1).chain(value).collect();
        }
        Self { words: value }
    }

    /// What it is an id of.
    fn owner(&self) -> Option<&[String]> {
        self.words.strip_suffix(&["id".to_owned()]).filter(|owner| !owner.is_empty())
    }

    fn is_returned_by(&self, source: &Source) -> bool {
        let owner = self.owner();
        let is_of_source = || owner.is_some_and(|owner| contains(&source.name, owner));
        let is_bare = |words: &[String]| words == ["id"] && is_of_source();
        let is_vague = match &self.words[..] {
            [] => true,
            [word] => word == "id" || word.len() < 4 || VAGUE.contains(&word.as_str()),
            _ => false,
        };
        // What reads an invoice by its id may return that id, but nobody needs the tool for it.
        if is_vague || source.takes.iter().any(|taken| *taken == self.words || is_bare(taken)) {
            return false;
        }
        source.members.iter().any(|member| *member == self.words || is_bare(member))
            || source.returns.iter().any(|said| self.is_said(said, is_of_source()))
    }

    /// Whether the words after "returns" name the value.
    fn is_said(&self, said: &[String], is_of_source: bool) -> bool {
        let ends = |at: usize| said.get(at).is_none_or(|word| ENDS.contains(&word.as_str()));
        let length = self.words.len();
        if said.windows(length).enumerate().any(|(at, part)| part == self.words && ends(at + length)) {
            return true;
        }
        let Some(owner) = self.owner() else { return false };
        said.iter().enumerate().filter(|(_, word)| *word == "id").any(|(at, _)| {
            let behind = &said[at + 1..];
            if behind.first().is_some_and(|word| word == "of" || word == "for") {
                let of: Vec<String> =
                    behind[1..].iter().filter(|word| !FILLERS.contains(&word.as_str())).cloned().collect();
                return of.starts_with(owner);
            }
            let is_alone = at == 0 || FILLERS.contains(&said[at - 1].as_str());
            is_of_source && is_alone && ends(at + 1)
        })
    }
}

fn contains(words: &[String], part: &[String]) -> bool {
    words.windows(part.len()).any(|window| window == part)
}

/// The words of a name or a sentence, in lower case, all names for an identifier as "id".
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for c in text.chars() {
        let begins = !c.is_alphanumeric() || c.is_uppercase() && before.is_lowercase();
        if begins {
            words.push(String::new());
        }
        if c.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(c.to_lowercase());
        }
        before = c;
    }
    // "s" is left of "the customer's id".
    words.retain(|word| !word.is_empty() && word != "s");
    for word in &mut words {
        if word == "identifier" {
            "id".clone_into(word);
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use planproof_synth::Activity;
    use serde_json::{Map, json};

    use super::*;

    /// A tool with text arguments.
    fn tool(name: &str, description: &str, arguments: &[&str]) -> Activity {
        let properties: Map<String, serde_json::Value> =
            arguments.iter().map(|name| ((*name).to_owned(), json!({"type": "string"}))).collect();
        let serde_json::Value::Object(schema) = json!({"type": "object", "properties": properties}) else {
            unreachable!("it is written as an object")
        };
        let tool =
            Tool { name: name.to_owned(), description: description.to_owned(), input_schema: schema.into() };
        Activity { text: name.replace('_', " "), tool: Some(tool) }
    }

    fn suggested(activities: Vec<Activity>, outputs: &BTreeMap<String, Vec<String>>) -> Vec<String> {
        let flows = suggested_flows(&Topic::of("clerk", activities), outputs);
        flows.iter().map(|flow| format!("{}:{}.{}", flow.from, flow.to, flow.argument)).collect()
    }

    #[test]
    fn what_a_tool_returns_flows_into_what_takes_it() {
        for (name, description, taker, argument, is_flow) in [
            ("search_customer", "Returns the customer id.", "create_ticket", "customer_id", true),
            ("search_customer", "Finds one. Returns the customer's ID", "create_ticket", "customerId", true),
            (
                "search_customer",
                "Returns: the identifier of the customer.",
                "create_ticket",
                "customer-id",
                true,
            ),
            ("search_customer", "Returns `customer_id` and name.", "create_ticket", "customer_id", true),
            ("create_ticket", "Opens a ticket and returns its id.", "close_ticket", "ticket_id", true),
            ("create_ticket", "Opens a ticket and returns the new id.", "close_ticket", "id", true),
            ("log_in", "Returns a session token for other calls.", "list_mail", "session_token", true),
            ("find_order", "Returns:\n    The order's id, date and total.", "refund_order", "order_id", true),
            ("log_in", "Returns the hostname.", "list_mail", "hostname", true),
            // Another thing's id, a plain word, several values, or nothing about a return.
            ("search_customer", "Returns the customer id.", "create_ticket", "ticket_id", false),
            ("search_customer", "Returns its id.", "create_ticket", "order_id", false),
            ("search_customer", "Returns the id of the order.", "create_ticket", "customer_id", false),
            ("count_mail", "Returns the number of mails.", "call_number", "number", false),
            ("list_customers", "Returns all customer ids.", "create_ticket", "customer_id", false),
            ("list_customers", "Returns the customer id count.", "create_ticket", "customer_id", false),
            ("search_customer", "Takes a customer id.", "create_ticket", "customer_id", false),
            (
                "search_customer",
                "Returns a name. The customer id is not shown.",
                "close",
                "customer_id",
                false,
            ),
        ] {
            let made =
                suggested(vec![tool(name, description, &[]), tool(taker, "", &[argument])], &BTreeMap::new());
            let flow = format!("{name}:{taker}.{argument}");
            assert_eq!(made, if is_flow { vec![flow] } else { Vec::new() }, "{description} {argument}");
        }
    }

    #[test]
    fn a_tool_that_takes_a_value_is_not_its_source() {
        let reading = |argument| tool("get_customer", "Returns the customer id and name.", &[argument]);
        for argument in ["customer_id", "id"] {
            let made = [reading(argument), tool("create_ticket", "", &["customer_id"])];
            assert_eq!(suggested(made.to_vec(), &BTreeMap::new()), [""; 0], "{argument}");
        }
        let made = [reading("email"), tool("create_ticket", "", &["customer_id"])];
        assert_eq!(suggested(made.to_vec(), &BTreeMap::new()), ["get_customer:create_ticket.customer_id"]);
    }

    #[test]
    fn output_schemas_are_read() {
        let tools = vec![tool("create_ticket", "", &[]), tool("close_ticket", "", &["ticket_id", "result"])];
        for (member, count) in [("ticketId", 1), ("id", 1), ("result", 0), ("order_id", 0)] {
            let outputs = BTreeMap::from([("create_ticket".to_owned(), vec![member.to_owned()])]);
            assert_eq!(suggested(tools.clone(), &outputs).len(), count, "{member}");
        }
    }
}
