//! From the events of a run to a verdict.

use std::sync::LazyLock;

use planproof_plan::{Plan, findings, read_json, read_python, to_line};
pub(crate) use planproof_suite::MISSING;
use planproof_suite::questions::{self, Question};
use planproof_suite::reference::is_of_reference;
use planproof_suite::runs::{Ended, shortened};
use planproof_suite::{Class, ClassInfo, FlagInfo, Score, Scored, TIMEOUT, Unscored, Verdict};
use planproof_trace::{EndReason, Event, EventKind, Usage};
use serde::{Deserialize, Serialize};

use crate::case::RequestCase;
use crate::compared::{self, Compared};
use crate::entailment::{self, JudgedValue, entailed};
use crate::evaluation::original::PredictionFormat;
use crate::evaluation::ours::steps_of;
use crate::evaluation::{CodeCorpus, LabelTally, same_tree};
use crate::prediction::{
    ExecutionStatus, PredictedPlan, ProgramWay, executed, faults, is_broken_run, predicted,
};
use crate::results::{self, RESULT_NAMES, ResultScores};

/// The schema of verdicts.
pub const VERDICT_SCHEMA: &str = "planproof/mnms-verdict/v1";

/// Maximum number of characters of an agent's answer, or of the reason why a run ended, that a verdict contains.
pub const TEXT_CHARACTERS_MAX: usize = 2_000;

/// Maximum number of steps of a plan that a verdict contains. All are counted.
pub const STEPS_KEPT_MAX: usize = 100;

/// Maximum number of characters of a step that a verdict contains.
pub const STEP_CHARACTERS_MAX: usize = 300;

/// The classes of failures, by precedence.
pub(crate) static CLASSES: [ClassInfo; 12] = [
    ClassInfo {
        name: TIMEOUT,
        meaning: "A limit of the run was reached before there was an answer.",
        rank: 0,
    },
    ClassInfo::reply_limit(1),
    ClassInfo::agent_failed(2),
    ClassInfo::unparsed_call(3),
    ClassInfo { name: MISSING, meaning: "A file of predictions has none for the case.", rank: 4 },
    ClassInfo {
        name: "no_plan",
        meaning: "There is neither a plan in the answer nor a call of a tool.",
        rank: 5,
    },
    ClassInfo { name: "unknown_tool", meaning: "A step calls a tool that does not exist.", rank: 6 },
    ClassInfo {
        name: "program_broken",
        meaning: "The program breaks before its end, whatever its tools return.",
        rank: 7,
    },
    ClassInfo {
        name: "wrong_tools",
        meaning: "The tools, or their order, are those of no right plan.",
        rank: 8,
    },
    ClassInfo {
        name: "wrong_arguments",
        meaning: "The tools are right, and a step has other arguments than its tool takes.",
        rank: 9,
    },
    ClassInfo {
        name: "wrong_flow",
        meaning: "Tools and names of arguments are right, and an argument lacks a result of an earlier step, or takes one that \
                  it should not.",
        rank: 10,
    },
    ClassInfo {
        name: "wrong_values",
        meaning: "All that comes from earlier steps is right, and a value that the request determines is another.",
        rank: 11,
    },
];

/// The flags, in display order.
pub(crate) static FLAGS: [FlagInfo; 5] = [
    FlagInfo { name: "alternative", meaning: "Another right plan than the first one is nearest." },
    FlagInfo {
        name: "other_values",
        meaning: "The plan is right, and words one of its values in another way than the right plan.",
    },
    FlagInfo { name: "not_executed", meaning: "The plan was not carried out to its end." },
    FlagInfo {
        name: "unsupported",
        meaning: "The program uses what the sandbox lacks, so that nothing is known of how it would fare.",
    },
    FlagInfo { name: "mended", meaning: "Something was found wrong, and the model wrote it again." },
];

/// Everything that the judge says about a run: the document of a verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanDetail {
    /// [`VERDICT_SCHEMA`].
    pub schema: String,
    /// Id of the case.
    pub case: String,
    /// Whether the plan is right.
    pub passed: bool,
    /// The class of the failure; `None` when passed.
    pub class: Option<String>,
    /// All flags that apply.
    pub flags: Vec<String>,
    /// The first [`STEPS_KEPT_MAX`] steps of the predicted plan in words; empty for a program that is more than a
    /// list of calls and was not carried out.
    pub steps: Vec<String>,
    /// The number of its steps.
    #[serde(deserialize_with = "planproof_trace::bounded::count")]
    pub steps_total: u64,
    /// The program, if the plan is one that is more than a list of calls.
    pub program: Option<String>,
    /// The agent's answer, shortened in the middle if it is long, if no plan could be parsed.
    pub answer: Option<String>,
    /// Why the run ended, if not with the agent's answer.
    pub ended: Option<String>,
    /// The result of executing the plan: `fine`, `faulty`, `unsupported`, `not` or `unknown`.
    pub executed: String,
    /// The number of the model's replies.
    #[serde(deserialize_with = "planproof_trace::bounded::count")]
    pub turns: u64,
    /// How often a reply could not be parsed, a plan did not fit the tools, and an execution failed.
    pub faults: [u32; 3],
    /// The judge model's answers about values that differ, if there was a judge.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub judged: Vec<JudgedValue>,
    /// How the steps of a program were found: `listed`, `carried_out` or `read`; `None` for a plan of another form, and
    /// in verdicts of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub way: Option<String>,
    /// How well the results of the run agree with those of the right plan, if that was carried out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub results: Option<ResultScores>,
}

