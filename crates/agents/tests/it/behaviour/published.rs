//! Agents as their paper and its code have them.

use std::sync::{Arc, Mutex};

use planproof_agents::behaviour::Schemas;
use planproof_agents::{BehaviourAgent, BehaviourOptions};
use planproof_spec::{Automaton, Compat, load_as_published};
use planproof_trace::Event;

use super::handling::Watched;
use super::{Scripted, WHOLE, events_of, limits, lines, spec_of, stop, tools};
use crate::events_of_run;

/// The figure of the paper.
fn figure(source: &str) -> Arc<Automaton> {
    load_as_published(source, &Schemas::default()).unwrap().automaton
}

fn agent(model: &Arc<Scripted>, automaton: Arc<Automaton>, compat: Compat) -> BehaviourAgent {
    let options = BehaviourOptions { compat, ..BehaviourOptions::default() };
    BehaviourAgent::new(Arc::clone(model) as Arc<_>, automaton, options).unwrap()
}

/// A run of ReWOO over this plan: its events, and the calls as they were executed.
async fn planned(plan: &str, compat: Compat) -> (Vec<Event>, Vec<String>) {
    let model = Scripted::new(WHOLE, 1, [stop(plan), stop("5")]);
    let automaton = figure(include_str!("../../../../spec/testdata/published/rewoo.spec"));
    let toolbox = Arc::new(Watched { tools: tools(), seen: Mutex::default() });
    let events = events_of_run(&agent(&model, automaton, compat), toolbox.clone(), &limits(50), 7).await;
    let seen = std::mem::take(&mut *toolbox.seen.lock().unwrap());
    (events, seen)
}

#[tokio::test]
async fn a_plan_is_carried_out_by_the_numbers_of_its_labels() {
    let plan = "[Plan] p\n[Action Label] #E2\n[Action] say\n[Action Input] of #E1 and #E12\n\
                [Plan] p\n[Action Label] #E1\n[Action] wash\n[Action Input]\n[Answer]";
    let (events, seen) = planned(plan, Compat::Original).await;
    // As published a label is replaced wherever its characters stand.
    assert_eq!(seen, ["wash {}", "say {\"words\":\"of wash is done and wash is done2\"}"]);
    assert!(lines(&events).ends_with("answer \"5\"\n"), "{}", lines(&events));
    let (_, seen) = planned(plan, Compat::Ours).await;
    assert_eq!(seen, ["say {\"words\":\"of #E1 and #E12\"}", "wash {}"]);
}

#[tokio::test]
async fn their_correction_writes_the_common_prefix_and_asks_again() {
    // After a thought comes an action, and this model answers.
    let script = [stop("[Thought] t\n[Answer] 391"), stop("[Thought] t\n[Answer] 391")];
    let mut asked = Vec::new();
    for compat in [Compat::Original, Compat::Ours] {
        let model = Scripted::new(WHOLE, 1, script.clone());
        let source = include_str!("../../../../spec/testdata/published/react.spec");
        let events = lines(&events_of(&agent(&model, figure(source), compat), limits(6)).await);
        asked.push((model.asked(), events));
    }
    let (theirs, ours) = (&asked[0], &asked[1]);
    assert!(theirs.0[1].ends_with("[Thought] t\n[Action]"), "{}", theirs.0[1]);
    assert_ne!(theirs.1, ours.1);
    insta::assert_snapshot!(format!("{}\n---\n{}", theirs.1, ours.1));
}

#[tokio::test]
async fn the_text_of_a_tool_is_split_like_that_of_the_model() {
    let call = "[Thought] t\n[Action] say\n[Action Input] {\"words\": \"x\"}\n[Observation]";
    let script = [stop(call), stop("[Final Thought] f\n[Answer] a")];
    for (compat, results) in [(Compat::Original, true), (Compat::Ours, false)] {
        let model = Scripted::new(WHOLE, 1, script.clone());
        let events = lines(&events_of(&agent(&model, spec_of("react"), compat), limits(50)).await);
        assert!(events.ends_with("answer \"a\"\n"), "{events}");
        // The published code writes the beginning of the next mark after the text of the environment.
        assert_eq!(model.asked()[1].ends_with("["), results, "{}", model.asked()[1]);
    }
}
