//! The costs of a team, as a part of the report.

use planproof_plan::team::{RoleUse, TeamUse};
use planproof_suite::{Figure, Section, Table, grouped};

/// Turns, calls, tokens and faults of each role, and the results of the sub-tasks, over all finished runs.
pub(crate) fn section(used: &TeamUse) -> Section {
    let row = |(role, used): (planproof_plan::team::Role, RoleUse)| {
        let RoleUse { turns, calls, input_tokens, output_tokens, faults } = used;
        let numbers = [turns, calls, input_tokens, output_tokens, faults].map(grouped);
        std::iter::once(role.to_string()).chain(numbers).collect()
    };
    let columns = ["Role", "Turns", "Calls", "Tokens read", "Tokens written", "Faults"].map(str::to_owned);
    let table = Table {
        caption: String::new(),
        columns: columns.to_vec(),
        rows: used.roles().into_iter().map(row).collect(),
    };
    let figure = |name: &'static str, value: u64, note: &str| Figure {
        name,
        value: grouped(value),
        note: note.to_owned(),
    };
    let mut figures = vec![
        figure("Sub-tasks finished", used.finished, "with a result; one that runs twice counts twice"),
        figure("Sub-tasks failed", used.failed, "their executors gave no result"),
        figure("Sub-tasks blocked", used.blocked, "what they needed had failed"),
    ];
    if used.changed_by_person > 0 {
        figures.push(figure("Changes by a person", used.changed_by_person, "edits, drops and reruns"));
    }
    Section {
        key: "team",
        title: "The team",
        intro: "What each role used over all runs, and how often it went wrong: replies of the manager that could not \
                be used, sub-tasks that the supervisor left as they were, sub-tasks that an executor failed at, and \
                runs without an answer from the deliverer."
            .to_owned(),
        figures,
        tables: vec![table],
        lines: Vec::new(),
        // Only counts, which JSON can always represent.
        json: serde_json::to_value(used).unwrap_or_default(),
    }
}
