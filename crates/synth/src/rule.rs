//! Rules of a topic: orders that always hold, and data that flows from one tool to another. **(ours)**
//!
//! A user states them once, in the file of topics, and they hold for every case with both tasks of a rule. The query
//! contains them below the paragraph, so that the agent knows them, and they are among the constraints of the case,
//! so that paragraphs never contradict them and the oracle judges them like all others. A constraint of a rule has a
//! [`Rule`] and no place in the paragraph.

use planproof_constraint::Variable;
use planproof_trace::{Draw, Tool};
use serde_json::{Map, Value};

use crate::case::{Action, ConstraintId, PlanningCase, StatedConstraint};
use crate::order_form::{OrderForm, Rule};
use crate::synthesis::numbered;
use crate::time_form::START_TIME_ARGUMENT;
use crate::topic::Topic;

/// Most rules of a topic, orders and flows together.
pub const RULES_MAX: usize = 256;

/// Longest name of an argument with a flow, in characters.
pub const FLOW_ARGUMENT_CHARACTERS_MAX: usize = 64;

/// The beginning of the rules in a query, a block of its own below the paragraph.
pub const RULES_HEAD: &str = "These rules always hold as well:";

/// Follows rules with a flow among them.
const FLOW_RULE: &str = "Where a task takes an argument from another task, pass the value that the call for that \
                         other task returned, exactly as it was returned.";

/// Follows rules if a conflict can be reported.
const CONFLICT_RULE: &str =
    "Sentences that only these rules keep from holding together contradict each other as well.";

/// What stands beside the values that a mock tool returns: that the task is done, in words.
const DONE: &str = "done";

/// Characters of a mock tool's values, without those that look alike.
const VALUE_CHARACTERS: &[u8; 32] = b"abcdefghjkmnpqrstuvwxyz23456789z";

/// Characters of a value that is a text.
const VALUE_LENGTH: u64 = 8;

/// The smallest and the largest numeric value.
const VALUE_NUMBERS: (u32, u32) = (100_000, 999_999);

/// An order of two activities of a topic, each given by its text or by its tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicOrder {
    pub task: String,
    pub form: OrderForm,
    /// In relation to which other.
    pub other: String,
}

/// A value that one tool of a topic returns and another one takes. Activities are given by their texts or by their
/// tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicFlow {
    /// Whose tool returns the value.
    pub from: String,
    /// Whose tool takes it.
    pub to: String,
    pub argument: String,
}

impl Topic {
    /// The rules in words, in the order of the file: "branch creation never after incident closing".
    pub fn rules_in_words(&self) -> Vec<String> {
        let text = |name: &str| self.place_of(name).map_or("", |place| self.activities[place].text.as_str());
        let orders = self.orders.iter().map(|order| {
            let (first, second) = order.form.sorted(text(&order.task), text(&order.other));
            Rule::Order(order.form).words(first, second)
        });
        let flows = self.flows.iter().map(|flow| {
            let rule = Rule::Flow { argument: flow.argument.clone(), value: Value::Null };
            rule.words(text(&flow.from), text(&flow.to))
        });
        orders.chain(flows).collect()
    }
}

impl Rule {
    /// In words, for the texts of the earlier and the later task: "branch creation never after incident closing".
    pub fn words(&self, first: &str, second: &str) -> String {
        match self {
            Self::Order(form) => {
                let (task, other) = form.sorted(first, second);
                format!("{task} {} {other}", form.words())
            }
            Self::Flow { argument, .. } => format!("{second} takes its {argument} from {first}"),
        }
    }
}

impl Topic {
    /// The index of the activity with this text or this tool.
    fn place_of(&self, name: &str) -> Option<usize> {
        let has_text = |place: &usize| self.activities[*place].text == name;
        let has_tool = |place: &usize| self.activities[*place].tool_name() == name;
        let places = 0..self.activities.len();
        places.clone().find(has_text).or_else(|| places.clone().find(has_tool))
    }