/// Judges a run of a task.
pub(crate) fn judge(task: &RequestCase, events: &[Event]) -> Result<Verdict, Unscored> {
    // Questions to a judge model and the execution of the right plan are not the agent's work.
    let is_own = |event: &&Event| !questions::is_of_judge(event) && !is_of_reference(event);
    let own: Vec<Event> = events.iter().filter(is_own).cloned().collect();
    let ended = Ended::of(task, &own)?;
    let answers = questions::answers(events);
    let results = results::recorded(events);
    let events = &own[..];
    let found = predicted(events, ended.answer().unwrap_or_default());
    let run = Run {
        answer: ended.answer(),
        ended: ended.why(TEXT_CHARACTERS_MAX),
        class: ended.class(),
        executed: executed(events),
        is_broken: match &found {
            Some(PredictedPlan::Program(text)) => is_broken_run(text, events),
            _ => false,
        },
        faults: [findings::PARSING, findings::VERIFICATION, findings::EXECUTION]
            .map(|state| faults(events, state)),
        turns: events.iter().filter(|event| matches!(event.kind, EventKind::Turn { .. })).count() as u64,
        usage: usage(events),
        results,
    };
    let found = found.as_ref().filter(|found| !found.is_empty());
    let compared = compared::compare(task, found, true).compared;
    // A trace without answers does not show whether there was a judge.
    let entailed = found
        .filter(|_| !answers.is_empty())
        .map(|found| entailed(task, found, compared.alternative, (&answers, "")));
    let verdict = verdict(task, found, &compared.with(entailed), &run);
    // Reading a program is a guess. One that reads right is right; of another nobody knows what it would have done.
    let is_guess =
        run.executed == ExecutionStatus::Unsupported && matches!(found, Some(PredictedPlan::Program(_)));
    if is_guess && !verdict.passed() && run.ended.is_none() {
        let reason = "the sandbox lacks what the program uses, so what it does is not known".to_owned();
        return Err(Unscored::Outside { reason });
    }
    Ok(verdict)
}

/// The right plan that the plan of a run with these events has most in common with; `None` if the run has no plan.
pub(crate) fn nearest_plan(task: &RequestCase, events: &[Event]) -> Option<Plan> {
    let found = predicted(events, "").filter(|found| !found.is_empty());
    task.right_plan_at(
        found.map_or(0, |found| compared::compare(task, Some(&found), true).compared.alternative),
    )
}

/// The questions for a judge model about a run with these events and this end.
pub(crate) fn questions(task: &RequestCase, events: &[Event], end: &EndReason) -> Vec<Question> {
    let answer = match end {
        EndReason::Answered { text } => text.as_str(),
        _ => "",
    };
    let Some(found) = predicted(events, answer).filter(|found| !found.is_empty()) else { return Vec::new() };
    let alternative = compared::compare(task, Some(&found), true).compared.alternative;
    entailment::questions(task, &found, alternative, "")
}

fn usage(events: &[Event]) -> Usage {
    let mut total = Usage::default();
    for event in events {
        if let EventKind::Turn { usage, .. } = event.kind {
            total += usage;
        }
    }
    total
}

/// The properties of a run besides its plan.
pub(crate) struct Run<'a> {
    pub(crate) answer: Option<&'a str>,
    pub(crate) ended: Option<String>,
    /// The name of the class that follows from how the run ended, or would if there is no plan.
    pub(crate) class: Option<&'static str>,
    pub(crate) executed: ExecutionStatus,
    /// Whether it is a program that breaks whatever its tools return.
    pub(crate) is_broken: bool,
    pub(crate) faults: [u32; 3],
    pub(crate) turns: u64,
    pub(crate) usage: Usage,
    /// How well its results agree with those of the right plan, if that was carried out.
    pub(crate) results: Option<ResultScores>,
}

