//! Local constraints that can be checked, checked on the report of a sub-task. (The paper leaves them to the
//! executor; this is ours.)

use planproof_constraint::choice::{ChoiceProblem, Constraint, Slot, read_constraint, read_record};
use planproof_plan::graph::{SubTask, SubTaskGraph};
use serde_json::Value as Json;

/// Most records of a report that are checked.
const RECORDS_MAX: usize = 1_000;

/// Most violations that an executor sees.
const VIOLATIONS_MAX: usize = 20;

/// The faults of a graph's typed constraints, one per line; empty if there are none.
pub(super) fn faults_of_graph(graph: &SubTaskGraph) -> String {
    let mut lines = Vec::new();
    let local = graph.sub_tasks.iter().flat_map(|it| it.constraints.iter().map(move |one| (Some(it), one)));
    for (sub_task, stated) in local.chain(graph.constraints.iter().map(|stated| (None, stated))) {
        let Some(typed) = &stated.typed else { continue };
        let of = match sub_task {
            Some(sub_task) => format!("sub-task `{}`", sub_task.id),
            None => "the graph".to_owned(),
        };
        match (read_constraint(typed), sub_task) {
            (Err(faults), _) => {
                lines.push(format!("- the typed constraint \"{}\" of {of}:\n{faults}", stated.words));
            }
            (Ok(constraint), Some(sub_task)) => {
                let slots = constraint.demand.slots();
                if slots.iter().any(|slot| *slot != sub_task.id) {
                    lines.push(format!(
                        "- the typed constraint \"{}\" of {of} speaks of {}: one of a sub-task speaks of its own result \
                         alone, as `{}.FIELD`. Move it to the graph if it is about several.",
                        stated.words,
                        slots.join(", "),
                        sub_task.id
                    ));
                }
            }
            (Ok(_), None) => {}
        }
    }
    lines.join("\n")
}

/// The constraints of a sub-task that can be checked.
fn checkable(sub_task: &SubTask) -> Vec<Constraint> {
    let typed = sub_task.constraints.iter().filter_map(|stated| stated.typed.as_ref());
    typed.filter_map(|typed| read_constraint(typed).ok()).collect()
}

/// The addition to an executor's prompt that makes its report checkable; empty if nothing is checked.
pub(super) fn report_form(sub_task: &SubTask) -> String {
    let fields = fields(sub_task);
    if fields.is_empty() {
        return String::new();
    }
    format!(
        "\n\nPut what you found into your report as a JSON list of objects, too, in a block between ``` and ```. Each object \
         has at least the fields {}.",
        fields.join(", ")
    )
}

/// The fields that its constraints look at.
fn fields(sub_task: &SubTask) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for constraint in checkable(sub_task) {
        for field in constraint.demand.fields() {
            let name = format!("`{}`", field.field);
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}

/// The violations of a report, in words for the executor; `None` if nothing that can be checked is violated.
pub(super) fn violations(sub_task: &SubTask, report: &str) -> Option<String> {
    let constraints = checkable(sub_task);
    if constraints.is_empty() {
        return None;
    }
    let mut found = Vec::new();
    for json in records(report).iter().take(RECORDS_MAX) {
        match read_record(json) {
            Ok(record) => found.push(record),
            Err(faults) => return Some(faults.to_string()),
        }
    }
    if found.is_empty() {
        return Some(format!(
            "The report has no JSON list of objects with the fields {}, so nothing can be checked.",
            fields(sub_task).join(", ")
        ));
    }
    // A record can be checked only as part of a problem. This one has the report as its only slot.
    let slot = Slot { name: sub_task.id.clone(), candidates: found.clone(), is_optional: false };
    let problem = match ChoiceProblem::new(vec![slot], constraints) {
        Ok(problem) => problem,
        Err(faults) => return Some(faults.to_string()),
    };
    let mut violated = Vec::new();
    for (number, record) in (1..).zip(&found) {
        match problem.check_local(&sub_task.id, record) {
            Ok(verdicts) => {
                let words =
                    verdicts.into_iter().filter(|verdict| !verdict.is_met).map(|verdict| verdict.words);
                violated.extend(words.map(|words| format!("- object {number}: {words}")));
            }
            Err(faults) => return Some(faults.to_string()),
        }
    }
    let more = violated.len().saturating_sub(VIOLATIONS_MAX);
    violated.truncate(VIOLATIONS_MAX);
    if more > 0 {
        violated.push(format!("- and {more} more"));
    }
    (!violated.is_empty()).then(|| violated.join("\n"))
}

/// The objects of a report: those of the first readable JSON list or object in it.
fn records(report: &str) -> Vec<Json> {
    // Prose has brackets of its own, so each one is tried as the beginning of the JSON.
    for (start, _) in report.char_indices().filter(|(_, it)| *it == '[' || *it == '{') {
        let mut values = serde_json::Deserializer::from_str(&report[start..]).into_iter::<Json>();
        match values.next() {
            Some(Ok(Json::Array(items))) if !items.is_empty() && items.iter().all(Json::is_object) => {
                return items;
            }
            Some(Ok(object @ Json::Object(_))) => return vec![object],
            _ => {}
        }
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use planproof_plan::graph::WordedConstraint;
    use serde_json::json;

    use super::*;

    fn sub_task() -> SubTask {
        let typed = json!({"id": "stars", "text": "three stars", "kind": "compare", "left": "hotel.stars", "op": ">=",
                           "value": 3});
        SubTask {
            id: "hotel".to_owned(),
            task: "Find hotels.".to_owned(),
            executor: "worker".to_owned(),
            after: Vec::new(),
            constraints: vec![WordedConstraint { words: "three stars".to_owned(), typed: Some(typed) }],
        }
    }

    #[test]
    fn reports_are_checked() {
        let check = |report: &str| violations(&sub_task(), report);
        assert_eq!(check("Found [two]:\n```json\n[{\"stars\": 4}, {\"stars\": 3}]\n```"), None);
        assert_eq!(
            check("[{\"stars\": 4}, {\"stars\": 2}]").as_deref(),
            Some("- object 2: hotel.stars is 2, less than 3 (stars: \"three stars\").")
        );
        assert!(
            check("Nothing found.").unwrap().contains("has no JSON list of objects with the fields `stars`")
        );
        assert!(check("[{\"name\": \"x\"}]").is_some());
        let free = SubTask { constraints: vec![WordedConstraint::in_words("cheap")], ..sub_task() };
        assert_eq!((violations(&free, "x"), report_form(&free)), (None, String::new()));
        assert!(report_form(&sub_task()).contains("the fields `stars`"));
    }

    #[test]
    fn typed_constraints_of_a_graph_are_looked_at() {
        let graph = |sub_task: SubTask| SubTaskGraph { sub_tasks: vec![sub_task], constraints: Vec::new() };
        assert_eq!(faults_of_graph(&graph(sub_task())), "");
        let other = SubTask { id: "room".to_owned(), ..sub_task() };
        assert!(faults_of_graph(&graph(other)).contains("speaks of hotel: one of a sub-task"));
        let mut broken = sub_task();
        broken.constraints[0].typed = Some(json!({"kind": "compare"}));
        assert!(
            faults_of_graph(&graph(broken))
                .contains("the typed constraint \"three stars\" of sub-task `hotel`")
        );
    }
}
