//! Scores finished predictions without a model.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use planproof_plan::{findings, read_python};
use planproof_suite::questions::Question;
use planproof_suite::{
    Card, Case, CaseError, CaseSelection, Class, ClassInfo, Columns, Data, FlagInfo, Judged, Metric,
    PredictionExtras, PredictionVerdicts as Judgements, Score, Section, SizeUnit, Suite,
};
use planproof_trace::Usage;

use crate::case::{RequestCase, data_number};
use crate::compared::{self, Compared, Comparison};
use crate::entailment::{self, entailed};
use crate::evaluation::original::PredictionFormat;
use crate::evaluation::ours::right::ArgumentsRight;
use crate::evaluation::{ScoredPlan, Scorer, ScoringRules, ScoringSettings};
use crate::examples::{CorpusError, RequestExample};
use crate::figures;
use crate::judge::{MISSING, PREDICTION_NAMES, Run, verdict};
use crate::literal::Literal;
use crate::prediction::{ExecutionStatus, PredictedPlan, is_broken, made_by};
use crate::predictions::{ExecutionResult, PlanPrediction, pair_with, read_executions, read_predictions};
use crate::pretend::PretendTools;
use crate::suite::{Mnms, ProgramRun, RunProgram};

/// The options accepted by [`settings`], each with its values.
const OPTIONS: &str = "format (json or code), compat (original) and alternatives (yes or no)";

/// Maximum number of ids that an error names.
const NAMED_MAX: usize = 10;

/// The settings for options with these names and values.
///
/// # Errors
/// There is no such option, or it has no such value.
pub(crate) fn settings(options: &[(&str, &str)]) -> Result<ScoringSettings, CaseError> {
    let mut settings = ScoringSettings::default();
    let mut with_alternatives = None;
    for (name, value) in options {
        match (*name, *value) {
            ("format", "json") => settings.format = PredictionFormat::Json,
            ("format", "code") => settings.format = PredictionFormat::Code,
            ("compat", "original") => settings.mode = ScoringRules::Original,
            ("alternatives", "yes") => with_alternatives = Some(true),
            ("alternatives", "no") => with_alternatives = Some(false),
            _ => {
                let what =
                    format!("predictions of mnms cannot be scored with {name}={value}; there is {OPTIONS}");
                return Err(CaseError::new(what));
            }
        }
    }
    // By our rules every right plan counts; the published evaluator counts only the first unless asked otherwise.
    settings.with_alternatives = with_alternatives.unwrap_or(settings.mode == ScoringRules::Ours);
    Ok(settings)
}

/// The suite with other settings for scoring predictions. Otherwise it equals [`Mnms`].
#[derive(Clone)]
pub(crate) struct Scoring {
    pub(crate) settings: ScoringSettings,
    /// Carries out programs; without it they are read.
    pub(crate) programs: Option<RunProgram>,
}

impl Suite for Scoring {
    fn score(&self, cases: &[Arc<dyn Case>], predictions: Data<'_>) -> Result<Judgements, CaseError> {
        score(cases, predictions, self, &PredictionExtras::default())
    }

    fn score_with(
        &self,
        cases: &[Arc<dyn Case>],
        predictions: Data<'_>,
        evidence: &PredictionExtras<'_>,
    ) -> Result<Judgements, CaseError> {
        score(cases, predictions, self, evidence)
    }

    fn questions(&self, cases: &[Arc<dyn Case>], predictions: Data<'_>) -> Result<Vec<Question>, CaseError> {
        questions(cases, predictions, self)
    }

