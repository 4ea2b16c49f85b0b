//! First files of scenarios, as text for people to edit: from a list of tools, and from sessions that went well.

mod flow;
mod proposals;
mod world;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use planproof_spec::limits::RULES_BYTES_MAX;
use planproof_spec::rules::{Phase, RecordedEvent};
use planproof_suite::runs::on_one_line;
use planproof_suite::{CaseError, Data};
use planproof_trace::Tool;
use serde_json::{Map, Value, json};

use crate::Scenarios;
use crate::case::Scenario;
use crate::file::{self, SCHEMA, in_lines};
use crate::limits::TOOLS_MAX;
use crate::line::{Expectation, WorldTool};
use flow::{flow, flow_key, is_hidden};
use proposals::proposals_of;
use world::push_world;

/// A recorded session to make a case of.
#[derive(Debug, Clone)]
pub struct GoodSession {
    /// Where it was found, for people.
    pub name: String,
    /// What the user asked, if that was recorded.
    pub query: Option<String>,
    /// The tools that the agent had, if they were recorded.
    pub tools: Vec<Tool>,
    /// The calls and what came of them.
    pub happened: Vec<RecordedEvent>,
}

/// A case whose expectations are known.
#[derive(Debug, Clone)]
pub struct KnownCase {
    /// Its id.
    pub id: String,
    /// What the agent is asked.
    pub query: String,
    /// What is expected, as a file of scenarios has it.
    pub expect: Vec<Value>,
}

/// What stands where nobody recorded what the user asked.
const NO_QUERY: &str = "Write here what the user asks.";

/// A first file for these tools, with one case that an agent passes by calling one of them.
///
/// # Errors
/// There is no tool, or the tools cannot be written as a file of scenarios.
pub fn draft_of_tools(tools: &[Tool]) -> Result<String, CaseError> {
    let head = head_of(tools);
    let example = |expected: &str, shown: &Tool| {
        let tool = flow(&Value::from(shown.name.as_str()));
        let argument = arguments_of(shown).into_iter().next().unwrap_or_else(|| "NAME".to_owned());
        let pointer = flow_key(&format!("/{}", argument.replace('~', "~0").replace('/', "~1")));
        format!(
            "{head}\
             # Rules that hold in every case; agents are shown them below the query.\n\
             # rules:\n\
             #   - {{id: once, at-most: {{call: {tool}, times: 1}}}}\n\
             cases:\n  \
               # A case: what the user asks, what the tools answer, and what you expect of the calls.\n  \
               - id: first\n    \
                 query: {query}\n    \
                 # What a tool answers: the first line whose `where` fits. A tool without a line answers `done`.\n    \
                 # world:\n    \
                 #   {tool}: [{{where: {{{pointer}: 17}}, returns: {{status: found}}}}, {{fails: \"nothing is there\"}}]\n    \
                 expect:\n      \
                   # Each of these tools is called with success; `only: true` forbids all others.\n      \
                   - {expected}\n      \
                   # `words` are words of the query, which a finding quotes:\n      \
                   # - {{requires: {{call: B, done: A}}, words: \"A before B\"}}\n      \
                   # - {{with: {{call: {tool}, where: {{{pointer}: 17}}}}}}\n      \
                   # - {{last: {{call: B}}, words: \"at the very end\"}}\n      \
                   # - {{never: {{call: B}}}}\n",
            query = flow(&Value::from(NO_QUERY)),
        )
    };
    let suite = Scenarios::default();
    let is_good = |text: &str| {
        let reviewed = suite.review(Data { text, file: "the draft" }).map_err(|faults| in_lines(&faults));
        reviewed.map(|cases| cases.iter().all(|case| case.right.session().is_some()))
    };
    // The first tool for which arguments can be made up, so that the file can be run as it is.
    for tool in tools {
        let text = example(&format!("{{do: [{}]}}", flow(&Value::from(tool.name.as_str()))), tool);
        if is_good(&text)? {
            return Ok(text);
        }
    }
    let Some(tool) = tools.first() else { return must_be_tools(tools).map(|()| String::new()) };
    let text = example(&format!("{{do: [{}]}}", flow(&Value::from(tool.name.as_str()))), tool);
    is_good(&text).map(|_| text)
}

