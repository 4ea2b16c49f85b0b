//! From the events of a run to a verdict, and the verdict in words.

use planproof_spec::rules::search::SampleCall;
use planproof_spec::rules::{
    CallRule, Phase, RecordedEvent, RuleDemand, RuleEnd, session_in_turns, session_of,
};
use planproof_suite::runs::{Ended, call_notes, on_one_line, shortened};
use planproof_suite::{
    Check, CheckState, Class, ClassInfo, Content, EventNote, Explanation, Fact, FlagInfo, Mark, Score,
    Scored, SequenceStep, Unscored, Verdict,
};
use planproof_trace::{Event, ToolResult, paired_calls};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::case::Scenario;
use crate::faults::{self, Failures, Left, Undecided};
use crate::figures::RULE_HELD;
use crate::limits::{ANSWER_CHARACTERS_MAX, CALL_CHARACTERS_MAX, CALLS_KEPT_MAX};
use crate::state::NO_VALUE;
use crate::turns;
use crate::world::{Answer, NO_LINE};

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

const RETRIED_FOREVER: &str = "retried_forever";
const CALLED_VANISHED: &str = "called_vanished";
const WENT_ON: &str = "went_on_after_failure";
pub(crate) const MISSED_MESSAGE: &str = "missed_message";
const NO_RETRY: &str = "no_retry";
const GAVE_UP: &str = "gave_up";

/// The classes of what agents make of tools that fail.
pub(crate) const OF_FAILURES: [&str; 5] = [RETRIED_FOREVER, CALLED_VANISHED, WENT_ON, NO_RETRY, GAVE_UP];

/// The class of a run in which a call is missing.
const MISSING_CALL: &str = "missing_call";

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

/// What became of a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleOutcome {
    pub id: String,
    /// Whether it was held when the run ended.
    pub held: bool,
    /// The call, from 1, that violated it for good.
    pub call: Option<usize>,
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
}

/// Whether a demand binds only from a later message of the user on.
fn is_of_later_message(case: &Scenario, id: &str) -> bool {
    let expected = case.line.expect.iter().find(|expectation| expectation.rule["id"] == *id);
    expected.is_some_and(|expectation| expectation.from.is_some())
}

