//! Drafts: made by rule, read back, and laid out for raters.

use planproof_plan::{ArgumentValue, Plan, Step};
use planproof_trace::Draw;
use ruff_python_ast::{Expr, Number, UnaryOp};
use ruff_python_parser::parse_expression;
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};

use super::alternatives::Alternatives;
use super::asking::parts_of;
use super::manifest::of_line;
use super::phrases::query_by_rule;
use super::published::{Draft, written_json};
use super::sheet::{Ratings, SheetRow};
use super::{PairingTask, Tasks};
use crate::case::data_number;
use crate::data;

/// Longest line of drafts, in bytes.
pub const DRAFT_BYTES_MAX: usize = 4 << 20;
/// Maximum number of steps of a parsed plan.
pub const PLAN_STEPS_MAX: usize = 1000;
/// The separator between a tool and its alternative in the id of a row, and between the tools of a path.
const STANDS_FOR: &str = " <- ";
const THEN: &str = " > ";

/// A line that is not a draft.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {why}")]
pub struct DraftError {
    /// Its number, from 1.
    pub line: usize,
    pub why: String,
}

/// Creates drafts with queries by rule, `queries` for each task, numbered from 0. If several queries for a task are
/// identical, one is kept.
pub fn drafts_by_rule(tasks: &Tasks, queries: usize, seed: u64) -> Vec<Draft> {
    let mut drafts = Vec::new();
    for (nth, PairingTask { plan, .. }) in tasks.tasks.iter().enumerate() {
        let draw = &mut Draw::new(seed, nth as u64, "mnms/queries/1");
        let mut written: Vec<String> = Vec::new();
        for _ in 0..queries {
            let query = query_by_rule(plan, draw);
            if !written.contains(&query) {
                written.push(query);
            }
        }
        for query in written {
            let id = drafts.len() as i64;
            drafts.push(Draft { id, query, plan: plan.clone(), alternatives: Vec::new() });
        }
    }
    drafts
}

/// Parses either the published form, with one draft per line, or lines of cases, which the first line identifies.
/// Blank lines and unknown fields of the published form are ignored.
///
/// # Errors
/// Names the first line that is not a draft or repeats an id.
pub fn read_drafts(text: &str) -> Result<Vec<Draft>, DraftError> {
    let read_draft = if data::is_of_cases(text) { draft_of_case } else { read_draft };
    let mut drafts: Vec<Draft> = Vec::new();
    let mut ids = std::collections::BTreeSet::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let fail = |why| DraftError { line: number + 1, why };
        let draft = read_draft(line).map_err(fail)?;
        if !ids.insert(draft.id) {
            return Err(fail(format!("id {} is in an earlier line already", draft.id)));
        }
        drafts.push(draft);
    }
    Ok(drafts)
}

/// The fields of a line that are used.
#[derive(Deserialize)]
struct Line {
    id: i64,
    user_request: String,
    plan_str: String,
    alt_plans_str: Option<String>,
}

fn read_draft(line: &str) -> Result<Draft, String> {
    if line.len() > DRAFT_BYTES_MAX {
        return Err(format!("it has more than {DRAFT_BYTES_MAX} bytes"));
    }
    let line: Line = serde_json::from_str(line).map_err(|error| of_line(&error))?;
    let plan = python_value(&line.plan_str).and_then(|nodes| read_plan(&nodes));
    let alternatives = match line.alt_plans_str.as_deref().map(python_value).transpose() {
        Ok(None | Some(Json::Null)) => Ok(Vec::new()),
        Ok(Some(Json::Array(plans))) => plans.iter().map(read_plan).collect(),
        Ok(Some(_)) => Err("it is no list".to_owned()),
        Err(why) => Err(why),
    };
    Ok(Draft {
        id: line.id,
        query: line.user_request,
        plan: plan.map_err(|why| format!("plan_str: {why}"))?,
        alternatives: alternatives.map_err(|why| format!("alt_plans_str: {why}"))?,
    })
}

