//! First files of scenarios, as text for people to edit: from a list of tools, and from sessions that went well.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use planproof_spec::rules::{Phase, RecordedEvent};
use planproof_suite::runs::on_one_line;
use planproof_suite::{CaseError, CaseSelection, Data, Suite as _};
use planproof_trace::Tool;
use serde_json::{Map, Value, json};

use crate::Scenarios;
use crate::case::{Expectation, Scenario};
use crate::file::SCHEMA;
use crate::limits::{DRAFT_LINES_MAX, DRAFT_WORDS_MAX};
use crate::world::WorldTool;

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
        let reviewed = suite.review(Data { text, file: "the draft" });
        reviewed.map(|cases| cases.iter().all(|case| case.right.session().is_some()))
    };
    // The first tool for which arguments can be made up, so that the file can be run as it is.
    for tool in tools {
        let text = example(&format!("{{do: [{}]}}", flow(&Value::from(tool.name.as_str()))), tool);
        if is_good(&text)? {
            return Ok(text);
        }
    }
    let Some(tool) = tools.first() else { return Err(CaseError::new("there is no tool")) };
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
        return Err(CaseError::new(
            "the sessions have no calls and no tools, so nothing can be made of them",
        ));
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
    Scenarios::default().review(Data { text: &expecting, file: "the draft" })?;
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
    Scenarios::default().review(Data { text: &text, file: "the draft" })?;
    Ok(text)
}

