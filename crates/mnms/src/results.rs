//! The results of carrying out a plan beside those of the right plan (the paper's evaluator of results), with a
//! similarity of pictures of our own where the published one asks CLIP.

use std::collections::BTreeMap;
use std::sync::Arc;

use planproof_plan::Plan;
use planproof_suite::reference::{ReferenceNote, is_of_reference};
use planproof_suite::{BoxFuture, Case, CaseError, Score, Toolbox};
use planproof_trace::{Arguments, Attachment, Event, EventKind, Tool, ToolCall, ToolResult, paired_calls};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::catalogue;
use crate::evaluation::result_bleu;

/// The state of notes with a step of the right plan.
const STEP: &str = "right step";

/// The state of the note with the comparison.
const COMPARISON: &str = "results";

/// Most bytes of a result that the trace repeats.
const RESULT_BYTES_MAX: usize = 16 * 1024;

/// The least overlap, as a share of the area that two boxes cover together, at which they show the same object.
const OVERLAP_MIN: f64 = 0.5;

/// The names of the scores: the mean over the right plan's keys, then over those of each [`ResultKind`].
pub(crate) const RESULT_NAMES: [&str; 5] =
    ["results", "results_text", "results_picture", "results_objects", "results_other"];

/// The titles of the kinds, in the order of [`RESULT_NAMES`].
pub(crate) const KIND_TITLES: [&str; 4] =
    ["texts (BLEU)", "pictures (our similarity)", "objects", "other results"];

/// The calls of a plan that was carried out, with their results. The last one may be an error, which ended it.
pub type CarriedOut = Vec<(ToolCall, ToolResult)>;

/// The tools of cases other than the simulated ones.
pub trait CaseTools: Send + Sync {
    /// Opens what the tools need, before any of these cases is run.
    ///
    /// # Errors
    /// Something cannot be opened, or the right plan of a case needs what is missing.
    fn prepare(&self, cases: &[Arc<dyn Case>]) -> Result<(), CaseError>;

    /// The tools for a run of the case with this id, given their names and parameters.
    ///
    /// # Errors
    /// They cannot be made.
    fn for_run(&self, case: &str, tools: Arc<[Tool]>) -> Result<Arc<dyn Toolbox>, CaseError>;

    /// Carries out the right plan of that case in tools of its own; `None` if nobody wants its results.
    fn carry_out<'a>(
        &'a self,
        case: &'a str,
        tools: Arc<[Tool]>,
        plan: Plan,
    ) -> BoxFuture<'a, Option<CarriedOut>>;

    /// How similar two pictures are by their small copies, from 0 to 1; `None` if one of them cannot be read.
    fn similarity(&self, one: &Attachment, other: &Attachment) -> Option<f64>;
}

/// How well the results of a run agree with those of the right plan, each from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ResultScores {
    /// The mean over all keys under which the right plan has results.
    pub mean: f64,
    /// BLEU of the texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<f64>,
    /// Our similarity of the pictures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub picture: Option<f64>,
    /// Equal lists of objects, or else the F1 of the boxes found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objects: Option<f64>,
    /// Other results, which are equal or not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other: Option<f64>,
}

impl ResultScores {
    fn values(&self) -> [Option<f64>; RESULT_NAMES.len()] {
        [Some(self.mean), self.text, self.picture, self.objects, self.other]
    }

    /// The scores of a verdict.
    pub(crate) fn named(&self) -> impl Iterator<Item = Score> {
        let named = RESULT_NAMES.into_iter().zip(self.values());
        named.filter_map(|(name, value)| Some(Score::new(name, value?)))
    }

    /// The scores by kind in words, such as `text 0.53, pictures 1.00`.
    pub(crate) fn in_words(&self) -> String {
        let [_, kinds @ ..] = self.values();
        let named = KIND_TITLES.into_iter().zip(kinds);
        let words = named.filter_map(|(title, value)| Some(format!("{title} {:.2}", value?)));
        words.collect::<Vec<_>>().join(", ")
    }
}

