//! The drafts of a seed are the same bytes for ever.

use std::{env, fs};

use planproof_mnms::catalogue;
use planproof_mnms::generate::{
    Draft, EdgeRule, Inputs, TasksWanted, ToolGraph, drafts_by_rule, draw_tasks, syntactic_alternatives,
};
use planproof_trace::Draw;

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/golden_drafts.jsonl");

#[test]
fn a_seed_gives_the_same_drafts_for_ever() {
    let (graph, inputs) = (ToolGraph::new(catalogue(), EdgeRule::Listed), Inputs::own());
    let wanted = TasksWanted { lengths: 1..=3, sequences: 33, inputs: 1, seed: 7 };
    let tasks = draw_tasks(catalogue(), &graph, &inputs, &wanted).unwrap();
    let alternatives = syntactic_alternatives(catalogue(), 1);
    let mut drafts = drafts_by_rule(&tasks, 2, 7);
    for draft in drafts.iter_mut().step_by(5) {
        let draw = &mut Draw::new(7, draft.id as u64, "test");
        draft.alternatives = alternatives.combine(catalogue(), &graph, &draft.plan, draw).plans;
    }
    let lines: String = drafts.iter().map(|draft: &Draft| draft.to_line() + "\n").collect();
    if env::var_os("PLANPROOF_WRITE_GOLDEN").is_some() {
        fs::write(GOLDEN, &lines).unwrap();
    }
    assert!(lines == fs::read_to_string(GOLDEN).unwrap(), "see \"Golden files\" in CONTRIBUTING.md");
}
