//! From the events of a run to a verdict.

use planproof_spec::rules::{
    CallRule, Phase, RecordedEvent, RuleDemand, RuleEnd, session_in_turns, session_of,
};
use planproof_suite::runs::{Ended, shortened};
use planproof_suite::{Class, ClassInfo, FlagInfo, Score, Scored, Unscored, Verdict};
use planproof_trace::{Event, EventKind, PairedCall, ToolResult, paired_calls};
use serde::{Deserialize, Serialize};

use crate::case::Scenario;
use crate::faults::{self, Failures, Left, Undecided};
use crate::figures::RULE_HELD;
use crate::limits::{ANSWER_CHARACTERS_MAX, CALL_CHARACTERS_MAX, CALLS_KEPT_MAX};
use crate::noticed;
use crate::state::NO_VALUE;
use crate::turns;
use crate::world::NO_LINE;

/// The schema of a verdict's document.
pub const VERDICT_SCHEMA: &str = "planproof/scenario-verdict/v1";

/// The classes of failures, by precedence. Endless calls of a tool that is out of service also explain why a limit was
/// reached.
pub(crate) static CLASSES: [ClassInfo; 15] = [
    ClassInfo {
        name: RETRIED_FOREVER,
        meaning: "A tool that had reported that it would not work again was called more than three more times.",
        rank: 0,
    },
    ClassInfo {
        name: "timeout",
        meaning: "A limit of the run was reached before the agent had answered.",
        rank: 1,
    },
    ClassInfo::reply_limit(2),
    ClassInfo { name: "agent_failed", meaning: "The agent itself broke.", rank: 3 },
    ClassInfo::unparsed_call(4),
    ClassInfo {
        name: CALLED_VANISHED,
        meaning: "A tool was called after the agent had been shown that it is gone.",
        rank: 5,
    },
    ClassInfo { name: WENT_ON, meaning: "A call was made although one that it needs had failed.", rank: 6 },
    ClassInfo {
        name: MISSED_MESSAGE,
        meaning: "What a later message of the user asks for was not done, or was violated.",
        rank: 7,
    },
    ClassInfo {
        name: "forbidden_call",
        meaning: "A call was made that is forbidden, or made too often.",
        rank: 8,
    },
    ClassInfo {
        name: "order_error",
        meaning: "A call came before what it needs, or after what it must not follow.",
        rank: 9,
    },
    ClassInfo {
        name: "wrong_value",
        meaning: "An argument does not come from the result that it has to come from.",
        rank: 10,
    },
    ClassInfo {
        name: NO_RETRY,
        meaning: "A call that was due had failed for the moment and was not made again.",
        rank: 11,
    },
    ClassInfo {
        name: GAVE_UP,
        meaning: "A call that was due was not repeated until it got through, or the agent stopped at a failure.",
        rank: 12,
    },
    ClassInfo {
        name: MISSING_CALL,
        meaning: "A call that was due had not been made, or had no result, when the run ended.",
        rank: 13,
    },
    ClassInfo { name: "rule_violated", meaning: "A formula does not hold.", rank: 14 },
];

pub(crate) const RETRIED_FOREVER: &str = "retried_forever";
pub(crate) const CALLED_VANISHED: &str = "called_vanished";
pub(crate) const WENT_ON: &str = "went_on_after_failure";
pub(crate) const MISSED_MESSAGE: &str = "missed_message";
pub(crate) const NO_RETRY: &str = "no_retry";
pub(crate) const GAVE_UP: &str = "gave_up";

/// The classes of what agents make of tools that fail.
pub(crate) const OF_FAILURES: [&str; 5] = [RETRIED_FOREVER, CALLED_VANISHED, WENT_ON, NO_RETRY, GAVE_UP];

/// The class of a run in which a call is missing.
pub(crate) const MISSING_CALL: &str = "missing_call";

/// The flags, in the order in which they are shown.
pub(crate) static FLAGS: [FlagInfo; 3] = [
    FlagInfo {
        name: "no_answer_in_world",
        meaning: "A call was made for which the world of the case has no line; it got an error.",
    },
    FlagInfo {
        name: "tool_failed",
        meaning: "A call failed because its tool did, which is not a mistake of the agent.",
    },
    FlagInfo {
        name: "no_value_in_world",
        meaning: "A call would have given the state of the world a value that it cannot have, such as a number that is \
                  too large; it got an error and changed nothing.",
    },
];