/// What is compared under a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ResultKind {
    Text,
    Picture,
    Objects,
    Other,
}

impl ResultKind {
    /// The kind of a declared output.
    fn of(kind: &str) -> Self {
        match kind {
            "text" => Self::Text,
            "image" => Self::Picture,
            "object" | "list[dict]" => Self::Objects,
            _ => Self::Other,
        }
    }
}

/// The results of a plan under one key, in the order of its steps.
#[derive(Debug, Default)]
struct KeyResults<'r> {
    values: Vec<Value>,
    /// For each value, the small copy of the picture that it names, if a tool made it.
    pictures: Vec<Option<&'r Attachment>>,
}

/// The declared outputs of calls that succeeded, by kind and key: results of several steps under one key are one
/// list, as in the published evaluator.
fn by_key(calls: &[(ToolCall, ToolResult)]) -> BTreeMap<(ResultKind, String), KeyResults<'_>> {
    let mut keys: BTreeMap<(ResultKind, String), KeyResults<'_>> = BTreeMap::new();
    for (call, result) in calls.iter().filter(|(_, result)| !result.is_error) {
        let name = call.name.replace('_', " ");
        let Some(tool) = catalogue().find(&name) else { continue };
        let Ok(Value::Object(outputs)) = serde_json::from_str(&result.text) else { continue };
        for port in &tool.outputs {
            let Some(value) = outputs.get(&port.name) else { continue };
            let picture = value.as_str().and_then(|name| {
                result.attachments.as_slice().iter().find(|attachment| attachment.name() == name)
            });
            let of_key = keys.entry((ResultKind::of(&port.kind), port.name.clone())).or_default();
            of_key.values.push(value.clone());
            of_key.pictures.push(picture);
        }
    }
    keys
}

/// The score of a run's results under a key.
fn score(
    kind: ResultKind,
    run: &KeyResults<'_>,
    right: &KeyResults<'_>,
    similarity: &dyn Fn(&Attachment, &Attachment) -> Option<f64>,
) -> f64 {
    match kind {
        ResultKind::Text => {
            let text = |results: &KeyResults<'_>| {
                let texts = results.values.iter().map(|value| match value {
                    Value::String(text) => text.clone(),
                    other => other.to_string(),
                });
                texts.collect::<Vec<_>>().join("\n")
            };
            let (run, right) = (text(run), text(right));
            // An empty text has no words for BLEU to count.
            if run == right { 1.0 } else { result_bleu(&run, &right) }
        }
        ResultKind::Picture => {
            let pairs = run.values.iter().zip(&run.pictures).zip(right.values.iter().zip(&right.pictures));
            let of_pair = |((name, run), (right_name, right)): ((&Value, &Option<&Attachment>), _)| {
                let (right_name, right): (&Value, &Option<&Attachment>) = (right_name, right);
                match (run, right) {
                    (Some(run), Some(right)) => similarity(run, right).unwrap_or_default(),
                    // A picture that no tool made is one of the user's, and known by its name.
                    (None, None) => f64::from(u8::from(name == right_name)),
                    (Some(_), None) | (None, Some(_)) => 0.0,
                }
            };
            // A picture without a partner counts as one that is nothing like it.
            pairs.map(of_pair).sum::<f64>() / run.values.len().max(right.values.len()).max(1) as f64
        }
        ResultKind::Objects if run.values == right.values => 1.0,
        ResultKind::Objects => boxes_found(&boxes(&run.values), &boxes(&right.values)),
        ResultKind::Other => f64::from(u8::from(run.values == right.values)),
    }
}

/// An object with its box: left, top, right, bottom.
type LabelledBox<'v> = (&'v str, [f64; 4]);