    /// Whether the topic states any rule.
    pub fn has_rules(&self) -> bool {
        !self.orders.is_empty() || !self.flows.is_empty()
    }

    /// Checks the orders and flows.
    ///
    /// # Errors
    /// Names an unusable rule, with the reason.
    pub fn check_rules(&self) -> Result<(), String> {
        let count = self.orders.len() + self.flows.len();
        if count > RULES_MAX {
            return Err(format!("it has {count} orders and flows; at most {RULES_MAX} are possible"));
        }
        let mut after: Vec<Vec<usize>> = vec![Vec::new(); self.activities.len()];
        // Activities can be named by text or by tool, so two names can be the same activity.
        let pair = |what: &str, one: &str, other: &str| {
            let place = |name: &str| {
                self.place_of(name).ok_or_else(|| {
                    format!("{what} names \"{name}\", which is neither an activity nor a tool of this topic")
                })
            };
            let (one, other) = (place(one)?, place(other)?);
            if one == other {
                let text = &self.activities[one].text;
                return Err(format!("{what} is about \"{text}\" twice; it needs two different activities"));
            }
            Ok((one, other))
        };
        for (place, order) in self.orders.iter().enumerate() {
            let what = format!("order {}", place + 1);
            let (task, other) = pair(&what, &order.task, &order.other)?;
            let (first, second) = order.form.sorted(task, other);
            if after[first].contains(&second) {
                let [first, second] = [first, second].map(|place| &self.activities[place].text);
                return Err(format!(
                    "{what} says again that \"{first}\" comes before \"{second}\"; leave it out"
                ));
            }
            after[first].push(second);
        }
        let mut filled: Vec<(usize, &str)> = Vec::new();
        for (place, flow) in self.flows.iter().enumerate() {
            let what = format!("flow {}", place + 1);
            let (from, to) = pair(&what, &flow.from, &flow.to)?;
            let argument = flow.argument.as_str();
            let fault = match &self.activities[to].tool {
                None => Some(
                    "needs a tool of your own as its target; tools made of texts take no arguments"
                        .to_owned(),
                ),
                Some(tool) => flow_fault(tool, argument),
            };
            if let Some(fault) = fault {
                return Err(format!("{what} {fault}"));
            }
            if filled.contains(&(to, argument)) {
                return Err(format!("{what} fills \"{argument}\" of \"{}\" a second time", flow.to));
            }
            filled.push((to, argument));
            let is_same = |other: &&TopicFlow| {
                other.argument == flow.argument && self.place_of(&other.from) == Some(from)
            };
            let before = self.flows[..place].iter().find(is_same);
            // The tool returns the value once, so all flows of it need the same type.
            if before.is_some_and(|other| self.takes_text(other) != self.takes_text(flow)) {
                return Err(format!(
                    "{what} takes \"{argument}\" of \"{}\" as another type than a flow before it; it is returned once",
                    flow.from
                ));
            }
            // A flow is an order, too. Several flows between two tasks are possible, for different arguments.
            after[from].push(to);
        }
        // Orders and flows together, because they can contradict each other as well.
        match circle(&after) {
            None => Ok(()),
            Some(places) => {
                let texts = places.iter().map(|place| format!("\"{}\"", self.activities[*place].text));
                Err(format!(
                    "its orders and flows contradict each other: {}",
                    texts.collect::<Vec<_>>().join(" before ")
                ))
            }
        }
    }