/// The judge's whole result for a run: the document of a verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScenarioDetail {
    /// [`VERDICT_SCHEMA`].
    pub schema: String,
    /// Id of the case.
    pub case: String,
    /// Whether the run passed.
    pub passed: bool,
    /// The class of the failure; `None` when passed.
    pub class: Option<String>,
    /// All flags that apply.
    pub flags: Vec<String>,
    /// What became of each rule and expectation, in their order.
    pub rules: Vec<RuleOutcome>,
    /// The calls, the first [`CALLS_KEPT_MAX`] of them.
    pub calls: Vec<MadeCall>,
    /// How many calls there were.
    #[serde(deserialize_with = "planproof_trace::bounded::count")]
    pub calls_total: u64,
    /// The ids of the rules and expectations that tools which failed made impossible.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waived: Vec<String>,
    /// The call, from 1, that is the first to violate something.
    pub first_wrong_call: Option<usize>,
    /// The agent's answer, of a long text both ends; `None` if it did not answer.
    pub answer: Option<String>,
    /// Why the run ended, unless the agent ended it by an answer.
    pub ended: Option<String>,
}

impl ScenarioDetail {
    /// Whether all calls are kept.
    pub(crate) fn is_whole(&self) -> bool {
        self.calls.len() as u64 == self.calls_total
    }
}

/// What became of a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleOutcome {
    pub id: String,
    /// Whether it was held when the run ended.
    pub held: bool,
    /// The call, from 1, that violated it for good.
    pub call: Option<usize>,
    /// If that call had to take a value from a result: the value that it had, and those that it should have taken, in
    /// words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub had: Option<String>,
}

impl RuleOutcome {
    fn new(id: &str, held: bool, call: Option<usize>) -> Self {
        Self { id: id.to_owned(), held, call, had: None }
    }
}

/// A call of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MadeCall {
    pub tool: String,
    pub arguments: String,
    /// Its result; `None` if there is none.
    pub result: Option<String>,
    /// It was refused, or answered with an error.
    pub is_error: bool,
    /// If the world refused it because of its values: what these lacked, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lacked: Option<String>,
    /// The number of the user's message before it, from 1, if there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<u32>,
}

/// Whether a demand binds only from a later message of the user on.
pub(crate) fn is_of_later_message(case: &Scenario, id: &str) -> bool {
    let expected = case.line.expect.iter().find(|expectation| expectation.rule["id"] == *id);
    expected.is_some_and(|expectation| expectation.from.is_some())
}

/// The class of a session that violates a rule, at this call if it did so for good. A last call that was never made is
/// missing, and not in the wrong place; a call that comes first instead of the right one is too early, whatever comes
/// later.
fn class_in(
    rule: &CallRule,
    session: &[RecordedEvent],
    failures: &Failures<'_>,
    call: Option<usize>,
) -> &'static str {
    let class = match &rule.demand {
        RuleDemand::Last(last) if !session.iter().any(|event| last.matches(&event.as_seen())) => MISSING_CALL,
        RuleDemand::Requires { needed: from, .. }
        | RuleDemand::Takes { from, .. }
        | RuleDemand::First(from) => {
            let is_after = call.is_some_and(|call| failures.include(from, call));
            if is_after { WENT_ON } else { class_of(rule) }
        }
        _ => class_of(rule),
    };
    match (class, failures.left(&rule.demand)) {
        (MISSING_CALL, Left::NotRetried) => NO_RETRY,
        (MISSING_CALL, Left::GivenUp) => GAVE_UP,
        _ => class,
    }
}

/// The class of a run that violates a rule.
pub(crate) fn class_of(rule: &CallRule) -> &'static str {
    match rule.demand {
        RuleDemand::Never(_) | RuleDemand::AtMost(..) => "forbidden_call",
        RuleDemand::Requires { .. }
        | RuleDemand::NeverAfter { .. }
        | RuleDemand::First(_)
        | RuleDemand::Last(_) => "order_error",
        RuleDemand::Takes { .. } => "wrong_value",
        RuleDemand::AtLeast(..) | RuleDemand::FollowedBy { .. } => MISSING_CALL,
        RuleDemand::Formula { .. } => "rule_violated",
    }
}

/// The id of what `only` demands.
pub(crate) const ONLY: &str = "only";

