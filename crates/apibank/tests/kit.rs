//! What the published code says of calls, where the kit that records it is at hand. Where it is not, the tests are
//! *ignored*, which the usual harness cannot say at run time; with `PLANPROOF_CI` set they fail.

#![expect(clippy::unwrap_used, reason = "a failed step of a test is a failed test")]

#[path = "../../qa/tests/support/kit.rs"]
mod recorded;

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::LazyLock;

use libtest_mimic::{Arguments, Trial};
use planproof_apibank::call;
use planproof_apibank::catalogue::ApiCatalogue;
use planproof_apibank::evaluate::score::{CallScores, DialoguePredictions, judge_calls};
use planproof_apibank::evaluate::{
    CallOutcome, Dialogue, DialogueCall, JudgedPrediction, Turn, judge_call, judge_text,
};
use planproof_apibank::world::{ApiCompat, ApiWorld, TODAY};
use planproof_trace::Draw;
use serde_json::Value as Json;

fn main() -> ExitCode {
    let trials = vec![
        trial("calls_are_judged_as_published", "expected.jsonl", calls_are_judged),
        trial("typed_calls_are_judged_as_published", "typed_expected.jsonl", typed_calls_are_judged),
        trial("gold_calls_are_counted_as_published", "typed_cases.jsonl", gold_calls_are_counted),
        trial("catalogues_state_the_same_facts", "api_catalogue.json", catalogues_agree),
        trial("dialogues_have_the_published_samples", "data/lv1-lv2-samples", samples_are_counted),
        trial("gold_calls_score_as_published", "data/lv1-lv2-samples", gold_calls_score),
        trial("gold_calls_are_right_in_the_right_mode", "data/lv1-lv2-samples", gold_calls_are_right),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// A test that needs a file of the kit.
fn trial(name: &str, needs: &str, test: fn()) -> Trial {
    recorded::trial(name, kit(needs), test)
}

fn kit(name: &str) -> PathBuf {
    recorded::path("apibank", name)
}

fn text(name: &str) -> String {
    std::fs::read_to_string(kit(name)).unwrap()
}

fn lines(name: &str) -> Vec<Json> {
    text(name).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

static WORLD: LazyLock<ApiWorld> = LazyLock::new(|| {
    let mut world = ApiWorld::new(TODAY, Draw::new(0, 0, "apibank"));
    for entry in std::fs::read_dir(kit("data/init_database")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        world.load(name, &std::fs::read_to_string(&path).unwrap()).unwrap();
    }
    world
});

fn world(compat: ApiCompat) -> ApiWorld {
    let mut world = WORLD.clone();
    world.compat = compat;
    world
}

/// Cases by their ids.
fn cases(name: &str) -> HashMap<String, Json> {
    lines(name).into_iter().map(|case| (case["id"].as_str().unwrap().to_owned(), case)).collect()
}

fn judged(case: &Json, world: &mut ApiWorld) -> (DialogueCall, JudgedPrediction) {
    let mut gold: DialogueCall = serde_json::from_str(&case["gold"].to_string()).unwrap();
    let judged = match case["model_output"].as_str() {
        Some(text) => judge_text(text, &mut gold, world),
        None => judge_call(&gold.api_name.clone(), &gold.arguments.clone(), &mut gold, world),
    };
    (gold, judged)
}

/// The kind of the error and its text that the kit has for an outcome.
fn error_of(outcome: &CallOutcome, is_text: bool) -> (Option<String>, Option<String>) {
    match outcome {
        CallOutcome::CheckFailed(_) if outcome.recorded(is_text) == "KEY_ERROR" => {
            (None, Some("KeyError".to_owned()))
        }
        CallOutcome::NotCarriedOut(error) | CallOutcome::CheckFailed(error) => {
            (Some(error.kind.clone()), Some(error.text.clone()))
        }
        CallOutcome::OtherTool { predicted, gold } => {
            (None, Some(format!("API Name Mismatch: {predicted} vs {gold}")))
        }
        _ => (None, None),
    }
}

/// A value of the kit, in which random ones have a mark instead.
fn is_like(expected: &Json, found: &Json) -> bool {
    match (expected, found) {
        (Json::String(mark), Json::String(found)) if mark.starts_with("<RANDOM:") => match mark.as_str() {
            "<RANDOM:8 digits>" => found.len() == 8 && found.bytes().all(|it| it.is_ascii_digit()),
            _ => found.len() == 18 && found.bytes().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit()),
        },
        (Json::Object(expected), Json::Object(found)) => {
            expected.len() == found.len()
                && expected.iter().all(|(key, value)| found.get(key).is_some_and(|it| is_like(value, it)))
        }
        (Json::Array(expected), Json::Array(found)) => {
            expected.len() == found.len()
                && expected.iter().zip(found).all(|(one, other)| is_like(one, other))
        }
        _ => expected == found,
    }
}

/// Where our values differ from what the kit expects.
fn differences(case: &Json, expected: &Json, judged: &JudgedPrediction) -> Vec<String> {
    let is_text = !case["model_output"].is_null();
    let (kind, error) = error_of(&judged.outcome, is_text);
    let is_kept = !(is_text && matches!(judged.outcome, CallOutcome::CheckFailed(_)));
    // Of calls in a text the kit has the record that the comparison left.
    let record = if is_text { &judged.compared } else { &judged.record };
    let record = record.as_ref().filter(|_| is_kept);
    let mut found = vec![
        ("outcome", Json::from(judged.outcome.recorded(is_text))),
        ("correct", Json::from(judged.outcome.is_correct())),
        ("error_type", Json::from(kind)),
        ("error", Json::from(error)),
        ("result", serde_json::to_value(record).unwrap()),
    ];
    if expected.get("parsed").is_some() {
        let parsed = judged.call.as_ref();
        let parsed = parsed.map(|(name, arguments)| {
            serde_json::json!({"api_name": name, "params": serde_json::to_value(arguments).unwrap()})
        });
        found.push(("parsed", parsed.unwrap_or_default()));
        found.push(("extracted", call::extract(case["model_output"].as_str().unwrap()).into()));
    }
    let differ = found.into_iter().filter(|(name, value)| !is_like(&expected[*name], value));
    differ.map(|(name, value)| format!("{name}: {value} instead of {}", expected[name])).collect()
}

fn compare(cases_file: &str, expected_file: &str, least: usize) {
    let cases = cases(cases_file);
    let expected = lines(expected_file);
    let mut wrong = Vec::new();
    for expected in &expected {
        let case = &cases[expected["id"].as_str().unwrap()];
        let (_, judged) = judged(case, &mut world(ApiCompat::Original));
        let differences = differences(case, expected, &judged);
        if !differences.is_empty() {
            wrong.push(format!("{} {}: {}", case["id"], case["model_output"], differences.join("; ")));
        }
    }
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), expected.len(), wrong.join("\n"));
    assert!(expected.len() >= least, "only {} cases were compared", expected.len());
}

