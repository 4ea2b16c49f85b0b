//! Finished predictions, scored without a model.

use std::sync::Arc;

use planproof_suite::{
    Card, Case, CaseError, Class, ClassInfo, Columns, Data, FlagInfo, Judged, Metric,
    Predicted as Judgements, Section, Selection, Suite, Unit,
};
use planproof_trace::Usage;

use crate::case::Task;
use crate::compared::Compared;
use crate::data::{ID_PREFIX, OWN_ID_PREFIX};
use crate::evaluation::original::Format;
use crate::evaluation::{Mode, Scorer, Settings};
use crate::examples::{DataError, Example};
use crate::figures;
use crate::judge::{Run, verdict};
use crate::literal::Literal;
use crate::prediction::{Executed, Predicted};
use crate::predictions::{Prediction, pair, read_predictions};
use crate::suite::Mnms;

/// The options of [`settings`], each with its values.
const OPTIONS: &str = "format (json or code), compat (original) and alternatives (yes or no)";

/// Most ids that an error names.
const NAMED_MAX: usize = 10;

/// What options of these names and values ask for.
///
/// # Errors
/// There is no such option, or it has no such value.
pub(crate) fn settings(options: &[(&str, &str)]) -> Result<Settings, CaseError> {
    let mut settings = Settings::default();
    for (name, value) in options {
        match (*name, *value) {
            ("format", "json") => settings.format = Format::Json,
            ("format", "code") => settings.format = Format::Code,
            ("compat", "original") => settings.mode = Mode::Original,
            ("alternatives", "yes") => settings.with_alternatives = true,
            ("alternatives", "no") => settings.with_alternatives = false,
            _ => {
                let what =
                    format!("predictions of mnms cannot be scored with {name}={value}; there is {OPTIONS}");
                return Err(CaseError::new(what));
            }
        }
    }
    Ok(settings)
}

/// The suite, with predictions scored by settings of their own. In all else it is [`Mnms`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scoring(pub(crate) Settings);

impl Suite for Scoring {
    fn score(&self, cases: &[Arc<dyn Case>], predictions: Data<'_>) -> Result<Judgements, CaseError> {
        score(cases, predictions, self.0)
    }

    fn metrics(&self, runs: &[Judged<'_>]) -> Vec<Metric> {
        // Files of predictions need not say how they came about, and of being carried out they say nothing.
        let is_known =
            |metric: &Metric| metric.name != "executed" && (metric.is_share || metric.value != Some(0.0));
        figures::metrics(runs, self.0.mode).into_iter().filter(is_known).collect()
    }

    fn sections(&self, runs: &[Judged<'_>], _planned: &[Card], _repeats: u32) -> Vec<Section> {
        figures::sections(runs, self.0.mode).into_iter().filter(|section| section.key != "feedback").collect()
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
        selection: &Selection,
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
        Mnms::default().can_occur(class, cards)
    }

    fn unit(&self) -> Unit {
        Mnms::default().unit()
    }

    fn score_names(&self) -> &'static [&'static str] {
        Mnms::default().score_names()
    }

    fn columns(&self) -> Columns {
        Mnms::default().columns()
    }
}

/// Scores lines of `{"id": 5, "prediction": ...}`, where the id is the number of the data and the prediction a list of
/// nodes or a program.
///
/// # Errors
/// They cannot be read or belong to other cases; or the rules of the published evaluator hold and it fails, as it does
/// where a case has no prediction.
pub(crate) fn score(
    cases: &[Arc<dyn Case>],
    predictions: Data<'_>,
    settings: Settings,
) -> Result<Judgements, CaseError> {
    let refuse = |error: DataError| CaseError::new(error.to_string());
    let tasks = cases.iter().map(|case| Task::read(&case.to_line())).collect::<Result<Vec<Task>, _>>()?;
    let examples = tasks.iter().map(example).collect::<Result<Vec<Example>, _>>()?;
    let Data { text, file } = predictions;
    let paired = pair(&examples, read_predictions(text, file).map_err(refuse)?, file).map_err(refuse)?;
    if settings.mode == Mode::Original && !paired.missing.is_empty() {
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
    let mut scorer = Scorer::new(settings);
    let (mut verdicts, mut missing) = (Vec::with_capacity(tasks.len()), Vec::new());
    for ((task, example), prediction) in tasks.iter().zip(&examples).zip(&paired.predictions) {
        if prediction.is_none() {
            missing.push(task.id().to_owned());
        }
        let content = prediction.as_ref().map_or(&Literal::None, |prediction| &prediction.content);
        let fails = |raised| {
            let what = format!(
                "{file}: the published evaluator fails on the prediction for {}: {raised}",
                example.id
            );
            CaseError::new(what)
        };
        let gold = scorer.gold(example).map_err(fails)?;
        let scored = scorer.score(content, &gold).map_err(fails)?;
        let compared = Compared::of(&scored.counts, scored.matched);
        let found = prediction.as_ref().map(|prediction| predicted(&prediction.content, settings.format));
        verdicts.push(verdict(task, found.as_ref(), &compared, &run(prediction.as_ref())));
    }
    Ok(Judgements { verdicts, missing })
}

/// A task as the published data has it.
fn example(task: &Task) -> Result<Example, CaseError> {
    let id = task.id().strip_prefix(OWN_ID_PREFIX).or_else(|| task.id().strip_prefix(ID_PREFIX));
    let id = id.and_then(|id| id.parse().ok()).ok_or_else(|| {
        let what = format!("predictions are for numbers, and the case {} has none in its id", task.id());
        CaseError::new(what)
    })?;
    Ok(Example {
        id,
        request: task.request().to_owned(),
        plan: Literal::from(task.plan()),
        code: task.code().to_owned(),
        alternatives: Some(task.alternatives().iter().map(Literal::from).collect()),
    })
}

/// A prediction as runs have it.
fn predicted(content: &Literal, format: Format) -> Predicted {
    match (content, format) {
        (Literal::Text(text), Format::Code) => Predicted::Program(text.clone()),
        _ => Predicted::Nodes(content.to_json()),
    }
}

/// What a file says of the making of a prediction.
fn run(prediction: Option<&Prediction>) -> Run<'static> {
    let tokens = prediction.and_then(|prediction| prediction.tokens).unwrap_or_default();
    Run {
        answer: None,
        ended: None,
        broke: false,
        executed: Executed::Not,
        faults: [0; 3],
        turns: prediction.and_then(|prediction| prediction.turns).unwrap_or_default(),
        usage: Usage { input_tokens: tokens.input, output_tokens: tokens.output },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tasks() -> Vec<Arc<dyn Case>> {
        Mnms::default().load(None, &Selection::First, Some(2)).unwrap()
    }

    fn scored(predictions: &str, options: &[(&str, &str)]) -> Result<Judgements, CaseError> {
        let suite = Mnms::default().scored_with(options)?.unwrap();
        suite.score(&tasks(), Data { text: predictions, file: "f" })
    }

    fn right(number: usize) -> String {
        let task = Task::read(&tasks()[number - 1].to_line()).unwrap();
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
        assert_eq!(judged.verdicts[1].class().map(Class::as_str), Some("no_plan"));
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
