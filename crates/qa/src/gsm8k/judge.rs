//! From the events of a run to a verdict.

use planproof_measure::echo::read_beside_echo;
use planproof_measure::numbers::{by_paper, by_strict};
use planproof_suite::{Class, MISSING, Score, Scored, Unscored, Verdict};
use planproof_trace::{Arguments, Event, ToolCall, paired_calls};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::problem::{ANSWER_FORM, WordProblem};
use super::{CLASSES, FLAGS, Scoring};
use planproof_suite::runs::{Ended, shortened};

/// The schema of a verdict's document.
pub const VERDICT_SCHEMA: &str = "planproof/gsm8k-verdict/v1";

/// Most characters of an agent's answer in a verdict: for a longer one the beginning and the end.
pub const ANSWER_CHARACTERS_MAX: usize = 2_000;

/// Most calls in a verdict. All are counted.
pub const CALLS_KEPT_MAX: usize = 100;

/// Most characters of a call's arguments, and of its answer, in a verdict.
pub const CALL_CHARACTERS_MAX: usize = 300;

/// Name of the figure: 1 if the answer is right by the strict rule, else 0.
pub(super) const STRICT_SCORE: &str = "strict";

/// Name of the figure: how many calls the run made.
pub(super) const CALLS_SCORE: &str = "calculator_calls";

/// The judge's whole result for a run: the document of a verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WordProblemDetail {
    /// [`VERDICT_SCHEMA`].
    pub schema: String,
    /// Id of the case.
    pub case: String,
    /// Whether the answer is right by the rule of the scoring.
    pub passed: bool,
    /// By which rule.
    #[serde(default = "Scoring::paper", skip_serializing_if = "Scoring::is_paper")]
    pub scoring: Scoring,
    /// The class of the failure; `None` when passed.
    pub class: Option<String>,
    /// All flags that apply.
    pub flags: Vec<String>,
    /// The right answer, without commas.
    pub gold: String,
    /// The number that the paper's rule finds in the answer.
    pub extracted: Option<String>,
    /// The number that the strict rule finds in the answer.
    pub extracted_strict: Option<String>,
    /// Whether the answer is right by the strict rule.
    pub strict: bool,
    /// The agent's answer, of a long text both ends; `None` if it did not answer.
    pub answer: Option<String>,
    /// Why the run ended, unless the agent ended it by an answer.
    pub ended: Option<String>,
    /// The calls, the first [`CALLS_KEPT_MAX`] of them.
    pub calls: Vec<CalculatorCall>,
    /// How many calls there were.
    #[serde(deserialize_with = "planproof_trace::bounded::count")]
    pub calls_total: u64,
}

/// A call of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CalculatorCall {
    /// The expression to be calculated; for a call without one, its tool and arguments.
    pub expression: String,
    /// Its answer; `None` if there is none.
    pub result: Option<String>,
    /// It was refused, or answered with an error.
    pub is_error: bool,
}

/// Judges a run of a problem.
pub(super) fn judge(problem: &WordProblem, events: &[Event]) -> Result<Verdict, Unscored> {
    let ended = Ended::of(problem, events)?;
    let calls = paired_calls(events).into_iter().map(|paired| CalculatorCall {
        expression: shortened(&expression(paired.call), CALL_CHARACTERS_MAX),
        result: paired.result.map(|(_, result)| shortened(&result.text, CALL_CHARACTERS_MAX)),
        is_error: paired.result.is_some_and(|(_, result)| result.is_error),
    });
    Ok(verdict(problem, Some(&ended), calls.collect()))
}

/// What a call is to calculate.
fn expression(call: &ToolCall) -> String {
    let given = call.arguments.as_object().and_then(|object| object.get("expression"));
    match (given, &call.arguments) {
        (Some(Value::String(text)), _) => text.clone(),
        (_, Arguments::Object(_) | Arguments::Malformed(_)) => {
            format!("{} {}", call.name, call.arguments.to_text())
        }
    }
}