fn boxes(values: &[Value]) -> Vec<LabelledBox<'_>> {
    let objects = values.iter().flat_map(|value| match value {
        Value::Array(objects) => objects.iter().collect(),
        other => vec![other],
    });
    let labelled = objects.filter_map(|object| {
        let sides = object.get("bbox")?.as_array()?;
        let sides: Option<Vec<f64>> = sides.iter().map(Value::as_f64).collect();
        Some((object.get("label")?.as_str()?, sides?.try_into().ok()?))
    });
    labelled.collect()
}

/// The F1 of the boxes that were found: each right box takes the box with its label that overlaps it most.
fn boxes_found(run: &[LabelledBox<'_>], right: &[LabelledBox<'_>]) -> f64 {
    if right.is_empty() {
        return 0.0;
    }
    let mut is_taken = vec![false; run.len()];
    let mut found = 0_usize;
    for (label, area) in right {
        let free = run.iter().enumerate().filter(|(place, (name, _))| !is_taken[*place] && name == label);
        let nearest = free
            .map(|(place, (_, other))| (place, overlap(*area, *other)))
            .max_by(|(_, one), (_, other)| one.total_cmp(other));
        if let Some((place, _)) = nearest.filter(|(_, overlap)| *overlap >= OVERLAP_MIN) {
            is_taken[place] = true;
            found += 1;
        }
    }
    2.0 * found as f64 / (run.len() + right.len()) as f64
}

/// The share of the area that two boxes cover together which both of them cover.
fn overlap(one: [f64; 4], other: [f64; 4]) -> f64 {
    let area = |[left, top, right, bottom]: [f64; 4]| (right - left).max(0.0) * (bottom - top).max(0.0);
    let shared = [one[0].max(other[0]), one[1].max(other[1]), one[2].min(other[2]), one[3].min(other[3])];
    let shared = area(shared);
    let both = area(one) + area(other) - shared;
    if both > 0.0 { shared / both } else { 0.0 }
}

/// Compares the results of a run with those of the right plan. A key of the right plan that the run lacks counts 0;
/// keys that only the run has do not count. `None` if the right plan has no results.
///
/// The published evaluator leaves scores of zero out of the mean, so that a wrong result costs nothing; here they
/// count.
pub(crate) fn compare(
    run: &[(ToolCall, ToolResult)],
    right: &[(ToolCall, ToolResult)],
    similarity: &dyn Fn(&Attachment, &Attachment) -> Option<f64>,
) -> Option<ResultScores> {
    let (run, right) = (by_key(run), by_key(right));
    let scores: Vec<(ResultKind, f64)> = right
        .iter()
        .map(|(key, right)| (key.0, run.get(key).map_or(0.0, |run| score(key.0, run, right, similarity))))
        .collect();
    let mean = |of: Option<ResultKind>| {
        let chosen = || scores.iter().filter(|(kind, _)| of.is_none_or(|of| of == *kind));
        let count = chosen().count();
        (count > 0).then(|| chosen().map(|(_, score)| score).sum::<f64>() / count as f64)
    };
    Some(ResultScores {
        mean: mean(None)?,
        text: mean(Some(ResultKind::Text)),
        picture: mean(Some(ResultKind::Picture)),
        objects: mean(Some(ResultKind::Objects)),
        other: mean(Some(ResultKind::Other)),
    })
}

/// Carries out the right plan and compares its results with those of a run.
pub(crate) async fn refer(
    tools: &dyn CaseTools,
    (case, offered, plan): (&str, Arc<[Tool]>, Plan),
    run: CarriedOut,
) -> Vec<ReferenceNote> {
    let Some(right) = tools.carry_out(case, offered, plan).await else { return Vec::new() };
    notes(&run, &right, &|one, other| tools.similarity(one, other))
}