/// A file with these drawn cases, whose tools and rules are the same.
///
/// # Errors
/// There is no case, or they cannot be written as a file of scenarios.
pub fn draft_of_drawn(cases: &[Scenario]) -> Result<String, CaseError> {
    let Some(first) = cases.first() else { return Err(CaseError::new("there is no case")) };
    let tools: Vec<Tool> = first.line.tools.iter().map(Tool::from).collect();
    let mut text = head_of(&tools);
    if !first.line.aliases.is_empty() {
        return Err(CaseError::new(
            "the rules have aliases, which a file of scenarios cannot have: name the tools as they are called",
        ));
    }
    let _ = writeln!(text, "rules:");
    for rule in &first.line.rules {
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
        let telling: Vec<&WorldTool> = line.tools.iter().filter(|tool| !tool.answers.is_empty()).collect();
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
    Scenarios::default().load(Some(Data { text: &text, file: "the draft" }), &CaseSelection::First, None)?;
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
            let arguments: Vec<&Value> = of_tool.map(|call| &call.arguments).collect();
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
    let proposals = proposals_of(session, query);
    let _ = writeln!(text, "    expect:");
    if !is_expected {
        let _ = writeln!(text, "      # What the session did. Uncomment what every right agent must do.");
    }
    for proposal in proposals {
        let _ = writeln!(text, "      {}- {}", if is_expected { "" } else { "# " }, flow(&proposal));
    }
}

/// A line of a world: what it asks for, and its answer as text.
type WrittenLine = (Map<String, Value>, String);

/// The results of a session as lines of a world. Where a tool gave several results for the same arguments, the first
/// stays, because a world does not change.
fn push_world(text: &mut String, session: &GoodSession, query: &str, tools: &[Tool]) {
    let mut lines: Vec<(&str, Vec<WrittenLine>)> = Vec::new();
    let mut left_out = 0;
    let loose = |at: usize| {
        let event = &session.happened[at];
        let schema = tools.iter().find(|tool| tool.name == event.tool).map(|tool| &*tool.input_schema);
        let is_fixed = |pointer: &str, value: &Value| {
            is_fixed(
                value,
                query,
                &session.happened[..at],
                schema.and_then(|schema| property(schema, pointer)),
            )
        };
        let mut tests = tests_of(&event.arguments);
        tests.retain(|pointer, value| is_fixed(pointer, value));
        tests
    };
    // Texts that an agent words itself are asked for where nothing else tells two results apart.
    let is_told_apart = |tool: &str| {
        let of_tool = (0..session.happened.len()).filter(|at| {
            let event = &session.happened[*at];
            event.tool == tool && event.phase != Phase::Call
        });
        let mut seen: Vec<(Map<String, Value>, usize)> = Vec::new();
        for at in of_tool {
            let tests = loose(at);
            let event = &session.happened[at];
            let other = seen.iter().find(|(other, _)| *other == tests).map(|(_, at)| &session.happened[*at]);
            match other {
                Some(other) if other.arguments != event.arguments && other.outcome != event.outcome => {
                    return false;
                }
                Some(_) => {}
                None => seen.push((tests, at)),
            }
        }
        true
    };
    let mut told_apart: BTreeMap<&str, bool> = BTreeMap::new();
    for (at_event, event) in session.happened.iter().enumerate() {
        let answer = match (event.phase, &event.outcome) {
            (Phase::Done, outcome) => {
                format!("returns: {}", flow(outcome.as_ref().unwrap_or(&Value::from("done"))))
            }
            (Phase::Failed, outcome) => {
                let error = match outcome {
                    Some(Value::String(text)) => text.clone(),
                    Some(value) => value.to_string(),
                    None => String::new(),
                };
                let error = if error.trim().is_empty() { "failed".to_owned() } else { error };
                format!("fails: {}", flow(&Value::from(error)))
            }
            (Phase::Call, _) => continue,
        };
        let is_enough = *told_apart.entry(&event.tool).or_insert_with(|| is_told_apart(&event.tool));
        let tests = if is_enough { loose(at_event) } else { tests_of(&event.arguments) };
        let at = match lines.iter().position(|(tool, _)| *tool == event.tool) {
            Some(at) => at,
            None => {
                lines.push((&event.tool, Vec::new()));
                lines.len() - 1
            }
        };
        let of_tool = &mut lines[at].1;
        match of_tool.iter().find(|(other, _)| *other == tests) {
            Some((_, other)) => left_out += usize::from(*other != answer),
            None if of_tool.len() >= DRAFT_LINES_MAX => left_out += 1,
            None => of_tool.push((tests, answer)),
        }
    }
    if lines.is_empty() {
        return;
    }
    let _ = writeln!(text, "    world:");
    if left_out > 0 {
        let results = if left_out == 1 { "1 result is" } else { &format!("{left_out} results are") };
        let _ = writeln!(
            text,
            "      # {results} left out: the same call, or one that differs in its words alone, had another result before."
        );
    }
    for (tool, mut answers) in lines {
        // A line without tests fits every call, so it comes last.
        answers.sort_by_key(|(tests, _)| tests.is_empty());
        let _ = writeln!(text, "      {}:", flow_key(tool));
        for (tests, answer) in answers {
            match tests.is_empty() {
                true => writeln!(text, "        - {{{answer}}}"),
                false => writeln!(text, "        - {{where: {}, {answer}}}", flow(&Value::Object(tests))),
            }
            .unwrap_or_default();
        }
    }
}

/// The arguments of a call as tests, by pointers. Texts of several words are left out: another agent words them
/// otherwise.
fn tests_of(arguments: &Value) -> Map<String, Value> {
    let mut tests = Map::new();
    for (pointer, value) in scalars(arguments) {
        let is_wording = value.as_str().is_some_and(|text| text.split_whitespace().count() > DRAFT_WORDS_MAX);
        if !is_wording && !pointer.contains('*') {
            tests.insert(pointer, value.clone());
        }
    }
    tests
}

/// Whether a right agent has no choice about an argument: it is a number or a truth value, or a text that the query
/// says, that an earlier result gave, that the tool lists, or that looks like an identifier.
fn is_fixed(value: &Value, query: &str, before: &[RecordedEvent], schema: Option<&Value>) -> bool {
    let Value::String(text) = value else { return true };
    let is_listed = schema.is_some_and(|schema| schema.get("enum").or_else(|| schema.get("const")).is_some());
    let is_identifier = !text.contains(char::is_whitespace)
        && text.contains(|c: char| c.is_ascii_digit() || "@_-/.:".contains(c));
    let is_given = || {
        let results = before.iter().filter(|event| event.phase == Phase::Done);
        results.flat_map(|event| event.outcome.iter().flat_map(scalars)).any(|(_, given)| given == value)
    };
    is_listed
        || is_identifier
        || is_said(&Value::from(text.to_lowercase()), &query.to_lowercase())
        || is_given()
}

/// The schema of an argument, by its pointer.
fn property<'s>(schema: &'s Map<String, Value>, pointer: &str) -> Option<&'s Value> {
    let mut parts = pointer.split('/').skip(1).map(|part| part.replace("~1", "/").replace("~0", "~"));
    let first = schema.get("properties")?.get(parts.next()?)?;
    parts.try_fold(first, |schema, part| schema.get("properties")?.get(&part))
}