/// The draft in a line of a case, with arguments in the order in which their tools take them.
fn draft_of_case(line: &str) -> Result<Draft, String> {
    let case = crate::RequestCase::read(line).map_err(|error| error.what)?;
    let id = data_number(case.id());
    let id = id.ok_or_else(|| format!("the id {} does not end with the number of a query", case.id()))?;
    let query = case.request().to_owned();
    let plan = plan_of_nodes(&case.plan()).map_err(|why| format!("plan: {why}"))?;
    let alternatives = case.alternatives().map(|plan| plan_of_nodes(&plan)).collect::<Result<_, _>>();
    let alternatives = alternatives.map_err(|why| format!("alternatives: {why}"))?;
    Ok(Draft { id, query, plan, alternatives })
}

/// A plan from nodes whose arguments are an object.
fn plan_of_nodes(nodes: &Json) -> Result<Plan, String> {
    let mut nodes = nodes.clone();
    for node in nodes.as_array_mut().into_iter().flatten() {
        let name = node["name"].as_str().unwrap_or_default();
        let tool = crate::catalogue().find(&name.replace('_', " "));
        let Some(given) = node["args"].as_object() else { continue };
        let place =
            |name: &str| tool.and_then(|tool| tool.arguments.iter().position(|port| port.name == name));
        let mut pairs: Vec<(&String, &Json)> = given.iter().collect();
        pairs.sort_by_key(|(name, _)| place(name).unwrap_or(usize::MAX));
        // The same form as `python_value` returns: a list of pairs.
        node["args"] = pairs.into_iter().map(|(name, value)| json!([name, value])).collect();
    }
    read_plan(&nodes)
}

fn read_plan(nodes: &Json) -> Result<Plan, String> {
    let nodes = nodes.as_array().ok_or("a plan is no list")?;
    if nodes.len() > PLAN_STEPS_MAX {
        return Err(format!("a plan has more than {PLAN_STEPS_MAX} steps"));
    }
    let step = |node: &Json| {
        let (id, name, arguments) = (&node["id"], &node["name"], &node["args"]);
        let (Some(id), Some(tool), Some(arguments)) = (id.as_u64(), name.as_str(), arguments.as_array())
        else {
            return Err("a step has not \"id\", \"name\" and \"args\"".to_owned());
        };
        let value = |value: &Json| match value {
            Json::String(text) => ArgumentValue::Text(parts_of(text)),
            other => ArgumentValue::Json(other.clone()),
        };
        // Every pair begins with a text, because both readers of nodes build it from a key.
        let arguments =
            arguments.iter().filter_map(|pair| Some((pair[0].as_str()?.to_owned(), value(&pair[1]))));
        Ok(Step { id, tool: tool.to_owned(), arguments: arguments.collect() })
    };
    nodes.iter().map(step).collect::<Result<_, String>>().map(|steps| Plan { steps })
}

/// Parses a Python literal. The arguments of a node become a list of pairs, because their order matters.
fn python_value(text: &str) -> Result<Json, String> {
    let parsed = parse_expression(text.trim()).map_err(|error| format!("no literal of Python: {error}"))?;
    python_literal(parsed.expr(), false).ok_or_else(|| "no literal of Python".to_owned())
}

fn python_literal(expression: &Expr, in_order: bool) -> Option<Json> {
    match expression {
        Expr::NoneLiteral(_) => Some(Json::Null),
        Expr::BooleanLiteral(it) => Some(Json::from(it.value)),
        Expr::StringLiteral(it) => Some(Json::from(it.value.to_str())),
        Expr::NumberLiteral(it) => number(&it.value, false),
        Expr::UnaryOp(it) => match (it.op, &*it.operand) {
            (UnaryOp::USub, Expr::NumberLiteral(it)) => number(&it.value, true),
            _ => None,
        },
        Expr::List(it) => it.elts.iter().map(|item| python_literal(item, false)).collect(),
        Expr::Dict(it) => {
            let entry = |item: &ruff_python_ast::DictItem| {
                let Json::String(key) = python_literal(item.key.as_ref()?, false)? else { return None };
                // The other keys of a node are looked up by name, so only arguments have to keep their order.
                let value = python_literal(&item.value, key == "args")?;
                Some((key, value))
            };
            let entries: Vec<(String, Json)> = it.items.iter().map(entry).collect::<Option<_>>()?;
            Some(if in_order {
                entries.into_iter().map(|(key, value)| Json::from(vec![Json::from(key), value])).collect()
            } else {
                Json::Object(entries.into_iter().collect::<Map<_, _>>())
            })
        }
        _ => None,
    }
}