    /// The rules as constraints for tasks with these texts, in the order of the file, with values drawn for the
    /// flows.
    pub(crate) fn rules_for(&self, texts: &[String], seed: u64, index: u64) -> Vec<StatedConstraint> {
        if !self.has_rules() {
            return Vec::new();
        }
        let place = |name: &str| {
            let text = &self.activities[self.place_of(name)?].text;
            // A case draws some of the activities, and a rule holds only if both of its tasks are among them.
            texts.iter().position(|it| it == text)
        };
        let draw = &mut Draw::new(seed, index, "flow/1");
        let mut rules: Vec<(usize, usize, Rule)> = Vec::new();
        for order in &self.orders {
            if let (Some(task), Some(other)) = (place(&order.task), place(&order.other)) {
                let (first, second) = order.form.sorted(task, other);
                rules.push((first, second, Rule::Order(order.form)));
            }
        }
        for flow in &self.flows {
            let (Some(first), Some(second)) = (place(&flow.from), place(&flow.to)) else { continue };
            // A tool returns each value once, whatever tools take it.
            let known = rules.iter().find_map(|(from, _, rule)| match rule {
                Rule::Flow { argument, value } if *from == first && *argument == flow.argument => {
                    Some(value.clone())
                }
                _ => None,
            });
            let argument = flow.argument.clone();
            let value = known.unwrap_or_else(|| drawn_value(draw, self.takes_text(flow)));
            rules.push((first, second, Rule::Flow { argument, value }));
        }
        let numbered_rule = |(place, (first, second, rule))| StatedConstraint {
            id: ConstraintId(numbered('r', place + 1)),
            first,
            second,
            sources: Vec::new(),
            rule: Some(rule),
        };
        rules.into_iter().enumerate().map(numbered_rule).collect()
    }

    /// Whether a flow carries a text, as opposed to an integer.
    fn takes_text(&self, flow: &TopicFlow) -> bool {
        let tool = self.place_of(&flow.to).and_then(|place| self.activities[place].tool.as_ref());
        let schema =
            tool.and_then(|tool| tool.input_schema.get("properties")?.get(&flow.argument)?.get("type"));
        schema.is_none_or(|kind| kind == "string")
    }
}

/// Why a flow cannot fill an argument of a tool, in words that follow "flow 1"; `None` if it can.
fn flow_fault(tool: &Tool, argument: &str) -> Option<String> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    // The start time is refused in the basic form, too, because a topic serves both forms.
    if argument.is_empty()
        || argument.len() > FLOW_ARGUMENT_CHARACTERS_MAX
        || !argument.chars().all(is_name)
        || argument == START_TIME_ARGUMENT
    {
        return Some(format!(
            "names the argument \"{argument}\"; a flow fills one of 1 to {FLOW_ARGUMENT_CHARACTERS_MAX} letters, digits, \
             - and _ that is not {START_TIME_ARGUMENT}"
        ));
    }
    let properties = tool.input_schema.get("properties").and_then(Value::as_object);
    let Some(schema) = properties.and_then(|properties| properties.get(argument)) else {
        let has: Vec<&str> =
            properties.into_iter().flat_map(Map::keys).map(String::as_str).take(20).collect();
        let has = if has.is_empty() { "none".to_owned() } else { has.join(", ") };
        return Some(format!(
            "fills the argument \"{argument}\", which the tool {} does not have; it has {has}",
            tool.name
        ));
    };
    let may_fill =
        |name: &String| ["type", "title", "description", "default", "examples"].contains(&name.as_str());
    let kind = schema.get("type").and_then(Value::as_str);
    // Keywords such as `enum` and `pattern` would reject a value that is made up.
    let is_plain = matches!(kind, Some("string" | "integer"))
        && schema.as_object().is_some_and(|schema| schema.keys().all(may_fill));
    (!is_plain).then(|| {
        format!(
            "fills the argument \"{argument}\" of {}, whose schema is more than \"type\": \"string\" or \"integer\" \
             with a description; a value that planproof makes up could not fit it",
            tool.name
        )
    })
}

/// A text of letters and digits, or a whole number.
fn drawn_value(draw: &mut Draw, is_text: bool) -> Value {
    if is_text {
        let character = |draw: &mut Draw| char::from(VALUE_CHARACTERS[draw.place(VALUE_CHARACTERS.len())]);
        let text: String = (0..VALUE_LENGTH).map(|_| character(draw)).collect();
        return text.into();
    }
    let (low, high) = VALUE_NUMBERS;
    (low + draw.below(high - low + 1)).into()
}