/// The texts, numbers and truth values within a value, each with its pointer, in which `*` stands for the elements of
/// a list.
fn scalars(value: &Value) -> Vec<(String, &Value)> {
    let mut found = Vec::new();
    let mut open = vec![(String::new(), value)];
    while let Some((pointer, value)) = open.pop() {
        match value {
            Value::Object(entries) => {
                let below = entries.iter().rev().map(|(name, value)| {
                    (format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1")), value)
                });
                open.extend(below);
            }
            Value::Array(items) => open.extend(items.iter().rev().map(|item| (format!("{pointer}/*"), item))),
            Value::Null => {}
            _ => found.push((pointer, value)),
        }
    }
    found
}

/// What may be expected of an agent with this task, by what the session did.
fn proposals_of(session: &GoodSession, query: &str) -> Vec<Value> {
    let mut done: Vec<&str> = Vec::new();
    for event in session.happened.iter().filter(|event| event.phase == Phase::Done) {
        if !done.contains(&event.tool.as_str()) {
            done.push(&event.tool);
        }
    }
    if done.is_empty() {
        // Nothing succeeded, so the calls themselves are proposed.
        let mut called: Vec<&str> = Vec::new();
        for call in calls_of(session) {
            if !called.contains(&call.tool.as_str()) {
                called.push(&call.tool);
            }
        }
        return match called.is_empty() {
            true => vec![json!({"never": {"call": "*"}})],
            false => called.into_iter().map(|tool| json!({"with": {"call": tool}})).collect(),
        };
    }
    let mut proposals = vec![json!({ "do": done })];
    let takes = takes_of(session, query);
    let mut pairs: BTreeSet<(&str, &str)> = BTreeSet::new();
    for (call, argument, from, value) in &takes {
        pairs.insert((from, call));
        proposals.push(json!({"takes": {"call": call, "argument": argument, "from": from, "value": value}}));
    }
    // Each after the one before it, unless a value that it takes says so already, or it was called before that result.
    for pair in done.windows(2) {
        let (before, after) = (pair[0], pair[1]);
        let place = |phase: Phase, tool: &str| {
            session.happened.iter().position(|event| event.phase == phase && event.tool == tool)
        };
        let is_later = place(Phase::Call, after) > place(Phase::Done, before);
        if is_later && !pairs.contains(&(before, after)) {
            proposals.push(json!({"requires": {"call": after, "done": before}}));
        }
    }
    // Calls of one tool with different values that the user named. Where there is one such call, the world lets no
    // other succeed.
    for tool in done {
        let of_tool =
            session.happened.iter().filter(|event| event.phase == Phase::Done && event.tool == tool);
        let mut named: Vec<Map<String, Value>> = Vec::new();
        for event in of_tool {
            let tests = tests_of(&event.arguments);
            let said: Map<String, Value> =
                tests.into_iter().filter(|(_, value)| is_said(value, query)).collect();
            if !said.is_empty() && !named.contains(&said) {
                named.push(said);
            }
        }
        if named.len() > 1 {
            proposals.extend(named.into_iter().map(|said| json!({"with": {"done": tool, "where": said}})));
        }
    }
    proposals
}

/// Arguments that every call of a tool has from an earlier result: the tool, the argument, the tool of the result, and
/// the place in it.
fn takes_of<'s>(session: &'s GoodSession, query: &str) -> Vec<(&'s str, String, &'s str, String)> {
    let mut taken: Vec<(&str, String, &str, String)> = Vec::new();
    let mut tools: Vec<&str> = Vec::new();
    for call in calls_of(session) {
        if !tools.contains(&call.tool.as_str()) {
            tools.push(&call.tool);
        }
    }
    for tool in tools {
        let calls: Vec<usize> = (0..session.happened.len())
            .filter(|at| session.happened[*at].phase == Phase::Call && session.happened[*at].tool == tool)
            .collect();
        let Some(first) = calls.first() else { continue };
        for (argument, value) in scalars(&session.happened[*first].arguments) {
            if argument.contains('*') || is_said(value, query) || !is_telling(value) {
                continue;
            }
            // The places in earlier results that hold the argument of every call.
            let mut sources = sources_of(&session.happened[..*first], value);
            for at in &calls[1..] {
                let other = session.happened[*at].arguments.pointer(&argument);
                let of_other =
                    other.map(|value| sources_of(&session.happened[..*at], value)).unwrap_or_default();
                sources.retain(|source| of_other.contains(source));
            }
            if let Some((from, place)) = sources.into_iter().find(|(from, _)| *from != tool) {
                taken.push((tool, argument, from, place));
            }
        }
    }
    taken
}