    fn metrics(&self, runs: &[Judged<'_>]) -> Vec<Metric> {
        // Files of predictions may omit how the predictions were made, and never contain results of executions.
        let is_logged =
            runs.iter().any(|run| run.scored.and_then(|it| it.score(PREDICTION_NAMES[3])).is_some());
        let is_known = |metric: &Metric| match metric.name {
            "executed" => is_logged,
            _ => metric.is_share || metric.value != Some(0.0),
        };
        figures::metrics(runs, self.settings.mode).into_iter().filter(is_known).collect()
    }

    fn sections(&self, runs: &[Judged<'_>], _planned: &[Card], _repeats: u32) -> Vec<Section> {
        let sections = figures::sections(runs, self.settings.mode).into_iter();
        // The published evaluator reads programs in a way of its own.
        let ways = figures::ways(runs).filter(|_| self.settings.mode == ScoringRules::Ours);
        figures::written(runs)
            .into_iter()
            .chain(ways)
            // Finished predictions had no feedback from us, so its counts would all be 0.
            .chain(sections.filter(|section| section.key != "feedback"))
            .collect()
    }

    fn name(&self) -> &'static str {
        Mnms::default().name()
    }

    fn about(&self) -> &'static str {
        Mnms::default().about()
    }

    fn read(&self, line: &str) -> Result<Arc<dyn Case>, CaseError> {
        Mnms::default().read(line)
    }

    fn load(
        &self,
        data: Option<Data<'_>>,
        selection: &CaseSelection,
        limit: Option<usize>,
    ) -> Result<Vec<Arc<dyn Case>>, CaseError> {
        Mnms::default().load(data, selection, limit)
    }

    fn classes(&self) -> &'static [ClassInfo] {
        Mnms::default().classes()
    }

    fn flags(&self) -> &'static [FlagInfo] {
        Mnms::default().flags()
    }

    fn can_occur(&self, class: Class, cards: &mut dyn Iterator<Item = &Card>) -> bool {
        class.as_str() == MISSING || Mnms::default().can_occur(class, cards)
    }

    fn unit(&self) -> SizeUnit {
        Mnms::default().unit()
    }

    fn score_names(&self) -> &'static [&'static str] {
        Mnms::default().score_names()
    }

    fn columns(&self) -> Columns {
        Mnms::default().columns()
    }
}

/// The input for scoring: the ids of the cases as numbers, and the prediction for each. Cases are parsed one at a
/// time, so that only one at a time takes the memory of its values.
struct Read {
    ids: Vec<i64>,
    predictions: Vec<Option<PlanPrediction>>,
}

/// Parses lines of `{"id": 5, "prediction": ...}`, where the id is the number in the data and the prediction a list
/// of nodes or a program.
///
/// # Errors
/// They cannot be parsed or belong to other cases; or the published evaluator's rules apply and a case has no
/// prediction, on which it fails.
fn read(
    cases: &[Arc<dyn Case>],
    predictions: Data<'_>,
    settings: ScoringSettings,
) -> Result<Read, CaseError> {
    let number = |case: &Arc<dyn Case>| {
        let id = &case.card().id;
        let what = || format!("predictions are for numbers, and the case {id} has none in its id");
        data_number(id).ok_or_else(|| CaseError::new(what()))
    };
    let ids = cases.iter().map(number).collect::<Result<Vec<i64>, _>>()?;
    let Data { text, file } = predictions;
    let paired = pair_with(&ids, read_predictions(text, file).map_err(|error| refuse(&error))?, file)
        .map_err(|error| refuse(&error))?;
    if settings.mode == ScoringRules::Original && !paired.missing.is_empty() {
        let named: Vec<String> = paired.missing.iter().take(NAMED_MAX).map(i64::to_string).collect();
        let more = if paired.missing.len() > NAMED_MAX { ", ..." } else { "" };
        let what = format!(
            "{file}: {} of the cases have no prediction, on which the published evaluator fails: {}{more}; leave out \
             `--compat original`, or predict them",
            paired.missing.len(),
            named.join(", ")
        );
        return Err(CaseError::new(what));
    }
    Ok(Read { ids, predictions: paired.predictions })
}

fn refuse(error: &CorpusError) -> CaseError {
    CaseError::new(error.to_string())
}