/// A cycle of indices, with the first one at both ends; `None` if there is no cycle.
fn circle(after: &[Vec<usize>]) -> Option<Vec<usize>> {
    // Indices without a predecessor are removed repeatedly.
    let mut before = vec![0_usize; after.len()];
    after.iter().flatten().for_each(|place| before[*place] += 1);
    let mut free: Vec<usize> = (0..after.len()).filter(|place| before[*place] == 0).collect();
    while let Some(place) = free.pop() {
        // Marks it as removed; it has no predecessor left that could lower the count again.
        before[place] = usize::MAX;
        for next in &after[place] {
            before[*next] -= 1;
            if before[*next] == 0 {
                free.push(*next);
            }
        }
    }
    let is_left = |place: usize| before[place] != usize::MAX;
    // Each remaining index has a remaining predecessor, so walking backwards closes a cycle.
    let mut walk = vec![(0..after.len()).find(|place| is_left(*place))?];
    loop {
        let last = *walk.last()?;
        let previous = (0..after.len()).find(|place| is_left(*place) && after[*place].contains(&last))?;
        if let Some(begin) = walk.iter().position(|place| *place == previous) {
            let mut found = walk.split_off(begin);
            found.push(previous);
            found.reverse();
            return Some(found);
        }
        walk.push(previous);
    }
}

impl StatedConstraint {
    /// The rule in words; `None` for a constraint from a sentence.
    pub fn rule_words(&self, actions: &[Action]) -> Option<String> {
        let text = |place: usize| actions.get(place).map_or("", |action| action.text.as_str());
        self.rule.as_ref().map(|rule| rule.words(text(self.first), text(self.second)))
    }

    /// The two actions in the solver's form.
    pub(crate) fn pair(&self) -> (Variable, Variable) {
        (Variable::new(self.first), Variable::new(self.second))
    }
}

impl PlanningCase {
    /// The constraints that come from rules, in their order.
    pub fn rules(&self) -> impl Iterator<Item = &StatedConstraint> {
        self.constraints.iter().filter(|stated| stated.rule.is_some())
    }

    /// The rules as they appear in the query, a block below the paragraph; `None` if there are none.
    pub fn rules_text(&self) -> Option<String> {
        rules_text(&self.constraints, &self.actions, self.offers_report())
    }

    /// The arguments of a tool's call that flows fill, with the right values.
    pub fn flow_arguments(&self, tool: &str) -> impl Iterator<Item = (&str, &Value)> {
        let action = self.action_of_tool(tool);
        self.constraints.iter().filter(move |stated| Some(stated.second) == action).filter_map(|stated| {
            match &stated.rule {
                Some(Rule::Flow { argument, value }) => Some((argument.as_str(), value)),
                _ => None,
            }
        })
    }

    /// The answer of an action's mock tool, with these words. If it returns values for others, it is JSON with them.
    pub(crate) fn answer_with_values(&self, action: usize, words: String) -> String {
        let mut returned = Map::new();
        for stated in self.constraints.iter().filter(|stated| stated.first == action) {
            if let Some(Rule::Flow { argument, value }) = &stated.rule {
                returned.insert(argument.clone(), value.clone());
            }
        }
        if returned.is_empty() {
            return words;
        }
        returned.entry(DONE).or_insert(words.into());
        Value::Object(returned).to_string()
    }
}