/// The verdict on a run with these calls and this end; without an end, on a missing prediction.
pub(super) fn verdict(
    problem: &WordProblem,
    ended: Option<&Ended<'_>>,
    mut calls: Vec<CalculatorCall>,
) -> Verdict {
    let answer = ended.and_then(Ended::answer);
    // Always by both rules, because scores and flags compare them. What an agent repeats of our instruction is not its
    // answer; published code gave no such instruction, and looks at the whole text.
    let asked = if problem.is_original() { "" } else { ANSWER_FORM };
    let extracted = answer.and_then(|text| read_beside_echo(text, asked, by_paper));
    let extracted_strict = answer.and_then(|text| read_beside_echo(text, asked, by_strict));
    let right = problem.right();
    let strict = extracted_strict.as_deref().is_some_and(|found| right.is_by_strict(found));
    // The paper's rule finds 5 in `.5`, so that it rejects the right answer itself. The strict rule decides there.
    let is_legible = by_paper(right.as_str()).is_some_and(|itself| right.is_by_paper(&itself));
    let paper = extracted.as_deref().is_some_and(|found| right.is_by_paper(found))
        || (!is_legible && strict && !problem.is_original());
    let (passed, found) = match problem.scoring() {
        Scoring::Paper => (paper, &extracted),
        Scoring::Official => (strict, &extracted_strict),
    };
    let class = match ended {
        // Only an answer can pass, so the other ends below are failures.
        _ if passed => None,
        None => Some(MISSING),
        Some(ended) if ended.class().is_some() => ended.class(),
        _ if found.is_none() => Some("no_answer"),
        _ => Some("wrong_answer"),
    };
    let class = class.and_then(|name| Class::find(&CLASSES, name));
    let applies = |flag: &str| match flag {
        "calculator_used" => calls.iter().any(|call| call.result.is_some() && !call.is_error),
        "calculator_error" => calls.iter().any(|call| call.is_error),
        "paper_only" => paper && !strict,
        "strict_only" => strict && !paper,
        _ => false,
    };
    let flags: Vec<&'static str> = FLAGS.iter().map(|flag| flag.name).filter(|flag| applies(flag)).collect();
    let calls_total = calls.len();
    // Only now, because flags and numbers are about all calls.
    calls.truncate(CALLS_KEPT_MAX);
    let detail = WordProblemDetail {
        schema: VERDICT_SCHEMA.to_owned(),
        case: problem.id().to_owned(),
        passed,
        scoring: problem.scoring(),
        class: class.map(|class| class.as_str().to_owned()),
        flags: flags.iter().map(ToString::to_string).collect(),
        gold: right.as_str().to_owned(),
        extracted: extracted.map(|text| shortened(&text, CALL_CHARACTERS_MAX)),
        extracted_strict: extracted_strict.map(|text| shortened(&text, CALL_CHARACTERS_MAX)),
        strict,
        answer: answer.map(|text| shortened(text, ANSWER_CHARACTERS_MAX)),
        ended: ended.and_then(|ended| ended.why(ANSWER_CHARACTERS_MAX)),
        calls,
        calls_total: calls_total as u64,
    };
    let scores = vec![
        Score::new(STRICT_SCORE, f64::from(u8::from(strict))),
        Score::new(CALLS_SCORE, calls_total as f64),
    ];
    Verdict::new(Scored { class, flags, scores }, &detail)
}

impl WordProblemDetail {
    /// The document of a verdict of this suite; `None` for that of another, or a broken one.
    pub fn of(verdict: &Verdict) -> Option<Self> {
        serde_json::from_str(&verdict.detail).ok().filter(|detail: &Self| detail.schema == VERDICT_SCHEMA)
    }
}

#[cfg(test)]
mod tests {
    use planproof_suite::Case;
    use planproof_trace::notation::parse;

    use super::*;

    fn problem() -> WordProblem {
        WordProblem::new("p", "What is 3 times 6?", "<<3*6=18>>18", "18").unwrap()
    }

    fn judged(events: &str) -> Verdict {
        problem().judge(&parse(events).unwrap()).unwrap()
    }

    #[track_caller]
    fn check(events: &str, class: Option<&str>, flags: &[&str], strict: f64) {
        let verdict = judged(events);
        assert_eq!(verdict.class().map(Class::as_str), class, "{events}");
        assert_eq!(verdict.scored.flags, flags, "{events}");
        assert_eq!(verdict.scored.score(STRICT_SCORE), Some(strict), "{events}");
        let detail = WordProblemDetail::of(&verdict).unwrap();
        assert_eq!((detail.passed, detail.class.as_deref()), (class.is_none(), class));
        assert!(!verdict.detail.contains('\n'));
    }

