//! From the events of a run to a verdict.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use planproof_measure::echo::outside_of_echo;
use planproof_plan::subtasks::Division;
use planproof_suite::runs::{Ended, KeptCall, on_one_line, shortened};
use planproof_suite::{
    AGENT_FAILED, Case, Class, FlagInfo, MISSING, Score, Scored, TIMEOUT, UNPARSED_CALL, Unscored, Verdict,
};
use planproof_tools::sql::Rows;
use planproof_trace::{Event, LimitKind};
use serde::{Deserialize, Serialize};

use crate::case::TptuCase;
use crate::evaluation::PaperEvaluation;
use crate::fault::{CLASSES, OutputFault, class_of};
use crate::plan::ComparedPlan;
use crate::question::{AnswerPart, ToolQuestion};
use crate::rows::is_near;
use crate::runs::{Call, Run};
use crate::statement::{in_blocks, in_words, last_number};
use crate::sub_task::RightPlan;
use crate::tables::execute;
use crate::tool::ToolName;
use crate::{answer, carried_out, plan, prompt, rows};

/// What verdicts name as their schema.
pub const VERDICT_SCHEMA: &str = "planproof/tptu-verdict/v1";
/// Precedes the value in answers to mathematical questions.
pub const ANSWER_LINE: &str = "Answer:";
/// Most characters of an agent's answer in a verdict: for a longer one the beginning and the end.
pub const ANSWER_CHARACTERS_MAX: usize = 2_000;
/// Most characters of the judged output, of a fault and of a call in a verdict.
pub const FOUND_CHARACTERS_MAX: usize = 500;
/// Most calls in a verdict. All are counted.
pub const CALLS_KEPT_MAX: usize = 100;
/// Most calls of a tool, its last ones, among which one is looked for that gave what is right. Statements are executed
/// again for this.
pub const CALLS_AGAIN_MAX: usize = 100;
/// Most faults that a verdict holds.
pub const FAULTS_MAX: usize = 50;

/// The relative tolerance between the value in an answer and that of the code: people round.
const ROUNDED_DISTANCE: f64 = 1e-3;

/// Name of the figure: the share of the right steps or parts, 0 to 1.
pub(crate) const SHARE_SCORE: &str = "right_share";
/// Name of the figure: how many calls the run made.
pub(crate) const CALLS_SCORE: &str = "calls";
/// The names of all figures.
pub(crate) const SCORE_NAMES: [&str; 2] = [SHARE_SCORE, CALLS_SCORE];

/// Name of the flag of runs with a sub-task that was judged by its words alone.
pub(crate) const BY_WORDS: &str = "by_words";
/// Name of the flag of runs of the one-step agent.
pub(crate) const ONE_STEP: &str = "one_step";
/// Name of the flag of runs of the sequential agent.
pub(crate) const SEQUENTIAL: &str = "sequential";
/// Name of the flag of runs of the hierarchical agent.
pub(crate) const HIERARCHICAL: &str = "hierarchical";

/// The flags, in the order in which they are shown.
pub(crate) static FLAGS: [FlagInfo; 8] = [
    FlagInfo { name: "tool_used", meaning: "A call of a tool was answered." },
    FlagInfo { name: "tool_error", meaning: "A call of a tool was refused or answered with an error." },
    FlagInfo { name: "repeated_call", meaning: "A call was made again that had been answered." },
    FlagInfo { name: "partly", meaning: "It is wrong, but a step or a part of it is right." },
    FlagInfo {
        name: BY_WORDS,
        meaning: "A sub-task was judged by its words alone: no call for it returned anything.",
    },
    FlagInfo { name: ONE_STEP, meaning: "The agent planned all sub-tasks at once (TPTU-OA)." },
    FlagInfo { name: SEQUENTIAL, meaning: "The agent planned one sub-task at a time (TPTU-SA)." },
    FlagInfo { name: HIERARCHICAL, meaning: "The agent planned groups, and their sub-tasks one at a time." },
];