/// What the trace keeps of the right plan's results beside those of a run.
fn notes(
    run: &[(ToolCall, ToolResult)],
    right: &[(ToolCall, ToolResult)],
    similarity: &dyn Fn(&Attachment, &Attachment) -> Option<f64>,
) -> Vec<ReferenceNote> {
    let mut notes: Vec<ReferenceNote> = right.iter().map(step_note).collect();
    // Results of a plan that was cut off would make those of a run look better than they are.
    if right.last().is_none_or(|(_, result)| result.is_error) {
        return notes;
    }
    notes.extend(compare(run, right, similarity).map(|scores| ReferenceNote {
        state: COMPARISON,
        // Numbers from 0 to 1 can always be written.
        text: serde_json::to_string(&scores).unwrap_or_default(),
        note: "how well the results of the run agree with those of the right plan".to_owned(),
    }));
    notes
}

fn step_note((call, result): &(ToolCall, ToolResult)) -> ReferenceNote {
    let kept = result.text.floor_char_boundary(RESULT_BYTES_MAX.min(result.text.len()));
    let arguments = match &call.arguments {
        Arguments::Object(arguments) => Value::Object(arguments.clone()),
        Arguments::Malformed(text) => Value::from(text.as_str()),
    };
    ReferenceNote {
        state: STEP,
        text: json!({"tool": call.name, "arguments": arguments, "result": &result.text[..kept]}).to_string(),
        note: if result.is_error { "failed, so that nothing is compared".to_owned() } else { String::new() },
    }
}

/// The calls of a run that succeeded.
pub(crate) fn results_of(events: &[Event]) -> CarriedOut {
    let own = events.iter().filter(|event| !is_of_reference(event));
    let answered = paired_calls(own).into_iter().filter_map(|paired| Some((paired.call, paired.result?.1)));
    answered
        .filter(|(_, result)| !result.is_error)
        .map(|(call, result)| (call.clone(), result.clone()))
        .collect()
}