/// The places in results that hold this value.
fn sources_of<'s>(happened: &'s [RecordedEvent], value: &Value) -> Vec<(&'s str, String)> {
    let mut sources = Vec::new();
    for event in happened.iter().filter(|event| event.phase == Phase::Done) {
        for (place, found) in event.outcome.iter().flat_map(scalars) {
            let source = (event.tool.as_str(), place);
            if found == value && !sources.contains(&source) {
                sources.push(source);
            }
        }
    }
    sources
}

/// Whether a value is hardly the same by chance.
fn is_telling(value: &Value) -> bool {
    match value {
        Value::String(text) => text.chars().count() > 2,
        Value::Number(number) => number.as_f64().is_some_and(|number| number.abs() >= 10.0),
        _ => false,
    }
}

/// Whether the query names a value as a word of its own.
fn is_said(value: &Value, query: &str) -> bool {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => return false,
    };
    let is_edge = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
    !text.trim().is_empty()
        && query.match_indices(&text).any(|(at, found)| {
            is_edge(query[..at].chars().next_back()) && is_edge(query[at + found.len()..].chars().next())
        })
}

/// A value as YAML in one line.
fn flow(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(", ")),
        Value::Object(entries) => {
            let entries: Vec<String> =
                entries.iter().map(|(key, value)| format!("{}: {}", flow_key(key), flow(value))).collect();
            format!("{{{}}}", entries.join(", "))
        }
        Value::String(text) if is_plain(text) => text.clone(),
        Value::String(text) => quoted(text),
        other => other.to_string(),
    }
}

fn flow_key(key: &str) -> String {
    let is_pointer = key.strip_prefix('/').is_some_and(|rest| {
        !rest.is_empty() && rest.chars().all(|c| c.is_ascii_alphanumeric() || "_-/".contains(c))
    });
    // A `?` behind a name marks an argument that may be left out.
    let name = key.strip_suffix('?').unwrap_or(key);
    if is_pointer || is_plain(name) { key.to_owned() } else { quoted(key) }
}

/// Whether a text means itself in YAML, without quotes.
fn is_plain(text: &str) -> bool {
    const OTHER: [&str; 9] = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic())
        && chars.all(|c| c.is_ascii_alphanumeric() || "_-".contains(c))
        && !OTHER.contains(&text.to_ascii_lowercase().as_str())
}

/// A text in double quotes. JSON's escapes are YAML's; what YAML does not allow as it is, what nobody sees, and what
/// begins a command of a build log becomes one.
fn quoted(text: &str) -> String {
    let mut out = String::new();
    for c in Value::from(text).to_string().chars() {
        let is_command = c == '[' && out.ends_with("##");
        if !(is_hidden(c) || is_command) {
            out.push(c);
            continue;
        }
        let code = u32::from(c);
        out.push_str(&if code <= 0xffff { format!("\\u{code:04x}") } else { format!("\\U{code:08x}") });
    }
    out
}

/// Characters that are not seen, or that change how others are: controls, marks of direction, what breaks lines,
/// private use, and tags.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{e000}'..='\u{f8ff}'
            | '\u{fdd0}'..='\u{fdef}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}'
            | '\u{e0000}'..='\u{10ffff}')
}
