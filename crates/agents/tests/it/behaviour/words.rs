//! The instructions that models receive.

use planproof_agents::instructions;
use planproof_spec::SHIPPED;
use planproof_tools::Toolbox as _;
use planproof_trace::Continuation;

use super::*;

#[test]
fn shipped_specifications_become_instructions() {
    for (name, _) in SHIPPED {
        insta::assert_snapshot!(name, instructions(&spec_of(name), tools().tools(), Continuation::Text));
    }
}

#[test]
fn all_that_a_specification_can_say_is_in_the_instructions() {
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
    insta::assert_snapshot!(instructions(&automaton, tools().tools(), Continuation::Text));
    // In a conversation the question is a message without a mark.
    let prompt = instructions(&automaton, tools().tools(), Continuation::Chat);
    assert!(
        !prompt.contains("[Q]") && prompt.contains("from [T] to [J], 1 to 3 times in all. Then write:\n"),
        "{prompt}"
    );
    let react = spec_of("react").without_examples();
    assert!(instructions(&react, &[], Continuation::Text).ends_with("\n\nTools: none"));
    // Agents that cannot call tools are not shown any.
    for name in ["direct", "cot"] {
        let prompt = instructions(&spec_of(name), tools().tools(), Continuation::Text);
        assert!(!prompt.contains("Tools:") && !prompt.contains("bake"), "{prompt}");
    }
}

#[test]
fn requirements_are_put_into_words() {
    let automaton = spec(
        r#"(define all
          (:states
            (Q (:text "[Question]"))
            (A (:text "[Action]") (:content tool))
            (I (:text "[Input]") (:content arguments))
            (O (:text "[Observation]") (:flags :env-input) (:handler run-call))
            (C (:text "[Critique]"))
            (E (:text "[Answer]")))
          (:behavior (next Q (until (or (next A I O) C) E)))
          (:require
            (always (not (call:pay (> amount 100))))
            (always (not (call:pay (= to "mallory") (!= day 3) (has note))))
            (not (eventually call:drop))
            (at-most 0 (call:send (matches to "[^@]*")))
            (at-most 1 call:say)
            (at-most 3 call:*)
            (at-most 2 C)
            (eventually call:log_in)
            (eventually C)
            (before call:log_in call:pay)
            (before C E)
            (always (implies call:pay (eventually (call:log (<= level 3)))))
            (always (implies C (next E)))
            (and (at-most 9 call:say) (at-most 8 C))
            (or (eventually (and C (next C))) (not (eventually call:pay)))
            (until (not C) (or call:pay (next call:say)))
            (before (or C call:say) call:wash)
            (at-most 5 (or C call:say))
            (implies (next C) (always (not (next (next C)))))
            Q))"#,
    );
    let prompt = instructions(&automaton, tools().tools(), Continuation::Text);
    let (_, rest) = prompt.split_once("Requirements:\n").unwrap();
    let (lines, _) = rest.split_once("\n\n").unwrap();
    insta::assert_snapshot!(lines);
}