/// The comparison that was recorded with a run, if there is one.
pub(crate) fn recorded(events: &[Event]) -> Option<ResultScores> {
    events.iter().filter(|event| is_of_reference(event)).find_map(|event| match &event.kind {
        EventKind::Section { state, text, .. } if state == COMPARISON => serde_json::from_str(text).ok(),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use planproof_trace::{Attachments, CallId, PictureType};

    use super::*;

    /// Calls with these results. A name with `!` behind it is a picture that the tool made.
    fn made(steps: &[(&str, &str)]) -> CarriedOut {
        let of_step = |(tool, text): &(&str, &str)| {
            let call = ToolCall {
                id: CallId::new("1"),
                name: tool.replace(' ', "_"),
                arguments: Arguments::Object(serde_json::Map::new()),
            };
            let picture = text.split('"').find(|part| part.ends_with('!'));
            let result = ToolResult::ok(call.id.clone(), (*text).to_owned());
            let attached =
                picture.map(|name| Attachment::new(name, PictureType::Png, "AAAA").expect("base64"));
            let attached = Attachments::new(attached.into_iter().collect()).expect("one");
            (call, result.with_attachments(attached))
        };
        steps.iter().map(of_step).collect()
    }

    /// The scores of the two, as the values of [`RESULT_NAMES`]. Pictures of one name are equal, others half so.
    fn scores(run: &[(&str, &str)], right: &[(&str, &str)]) -> Option<[Option<f64>; 5]> {
        let similarity =
            |one: &Attachment, other: &Attachment| Some(if one.name() == other.name() { 1.0 } else { 0.5 });
        compare(&made(run), &made(right), &similarity).map(|scores| scores.values())
    }

    #[test]
    fn each_kind_of_result_has_its_measure() {
        let text = |text: &'static str| [("text generation", text)];
        let crop = |text: &'static str| [("image crop left", text)];
        let find = |text: &'static str| [("object detection", text)];
        type Steps = [(&'static str, &'static str); 1];
        let table: [(Steps, Steps, f64); 12] = [
            (text(r#"{"text":"a b c d e"}"#), text(r#"{"text":"A b c d e"}"#), 1.0),
            (text(r#"{"text":"a b c d"}"#), text(r#"{"text":"a b c d e"}"#), 0.7788),
            (text(r#"{"text":""}"#), text(r#"{"text":""}"#), 1.0),
            (text(r#"{"text":"x"}"#), text(r#"{"text":""}"#), 0.0),
            (crop(r#"{"image":"a!"}"#), crop(r#"{"image":"a!"}"#), 1.0),
            (crop(r#"{"image":"a!"}"#), crop(r#"{"image":"b!"}"#), 0.5),
            (crop(r#"{"image":"a"}"#), crop(r#"{"image":"a"}"#), 1.0),
            (crop(r#"{"image":"a"}"#), crop(r#"{"image":"a!"}"#), 0.0),
            (
                find(r#"{"objects":[{"label":"dog","bbox":[0,0,10,10]}]}"#),
                find(
                    r#"{"objects":[{"label":"dog","bbox":[0,0,10,12],"score":0.9},{"label":"cat","bbox":[0,0,10,10]}]}"#,
                ),
                2.0 / 3.0,
            ),
            (
                find(r#"{"objects":[{"label":"dog","bbox":[0,0,10,10]}]}"#),
                find(r#"{"objects":[{"label":"dog","bbox":[6,0,16,10]}]}"#),
                0.0,
            ),
            ([("count", r#"{"number":2}"#)], [("count", r#"{"number":2}"#)], 1.0),
            ([("count", r#"{"number":2}"#)], [("count", r#"{"number":3}"#)], 0.0),
        ];
        for (run, right, expected) in table {
            let [mean, ..] = scores(&run, &right).expect("the right plan has results");
            let mean = mean.expect("a mean");
            assert!((mean - expected).abs() < 1e-4, "{run:?} {right:?}: {mean} instead of {expected}");
        }
    }

    #[test]
    fn what_is_missing_counts_nothing_and_what_is_more_does_not_count() {
        let right = [("count", r#"{"number":2}"#), ("text generation", r#"{"text":"two"}"#)];
        let more = [("image crop left", r#"{"image":"a!"}"#)];
        assert_eq!(scores(&[], &right), Some([Some(0.0), Some(0.0), None, None, Some(0.0)]));
        assert_eq!(scores(&right[..1], &right), Some([Some(0.5), Some(0.0), None, None, Some(1.0)]));
        let both = [&right[..], &more].concat();
        assert_eq!(scores(&both, &right), Some([Some(1.0), Some(1.0), None, None, Some(1.0)]));
        assert_eq!(scores(&right, &[]), None, "a right plan without results says nothing");
        // Of two pictures, one has no partner.
        let two = [more[0], ("image crop top", r#"{"image":"b!"}"#)];
        assert_eq!(scores(&more, &two).map(|scores| scores[0]), Some(Some(0.5)));
    }

    #[test]
    fn a_right_plan_that_fails_compares_nothing() {
        let right = made(&[("count", r#"{"number":2}"#)]);
        let states = |right: &CarriedOut| {
            let notes = notes(&right[..1], right, &|_, _| None);
            notes.iter().map(|note| note.state).collect::<Vec<_>>()
        };
        assert_eq!(states(&right), [STEP, COMPARISON]);
        let mut failed = right;
        let id = CallId::new("2");
        failed.push((
            ToolCall { id: id.clone(), ..failed[0].0.clone() },
            ToolResult::error(id, "no server".to_owned()),
        ));
        assert_eq!(states(&failed), [STEP, STEP]);
    }

    #[test]
    fn undeclared_outputs_and_broken_results_do_not_count() {
        let right = [("love calculator", r#"{"number":41,"message":"All right."}"#)];
        let other = [("love calculator", r#"{"number":41,"message":"Try again."}"#)];
        assert_eq!(scores(&other, &right), Some([Some(1.0), None, None, None, Some(1.0)]));
        for broken in ["41", "[]", "", "{"] {
            assert_eq!(
                scores(&[("love calculator", broken)], &right).map(|scores| scores[0]),
                Some(Some(0.0))
            );
        }
    }
}