/// The verdict on a predicted plan with this comparison.
pub(crate) fn verdict(
    task: &RequestCase,
    found: Option<&PredictedPlan>,
    compared: &Compared,
    run: &Run<'_>,
) -> Verdict {
    let found = found.filter(|found| !found.is_empty());
    // A judge model is asked only about values that take the right results.
    let says_same = compared.entailed.as_ref().is_some_and(|entailed| entailed.plan);
    let values_right = compared.meaning.values || says_same;
    let is_right = compared.argnames_right && compared.meaning.flow && values_right;
    let passed = run.ended.is_none() && is_right && !run.is_broken;
    let class = match found {
        _ if passed => None,
        _ if run.ended.is_some() => run.class,
        None => run.class.or(Some("no_plan")),
        Some(_) if compared.has_unknown_tool => Some("unknown_tool"),
        Some(_) if run.is_broken => Some("program_broken"),
        Some(_) if !compared.tools_right => Some("wrong_tools"),
        Some(_) if !compared.argnames_right => Some("wrong_arguments"),
        Some(_) if !compared.meaning.flow => Some("wrong_flow"),
        Some(_) => Some("wrong_values"),
    };
    let class = class.and_then(|name| Class::find(&CLASSES, name));
    let applies = |flag: &str| match flag {
        "alternative" => compared.alternative > 0,
        "other_values" => passed && !compared.argvalues_right,
        "not_executed" => matches!(run.executed, ExecutionStatus::Faulty | ExecutionStatus::Not),
        "unsupported" => run.executed == ExecutionStatus::Unsupported,
        "mended" => run.faults.iter().any(|count| *count > 0),
        _ => false,
    };
    let flags: Vec<&'static str> = FLAGS.iter().map(|flag| flag.name).filter(|flag| applies(flag)).collect();
    // A program that is a mere list of calls is shown as steps, like a list of nodes.
    let (plan, program) = match found {
        None => (None, None),
        Some(PredictedPlan::Nodes(nodes)) => (read_json(&nodes.to_string()).ok(), None),
        Some(PredictedPlan::Program(text)) => match read_python(text) {
            Ok(program) if program.plan.is_some() => (program.plan, None),
            _ => (None, Some(shortened(text, TEXT_CHARACTERS_MAX))),
        },
        Some(PredictedPlan::Calls(made)) => {
            let right = steps_of(&compared::right_plan(task, compared.alternative), PredictionFormat::Json).0;
            let program = made.program.as_deref().map(|text| shortened(text, TEXT_CHARACTERS_MAX));
            (read_json(&made.nodes(Some(&right)).to_string()).ok(), program)
        }
    };
    let plan = plan.unwrap_or_default();
    let detail = PlanDetail {
        schema: VERDICT_SCHEMA.to_owned(),
        case: task.id().to_owned(),
        passed,
        class: class.map(|class| class.as_str().to_owned()),
        flags: flags.iter().map(ToString::to_string).collect(),
        steps: steps(&plan),
        steps_total: plan.steps.len() as u64,
        program,
        answer: match (found, run.answer) {
            (None, Some(answer)) => Some(shortened(answer, TEXT_CHARACTERS_MAX)),
            _ => None,
        },
        ended: run.ended.clone(),
        executed: match run.executed {
            ExecutionStatus::Fine => findings::FINE,
            ExecutionStatus::Faulty => findings::FAULTY,
            ExecutionStatus::Unsupported => findings::UNSUPPORTED,
            ExecutionStatus::Not => "not",
            ExecutionStatus::Unknown => "unknown",
        }
        .to_owned(),
        turns: run.turns,
        faults: run.faults,
        judged: compared.entailed.as_ref().map(|it| it.judged.clone()).unwrap_or_default(),
        way: found.and_then(PredictedPlan::way).map(|way| way.name().to_owned()),
        results: run.results,
    };
    let scores = scores(compared, run)
        .into_iter()
        .chain(code_scores(task, found))
        .chain(gains(compared))
        .chain(entailed_scores(compared))
        .chain(found.and_then(PredictedPlan::way).map(|way| Score::new(way_score(way), 1.0)))
        .chain(run.results.iter().flat_map(ResultScores::named))
        .collect();
    Verdict::new(Scored { class, flags, scores }, &detail)
}

/// Each step of a plan as a line of a program.
fn steps(plan: &Plan) -> Vec<String> {
    let kept = plan.steps.iter().take(STEPS_KEPT_MAX);
    kept.map(|step| shortened(&to_line(step), STEP_CHARACTERS_MAX)).collect()
}

/// The names of all scores in verdicts.
pub(crate) static SCORE_NAMES: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    [
        &compared::NAMES[..],
        &RUN_NAMES,
        &CODE_NAMES,
        &GAIN_NAMES,
        &ENTAILED_NAMES,
        &PREDICTION_NAMES,
        &WAY_NAMES,
        &RESULT_NAMES,
    ]
    .concat()
});