    #[test]
    fn runs_are_judged_by_both_rules() {
        check(r#####"answer "#### 18""#####, None, &[], 1.0);
        check(r#"answer "It is 18.0.""#, None, &["paper_only"], 0.0);
        check(r#####"answer "#### 18/2""#####, Some("wrong_answer"), &["strict_only"], 1.0);
        check(r#####"answer "#### 17""#####, Some("wrong_answer"), &[], 0.0);
        check(r#"answer "Many.""#, Some("no_answer"), &[], 0.0);
        check("limit wall_ms 5", Some("timeout"), &[], 0.0);
        check("limit reply_tokens 5", Some("reply_limit"), &[], 0.0);
        let call = r#"answer "<function=calculator>{\"expression\": \"3*6\"}</function>""#;
        check(call, Some("unparsed_call"), &[], 0.0);
        // A text by a specification is not a call.
        check(&format!("spec cot chat | {call}"), Some("wrong_answer"), &[], 0.0);
        check(r#"failed "exit status 1 after 18""#, Some("agent_failed"), &[], 0.0);
    }

    #[test]
    fn the_right_answer_itself_is_right_by_both_rules() {
        for number in [".5", "-.5", "0.5", "14,500", "1,234.50", "-0", "7.", "-3", "1000000000000", "0.0001"]
        {
            let problem = WordProblem::new("p", "How much?", "", number).unwrap();
            for text in [format!("#### {number}"), format!("It is that.\n#### {number}\n")] {
                let ended = Ended::Answered(&text);
                let verdict = verdict(&problem, Some(&ended), Vec::new());
                assert!(verdict.passed() && !verdict.scored.has("paper_only"), "{text}");
                assert!(!verdict.scored.has("strict_only"), "{text}");
            }
        }
        // As published, the rule does not know it.
        let half = WordProblem::new("p", "How much?", "", ".5").unwrap().compared_originally(true);
        assert!(!verdict(&half, Some(&Ended::Answered("#### .5")), Vec::new()).passed());
        assert!(!verdict(&half.compared_originally(false), Some(&Ended::Answered("5")), Vec::new()).passed());
    }

    #[test]
    fn an_echo_of_the_instruction_is_no_answer_and_hides_none() {
        let answered = |text: &str| format!("answer {}", serde_json::Value::from(text));
        let echo = [ANSWER_FORM, "on the last line, as digits alone, without a unit:\n#### NUMBER"];
        for echo in echo {
            check(&answered(echo), Some("no_answer"), &[], 0.0);
            for right in ["#### 18", "The number is 18.\n#### 18"] {
                check(&answered(&format!("{echo}\n{right}")), None, &[], 1.0);
                check(&answered(&format!("{right}\n{echo}")), None, &[], 1.0);
            }
            check(&answered(&format!("It is 18. {echo}")), None, &["paper_only"], 0.0);
            check(&answered(&format!("#### 17 {echo}")), Some("wrong_answer"), &[], 0.0);
        }
        // The mark of the echo is that of the answer.
        check(
            &answered("Then write it on the last line, as digits alone, without a unit: #### 18"),
            None,
            &[],
            1.0,
        );
    }

    #[test]
    fn calls_are_counted_and_kept() {
        let events = r#####"call calculator {"expression":"3*6"} | ok "18" | call calculator {"expression":"3x6"} | err "cannot" |
            call calc malformed "3*6" | err "no such tool" | call calculator {"expression":"1"} | answer "#### 18""#####;
        check(events, None, &["calculator_used", "calculator_error"], 1.0);
        let detail = WordProblemDetail::of(&judged(events)).unwrap();
        assert_eq!(detail.calls_total, 4);
        let calls: Vec<_> = detail
            .calls
            .iter()
            .map(|it| (it.expression.as_str(), it.result.as_deref(), it.is_error))
            .collect();
        assert_eq!(
            calls,
            [
                ("3*6", Some("18"), false),
                ("3x6", Some("cannot"), true),
                ("calc 3*6", Some("no such tool"), true),
                ("1", None, false)
            ]
        );
        let many = format!("{}answer \"18\"", "call calculator | ok | ".repeat(CALLS_KEPT_MAX + 1));
        let detail = WordProblemDetail::of(&judged(&many)).unwrap();
        assert_eq!((detail.calls.len(), detail.calls_total), (CALLS_KEPT_MAX, CALLS_KEPT_MAX as u64 + 1));
    }

    #[test]
    fn runs_that_say_nothing_are_unscored() {
        let unscored = |events: &str| problem().judge(&parse(events).unwrap()).unwrap_err();
        assert_eq!(unscored(r#"unscored "gone""#), Unscored::Outside { reason: "gone".into() });
        assert_eq!(unscored(r#"say "18""#), Unscored::CutOff);
        assert_eq!(problem().judge(&[]), Err(Unscored::CutOff));
    }

    #[test]
    fn long_answers_keep_both_ends() {
        let text = format!("a{}18", "x".repeat(5_000));
        let verdict = judged(&format!("answer \"{text}\""));
        let answer = WordProblemDetail::of(&verdict).unwrap().answer.unwrap();
        assert_eq!(answer.chars().count(), ANSWER_CHARACTERS_MAX);
        assert!(verdict.passed() && answer.starts_with('a') && answer.ends_with("18"));
        assert_eq!(shortened("abcde", 4), "a…de");
    }
}