/// The judge's whole result for a run: the document of a verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EvaluationDetail {
    /// [`VERDICT_SCHEMA`].
    pub schema: String,
    /// Id of the case.
    pub case: String,
    pub evaluation: PaperEvaluation,
    /// Whether it is right.
    pub passed: bool,
    /// The class of the failure; `None` when passed.
    pub class: Option<String>,
    /// All flags that apply.
    pub flags: Vec<String>,
    /// All faults, in the order of steps or parts.
    pub faults: Vec<OutputFault>,
    /// The steps, from 1, whose sub-task was judged by its words alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_words: Vec<usize>,
    /// The judged output: a plan, a statement, a value or an answer; empty if there is none.
    pub found: String,
    pub right: String,
    /// The agent's answer, of a long text both ends; `None` if it did not answer.
    pub answer: Option<String>,
    /// Why the run ended, unless the agent ended it by an answer.
    pub ended: Option<String>,
    /// The calls, the first [`CALLS_KEPT_MAX`] of them.
    pub calls: Vec<KeptCall>,
    /// How many calls there were.
    #[serde(deserialize_with = "planproof_trace::bounded::count")]
    pub calls_total: u64,
}

impl EvaluationDetail {
    /// The document of a verdict of this suite; `None` for that of another, or a broken one.
    pub fn of(verdict: &Verdict) -> Option<Self> {
        serde_json::from_str(&verdict.detail).ok().filter(|detail: &Self| detail.schema == VERDICT_SCHEMA)
    }
}

/// The judged output, and its faults.
#[derive(Default)]
struct Judged {
    found: String,
    faults: Vec<OutputFault>,
    by_words: Vec<usize>,
}

impl Judged {
    fn right(found: impl Into<String>) -> Self {
        Self { found: found.into(), ..Self::default() }
    }

    fn fault(found: impl Into<String>, fault: OutputFault) -> Self {
        Self { faults: vec![fault], ..Self::right(found) }
    }
}

/// Judges a run. Statements of answers are executed, on the database of the suite; nothing else is.
pub(crate) fn judge(case: &TptuCase, events: &[Event]) -> Result<Verdict, Unscored> {
    let run = Run::of(case, events)?;
    // What an agent repeats of our instructions is not its output.
    let instructions = prompt::instructions(case.evaluation());
    let judged = match run.ended.answer() {
        Some(text) => {
            let text = &outside_of_echo(text, &instructions);
            match case.evaluation() {
                it if it.is_planning() => of_plan(it, case.question(), &run, text, &instructions)?,
                it if it.is_sql() => of_statement(case.question(), &run, text)?,
                PaperEvaluation::MathCode => of_code(case.question(), &run, text),
                _ => of_answer(case.question(), &run, text)?,
            }
        }
        None => Judged::default(),
    };
    verdict(case, &run, judged)
}

/// For an agent that writes sub-tasks, the plan is the one it executed; else it is the answer, or the first turn that
/// is a plan: an agent that executes its plan answers with something else.
fn of_plan(
    evaluation: PaperEvaluation,
    question: &ToolQuestion,
    run: &Run<'_>,
    text: &str,
    instructions: &str,
) -> Result<Judged, Unscored> {
    if let Some(plan) = &run.plan {
        let (found, ComparedPlan { faults, by_words }) = carried_out::judge(evaluation, question, run, plan)?;
        return Ok(Judged { found, faults, by_words });
    }
    let turns: Vec<Cow<'_, str>> = run.turns.iter().map(|turn| outside_of_echo(turn, instructions)).collect();
    let turns: Vec<&str> = turns.iter().map(|turn| &**turn).collect();
    let read = match evaluation {
        // If no turn holds a pair, as in a prediction without turns, the answer is read below.
        PaperEvaluation::SequentialPairs if turns.iter().any(|turn| turn.contains('{')) => {
            plan::read(evaluation, &turns).map(|plan| (turns.join("\n"), plan))
        }
        _ => plan::read(evaluation, &[text]).map(|plan| (text.to_owned(), plan)).or_else(|fault| {
            let mut plans = turns.iter().filter_map(|turn| {
                plan::read(evaluation, &[*turn]).ok().map(|plan| ((*turn).to_owned(), plan))
            });
            plans.next().ok_or(fault)
        }),
    };
    Ok(match read {
        Ok((found, plan)) => {
            let ComparedPlan { faults, by_words } = plan::judge(&plan, &RightPlan::of(question)?)?;
            Judged { found, faults, by_words }
        }
        Err(fault) => Judged::fault(text, fault),
    })
}