fn calls_are_judged() {
    compare("cases.jsonl", "expected.jsonl", 2167);
}

fn typed_calls_are_judged() {
    compare("typed_cases.jsonl", "typed_expected.jsonl", 300);
}

/// How many gold calls of each kind of case the original takes for correct: all that is published of most.
fn gold_calls_are_counted() {
    let mut correct: BTreeMap<String, [usize; 2]> = BTreeMap::new();
    for case in lines("cases.jsonl").iter().chain(&lines("typed_cases.jsonl")) {
        let (_, judged) = judged(case, &mut world(ApiCompat::Original));
        let counts = correct.entry(case["kind"].as_str().unwrap().to_owned()).or_default();
        counts[0] += usize::from(judged.outcome.is_correct());
        counts[1] += 1;
    }
    correct.remove("perturbed");
    let found: Vec<(&str, [usize; 2])> =
        correct.iter().map(|(kind, counts)| (kind.as_str(), *counts)).collect();
    assert_eq!(
        found,
        [
            ("gold-direct", [418, 480]),
            ("gold-pyrepr", [418, 480]),
            ("gold-text", [418, 480]),
            ("gold-typed", [456, 480]),
        ]
    );
}

/// The facts of our catalogues are those of the original; the words are our own.
fn catalogues_agree() {
    for (set, ours) in [("apis", ApiCatalogue::tools()), ("lv3_apis", ApiCatalogue::level3())] {
        let published = ApiCatalogue::read(&text("api_catalogue.json"), Some(set)).unwrap();
        let facts = |catalogue: &ApiCatalogue| {
            let parameters = |all: &[planproof_apibank::catalogue::Parameter]| {
                all.iter().map(|it| (it.name.clone(), it.kind.clone())).collect::<Vec<_>>()
            };
            let facts = catalogue.specs().iter().map(|spec| {
                (
                    spec.name.clone(),
                    parameters(&spec.inputs),
                    parameters(&spec.outputs),
                    spec.database.clone(),
                )
            });
            facts.collect::<Vec<_>>()
        };
        assert_eq!(facts(&published), facts(ours));
        for (one, other) in published.specs().iter().zip(ours.specs()) {
            assert_ne!(one.description, other.description, "{}", one.name);
        }
    }
}