/// The block of rules below a paragraph.
pub(crate) fn rules_text(
    constraints: &[StatedConstraint],
    actions: &[Action],
    offers_report: bool,
) -> Option<String> {
    let mut text = RULES_HEAD.to_owned();
    let mut rules = constraints.iter().filter_map(|stated| stated.rule_words(actions)).peekable();
    rules.peek()?;
    for words in rules {
        text.push_str("\n- ");
        text.push_str(&words);
    }
    let is_flow = |stated: &StatedConstraint| matches!(stated.rule, Some(Rule::Flow { .. }));
    for (is_said, line) in [(constraints.iter().any(is_flow), FLOW_RULE), (offers_report, CONFLICT_RULE)] {
        if is_said {
            text.push('\n');
            text.push_str(line);
        }
    }
    Some(text)
}

/// A rule as a reader of the query finds it. Tasks are indices into the texts that it was read with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadRule {
    pub first: usize,
    pub second: usize,
    /// The argument that the later one takes from the earlier one, if there is a flow.
    pub argument: Option<String>,
}

/// Reads a block of rules about tasks with these texts: the output of [`PlanningCase::rules_text`]. Other lines are
/// ignored; a block with another beginning holds no rule.
pub fn read_rules(block: &str, texts: &[&str]) -> Vec<ReadRule> {
    let Some(lines) = block.strip_prefix(RULES_HEAD) else { return Vec::new() };
    lines.lines().filter_map(|line| read_rule(line.strip_prefix("- ")?, texts)).collect()
}

fn read_rule(line: &str, texts: &[&str]) -> Option<ReadRule> {
    let find = |text: &str| texts.iter().position(|it| *it == text);
    texts.iter().enumerate().find_map(|(task, text)| {
        // No text of a topic begins another one, so at most one fits.
        let rest = line.strip_prefix(text)?.strip_prefix(' ')?;
        if let Some(flow) = rest.strip_prefix("takes its ") {
            let (argument, from) = flow.split_once(" from ")?;
            return Some(ReadRule { first: find(from)?, second: task, argument: Some(argument.to_owned()) });
        }
        OrderForm::ALL.into_iter().find_map(|form| {
            let other = find(rest.strip_prefix(form.words())?.strip_prefix(' ')?)?;
            let (first, second) = form.sorted(task, other);
            Some(ReadRule { first, second, argument: None })
        })
    })
}

/// The value that a tool's answer states for this argument, if it does.
pub fn returned_value(answer: &str, argument: &str) -> Option<Value> {
    let returned: Value = serde_json::from_str(answer).ok()?;
    returned.get(argument).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_circle_is_found() {
        assert_eq!(circle(&[vec![1], vec![2], Vec::new()]), None);
        let found = circle(&[vec![1], vec![2], vec![1]]).expect("there is one");
        assert_eq!(found.first(), found.last());
        assert_eq!(found.len(), 3);
    }

    #[test]
    fn rules_read_back() {
        let texts = ["login", "money transfer from account", "payment"];
        let flow = Rule::Flow { argument: "account_id".to_owned(), value: 7.into() };
        let rules = OrderForm::ALL.map(Rule::Order).into_iter().chain([flow]);
        for rule in rules {
            let line = rule.words(texts[0], texts[1]);
            let read = read_rules(&format!("{RULES_HEAD}\n- {line}\nMore."), &texts);
            let argument = matches!(rule, Rule::Flow { .. }).then(|| "account_id".to_owned());
            assert_eq!(read, [ReadRule { first: 0, second: 1, argument }], "{line}");
        }
        assert_eq!(read_rules("- login before payment", &texts), []);
        assert_eq!(read_rules(&format!("{RULES_HEAD}\n- login before sunrise"), &texts), []);
    }

    #[test]
    fn what_was_returned_is_read_from_the_answer() {
        let answer = r#"{"a_id":"k. b","b_id":12,"done":"The task \"x\" is done."}"#;
        assert_eq!(returned_value(answer, "a_id"), Some("k. b".into()));
        assert_eq!(returned_value(answer, "b_id"), Some(12.into()));
        assert_eq!(returned_value(answer, "c_id"), None);
        assert_eq!(returned_value("Done.", "a_id"), None);
    }
}