/// Why there is nothing to run: another tool was called instead, or nothing was written.
fn nothing_to_run(run: &Run<'_>, tool: ToolName, wanted: &str) -> OutputFault {
    match run.calls.iter().find_map(|call| call.tool.filter(|other| *other != tool)) {
        Some(other) => {
            let (wanted, found) = (tool.title().to_owned(), other.title().to_owned());
            OutputFault::WrongTool { place: 1, wanted, found }
        }
        None => OutputFault::NothingToRun { wanted: wanted.to_owned() },
    }
}

/// The statement is that of the answer, or else of the last call. Outside of code blocks, a sentence may look like a
/// statement, so that one counts instead of a call only if it runs.
fn of_statement(question: &ToolQuestion, run: &Run<'_>, text: &str) -> Result<Judged, Unscored> {
    let called = run.calls_of(ToolName::Sql).next_back().and_then(|call| call.argument.as_deref());
    let (found, selected) = match (in_blocks(text), in_words(text), called) {
        (Some(found), _, _) | (None, Some(found), None) | (None, None, Some(found)) => {
            (found, execute(found)?)
        }
        (None, Some(words), Some(called)) => match execute(words)? {
            Ok(rows) => (words, Ok(rows)),
            Err(_) => (called, execute(called)?),
        },
        (None, None, None) => {
            return Ok(Judged::fault("", nothing_to_run(run, ToolName::Sql, "SQL statement")));
        }
    };
    let right = question.answer.first().map(AnswerPart::rows).unwrap_or_default();
    Ok(match selected {
        Err(what) => Judged::fault(found, OutputFault::DoesNotRun { what }),
        Ok(selected) => match rows::difference(&selected, &right, question.ordered, question.printed) {
            None => Judged::right(found),
            Some(what) => Judged::fault(found, OutputFault::WrongRows { what }),
        },
    })
}

/// The value is that of the last call of Python, and the answer has to repeat it.
fn of_code(question: &ToolQuestion, run: &Run<'_>, text: &str) -> Judged {
    let Some(call) = run.calls_of(ToolName::Python).next_back() else {
        return Judged::fault("", nothing_to_run(run, ToolName::Python, "call of the Python tool"));
    };
    let result = call.result.clone().unwrap_or_default();
    if !call.is_done() {
        return Judged::fault(call.text.clone(), OutputFault::DoesNotRun { what: on_one_line(&result) });
    }
    // The check of a question guarantees that this is a number.
    let Some(AnswerPart::Number(right)) = question.answer.first() else { return Judged::default() };
    let wrong = |found: String| OutputFault::WrongValue { wanted: right.to_string(), found };
    match last_number(&result) {
        Some(value) if is_near(value, *right, question.printed) => {}
        Some(value) => return Judged::fault(value.to_string(), wrong(value.to_string())),
        None => return Judged::fault(on_one_line(&result), wrong(on_one_line(&result))),
    }
    // The last label counts. Without any, the whole answer is searched.
    let answered = last_number(text.rsplit_once(ANSWER_LINE).map_or(text, |(_, value)| value));
    let is_rounded =
        |value: f64| is_near(value, *right, true) || (value - right).abs() <= ROUNDED_DISTANCE * right.abs();
    match answered {
        Some(value) if is_rounded(value) => Judged::right(value.to_string()),
        Some(value) => {
            let what = format!("{value} instead of {right}");
            Judged::fault(value.to_string(), OutputFault::Unused { part: 1, what })
        }
        None => Judged::fault("", OutputFault::MissingPart { part: 1 }),
    }
}