/// A file with a case for each session. What is expected stands in comments, unless it `is_expected`: then the file
/// expects what the sessions did.
///
/// # Errors
/// The sessions have no calls, or cannot be written as a file of scenarios.
pub fn draft_of_sessions(sessions: &[GoodSession], is_expected: bool) -> Result<String, CaseError> {
    let usable: Vec<(GoodSession, usize)> = sessions.iter().map(without_malformed).collect();
    let sessions: Vec<&GoodSession> = usable.iter().map(|(session, _)| session).collect();
    let tools = tools_of(&sessions);
    if tools.is_empty() {
        let malformed: usize = usable.iter().map(|(_, malformed)| malformed).sum();
        return Err(CaseError::new(match malformed {
            0 => "the sessions have no calls and no tools, so nothing can be made of them",
            _ => {
                "the sessions have no tools, and no call whose arguments are a JSON object, so nothing can be made of \
                 them"
            }
        }));
    }
    let text = |is_expected: bool| {
        let mut text = format!("{}cases:\n", head_of(&tools));
        for (number, (session, malformed)) in usable.iter().enumerate() {
            push_case(&mut text, number + 1, session, *malformed, &tools, is_expected);
        }
        text
    };
    let expecting = text(true);
    // Whatever the sessions hold, what is written can be read again.
    must_read(&expecting, &tools)?;
    Ok(if is_expected { expecting } else { text(false) })
}

/// A file with these tools and cases.
///
/// # Errors
/// They cannot be written as a file of scenarios.
pub fn draft_of_cases(tools: &[Tool], cases: &[KnownCase]) -> Result<String, CaseError> {
    let mut text = format!("{}cases:\n", head_of(tools));
    for case in cases {
        let _ = writeln!(text, "  - id: {}", flow(&Value::from(case.id.as_str())));
        let _ = writeln!(text, "    query: {}", flow(&Value::from(case.query.as_str())));
        let _ = writeln!(text, "    expect:");
        for expectation in &case.expect {
            let _ = writeln!(text, "      - {}", flow(expectation));
        }
    }
    must_read(&text, tools)?;
    Ok(text)
}

/// Reports what keeps a draft from being a file of scenarios.
fn must_read(text: &str, tools: &[Tool]) -> Result<(), CaseError> {
    must_be_tools(tools)?;
    if text.len() > RULES_BYTES_MAX {
        return Err(CaseError::new(format!(
            "as a file of scenarios they take {} bytes, and it may have {RULES_BYTES_MAX}; take fewer of them",
            text.len()
        )));
    }
    let reviewed = Scenarios::default().review(Data { text, file: "the draft" });
    reviewed.map(drop).map_err(|faults| in_lines(&faults))
}

/// Reports tools that no file of scenarios can have.
fn must_be_tools(tools: &[Tool]) -> Result<(), CaseError> {
    let number = tools.len();
    match tools.iter().any(|tool| tool.name.trim().is_empty()) {
        true => Err(CaseError::new("a tool has no name, and calls need one")),
        false if number == 0 => Err(CaseError::new("there is no tool; name a source that has some")),
        false if number > TOOLS_MAX => Err(CaseError::new(format!(
            "there are {number} tools, and a file of scenarios may have {TOOLS_MAX}"
        ))),
        false => Ok(()),
    }
}

