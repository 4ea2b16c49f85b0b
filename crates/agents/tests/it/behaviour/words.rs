//! What models are told.

use planproof_agents::instructions;
use planproof_spec::SHIPPED;
use planproof_tools::Toolbox as _;

use super::*;

#[test]
fn shipped_specifications_are_told() {
    for (name, _) in SHIPPED {
        insta::assert_snapshot!(name, instructions(&spec_of(name), tools().tools()));
    }
}

#[test]
fn all_that_a_specification_can_say_is_told() {
    let automaton = spec(
        r#"(define all (:instructions "You keep shop.\nBe kind.")
          (:states
            (Q (:text "[Q]") (:about "what the customer wants."))
            (T (:text "[T]") (:content (max-length 20)) (:about "a short\n  thought"))
            (L (:text "[L]") (:content label (matches "\\#[0-9]")))
            (J (:text "[J]") (:content (json "{\"type\": \"number\"}")))
            (A (:text "[A]") (:content tool))
            (I (:text "[I]") (:content arguments))
            (O (:text "[O]") (:flags :env-input) (:handler run-call))
            (E (:text "[E]")))
          (:behavior (next Q (until (next T (or L J)) A :min 1 :max 3) I O (always O :max 2) (until T E :min 2)))
          (:require (before call:say call:wash)))"#,
    );
    insta::assert_snapshot!(instructions(&automaton, tools().tools()));
    assert!(instructions(&spec_of("cot"), &[]).ends_with("\n\nTools: none"));
}