/// Scores a prediction by the rules of the published evaluator, by which right names of arguments make a right plan; a
/// missing one is not a plan.
fn scored(
    scorer: &mut Scorer,
    example: &RequestExample,
    prediction: Option<&PlanPrediction>,
    file: &str,
) -> Result<Comparison, CaseError> {
    let content = prediction.map_or(&Literal::None, |prediction| &prediction.content);
    let fails = |raised| {
        let what =
            format!("{file}: the published evaluator fails on the prediction for {}: {raised}", example.id);
        CaseError::new(what)
    };
    let gold = scorer.gold(example).map_err(fails)?;
    let ScoredPlan { counts, first, matched, steps, is_malformed } =
        scorer.score(content, &gold).map_err(fails)?;
    let meaning = ArgumentsRight { flow: true, values: true };
    Ok(Comparison { compared: Compared::of(&counts, &first, matched, meaning), steps, is_malformed })
}

/// The prefix of the keys of questions about the prediction for a task.
fn key_of(task: &RequestCase) -> String {
    format!("{}: ", task.id())
}

/// The questions for a judge model about predictions. Only our rules accept values in other words.
///
/// # Errors
/// They cannot be parsed or belong to other cases, or the published evaluator's rules apply, which use no model.
pub(crate) fn questions(
    cases: &[Arc<dyn Case>],
    predictions: Data<'_>,
    scoring: &Scoring,
) -> Result<Vec<Question>, CaseError> {
    let settings = scoring.settings;
    if settings.mode == ScoringRules::Original {
        return Err(CaseError::new(
            "the published evaluator asks no judge model; leave out `--compat original` or the judge",
        ));
    }
    let Read { predictions: all, .. } = read(cases, predictions, settings)?;
    let mut questions = Vec::new();
    for (case, prediction) in cases.iter().zip(&all) {
        let Some(prediction) = prediction else { continue };
        // The engine passes cases as `dyn Case`, so the typed case has to be read back from its line.
        let task = RequestCase::read(&case.to_line())?;
        let (found, _) = scoring.found(&prediction.content)?;
        let alternative =
            compared::compare(&task, Some(&found), settings.with_alternatives).compared.alternative;
        questions.extend(entailment::questions(&task, &found, alternative, &key_of(&task)));
    }
    Ok(questions)
}

/// Scores predictions.
///
/// # Errors
/// They or the log cannot be parsed or belong to other cases, or the published evaluator's rules apply and it
/// fails.
pub(crate) fn score(
    cases: &[Arc<dyn Case>],
    predictions: Data<'_>,
    scoring: &Scoring,
    evidence: &PredictionExtras<'_>,
) -> Result<Judgements, CaseError> {
    let settings = scoring.settings;
    let Read { ids, predictions: all } = read(cases, predictions, settings)?;
    let log = evidence.log.map(|log| executions(&ids, log)).transpose()?;
    let mut scorer = Scorer::new(settings);
    let (mut verdicts, mut missing) = (Vec::with_capacity(cases.len()), Vec::new());
    for ((case, id), prediction) in cases.iter().zip(ids).zip(all) {
        let task = &RequestCase::read(&case.to_line())?;
        let read = prediction.as_ref().map(|prediction| scoring.found(&prediction.content)).transpose()?;
        let (found, execution) = read.unzip();
        let Comparison { compared, steps, is_malformed } = match settings.mode {
            ScoringRules::Ours => compared::compare(task, found.as_ref(), settings.with_alternatives),
            ScoringRules::Original => {
                scored(&mut scorer, &example(task, id), prediction.as_ref(), predictions.file)?
            }
        };
        let entailed = found
            .as_ref()
            // Without a judge, values in other words stay wrong.
            .zip(evidence.answers.as_ref())
            .map(|(found, answers)| entailed(task, found, compared.alternative, (answers, &key_of(task))));
        let compared = compared.with(entailed);
        let entry = log.as_ref().and_then(|log| log.get(&id).copied());
        let Execution { status, is_broken } = execution.unwrap_or_default();
        let run = Run { executed: entry.unwrap_or(status), is_broken, ..run(prediction.as_ref()) };
        let mut verdict = verdict(task, found.as_ref(), &compared, &run);
        // For the report on predictions that are not whole. A malformed
        // one is still judged by the steps that could be read.
        let written = match &prediction {
            None => Some(PREDICTION_NAMES[0]),
            Some(_) if is_malformed && steps == 0 => Some(PREDICTION_NAMES[1]),
            Some(_) if is_malformed => Some(PREDICTION_NAMES[2]),
            Some(_) => None,
        };
        let logged = log.is_some().then_some(PREDICTION_NAMES[3]);
        verdict.scored.scores.extend(written.into_iter().chain(logged).map(|name| Score::new(name, 1.0)));
        if prediction.is_none() {
            missing.push(task.id().to_owned());
        }
        verdicts.push(verdict);
    }
    Ok(Judgements { verdicts, missing })
}