fn number(number: &Number, is_negative: bool) -> Option<Json> {
    match number {
        Number::Int(value) if is_negative => value.as_i64()?.checked_neg().map(Json::from),
        Number::Int(value) => value.as_u64().map(Json::from),
        Number::Float(value) => Some(Json::from(if is_negative { -value } else { *value })),
        Number::Complex { .. } => None,
    }
}

/// A readable plan with one line per step, such as `0: object detection (image: street.jpg)`.
pub fn plan_in_lines(plan: &Plan) -> String {
    let nodes = written_json(plan);
    let line = |(step, node): (&Step, &Json)| {
        let argument = |(name, _): &(String, ArgumentValue)| match &node["args"][name] {
            Json::String(text) => format!("{name}: {text}"),
            other => format!("{name}: {other}"),
        };
        let arguments: Vec<String> = step.arguments.iter().map(argument).collect();
        format!("{}: {} ({})", step.id, step.tool, arguments.join("; "))
    };
    let nodes = nodes.as_array().map_or(&[][..], Vec::as_slice);
    plan.steps.iter().zip(nodes).map(line).collect::<Vec<_>>().join("\n")
}

/// The rows of a sheet with the columns `query` and `plan`, on which raters say whether each plan solves its query.
pub fn draft_rows(drafts: &[Draft]) -> Vec<SheetRow> {
    let row = |draft: &Draft| SheetRow {
        id: draft.id.to_string(),
        shown: vec![draft.query.clone(), plan_in_lines(&draft.plan)],
    };
    drafts.iter().map(row).collect()
}

/// The rows of a sheet with the columns `tool`, `alternative` and `source`, on which raters say whether each
/// alternative can replace its tool.
pub fn alternative_rows(alternatives: &Alternatives, source: &str) -> Vec<SheetRow> {
    let row = |tool: &str, path: &Vec<String>| SheetRow {
        id: format!("{tool}{STANDS_FOR}{}", path.join(THEN)),
        shown: vec![tool.to_owned(), path.join(THEN), source.to_owned()],
    };
    alternatives.iter().flat_map(|(tool, paths)| paths.iter().map(move |path| row(tool, path))).collect()
}