/// The class of a session that violates a rule, at this call if it did so for good. A first or last call that was never
/// made is missing, and not in the wrong place.
fn class_in(
    rule: &CallRule,
    session: &[RecordedEvent],
    failures: &Failures<'_>,
    call: Option<usize>,
) -> &'static str {
    let class = match &rule.demand {
        RuleDemand::First(one) | RuleDemand::Last(one)
            if !session.iter().any(|event| one.matches(&event.as_seen())) =>
        {
            MISSING_CALL
        }
        RuleDemand::Requires { needed: from, .. } | RuleDemand::Takes { from, .. } => {
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
fn class_of(rule: &CallRule) -> &'static str {
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

/// Most violated demands that a finding names.
const VIOLATED_SHOWN_MAX: usize = 5;

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
            (class, RuleOutcome { id: rule.id.clone(), held, call: *call })
        })
        .collect();
    let of_failures =
        [(CALLED_VANISHED, failures.called_vanished()), (RETRIED_FOREVER, failures.retried_forever())];
    for (class, call) in of_failures {
        rules.extend(
            call.map(|call| (class, RuleOutcome { id: class.to_owned(), held: false, call: Some(call) })),
        );
    }
    if let Some(only) = &case.line.only {
        let calls = session.iter().filter(|event| event.phase == Phase::Call);
        let other =
            calls.enumerate().find(|(_, call)| !only.contains(&call.tool)).map(|(number, _)| number + 1);
        rules.push((
            "forbidden_call",
            RuleOutcome { id: ONLY.to_owned(), held: other.is_none(), call: other },
        ));
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
    let calls = paired_calls(events);
    let any_error = |beginning: &str| {
        let is_such =
            |(_, result): (usize, &ToolResult)| result.is_error && result.text.starts_with(beginning);
        calls.iter().any(|call| call.result.is_some_and(is_such))
    };
    let made = calls.iter().take(CALLS_KEPT_MAX).map(|paired| MadeCall {
        tool: paired.call.name.clone(),
        arguments: shortened(&paired.call.arguments.to_text(), CALL_CHARACTERS_MAX),
        result: paired.result.map(|(_, result)| shortened(&result.text, CALL_CHARACTERS_MAX)),
        is_error: paired.result.is_some_and(|(_, result)| result.is_error),
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

fn detail_of(verdict: &Verdict) -> Option<ScenarioDetail> {
    serde_json::from_str(&verdict.detail)
        .ok()
        .filter(|detail: &ScenarioDetail| detail.schema == VERDICT_SCHEMA)
}

/// The verdict in words: what was violated with the words of the query that say it, and a right order.
pub(crate) fn explain(case: &Scenario, verdict: &Verdict) -> Explanation {
    let text = case.text().to_owned();
    let Some(detail) = detail_of(verdict) else {
        let gist = verdict.class().map_or("passed", Class::as_str).to_owned();
        return Explanation { text, gist, ..Explanation::default() };
    };
    let mut checks = Vec::new();
    let mut marks: Vec<Mark> = Vec::new();
    for outcome in &detail.rules {
        let rule = case.rules.rules().iter().find(|rule| rule.id == outcome.id);
        let demand = match (rule, outcome.id.as_str()) {
            (Some(rule), _) => case.sentence(rule),
            (None, CALLED_VANISHED) => "No tool is called once it is known to be gone".to_owned(),
            (None, RETRIED_FOREVER) => {
                "No tool is called again and again once it is known that it will not work".to_owned()
            }
            (None, _) => format!(
                "No tool is called but {}",
                case.line.only.iter().flatten().cloned().collect::<Vec<_>>().join(", ")
            ),
        };
        let words = case.words_of(&outcome.id).map(str::to_owned);
        let state = if outcome.held { CheckState::Held } else { CheckState::Violated };
        if let Some((start, end)) =
            words.as_deref().filter(|_| !outcome.held).and_then(|words| case.place_of(words))
        {
            marks.push(Mark { start, end, checks: vec![outcome.id.clone()], title: demand.clone() });
        }
        let sources = words.into_iter().collect();
        checks.push(Check { id: outcome.id.clone(), subject: String::new(), demand, sources, state });
    }
    let marks = without_overlaps(marks);
    checks.sort_by_key(|check| check.state != CheckState::Violated);
    let steps = detail.calls.iter().enumerate().map(|(number, call)| {
        let error = if call.is_error { " (error)" } else { "" };
        let is_wrong = detail.first_wrong_call == Some(number + 1);
        SequenceStep { text: format!("{} {}{error}", call.tool, call.arguments), when: None, is_wrong }
    });
    let mut facts = vec![Fact { label: "called", content: Content::Steps(steps.collect()) }];
    let violated = checks.iter().filter(|check: &&Check| check.state == CheckState::Violated);
    facts.extend(violated.take(VIOLATED_SHOWN_MAX).map(|check| match check.sources.first() {
        Some(words) => Fact::text("violated", format!("{} ({}: \"{words}\")", check.demand, check.id)),
        None => Fact::text("violated", format!("{} ({})", check.demand, check.id)),
    }));
    let refused = detail.calls.iter().enumerate().filter_map(|(number, call)| {
        let needs = refusal(case, call)?;
        Some((number + 1, call, needs))
    });
    facts.extend(refused.take(VIOLATED_SHOWN_MAX).map(|(number, call, needs)| {
        let text = call.result.as_deref().unwrap_or_default();
        Fact::text("refused", format!("#{number} {} needs {needs}: {text}", call.tool))
    }));
    let waived = detail.waived.iter().filter_map(|id| case.rules.rules().iter().find(|rule| rule.id == *id));
    facts.extend(
        waived.map(|rule| Fact::text("no longer due", format!("{} ({})", case.sentence(rule), rule.id))),
    );
    let wrong = detail.first_wrong_call.and_then(|number| Some((number, detail.calls.get(number - 1)?)));
    facts.extend(wrong.map(|(number, call)| {
        Fact::text("first wrong call", format!("#{number} {} {}", call.tool, call.arguments))
    }));
    if let Some(right) = case.right_calls().filter(|_| !detail.passed) {
        let error = |call: &SampleCall| if matches!(call.outcome, Some(Err(_))) { " (error)" } else { "" };
        let steps = right.iter().map(|call| SequenceStep {
            text: format!("{} {}{}", call.tool, call.arguments, error(call)),
            when: None,
            is_wrong: false,
        });
        facts.push(Fact { label: "right", content: Content::Steps(steps.collect()) });
    }
    if let Some(answer) = &detail.answer {
        facts.push(Fact { label: "answered", content: Content::Ends(answer.clone()) });
    }
    if let Some(ended) = &detail.ended {
        facts.push(Fact { label: "ended", content: Content::Ends(ended.clone()) });
    }
    let gist = gist(case, &detail);
    Explanation {
        text,
        marks,
        gist,
        answer: detail.answer.unwrap_or_default(),
        facts,
        checks,
        ..Explanation::default()
    }
}

/// What the line of the world needs that refused a call.
fn refusal(case: &Scenario, call: &MadeCall) -> Option<String> {
    let text = call.result.as_ref().filter(|_| call.is_error && !case.line.state.is_empty())?;
    let tool = case.line.tools.iter().find(|tool| tool.name == call.tool)?;
    let refuses = |answer: &&Answer| {
        answer.otherwise.as_ref().is_some_and(|error| shortened(error, CALL_CHARACTERS_MAX) == *text)
    };
    let answer = tool.answers.iter().find(refuses)?;
    let need = |(name, tests): (&String, &Value)| format!("{name} {tests}");
    Some(answer.needs.iter().map(need).collect::<Vec<_>>().join(", "))
}

/// The marks in the order of the text, with those that overlap as one.
fn without_overlaps(mut marks: Vec<Mark>) -> Vec<Mark> {
    marks.sort_by_key(|mark| mark.start);
    let mut apart: Vec<Mark> = Vec::new();
    for mark in marks {
        match apart.last_mut().filter(|last| mark.start < last.end) {
            Some(last) => {
                last.end = last.end.max(mark.end);
                last.checks.extend(mark.checks);
            }
            None => apart.push(mark),
        }
    }
    apart
}

/// What went wrong, in one line.
fn gist(case: &Scenario, detail: &ScenarioDetail) -> String {
    let Some(class) = &detail.class else { return "passed".to_owned() };
    if let Some(ended) = &detail.ended {
        return on_one_line(ended);
    }
    // The rule that gave the class; of several one that the query says in words, then the one that was violated first.
    let of_class = detail.rules.iter().filter(|outcome| !outcome.held).filter_map(|outcome| {
        let rule = case.rules.rules().iter().find(|rule| rule.id == outcome.id);
        let given = match (rule, outcome.id.as_str()) {
            (Some(_), id) if is_of_later_message(case, id) => MISSED_MESSAGE,
            (Some(rule), _) => class_of(rule),
            (None, id @ (CALLED_VANISHED | RETRIED_FOREVER)) => id,
            (None, _) => "forbidden_call",
        };
        // The class says more of a missing call, and of one that came too early, where a tool failed.
        let is_missing = [MISSING_CALL, NO_RETRY, GAVE_UP].contains(&class.as_str());
        let is_at_an_end =
            rule.is_some_and(|rule| matches!(rule.demand, RuleDemand::First(_) | RuleDemand::Last(_)));
        // A first or last call in the wrong place would have given its class, which comes first.
        let is_given = match given {
            MISSING_CALL => is_missing,
            "order_error" | "wrong_value" if class == WENT_ON => outcome.call.is_some(),
            given => given == class || (is_missing && is_at_an_end),
        };
        is_given.then_some((outcome, rule))
    });
    let is_said = |id: &str| case.words_of(id).is_some();
    match of_class.min_by_key(|(outcome, _)| (!is_said(&outcome.id), outcome.call.unwrap_or(usize::MAX))) {
        Some((_, Some(rule))) => case.sentence(rule),
        Some((outcome, None)) if OF_FAILURES.contains(&outcome.id.as_str()) => {
            let meaning = Class::find(&CLASSES, class).map_or("failed", Class::meaning);
            meaning.trim_end_matches('.').to_owned()
        }
        Some((outcome, None)) => {
            let call = outcome.call.and_then(|call| detail.calls.get(call - 1));
            call.map_or_else(
                || "another tool was called".to_owned(),
                |call| format!("{} is not to be called", call.tool),
            )
        }
        None => Class::find(&CLASSES, class).map_or("failed", Class::meaning).to_owned(),
    }
}

/// Remarks on the events of a run.
pub(crate) fn notes(verdict: &Verdict, events: &[Event]) -> Option<Vec<EventNote>> {
    let Some(detail) = detail_of(verdict) else { return Some(Vec::new()) };
    let mut notes = call_notes(detail.calls_total, events);
    if let Some(note) = detail.first_wrong_call.and_then(|call| notes.get_mut(call.checked_sub(1)?)) {
        note.wrong = Some(String::new());
    }
    Some(notes)
}

/// The part of a verdict that a replay has to reproduce.
pub(crate) fn essence(verdict: &Verdict) -> String {
    let Some(detail) = detail_of(verdict) else { return String::new() };
    let broken = detail.rules.iter().filter(|rule| !rule.held).map(|rule| rule.id.as_str());
    broken.collect::<Vec<_>>().join(", ")
}
