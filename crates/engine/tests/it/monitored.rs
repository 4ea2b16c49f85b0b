use std::time::Duration;

use planproof_engine::{MonitorUse, Outcome, RunSummary, Unit};
use planproof_suite::Class;
use planproof_trace::notation;

use crate::toy::{Fate, Toys, toy};

/// Two agents in one run, as with a fallback: each has its own tally.
const FALLBACK: &str = r#"
    query "Why?"
    spec reflexion text
    say "[Answer]" tokens=9/3
    correct "[Answer] may not come next" "[" discarded=8
    section Prop-Ans model "nobody"
    section Eval environment "Correct." note="judge openai/x"
    section Eval environment "There is none." note="results, which are blank"
    tally corrections=2/1 discarded=40 tokens=10/200
    spec direct partial_turn
    section Eval environment "Nobody has judged this answer." note="nobody"
    tally corrections=1/0 discarded=4 tokens=1/20
    answer "So."
"#;

#[test]
fn all_agents_of_a_run_count() {
    let text = FALLBACK.trim().lines().collect::<Vec<_>>().join(" | ");
    let events = notation::parse(&text).expect("the notation is right");
    let used = MonitorUse {
        corrections: 3,
        escalations: 1,
        discarded_tokens: 11,
        repeated_tokens: 220,
        continuations: ["text", "partial_turn"].into(),
        judged_by: ["judge openai/x", "nobody"].map(str::to_owned).into(),
    };
    assert_eq!(MonitorUse::of(&events), Some(used.clone()));

    // As in the run store.
    let case = toy("toy", Fate::Fails);
    let unit = Unit { ordinal: 0, repeat: 0 };
    let outcome = Outcome::of(&*case, unit, &events, Duration::ZERO);
    let summary = RunSummary::of(&outcome);
    let class = outcome.class().map(Class::as_str);
    let read = |text: &str| RunSummary::from_json(&Toys, unit, outcome.passed(), class, Duration::ZERO, text);
    let text = summary.to_json();
    assert_eq!(read(&text), Some(summary));
    assert_eq!(read(&text.replace("partial_turn", "telepathy")), None);

    let sum = MonitorUse::sum([&Some(used.clone()), &None, &Some(used)]).expect("two have some");
    assert_eq!((sum.corrections, sum.discarded_tokens, sum.repeated_tokens), (6, 22, 440));
    assert_eq!(sum.continuations.len() + sum.judged_by.len(), 4);
}

#[test]
fn of_an_agent_without_a_specification_there_is_nothing() {
    let events = notation::parse(r#"query "Why?" | say "So." tokens=9/3 | answer "So.""#);
    assert_eq!(MonitorUse::of(&events.expect("the notation is right")), None);
    assert_eq!(MonitorUse::sum([&None, &None]), None);
}