/// Dialogues of a level with the names of their files.
fn dialogues(level: &str) -> Vec<(String, Dialogue)> {
    let mut all: Vec<(String, Dialogue)> = std::fs::read_dir(kit("data/lv1-lv2-samples").join(level))
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            (name, Dialogue::read(&std::fs::read_to_string(&path).unwrap()).unwrap())
        })
        .collect();
    all.sort_by(|(one, _), (other, _)| one.cmp(other));
    all
}

const LEVELS: [&str; 2] = ["level-1-given-desc", "level-2-toolsearcher"];

fn samples_are_counted() {
    let counts = LEVELS.map(|level| {
        let dialogues = dialogues(level);
        let calls =
            dialogues.iter().map(|(_, it)| it.turns.iter().filter(|it| matches!(it, Turn::Call(_))).count());
        let samples = dialogues
            .iter()
            .map(|(_, dialogue)| {
                dialogue.samples().iter().filter(|it| dialogue.call(it.gold).is_some()).count()
            })
            .sum::<usize>();
        (dialogues.len(), calls.sum::<usize>(), samples)
    });
    assert_eq!(counts, [(214, 389, 399), (50, 119, 135)]);
}

/// The texts of the gold calls as predictions.
fn gold_predictions(dialogues: &[(String, Dialogue)]) -> DialoguePredictions {
    let mut predictions = DialoguePredictions::default();
    for (file, dialogue) in dialogues {
        for (number, sample) in dialogue.samples().iter().enumerate() {
            if let Some(gold) = dialogue.call(sample.gold) {
                predictions.put(file, number, gold.to_text());
            }
        }
    }
    predictions
}

fn scores(compat: ApiCompat) -> [CallScores; 2] {
    LEVELS.map(|level| {
        let dialogues = dialogues(level);
        let predictions = gold_predictions(&dialogues);
        let mut scores = CallScores::default();
        for (file, dialogue) in &dialogues {
            scores.add(file, dialogue, &predictions, &world(compat));
        }
        scores
    })
}

/// What the texts of the gold calls score; our search for tools finds none of the published descriptions.
fn gold_calls_score() {
    let scores = scores(ApiCompat::Original);
    // Nine ask the network.
    let counts = scores.each_ref().map(|it| (it.correct, it.samples, it.unfit.len()));
    assert_eq!(counts, [(338, 390, 9), (80, 135, 0)]);
}

/// All but those that name a parameter which their tool does not have, ask the network, or search for a tool that is
/// not found by words.
fn gold_calls_are_right() {
    let scores = scores(ApiCompat::Right);
    for scores in &scores {
        assert_eq!(scores.correct, scores.samples, "{:?}", scores.classes);
    }
    assert_eq!(scores.each_ref().map(|it| it.samples), [382, 120]);
    let mut unfit: BTreeMap<String, usize> = BTreeMap::new();
    for level in LEVELS {
        for (_, dialogue) in dialogues(level) {
            let samples = dialogue.samples();
            judge_calls(&dialogue, &world(ApiCompat::Right), |number, is_fit, _| {
                let name = &dialogue.call(samples[number].gold).unwrap().api_name;
                if !is_fit {
                    *unfit.entry(name.clone()).or_default() += 1;
                }
            });
        }
    }
    let unfit: Vec<(&str, usize)> = unfit.iter().map(|(name, count)| (name.as_str(), *count)).collect();
    let expected = [
        ("CancelTimedSwitch", 5),
        ("Dictionary", 5),
        ("TimedSwitch", 3),
        ("ToolSearcher", 15),
        ("Translate", 4),
    ];
    assert_eq!(unfit, expected);
}
