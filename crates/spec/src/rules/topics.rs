//! Orders and flows of a file of topics, read as rules.
//!
//! A topic says what always holds of its tasks: an order of two of them, and a value that one takes from another. Each
//! task is done once, and an order binds only those who do both, so none of the earlier task may be called after the
//! later one, in whichever of the four forms the order is written.

use serde_json::{Value, json};

use super::tree::{self, Kind, Node};
use super::{Fault, RulesPlace, SCHEMA};

/// The schema of such files.
const TOPICS_SCHEMA: &str = "planproof/topics/v1";

/// The forms of an order, and whether the task that it is about comes first.
const FORMS: [(&str, bool); 4] =
    [("before", true), ("after", false), ("never_before", false), ("never_after", true)];

/// The tree of a file of rules: of the text itself, or of the orders and flows of a file of topics, which keep their
/// places.
///
/// # Errors
/// It is not YAML, or a topic states a rule that cannot be read.
pub fn rules_tree(text: &str) -> Result<Node, Fault> {
    let root = tree::read(text)?;
    match entry(&root, "schema").and_then(Node::text) {
        Some(TOPICS_SCHEMA) => rules_of(&root),
        _ => Ok(root),
    }
}

fn entry<'n>(node: &'n Node, key: &str) -> Option<&'n Node> {
    let Kind::Map(entries) = &node.kind else { return None };
    entries.iter().find(|(other, ..)| other == key).map(|(.., node)| node)
}

fn items<'n>(node: &'n Node, key: &str) -> &'n [Node] {
    match entry(node, key).map(|node| &node.kind) {
        Some(Kind::List(items)) => items,
        _ => &[],
    }
}

fn rules_of(root: &Node) -> Result<Node, Fault> {
    let topics = items(root, "topics");
    let mut rules = Vec::new();
    for topic in topics {
        // With several topics, ids name the job.
        let job = entry(topic, "job").and_then(Node::text).unwrap_or_default();
        let before = if topics.len() > 1 { format!("{}-", job.replace(' ', "-")) } else { String::new() };
        let activities = Activities { all: items(topic, "activities") };
        for (number, order) in (1..).zip(items(topic, "orders")) {
            rules.push(activities.order(order, &format!("{before}order-{number}"))?);
        }
        for (number, flow) in (1..).zip(items(topic, "flows")) {
            rules.push(activities.flow(flow, &format!("{before}flow-{number}"))?);
        }
    }
    if rules.is_empty() {
        let help = "write `orders` or `flows` for a topic, or a file of rules";
        return Err(Fault::error(root.place, "the topics state no rule", help));
    }
    let rules = Node { kind: Kind::List(rules), place: root.place };
    Ok(map(root.place, vec![("schema", scalar(SCHEMA, root.place)), ("rules", rules)]))
}

/// The activities of a topic, which are named by their texts or by their tools.
struct Activities<'n> {
    all: &'n [Node],
}

impl Activities<'_> {
    /// The text and the tool of the activity that this key names.
    fn named(&self, node: &Node, key: &str) -> Result<(String, String), Fault> {
        let missing = |place, what: String| {
            Fault::error(place, what, "name an activity of the topic by its text or by its tool")
        };
        let named = entry(node, key).ok_or_else(|| missing(node.place, format!("there is no `{key}`")))?;
        let name = named.text().unwrap_or_default();
        let has_text = |activity: &&Node| text_of(activity) == name;
        let has_tool = |activity: &&Node| tool_of(activity) == name;
        let found = self.all.iter().find(has_text).or_else(|| self.all.iter().find(has_tool));
        let found = found.ok_or_else(|| {
            missing(named.place, format!("`{name}` is neither an activity nor a tool of this topic"))
        })?;
        Ok((text_of(found).to_owned(), tool_of(found)))
    }

    fn order(&self, node: &Node, id: &str) -> Result<Node, Fault> {
        let form = FORMS.into_iter().find(|(key, _)| entry(node, key).is_some());
        let (key, is_first) = form.ok_or_else(|| {
            let forms = FORMS.map(|(key, _)| key).join(", ");
            Fault::error(
                node.place,
                "the order says nothing of another task",
                format!("write one of {forms}"),
            )
        })?;
        let (task, tool) = self.named(node, "task")?;
        let (other, other_tool) = self.named(node, key)?;
        let why = format!("{task} {} {other}", key.replace('_', " "));
        let (first, second) = if is_first { (tool, other_tool) } else { (other_tool, tool) };
        Ok(rule(node.place, id, &why, "never-after", &json!([{"call": first}, {"call": second}])))
    }

    fn flow(&self, node: &Node, id: &str) -> Result<Node, Fault> {
        let (from, from_tool) = self.named(node, "from")?;
        let (to, to_tool) = self.named(node, "to")?;
        let argument = entry(node, "argument").and_then(Node::text).unwrap_or_default();
        if argument.is_empty() {
            let help = "write the argument that takes the value";
            return Err(Fault::error(node.place, "the flow names no argument", help));
        }
        let pointer = format!("/{}", argument.replace('~', "~0").replace('/', "~1"));
        let why = format!("{to} takes its {argument} from {from}");
        let takes = json!({"call": to_tool, "argument": pointer, "from": from_tool, "value": pointer});
        Ok(rule(node.place, id, &why, "takes", &takes))
    }
}

/// An activity is a text, or an object with a text.
fn text_of(activity: &Node) -> &str {
    activity.text().or_else(|| entry(activity, "text")?.text()).unwrap_or_default()
}

fn tool_of(activity: &Node) -> String {
    let own = entry(activity, "tool").and_then(|tool| entry(tool, "name")?.text());
    let words =
        || text_of(activity).split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    own.map_or_else(|| words().map(str::to_ascii_lowercase).collect::<Vec<_>>().join("_"), str::to_owned)
}

fn rule(place: RulesPlace, id: &str, why: &str, demand: &str, value: &Value) -> Node {
    map(place, vec![("id", scalar(id, place)), ("why", scalar(why, place)), (demand, at(place, value))])
}

fn map(place: RulesPlace, entries: Vec<(&str, Node)>) -> Node {
    let entries = entries.into_iter().map(|(key, node)| (key.to_owned(), place, node));
    Node { kind: Kind::Map(entries.collect()), place }
}

fn scalar(text: &str, place: RulesPlace) -> Node {
    Node { kind: Kind::Scalar(text.into()), place }
}

/// A value as a tree, all of it at one place.
fn at(place: RulesPlace, value: &Value) -> Node {
    let kind = match value {
        Value::Array(items) => Kind::List(items.iter().map(|item| at(place, item)).collect()),
        Value::Object(entries) => {
            Kind::Map(entries.iter().map(|(key, item)| (key.clone(), place, at(place, item))).collect())
        }
        scalar => Kind::Scalar(scalar.clone()),
    };
    Node { kind, place }
}