/// A file with these drawn cases, whose tools and rules are the same.
///
/// # Errors
/// There is no case, or they cannot be written as a file of scenarios.
pub fn draft_of_drawn(cases: &[Scenario]) -> Result<String, CaseError> {
    let Some(first) = cases.first() else { return Err(CaseError::new("there is no case")) };
    let tools: Vec<Tool> = first.line.tools.iter().map(|tool| Tool::from(&**tool)).collect();
    let mut text = head_of(&tools);
    if !first.line.aliases.is_empty() {
        return Err(CaseError::new(
            "the rules have aliases, which a file of scenarios cannot have: name the tools as they are called",
        ));
    }
    let _ = writeln!(text, "rules:");
    for rule in first.line.rules.iter() {
        let _ = writeln!(text, "  - {}", flow(rule));
    }
    let _ = writeln!(text, "cases:");
    for case in cases {
        let line = &case.line;
        if let Some(drawn) = &line.drawn {
            let _ = writeln!(text, "  # For {}: {}.", on_one_line(&drawn.rule), drawn.manner.words());
        }
        let _ = writeln!(text, "  - id: {}", flow(&Value::from(line.id.as_str())));
        let _ = writeln!(text, "    query: {}", flow(&Value::from(line.query.as_str())));
        let telling: Vec<&WorldTool> =
            line.tools.iter().map(|tool| &**tool).filter(|tool| !tool.answers.is_empty()).collect();
        if !telling.is_empty() {
            let _ = writeln!(text, "    world:");
        }
        for tool in telling {
            let answers = tool.answers.iter().map(|answer| serde_json::to_value(answer).unwrap_or_default());
            let answers: Vec<String> = answers.map(|answer| flow(&answer)).collect();
            let _ = writeln!(text, "      {}: [{}]", flow_key(&tool.name), answers.join(", "));
        }
        let _ = writeln!(text, "    expect:");
        for Expectation { rule, words, .. } in &line.expect {
            let mut written = rule.clone();
            // A number of one is what `with` means.
            if let Some(Value::Object(mut event)) = written.get("at-least").cloned() {
                event.remove("times");
                written = json!({ "with": event });
            }
            if let Some(words) = words {
                written["words"] = Value::from(words.as_str());
            }
            let _ = writeln!(text, "      - {}", flow(&written));
        }
    }
    // A right session of each is known, so none is looked for.
    file::read_all(Data { text: &text, file: "the draft" }, None).map_err(|faults| in_lines(&faults))?;
    Ok(text)
}

/// The beginning of a file, with its tools.
fn head_of(tools: &[Tool]) -> String {
    let mut text = format!(
        "# Cases of your own. `planproof scenario check FILE` says whether an agent can satisfy them.\n\
         schema: {SCHEMA}\n\
         tools:\n"
    );
    for tool in tools {
        let _ = writeln!(text, "  - name: {}", flow(&Value::from(tool.name.as_str())));
        if !tool.description.trim().is_empty() {
            let _ = writeln!(text, "    description: {}", flow(&Value::from(tool.description.as_str())));
        }
        match simple_arguments(&tool.input_schema) {
            Some(arguments) => {
                let _ = writeln!(text, "    arguments: {}", flow(&Value::Object(arguments)));
            }
            None => {
                let _ = writeln!(
                    text,
                    "    input_schema: {}",
                    flow(&Value::Object((*tool.input_schema).clone()))
                );
            }
        }
    }
    text
}

/// A schema in the short form, if that leaves nothing out.
fn simple_arguments(schema: &Map<String, Value>) -> Option<Map<String, Value>> {
    let empty = Map::new();
    let known = ["type", "properties", "required", "additionalProperties"];
    if schema.keys().any(|key| !known.contains(&key.as_str()))
        || schema.get("additionalProperties")? != &json!(false)
    {
        return None;
    }
    let properties = schema.get("properties").map_or(Some(&empty), Value::as_object)?;
    let required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    if required.iter().any(|name| name.as_str().is_none_or(|name| !properties.contains_key(name))) {
        return None;
    }
    let short = |(name, schema): (&String, &Value)| {
        let schema = schema.as_object().filter(|schema| schema.len() == 1)?;
        let kind = schema.get("type").filter(|kind| kind.is_string() && **kind != json!("null"))?;
        let is_required = required.contains(&Value::from(name.as_str()));
        let ends_well = !name.ends_with('?');
        ends_well.then(|| (if is_required { name.clone() } else { format!("{name}?") }, kind.clone()))
    };
    properties.iter().map(short).collect()
}

/// The names of a tool's arguments.
fn arguments_of(tool: &Tool) -> Vec<String> {
    let properties = tool.input_schema.get("properties").and_then(Value::as_object);
    properties.into_iter().flat_map(Map::keys).cloned().collect()
}