/// The alternatives that all raters of such a sheet rated 1, in the order of the sheet.
///
/// # Errors
/// Returns the first id that names no alternative.
pub fn rated_alternatives(ratings: &Ratings) -> Result<Alternatives, String> {
    let good = ratings.unanimous();
    let mut all = Alternatives::default();
    for (id, _) in &ratings.rows {
        // Every id is checked, including those of rejected alternatives, so that a sheet of another kind is noticed.
        let (tool, path) = id.split_once(STANDS_FOR).ok_or_else(|| id.clone())?;
        if good.contains(id.as_str()) {
            all.add(tool, path.split(THEN).map(str::to_owned).collect());
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use planproof_suite::{CaseSelection, Data, Suite as _};

    use super::*;
    use crate::catalogue;
    use crate::generate::{
        EdgeRule, Inputs, Scale, TasksWanted, ToolGraph, draw_tasks, faults, read_sheet,
        syntactic_alternatives, write_sheet,
    };

    fn tasks() -> Tasks {
        let graph = ToolGraph::new(catalogue(), EdgeRule::Listed);
        let wanted = TasksWanted { lengths: 1..=3, sequences: 60, inputs: 5, seed: 7 };
        draw_tasks(catalogue(), &graph, &Inputs::own(), &wanted).unwrap()
    }

    #[test]
    fn drafts_come_back_as_they_were_written() {
        let graph = ToolGraph::new(catalogue(), EdgeRule::Listed);
        let mut drafts = drafts_by_rule(&tasks(), 2, 7);
        assert!(drafts.len() > 500, "{}", drafts.len());
        drafts[0].alternatives = vec![drafts[1].plan.clone(), drafts[9].plan.clone()];
        drafts[1].query = "\"It's\"\n\\ {x}\u{2028}".to_owned();
        let lines: String = drafts.iter().map(|draft| draft.to_line() + "\n").collect();
        assert_eq!(read_drafts(&lines).unwrap(), drafts);
        for draft in &drafts {
            assert_eq!(faults(catalogue(), &graph, &draft.plan), Vec::<String>::new());
        }
        let cases: Vec<String> = drafts.iter().map(|draft| draft.to_case_line().unwrap() + "\n").collect();
        assert_eq!(read_drafts(&cases.concat()).unwrap(), drafts);
        // Either form is valid data for the benchmark and yields the same cases.
        let load = |text: &str| -> Vec<String> {
            let (suite, data) = (crate::Mnms::default(), Data { text, file: "f" });
            let cases = suite.load(Some(data), &CaseSelection::First, None).unwrap();
            cases.iter().map(|case| case.to_line() + "\n").collect()
        };
        assert_eq!((load(&lines), load(&cases.concat())), (cases.clone(), cases));
    }

    #[test]
    fn lines_that_are_no_drafts_are_said() {
        let line = |id: &str, plan: &str, alternatives: &str| {
            let [plan, alternatives] = [plan, alternatives].map(|text| serde_json::to_string(text).unwrap());
            format!(
                r#"{{"id": {id}, "user_request": "x", "plan_str": {plan}, "alt_plans_str": {alternatives}}}"#
            )
        };
        let good =
            line("0", "[{'id': 0, 'name': 'count', 'args': {'n': -1, 'm': [1.5, None, True]}}]", "None");
        let read = read_drafts(&good).unwrap();
        assert_eq!(plan_in_lines(&read[0].plan), "0: count (n: -1; m: [1.5,null,true])");
        assert!(read_drafts(&line("1", "[]", "[]")).unwrap()[0].plan.steps.is_empty());
        for (bad, why) in [
            ("{".to_owned(), "EOF"),
            (r#"{"id": 1}"#.to_owned(), "missing field `user_request`"),
            (line("\"1\"", "[]", "[]"), "invalid type"),
            (line("1", "[", "[]"), "plan_str: no literal of Python"),
            (line("1", "print()", "[]"), "plan_str: no literal of Python"),
            (line("1", "{}", "[]"), "plan_str: a plan is no list"),
            (line("1", "[{'id': 0}]", "[]"), "plan_str: a step has not"),
            (line("1", "[]", "7"), "alt_plans_str: it is no list"),
            (line("1", "[]", "[7]"), "alt_plans_str: a plan is no list"),
            (line("0", "[]", "[]"), "id 0 is in an earlier line"),
        ] {
            let error = read_drafts(&format!("{good}\n\n{bad}\n")).unwrap_err();
            assert!(error.line == 3 && error.why.contains(why), "{bad}: {error}");
        }
        let deep = line("1", &"[".repeat(10_000), "[]");
        assert!(read_drafts(&deep).is_err());
        for (case, why) in [
            (
                r#"{"schema": "planproof/mnms/v1", "id": "x-1", "request": "r", "plan": []}"#,
                "the plan has no steps",
            ),
            (
                r#"{"schema": "planproof/mnms/v1", "id": "x-1", "request": "r", "plan": [{"id": 0, "name": "count", "args": {}}]}"#,
                "the id x-1 does not end with the number of a query",
            ),
            (r#"{"schema": "planproof/order/v1"}"#, "which is not of suite mnms"),
        ] {
            let error = read_drafts(case).unwrap_err();
            assert!(error.why.contains(why), "{error}");
        }
    }

    #[test]
    fn alternatives_that_people_find_good_are_kept() {
        let syntactic = syntactic_alternatives(catalogue(), 1);
        let rows = alternative_rows(&syntactic, "path");
        let sheet = write_sheet(&["tool", "alternative", "source"], &rows, &["Ann".to_owned()]);
        let line = "image classification <- image captioning,image classification,image captioning,path,";
        assert!(sheet.contains(line), "{sheet}");
        let filled = sheet.replace(line, &format!("{line}1"));
        let kept = rated_alternatives(&read_sheet(&filled, Scale::Binary).unwrap()).unwrap();
        let kept: Vec<_> = kept.iter().collect();
        assert_eq!(kept, [("image classification", &[vec!["image captioning".to_owned()]][..])]);
        let other = read_sheet("id,rating Ann\n7,1\n", Scale::Binary).unwrap();
        assert_eq!(rated_alternatives(&other), Err("7".to_owned()));
    }

    #[test]
    fn rows_of_drafts_show_query_and_plan() {
        let rows = draft_rows(&drafts_by_rule(&tasks(), 1, 7)[..3]);
        assert_eq!(rows[2].id, "2");
        assert!(rows[2].shown[1].starts_with("0: ") && rows[2].shown.len() == 2, "{rows:?}");
    }
}