/// Every part of the answer has to be right; for a wrong one, the calls show whether its tool was called and had
/// returned the right value.
fn of_answer(question: &ToolQuestion, run: &Run<'_>, text: &str) -> Result<Judged, Unscored> {
    let items = match answer::items(text) {
        Ok(items) => items,
        Err(what) => return Ok(Judged::fault(text, OutputFault::NoList { what })),
    };
    let mut judged = Judged::right(serde_json::Value::from(items.clone()).to_string());
    let mut executed = Executed::default();
    for (index, right) in question.answer.iter().enumerate() {
        let part = index + 1;
        let Some(item) = items.get(index) else {
            judged.faults.push(OutputFault::MissingPart { part });
            continue;
        };
        let Some(what) = answer::difference(item, right, question.printed) else { continue };
        // The check of a question guarantees a step for every part.
        let Some(tool) = question.step_of(index).map(|step| step.tool) else { continue };
        let done = run.calls_of(tool).rev().filter(|call| call.is_done());
        let done: Vec<&Call> = done.take(CALLS_AGAIN_MAX).collect();
        let mut gave = false;
        for call in &done {
            // No further call is executed once one has given what is right.
            gave = gave || gives(call, tool, right, question.printed, &mut executed)?;
        }
        judged.faults.push(match (done.is_empty(), gave) {
            (true, _) => OutputFault::FromMemory { part, tool: tool.title().to_owned() },
            (false, true) => OutputFault::Unused { part, what },
            (false, false) => OutputFault::WrongPart { part, what },
        });
    }
    if items.len() > question.answer.len() {
        let wanted = "part of the answer".to_owned();
        judged.faults.push(OutputFault::WrongItem { place: question.answer.len() + 1, wanted });
    }
    // Detours on the way to a right answer are not faults.
    if !judged.faults.is_empty() {
        let causes = carried_out::causes(question, run)?;
        judged.faults.extend(causes.faults);
        judged.by_words = causes.by_words;
        judged.faults.extend(run.repeated().map(|(place, of)| OutputFault::Repeated { place, of }));
    }
    Ok(judged)
}

/// The rows of the statements that a verdict has executed, so that each is executed once for all parts of an answer.
#[derive(Default)]
struct Executed(HashMap<String, Result<Rows, String>>);

impl Executed {
    fn rows(&mut self, statement: &str) -> Result<&Result<Rows, String>, Unscored> {
        Ok(match self.0.entry(statement.to_owned()) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => place.insert(execute(statement)?),
        })
    }
}

/// Whether a call gave what is right.
fn gives(
    call: &Call,
    tool: ToolName,
    right: &AnswerPart,
    is_printed: bool,
    executed: &mut Executed,
) -> Result<bool, Unscored> {
    match (tool, right, &call.argument) {
        (ToolName::Sql, _, Some(statement)) => {
            // Executed again, because the trace has rows only as text.
            let selected = executed.rows(statement)?.as_ref();
            let right = right.rows();
            Ok(selected.is_ok_and(|rows| rows::difference(rows, &right, false, is_printed).is_none()))
        }
        (_, AnswerPart::Number(right), _) => {
            let value = call.result.as_deref().and_then(last_number);
            Ok(value.is_some_and(|value| is_near(value, *right, is_printed)))
        }
        _ => Ok(false),
    }
}