/// Judges a run of a case.
pub(crate) fn judge(case: &Scenario, events: &[Event]) -> Result<Verdict, Unscored> {
    let ended = Ended::of(case, events)?;
    let session: Vec<RecordedEvent> = match case.line.turns.is_empty() {
        true => session_of(events),
        false => {
            session_in_turns(events).into_iter().map(|(turn, event)| turns::with_turn(event, turn)).collect()
        }
    };
    let outcomes =
        case.bound.hold(&session).map_err(|error| Unscored::Outside { reason: error.to_string() })?;
    let failures = Failures::of(case, &session);
    let waived = faults::waived(case, &session, &outcomes).map_err(|Undecided| Unscored::Outside {
        reason: "what could still be done after a tool had failed is not decided: too many sessions"
            .to_owned(),
    })?;
    let rules = case.rules.rules().iter().zip(&outcomes).enumerate();
    let mut rules: Vec<(&'static str, RuleOutcome)> = rules
        .filter(|(number, _)| !waived.contains(number))
        .map(|(_, (rule, RuleEnd { verdict, call }))| {
            let held = verdict.is_held_at_end();
            let class = match is_of_later_message(case, &rule.id) {
                true => MISSED_MESSAGE,
                false => class_in(rule, &session, &failures, *call),
            };
            let had = call.filter(|_| !held).and_then(|call| noticed::had(rule, &session, call));
            (class, RuleOutcome { had, ..RuleOutcome::new(&rule.id, held, *call) })
        })
        .collect();
    let of_failures =
        [(CALLED_VANISHED, failures.called_vanished()), (RETRIED_FOREVER, failures.retried_forever())];
    for (class, call) in of_failures {
        rules.extend(call.map(|call| (class, RuleOutcome::new(class, false, Some(call)))));
    }
    if let Some(only) = &case.line.only {
        let calls = session.iter().filter(|event| event.phase == Phase::Call);
        let other =
            calls.enumerate().find(|(_, call)| !only.contains(&call.tool)).map(|(number, _)| number + 1);
        rules.push(("forbidden_call", RuleOutcome::new(ONLY, other.is_none(), other)));
    }
    let calls = paired_calls(events);
    let is_denied = |call: &PairedCall<'_>| call.result.is_some_and(|(_, result)| result.is_denied);
    // A call that a guard denied is not one of the session, and is listed all the same.
    let listed: Vec<usize> = (1..).zip(&calls).filter(|(_, call)| !is_denied(call)).map(|it| it.0).collect();
    for (_, rule) in &mut rules {
        rule.call = rule.call.and_then(|call| listed.get(call.checked_sub(1)?).copied());
    }
    let broken = rules.iter().filter(|(_, rule)| !rule.held);
    let first_wrong_call = broken.clone().filter_map(|(_, rule)| rule.call).min();
    let violated = broken.filter_map(|(class, _)| Class::find(&CLASSES, class)).min();
    let class = match ended.class() {
        Some(name) => {
            let endless = violated.filter(|class| class.as_str() == RETRIED_FOREVER);
            endless.or(Class::find(&CLASSES, name))
        }
        None => violated,
    };
    let any_error = |beginning: &str| {
        let is_such =
            |(_, result): (usize, &ToolResult)| result.is_error && result.text.starts_with(beginning);
        calls.iter().any(|call| call.result.is_some_and(is_such))
    };
    let lacked = noticed::lacked(case, &calls);
    let message = |call: &PairedCall<'_>| {
        let before = events.iter().take(call.place);
        let queries = before.filter(|event| matches!(event.kind, EventKind::Query { .. })).count();
        (!case.line.turns.is_empty()).then(|| u32::try_from(queries.max(1)).unwrap_or(u32::MAX))
    };
    let made = calls.iter().zip(lacked).take(CALLS_KEPT_MAX).map(|(paired, lacked)| MadeCall {
        tool: paired.call.name.clone(),
        arguments: shortened(&paired.call.arguments.to_text(), CALL_CHARACTERS_MAX),
        result: paired.result.map(|(_, result)| shortened(&result.text, CALL_CHARACTERS_MAX)),
        is_error: paired.result.is_some_and(|(_, result)| result.is_error),
        lacked,
        message: message(paired),
    });
    let flags = [any_error(NO_LINE), !failures.is_empty(), any_error(NO_VALUE)].into_iter().zip(&FLAGS);
    let flags: Vec<&'static str> = flags.filter(|(is_set, _)| *is_set).map(|(_, flag)| flag.name).collect();
    let detail = ScenarioDetail {
        schema: VERDICT_SCHEMA.to_owned(),
        case: case.line.id.clone(),
        passed: class.is_none(),
        class: class.map(|class| class.as_str().to_owned()),
        flags: flags.iter().map(|flag| (*flag).to_owned()).collect(),
        rules: rules.into_iter().map(|(_, rule)| rule).collect(),
        calls: made.collect(),
        calls_total: calls.len() as u64,
        waived: waived.iter().map(|rule| case.rules.rules()[*rule].id.clone()).collect(),
        first_wrong_call,
        answer: ended.answer().map(|text| shortened(text, ANSWER_CHARACTERS_MAX)),
        ended: ended.why(ANSWER_CHARACTERS_MAX),
    };
    let matters = case.line.drawn.as_ref().and_then(|drawn| {
        let outcome = detail.rules.iter().find(|outcome| outcome.id == drawn.rule)?;
        Some(Score::new(RULE_HELD, f64::from(u8::from(outcome.held))))
    });
    let scored = Scored { class, flags, scores: matters.into_iter().collect() };
    Ok(Verdict { scored, detail: serde_json::to_string(&detail).unwrap_or_default() })
}