/// The counts of a run besides its plan.
const RUN_NAMES: [&str; 8] = [
    "executed",
    "unsupported",
    "turns",
    "input_tokens",
    "output_tokens",
    "parsing_faults",
    "verification_faults",
    "execution_faults",
];

/// How similar a predicted program is to the right one, if the data has one.
pub(crate) const CODE_NAMES: [&str; 2] = ["ast_equal", "codebleu"];

/// What is right only by an alternative plan.
pub(crate) const GAIN_NAMES: [&str; 2] = ["plan_tool_gain", "plan_argname_gain"];

/// The properties of a finished prediction: it is missing, it is not a plan, part of it is not a step; and whether
/// there is an execution log.
pub(crate) const PREDICTION_NAMES: [&str; 4] =
    ["prediction_missing", "prediction_unreadable", "prediction_malformed", "execution_logged"];

/// How the steps of a program were found, as scores: one of them is 1 for each program.
pub(crate) const WAY_NAMES: [&str; 3] = ["program_listed", "program_carried_out", "program_read"];

fn way_score(way: ProgramWay) -> &'static str {
    let [listed, carried_out, read] = WAY_NAMES;
    match way {
        ProgramWay::Listed => listed,
        ProgramWay::CarriedOut => carried_out,
        ProgramWay::Read => read,
    }
}

/// The scores with a judge model, in the runs for which it was asked: how many values it judged, and the counts if
/// values that mean the same count as equal.
pub(crate) const ENTAILED_NAMES: [&str; 5] = [
    "values_judged",
    "argvalue_entailed_right",
    "argvalue_entailed_extra",
    "argvalue_entailed_missing",
    "plan_argvalue_entailed",
];

fn gains(compared: &Compared) -> impl Iterator<Item = Score> {
    let values = compared.gained.map(|gained| f64::from(u8::from(gained)));
    GAIN_NAMES.into_iter().zip(values).map(|(name, value)| Score::new(name, value))
}

fn entailed_scores(compared: &Compared) -> impl Iterator<Item = Score> {
    let values = compared.entailed.as_ref().map(|entailed| {
        let LabelTally { right, extra, missing } = entailed.argvalue;
        let plan = u64::from(entailed.plan);
        [entailed.judged.len() as u64, right, extra, missing, plan].map(|value| value as f64)
    });
    let named = values.into_iter().flat_map(|values| ENTAILED_NAMES.into_iter().zip(values));
    named.map(|(name, value)| Score::new(name, value))
}

fn code_scores(task: &RequestCase, found: Option<&PredictedPlan>) -> impl Iterator<Item = Score> {
    let program = match found {
        Some(PredictedPlan::Program(text)) => Some(text),
        Some(PredictedPlan::Calls(made)) => made.program.as_ref(),
        Some(PredictedPlan::Nodes(_)) | None => None,
    };
    let values = match program {
        Some(text) if !task.code().is_empty() => {
            let mut corpus = CodeCorpus::default();
            corpus.add(text, task.code());
            let is_equal = f64::from(u8::from(same_tree(text, task.code())));
            corpus.likeness().map(|likeness| [is_equal, likeness.score()])
        }
        _ => None,
    };
    values
        .into_iter()
        .flat_map(|values| CODE_NAMES.into_iter().zip(values))
        .map(|(name, value)| Score::new(name, value))
}

fn scores(compared: &Compared, run: &Run<'_>) -> Vec<Score> {
    let [parsing, verification, execution] = run.faults.map(f64::from);
    let of_run = [
        f64::from(u8::from(run.executed == ExecutionStatus::Fine)),
        f64::from(u8::from(run.executed == ExecutionStatus::Unsupported)),
        run.turns as f64,
        run.usage.input_tokens as f64,
        run.usage.output_tokens as f64,
        parsing,
        verification,
        execution,
    ];
    let of_plan = compared::NAMES.into_iter().zip(compared.values);
    of_plan.chain(RUN_NAMES.into_iter().zip(of_run)).map(|(name, value)| Score::new(name, value)).collect()
}

impl PlanDetail {
    /// Parses the document of a verdict of this suite; `None` if the verdict is of another suite or malformed.
    pub fn of(verdict: &Verdict) -> Option<Self> {
        serde_json::from_str(&verdict.detail).ok().filter(|detail: &Self| detail.schema == VERDICT_SCHEMA)
    }

    /// The parsed plan, in one line.
    pub fn plan_in_words(&self) -> String {
        match &self.program {
            Some(program) => program.split_whitespace().collect::<Vec<_>>().join(" "),
            None => self.steps.join("; "),
        }
    }
}