fn verdict(case: &TptuCase, run: &Run<'_>, judged: Judged) -> Result<Verdict, Unscored> {
    let Judged { found, mut faults, by_words } = judged;
    let class = match &run.ended {
        Ended::Answered(_) => class_of(&faults),
        Ended::CallAsText(_) => class_of(&faults).map(|_| UNPARSED_CALL),
        Ended::AtLimit(LimitKind::ReplyTokens, _) => run.ended.class(),
        // A limit that was reached by repetition is what the paper calls endless extension.
        Ended::AtLimit(..) => match carried_out::repetition(case.question(), run)? {
            Some(fault) => {
                faults.push(fault);
                class_of(&faults)
            }
            None => Some(TIMEOUT),
        },
        // If the agent broke at a reply that its model did not mend, the class is that of the last fault in that reply.
        Ended::Broken(reason) => match run.plan.as_ref().and_then(|plan| plan.broken_at) {
            Some(kind) => {
                let (kind, what) = (kind.as_str().to_owned(), on_one_line(reason));
                faults.push(OutputFault::NotMended { kind, what });
                class_of(&faults)
            }
            None => Some(AGENT_FAILED),
        },
    };
    let class = class.and_then(|name| Class::find(&CLASSES, name));
    // From all faults, before the list is cut.
    let share = right_share(case, &run.ended, &faults);
    let is_divided = |division| run.plan.as_ref().is_some_and(|plan| plan.division == division);
    let applies = |flag: &str| match flag {
        "tool_used" => run.calls.iter().any(Call::is_done),
        "tool_error" => run.calls.iter().any(|call| call.is_error),
        "repeated_call" => run.repeated().is_some(),
        BY_WORDS => !by_words.is_empty(),
        "partly" => class.is_some() && share > 0.0,
        ONE_STEP => is_divided(Division::AtOnce),
        SEQUENTIAL => is_divided(Division::OneByOne),
        HIERARCHICAL => is_divided(Division::Grouped),
        _ => false,
    };
    let flags: Vec<&'static str> = FLAGS.iter().map(|flag| flag.name).filter(|flag| applies(flag)).collect();
    faults.truncate(FAULTS_MAX);
    let short = |text: &str| shortened(text, FOUND_CHARACTERS_MAX);
    let called = |call: &Call| KeptCall {
        call: short(&call.text),
        result: call.result.as_deref().map(short),
        is_error: call.is_error,
    };
    let detail = EvaluationDetail {
        flags: flags.iter().map(ToString::to_string).collect(),
        faults,
        by_words,
        found: short(&found),
        answer: run.ended.answer().map(|text| shortened(text, ANSWER_CHARACTERS_MAX)),
        ended: run.ended.why(ANSWER_CHARACTERS_MAX),
        calls: run.calls.iter().take(CALLS_KEPT_MAX).map(called).collect(),
        calls_total: run.calls.len() as u64,
        ..of_nothing(case, class)
    };
    let scores = vec![Score::new(SHARE_SCORE, share), Score::new(CALLS_SCORE, run.calls.len() as f64)];
    Ok(Verdict::new(Scored { class, flags, scores }, &detail))
}

/// The verdict on a case for which there is no prediction.
pub(crate) fn missing(case: &TptuCase) -> Verdict {
    let class = Class::find(&CLASSES, MISSING);
    let scores = vec![Score::new(SHARE_SCORE, 0.0), Score::new(CALLS_SCORE, 0.0)];
    Verdict::new(Scored { class, flags: Vec::new(), scores }, &of_nothing(case, class))
}

/// The document of a verdict of this class on a run that did nothing.
fn of_nothing(case: &TptuCase, class: Option<Class>) -> EvaluationDetail {
    EvaluationDetail {
        schema: VERDICT_SCHEMA.to_owned(),
        case: case.card().id.clone(),
        evaluation: case.evaluation(),
        passed: class.is_none(),
        class: class.map(|class| class.as_str().to_owned()),
        flags: Vec::new(),
        faults: Vec::new(),
        by_words: Vec::new(),
        found: String::new(),
        right: shortened(&case.target(), ANSWER_CHARACTERS_MAX),
        answer: None,
        ended: None,
        calls: Vec::new(),
        calls_total: 0,
    }
}

/// The share of steps or parts without a fault.
fn right_share(case: &TptuCase, ended: &Ended<'_>, faults: &[OutputFault]) -> f64 {
    let question = case.question();
    let total = if case.evaluation().is_planning() { question.plan.len() } else { question.answer.len() };
    let is_whole = |fault: &OutputFault| fault.class() == "wrong_format";
    if ended.answer().is_none() || faults.iter().any(is_whole) {
        return 0.0;
    }
    // A fault about a step beyond the planned ones does not reduce the share.
    let wrong = faults
        .iter()
        .filter(|fault| !matches!(fault, OutputFault::ExtraStep { .. } | OutputFault::Repeated { .. }));
    total.saturating_sub(wrong.count()) as f64 / total.max(1) as f64
}