/// A session without the calls whose arguments are not an object, which no tool accepts, and how many there were.
fn without_malformed(session: &GoodSession) -> (GoodSession, usize) {
    let mut kept = session.clone();
    kept.happened.retain(|event| event.arguments.is_object());
    let malformed = calls_of(session).count() - calls_of(&kept).count();
    (kept, malformed)
}

/// The tools of sessions: those that were recorded, and those that were called, by their arguments.
fn tools_of(sessions: &[&GoodSession]) -> Vec<Tool> {
    let mut tools: Vec<Tool> = Vec::new();
    for tool in sessions.iter().flat_map(|session| &session.tools) {
        if !tools.iter().any(|other| other.name == tool.name) {
            tools.push(tool.clone());
        }
    }
    let calls: Vec<&RecordedEvent> = sessions.iter().flat_map(|session| calls_of(session)).collect();
    for call in &calls {
        if !tools.iter().any(|other| other.name == call.tool) {
            let of_tool = calls.iter().filter(|other| other.tool == call.tool);
            let arguments: Vec<&Value> = of_tool.map(|call| &*call.arguments).collect();
            let input_schema = inferred(&arguments).into();
            tools.push(Tool { name: call.tool.clone(), description: String::new(), input_schema });
        }
    }
    tools
}

fn calls_of(session: &GoodSession) -> impl Iterator<Item = &RecordedEvent> {
    session.happened.iter().filter(|event| event.phase == Phase::Call)
}

/// A schema that all of these arguments fit.
fn inferred(all: &[&Value]) -> Map<String, Value> {
    let mut kinds: BTreeMap<&str, BTreeSet<&'static str>> = BTreeMap::new();
    let objects: Vec<&Map<String, Value>> = all.iter().filter_map(|value| value.as_object()).collect();
    for (name, value) in objects.iter().flat_map(|object| object.iter()) {
        kinds.entry(name).or_default().insert(kind_of(value));
    }
    let mut properties = Map::new();
    let mut required = Vec::new();
    for (name, kinds) in kinds {
        let mut kinds: Vec<&str> = kinds.into_iter().collect();
        // A whole number is a number.
        if kinds.contains(&"number") {
            kinds.retain(|kind| *kind != "integer");
        }
        properties.insert(
            name.to_owned(),
            match kinds.as_slice() {
                [kind] if *kind != "null" => json!({ "type": kind }),
                _ => json!({}),
            },
        );
        if objects.len() == all.len() && objects.iter().all(|object| object.contains_key(name)) {
            required.push(Value::from(name));
        }
    }
    Map::from_iter([
        ("type".to_owned(), json!("object")),
        ("properties".to_owned(), Value::Object(properties)),
        ("required".to_owned(), Value::Array(required)),
        ("additionalProperties".to_owned(), json!(false)),
    ])
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn push_case(
    text: &mut String,
    number: usize,
    session: &GoodSession,
    malformed: usize,
    tools: &[Tool],
    is_expected: bool,
) {
    let query = session.query.as_deref().filter(|query| !query.trim().is_empty()).unwrap_or(NO_QUERY);
    let name: String = on_one_line(&session.name).chars().filter(|c| !is_hidden(*c)).collect();
    let _ = writeln!(text, "  # From {name}.");
    if malformed > 0 {
        let calls = if malformed == 1 { "1 call is" } else { &format!("{malformed} calls are") };
        let _ = writeln!(text, "  # {calls} left out, because the arguments were not a JSON object.");
    }
    let _ = writeln!(text, "  - id: session-{number}");
    let _ = writeln!(text, "    query: {}", flow(&Value::from(query)));
    push_world(text, session, query, tools);
    let proposals = proposals_of(session, query, tools);
    let _ = writeln!(text, "    expect:");
    if !is_expected {
        let _ = writeln!(text, "      # What the session did. Uncomment what every right agent must do.");
    }
    for proposal in proposals {
        let _ = writeln!(text, "      {}- {}", if is_expected { "" } else { "# " }, flow(&proposal));
    }
}