/// The result of executing each prediction, by number in the data. A prediction that is not in the log was not
/// executed.
fn executions(ids: &[i64], log: Data<'_>) -> Result<HashMap<i64, ExecutionStatus>, CaseError> {
    let Data { text, file } = log;
    let known: HashSet<i64> = ids.iter().copied().collect();
    let mut all = HashMap::new();
    for ExecutionResult { id, passed, .. } in read_executions(text, file).map_err(|error| refuse(&error))? {
        if !known.contains(&id) {
            let what = format!("{file}: there is an execution for {id}, which the data does not have");
            return Err(CaseError::new(what));
        }
        all.insert(id, if passed { ExecutionStatus::Fine } else { ExecutionStatus::Faulty });
    }
    Ok(all)
}

/// A task in the form of the published data.
fn example(task: &RequestCase, id: i64) -> RequestExample {
    let (plan, alternatives) = task.right_plans();
    let (request, code) = (task.request().to_owned(), task.code().to_owned());
    RequestExample { id, request, plan, code, alternatives: Some(alternatives) }
}

impl Scoring {
    /// A prediction in the form that runs use. By our rules, a program that is more than a list of calls is carried out
    /// with the simulated tools, if it can be.
    ///
    /// # Errors
    /// No program can be carried out here.
    fn found(&self, content: &Literal) -> Result<(PredictedPlan, Execution), CaseError> {
        let (Literal::Text(text), PredictionFormat::Code) = (content, self.settings.format) else {
            return Ok((PredictedPlan::Nodes(content.to_json()), Execution::default()));
        };
        let read = PredictedPlan::Program(text.clone());
        let program = read_python(text).ok().filter(|program| program.plan.is_none());
        let (ScoringRules::Ours, Some(run), Some(program)) = (self.settings.mode, &self.programs, program)
        else {
            return Ok((read, Execution::default()));
        };
        let ProgramRun { note, how, events } = run(&program.text, Arc::new(PretendTools))?;
        Ok(match note {
            findings::FINE => {
                let made = made_by(text, &events, |_| true);
                (PredictedPlan::Calls(made), Execution { status: ExecutionStatus::Fine, is_broken: false })
            }
            findings::UNSUPPORTED => {
                (read, Execution { status: ExecutionStatus::Unsupported, is_broken: false })
            }
            _ => {
                let is_broken = is_broken(&program.text, &how, &events);
                (read, Execution { status: ExecutionStatus::Faulty, is_broken })
            }
        })
    }
}

/// What is known of the execution of a finished prediction.
#[derive(Clone, Copy)]
struct Execution {
    status: ExecutionStatus,
    is_broken: bool,
}

impl Default for Execution {
    fn default() -> Self {
        Self { status: ExecutionStatus::Unknown, is_broken: false }
    }
}

