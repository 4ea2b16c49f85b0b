//! Generated plans against the verifier.

use planproof_mnms::catalogue;
use planproof_mnms::generate::{
    EdgeRule, Inputs, ToolGraph, begins_with, draw_sequences, plan_of, read_drafts, syntactic_alternatives,
};
use planproof_trace::Draw;

#[test]
fn every_plan_passes_the_verifier() {
    let (catalogue, inputs) = (catalogue(), Inputs::own());
    let graph = ToolGraph::new(catalogue, EdgeRule::Listed);
    let begins = |walk: &[usize]| begins_with(&catalogue.signatures()[walk[0]]).is_some();
    let walks = draw_sequences(&graph, 1..=5, usize::MAX, 1, begins).unwrap().drawn;
    assert!(walks.len() > 10_000, "{}", walks.len());
    for (nth, walk) in walks.iter().enumerate() {
        let kind = begins_with(&catalogue.signatures()[walk[0]]).unwrap();
        let draw = &mut Draw::new(1, nth as u64, "test");
        let plan = plan_of(catalogue, walk, &inputs.of_kind(kind)[0], draw).unwrap();
        let faults = planproof_plan::verify(&plan, catalogue);
        assert!(faults.is_empty(), "{plan:?}: {faults:?}");
    }
}

#[test]
fn alternatives_pass_the_verifier() {
    let golden = include_str!("../../testdata/golden_drafts.jsonl");
    let graph = ToolGraph::new(catalogue(), EdgeRule::Listed);
    let alternatives = syntactic_alternatives(catalogue(), 2);
    let mut plans = 0;
    for draft in read_drafts(golden).unwrap() {
        let combined = alternatives.combine(catalogue(), &graph, &draft.plan, &mut Draw::new(1, 0, "test"));
        for plan in combined.plans {
            plans += 1;
            let faults = planproof_plan::verify(&plan, catalogue());
            assert!(faults.is_empty(), "{plan:?}: {faults:?}");
        }
    }
    assert!(plans > 100, "{plans}");
}
