//! The version of the prompts that planproof sends: figures with other prompts are those of another test.

use planproof_agents::instructions;
use planproof_output::digest::sha256;
use planproof_spec::{Compat, SHIPPED, load};
use planproof_trace::Continuation;

/// How many hexadecimal digits of the digest are the version: enough to tell versions apart.
const DIGITS: usize = 12;

/// The files of that name below `crates`, each with its text.
macro_rules! texts {
    ($($file:literal,)*) => { &[$(($file, include_str!(concat!("../../", $file)))),*] };
}

/// All prompts that our crates send, by their files. A test finds those that are missing.
const PROMPTS: &[(&str, &str)] = texts![
    "agents/prompts/planning/again.txt",
    "agents/prompts/planning/code_steps.txt",
    "agents/prompts/planning/goal.txt",
    "agents/prompts/planning/json_steps.txt",
    "agents/prompts/planning/next.txt",
    "agents/prompts/planning/not_executed.txt",
    "agents/prompts/planning/not_read.txt",
    "agents/prompts/planning/not_verified.txt",
    "agents/prompts/planning/original/not_json.txt",
    "agents/prompts/planning/original/not_verified.txt",
    "agents/prompts/planning/original/retry.txt",
    "agents/prompts/planning/requirements.txt",
    "agents/prompts/planning/strict_code.txt",
    "agents/prompts/planning/strict_json.txt",
    "agents/prompts/reasoning.txt",
    "agents/prompts/sections.txt",
    "agents/prompts/subtasks/call.txt",
    "agents/prompts/subtasks/dropped.txt",
    "agents/prompts/subtasks/groups.txt",
    "agents/prompts/subtasks/lessons.txt",
    "agents/prompts/subtasks/mend.txt",
    "agents/prompts/subtasks/next.txt",
    "agents/prompts/subtasks/observation.txt",
    "agents/prompts/subtasks/of_group.txt",
    "agents/prompts/subtasks/plan.txt",
    "agents/prompts/subtasks/plan_lists.txt",
    "agents/prompts/subtasks/plan_tools.txt",
    "agents/prompts/subtasks/summary.txt",
    "agents/prompts/team/compose.txt",
    "agents/prompts/team/executor.txt",
    "agents/prompts/team/inference.txt",
    "agents/prompts/team/manager-one-shot.txt",
    "agents/prompts/team/manager.txt",
    "agents/prompts/team/mend-executors.txt",
    "agents/prompts/team/mend-graph.txt",
    "agents/prompts/team/mend-problem.txt",
    "agents/prompts/team/mend-report.txt",
    "agents/prompts/team/of-proof.txt",
    "agents/prompts/team/reporting.txt",
    "agents/prompts/team/solver.txt",
    "agents/prompts/team/supervisor.txt",
    "agents/prompts/team/typed-constraints.txt",
    "agents/prompts/team/typed.txt",
    "agents/prompts/two_stage.txt",
    "apibank/prompts/call.txt",
    "apibank/prompts/executor.txt",
    "apibank/prompts/task.txt",
    "mnms/prompts/alternatives.txt",
    "mnms/prompts/queries.txt",
    "mnms/prompts/rewriting.txt",
    "order/prompts/list_constraints.txt",
    "order/prompts/rewrite.txt",
    "plan/prompts/entailing.txt",
    "plan/prompts/step_code.txt",
    "plan/prompts/step_json.txt",
    "plan/prompts/whole_code.txt",
    "plan/prompts/whole_json.txt",
    "qa/prompts/number.txt",
    "qa/prompts/short_answer.txt",
    "tptu/prompts/answer.txt",
    "tptu/prompts/code.txt",
    "tptu/prompts/compare.txt",
    "tptu/prompts/nested_cot.txt",
    "tptu/prompts/nested_direct.txt",
    "tptu/prompts/pairs.txt",
    "tptu/prompts/planning.txt",
    "tptu/prompts/sequential_pairs.txt",
    "tptu/prompts/sql.txt",
    "tptu/prompts/tool_order.txt",
    "tptu/prompts/tool_subtask_lists.txt",
    "travel/prompts/deliverer-hints.txt",
    "travel/prompts/hints.txt",
    "travel/prompts/plan.txt",
    "travel/prompts/planner.txt",
    "travel/prompts/reading.txt",
    "travel/prompts/sole_planning.txt",
    "travel/prompts/two_stage.txt",
];

/// The version: a digest of all texts, with their names, and of the instructions for the shipped specifications, most
/// of which are composed.
pub(crate) fn version() -> String {
    let mut all = String::new();
    for (file, text) in PROMPTS {
        // Neither a name nor a text holds this character, so no text can pass for a name.
        all.extend([file, "\0", text, "\0"]);
    }
    for (name, source) in SHIPPED {
        if let Ok(loaded) = load(source, Compat::Ours) {
            all.extend([name, "\0", &instructions(&loaded.automaton, &[], Continuation::Text), "\0"]);
        }
    }
    let mut digest = sha256(all.as_bytes());
    digest.truncate(DIGITS);
    digest
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::*;

    fn texts_below(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() { texts_below(&path, found) } else { found.push(path) }
        }
    }

    #[test]
    fn every_prompt_has_a_part_in_the_version() {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let mut found = Vec::new();
        for folder in fs::read_dir(crates).unwrap() {
            texts_below(&folder.unwrap().path().join("prompts"), &mut found);
        }
        let mut found: Vec<(String, String)> = found
            .iter()
            .map(|path| {
                let name = path.strip_prefix(crates).unwrap().to_string_lossy().replace('\\', "/");
                (name, fs::read_to_string(path).unwrap())
            })
            .collect();
        found.sort();
        let listed: Vec<(String, String)> =
            PROMPTS.iter().map(|(file, text)| ((*file).to_owned(), (*text).to_owned())).collect();
        assert_eq!(listed, found);
        assert!(found.iter().all(|(name, text)| !name.contains('\0') && !text.contains('\0')));
        assert_eq!(version().len(), DIGITS);
    }
}