/// What a file says about how a prediction was made.
fn run(prediction: Option<&PlanPrediction>) -> Run<'static> {
    let tokens = prediction.and_then(|prediction| prediction.tokens).unwrap_or_default();
    Run {
        answer: None,
        ended: None,
        class: prediction.is_none().then_some(MISSING),
        executed: ExecutionStatus::Unknown,
        is_broken: false,
        faults: [0; 3],
        turns: prediction.and_then(|prediction| prediction.turns).unwrap_or_default(),
        usage: Usage::new(tokens.input, tokens.output),
        results: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tasks() -> Vec<Arc<dyn Case>> {
        Mnms::default().load(None, &CaseSelection::First, Some(2)).unwrap()
    }

    fn scored(predictions: &str, options: &[(&str, &str)]) -> Result<Judgements, CaseError> {
        let suite = Mnms::default().scored_with(options)?.unwrap();
        suite.score(&tasks(), Data { text: predictions, file: "f" })
    }

    fn right(number: usize) -> String {
        let task = RequestCase::read(&tasks()[number - 1].to_line()).unwrap();
        format!("{{\"id\": {number}, \"prediction\": {}}}\n", task.plan())
    }

    #[test]
    fn right_predictions_pass_by_either_rules() {
        let all = right(2) + &right(1);
        for options in [&[][..], &[("compat", "original")], &[("alternatives", "yes"), ("format", "json")]] {
            let judged = scored(&all, options).unwrap();
            assert!(judged.verdicts.iter().all(planproof_suite::Verdict::passed), "{options:?}");
            assert_eq!(judged.missing, [""; 0]);
        }
        let judged = scored(&right(1), &[]).unwrap();
        assert_eq!(judged.missing, ["mnms-own-2"]);
        assert_eq!(judged.verdicts[1].class().map(Class::as_str), Some("missing"));
    }

    #[test]
    fn a_judge_and_a_log_say_more_of_predictions() {
        let suite = Mnms::default().scored_with(&[]).unwrap().unwrap();
        let tasks = tasks();
        let of = |predictions: &str, evidence: &PredictionExtras<'_>| {
            let data = Data { text: predictions, file: "f" };
            let scored = suite.score_with(&tasks, data, evidence)?;
            let verdicts = scored.verdicts.iter();
            Ok::<_, CaseError>(verdicts.map(|verdict| verdict.scored.clone()).collect::<Vec<_>>())
        };
        // A free-text value in other words.
        let task = RequestCase::read(&tasks[0].to_line()).unwrap();
        let worded = |step: &planproof_trace::Signature, name: &str| {
            step.arguments.iter().any(|argument| argument.name == name && argument.kind == "text")
        };
        let mut plan = task.plan();
        let node = plan.as_array_mut().unwrap().iter_mut().find_map(|node| {
            let tool = crate::catalogue().find(node["name"].as_str()?)?;
            let arguments = node.get_mut("args")?.as_object_mut()?;
            arguments.iter_mut().find(|(name, value)| {
                worded(tool, name) && value.as_str().is_some_and(|text| !text.contains("<node"))
            })
        });
        let Some((_, value)) = node else { panic!("the first task has no text: {}", task.plan()) };
        *value = serde_json::Value::from(format!("please, {}", value.as_str().unwrap()));
        let lines = format!("{{\"id\": 1, \"prediction\": {plan}}}\n{{\"id\": 2, \"prediction\": \"none\"}}");
        let questions = suite.questions(&tasks, Data { text: &lines, file: "f" }).unwrap();
        let [question] = &questions[..] else { panic!("{questions:?}") };
        assert!(
            question.key.starts_with("mnms-own-1: step ") && question.text.contains("please, "),
            "{question:?}"
        );
        let answered = |reply: &str| {
            let answers = Some([(question.key.clone(), reply.to_owned())].into());
            let scored = of(&lines, &PredictionExtras { answers, log: None }).unwrap();
            ["plan_argvalue", "values_judged", "plan_argvalue_entailed"].map(|name| scored[0].score(name))
        };
        assert_eq!(answered("Yes."), [Some(0.0), Some(1.0), Some(1.0)]);
        assert_eq!(answered("NO"), [Some(0.0), Some(1.0), Some(0.0)]);
        assert_eq!(answered("Who knows"), [Some(0.0), Some(1.0), Some(0.0)]);
        // A judge with nothing to decide changes nothing.
        let unasked = of(&right(1), &PredictionExtras { answers: Some([].into()), log: None }).unwrap();
        let names = ["plan_argvalue", "values_judged", "plan_argvalue_entailed"];
        assert_eq!(names.map(|name| unasked[0].score(name)), [Some(1.0), Some(0.0), Some(1.0)]);
        let without = of(&lines, &PredictionExtras::default()).unwrap();
        assert_eq!(without[0].score("values_judged"), None);
        assert_eq!(without[1].score("prediction_unreadable"), Some(1.0));
        assert_eq!(without[0].score("prediction_malformed"), None);

        let logged = |log| {
            of(
                &lines,
                &PredictionExtras {
                    log: Some(Data { text: log, file: "log" }),
                    ..PredictionExtras::default()
                },
            )
        };
        let executed = logged("{\"id\": 1, \"res\": 1}").unwrap();
        assert_eq!([0, 1].map(|place: usize| executed[place].score("executed")), [Some(1.0), Some(0.0)]);
        let unknown = logged("{\"id\": 77, \"res\": 1}").unwrap_err();
        assert!(unknown.what.contains("log: there is an execution for 77"), "{unknown}");
        let original = Mnms::default().scored_with(&[("compat", "original")]).unwrap().unwrap();
        assert!(original.questions(&tasks, Data { text: &lines, file: "f" }).is_err());
    }

    #[test]
    fn alternatives_count_unless_the_published_rules_hold() {
        type Options = &'static [(&'static str, &'static str)];
        let rows: [(Options, bool); 5] = [
            (&[], true),
            (&[("alternatives", "no")], false),
            (&[("format", "code")], true),
            (&[("compat", "original")], false),
            (&[("alternatives", "yes"), ("compat", "original")], true),
        ];
        for (options, expected) in rows {
            assert_eq!(settings(options).unwrap().with_alternatives, expected, "{options:?}");
        }
    }

    #[test]
    fn what_cannot_be_scored_is_said() {
        type Options = &'static [(&'static str, &'static str)];
        let cases: [(&str, Options, &str); 6] = [
            ("", &[("format", "yaml")], "cannot be scored with format=yaml; there is format (json or code)"),
            ("", &[("colour", "red")], "cannot be scored with colour=red"),
            (
                &right(1),
                &[("compat", "original")],
                "f: 1 of the cases have no prediction, on which the published",
            ),
            ("{\"id\": 77, \"prediction\": []}", &[], "for examples that the data does not have: 77"),
            ("{\"id\": 1, \"prediction\": []", &[], "f:1: EOF while parsing"),
            (
                "{\"id\": 1, \"prediction\": \"a = f(**x)\"}\n{\"id\": 2, \"prediction\": \"\"}",
                &[("compat", "original"), ("format", "code")],
                "fails on the prediction for 1: TypeError: sequence item 1",
            ),
        ];
        for (predictions, options, what) in cases {
            let error = scored(predictions, options).unwrap_err();
            assert!(error.what.contains(what), "{} instead of {what}", error.what);
        }
    }

    #[test]
    fn hostile_predictions_fail_and_no_more() {
        let deep = format!("a = f(x={}1{})", "(".repeat(100_000), ")".repeat(100_000));
        let hostile = [
            "null".to_owned(),
            "5".to_owned(),
            "[null, 5, [], {}]".to_owned(),
            "{\"nodes\": {}}".to_owned(),
            "\"\\u0000\\ud800\"".to_owned(),
            "[{\"id\": 0, \"name\": \"\\ud800\", \"args\": {\"text\": \"\\u0000\"}}]".to_owned(),
            serde_json::Value::from(deep).to_string(),
            format!("\"{}\"", "a = text_generation(text='x')\\n".repeat(10_000)),
        ];
        for prediction in hostile {
            let lines =
                format!("{{\"id\": 1, \"prediction\": {prediction}}}\n{{\"id\": 2, \"prediction\": []}}");
            for format in ["json", "code"] {
                for options in [&[("format", format)][..], &[("format", format), ("compat", "original")]] {
                    let judged = scored(&lines, options).unwrap();
                    assert!(!judged.verdicts[0].passed(), "{options:?}");
                }
            }
        }
    }
}
