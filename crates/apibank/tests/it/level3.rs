//! Tasks of level 3 that we make, over many seeds: what is recorded happens, what is needed is there, and what is said
//! is English.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use planproof_apibank::level3::generate::Generator;
use planproof_apibank::level3::metrics::{Forced, Made, TaskTally, Worth, judge, make};
use planproof_apibank::level3::original::CallPrediction;
use planproof_apibank::level3::task::{RequiredCall, UserTask};
use planproof_apibank::level3::{SEARCHER, data};
use planproof_apibank::python::repr;
use planproof_apibank::value::{Dict, PythonValue};
use planproof_apibank::world::ApiCompat;

/// How many tasks are looked at.
const TASKS: u64 = 760;

/// Tasks of several seeds.
fn tasks() -> &'static [UserTask] {
    static ALL: LazyLock<Vec<UserTask>> = LazyLock::new(|| {
        let generator = Generator::new();
        (0..TASKS).map(|number| generator.task(number % 7, number / 7).unwrap()).collect()
    });
    &ALL
}

fn calls(task: &UserTask) -> impl Iterator<Item = (&str, &Dict)> {
    task.calls.iter().map(|call| (call.api.as_str(), &call.arguments))
}

#[test]
#[ignore = "slow"]
fn gold_calls_happen_as_recorded_and_score_in_full() {
    let mut sum = TaskTally::default();
    for task in tasks() {
        task.check().unwrap();
        assert_eq!(UserTask::read(&task.to_line()).unwrap(), *task);
        let made = make(calls(task), &mut data::own()).unwrap();
        let records: Vec<_> = made.iter().map(|made| made.record.as_ref().unwrap()).collect();
        assert_eq!(records, task.calls.iter().map(|call| &call.record).collect::<Vec<_>>(), "{}", task.id);
        let worth = judge(&task.calls, &made, ApiCompat::Right);
        let unique: Vec<Worth> = (0..task.calls.len()).map(Worth::Unique).collect();
        assert_eq!(worth, unique, "{}", task.id);
        sum.add(&TaskTally::of(task, &worth, Some(&task.reply)));
    }
    assert_eq!((sum.correctness(), sum.completeness(), sum.repeats), (Some(1.0), Some(1.0), 0));
    assert_eq!((sum.tasks as u64, sum.complete as u64, sum.made), (TASKS, TASKS, sum.required));
    assert!(sum.mean_rouge().unwrap() > 0.999_999);
}

/// The same calls twice, one that fails, and one that cannot be read.
#[test]
#[ignore = "slow"]
fn what_is_done_again_or_in_vain_counts() {
    for task in tasks().iter().take(100) {
        let mut made = make(calls(task), &mut data::own()).unwrap();
        made.extend(make(calls(task).take(2), &mut data::own()).unwrap());
        let unknown = Dict::from([("user_id".to_owned(), PythonValue::Int(-1))]);
        made.extend(make([("UserPosts", &unknown), ("NoSuchTool", &unknown)], &mut data::own()).unwrap());
        made.push(Made { api: String::new(), record: None });
        let worth = judge(&task.calls, &made, ApiCompat::Right);
        let tally = TaskTally::of(task, &worth, None);
        let required = task.calls.len();
        assert_eq!((tally.unique, tally.repeats, tally.made), (required, 2, required + 5), "{}", task.id);
        let [with, without] = [tally.correctness(), tally.correctness_without_repeats()].map(Option::unwrap);
        assert!(with < without && without < 1.0);
        assert_eq!((tally.completeness(), tally.mean_rouge()), (Some(1.0), None));
    }
}

/// All texts and numbers in a value, and those within texts.
fn atoms(value: &PythonValue, found: &mut Vec<String>) {
    match value {
        PythonValue::List(items) => items.iter().for_each(|item| atoms(item, found)),
        PythonValue::Dict(dict) => dict.values().for_each(|item| atoms(item, found)),
        other => found.push(other.to_text()),
    }
}

/// Days and hours of a requirement, as arguments have them.
fn dates(requirement: &str) -> Vec<String> {
    const MONTHS: [(&str, &str); 4] = [("May", "05"), ("June", "06"), ("July", "07"), ("August", "08")];
    let words: Vec<&str> =
        requirement.split(|it: char| !it.is_alphanumeric() && it != ':' && it != '-').collect();
    let days = words.windows(3).filter_map(|three| {
        let month = MONTHS.iter().find(|(name, _)| *name == three[1])?.1;
        Some(format!("{}-{month}-{:0>2}", three[2], three[0]))
    });
    let days: Vec<String> = days.collect();
    let hours = words.iter().filter(|word| word.len() == 5 && word.contains(':'));
    let times = hours.flat_map(|hour| days.iter().map(move |day| format!("{day} {hour}:00")));
    times.chain(days.clone()).collect()
}

/// What a call states comes from the requirement or from the calls that it needs.
#[test]
#[ignore = "slow"]
fn arguments_come_from_what_is_needed() {
    for task in tasks() {
        let dates = dates(&task.requirement);
        for call in task.calls.iter().filter(|call| call.api != SEARCHER) {
            let mut known = Vec::new();
            for need in &call.needs {
                atoms(&task.calls[*need].record.output, &mut known);
            }
            let mut stated = Vec::new();
            for (name, value) in &call.arguments {
                // What a mail says is free, and the end of a stay is counted from its begin.
                if name != "content" && name != "check_out_date" {
                    atoms(value, &mut stated);
                }
            }
            for argument in stated {
                let is_formula = call.api == "Calculator";
                let parts: Vec<String> = match is_formula {
                    true => argument
                        .split(|it: char| !it.is_ascii_digit())
                        .filter(|it| !it.is_empty())
                        .map(str::to_owned)
                        .collect(),
                    false => vec![argument.clone()],
                };
                for part in parts {
                    let is_result = known.iter().any(|it| {
                        *it == part
                            || it.strip_suffix(".0") == Some(&part)
                            || it.starts_with(&format!("{part} "))
                    });
                    let is_count = is_formula && part.len() == 1;
                    assert!(
                        is_result || is_count || task.requirement.contains(&part) || dates.contains(&part),
                        "{}: {part} in {} is not known: {}",
                        task.id,
                        call.api,
                        task.requirement
                    );
                }
            }
        }
    }
}

/// A search comes right before the first call of every tool, and nowhere else; nearly every call depends on another.
#[test]
#[ignore = "slow"]
fn tools_are_searched_before_they_are_called() {
    for task in tasks() {
        let mut known = BTreeSet::new();
        for (place, call) in task.calls.iter().enumerate() {
            if call.api == SEARCHER {
                let next = &task.calls[place + 1];
                assert_eq!(
                    call.record.output.as_dict().unwrap()["name"],
                    PythonValue::from(next.api.as_str())
                );
                assert!(known.insert(&next.api) && next.needs.contains(&place), "{}", task.id);
            } else {
                assert!(known.contains(&call.api), "{}", task.id);
            }
        }
        let calls: Vec<&RequiredCall> = task.tool_calls().collect();
        assert!((2..=6).contains(&calls.len()), "{} has {} calls", task.id, calls.len());
        let is_dependent =
            |call: &&&RequiredCall| call.needs.iter().any(|need| task.calls[*need].api != SEARCHER);
        assert!(calls.iter().filter(is_dependent).count() >= 1, "{}", task.id);
    }
}

#[test]
#[ignore = "slow"]
fn texts_are_english() {
    for task in tasks() {
        for text in [&task.requirement, &task.reply] {
            let wrong = |what: &str| panic!("{}: {what}: {text}", task.id);
            if text.contains("  ") || text.contains(" ,") || text.contains(" .") || text.contains(['{', '}'])
            {
                wrong("spaces or braces");
            }
            if !text.starts_with(|it: char| it.is_uppercase()) || !text.ends_with(['.', '?']) {
                wrong("begin or end");
            }
            for sentence in text.split(". ") {
                if sentence.starts_with(|it: char| it.is_lowercase()) {
                    wrong("a sentence begins with a small letter");
                }
            }
            let words: Vec<&str> =
                text.split(' ').map(|word| word.trim_matches(|it: char| !it.is_alphanumeric())).collect();
            for pair in words.windows(2) {
                let (first, second) = (pair[0], pair[1]);
                let is_vowel = second.starts_with(['a', 'e', 'i', 'o', 'u']);
                match first {
                    "a" if is_vowel && second != "one" => wrong("an article"),
                    "an" if !is_vowel => wrong("an article"),
                    "one" if second.ends_with('s') && second != "is" && second != "less" => wrong("a plural"),
                    "two" | "three" | "four" | "five" if !second.ends_with('s') && second != "are" => {
                        wrong("a singular");
                    }
                    _ if first == second && !first.is_empty() => wrong("a word twice"),
                    _ => {}
                }
            }
        }
    }
}

#[test]
fn all_sorts_come_in_turn_in_several_wordings() {
    let generator = Generator::new();
    let kinds: BTreeSet<&str> = Generator::kinds().collect();
    assert!(kinds.len() >= 19);
    let mut openings: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let round = kinds.len() as u64;
    for first in 0..12 {
        let tasks: Vec<UserTask> =
            (0..round).map(|index| generator.task(11, first * round + index).unwrap()).collect();
        assert_eq!(tasks.iter().map(|task| task.kind.as_str()).collect::<BTreeSet<_>>(), kinds);
        for task in tasks {
            let opening: Vec<&str> = task.requirement.split(' ').take(2).collect();
            openings.entry(task.kind).or_default().insert(opening.join(" "));
        }
    }
    for (kind, openings) in openings {
        assert!(openings.len() >= 2, "{kind}: {openings:?}");
    }
}

#[test]
fn the_same_seed_gives_the_same_tasks() {
    let (one, other) = (Generator::new(), Generator::new());
    for index in 0..20 {
        assert_eq!(one.task(3, index), other.task(3, index));
        assert_ne!(one.task(3, index).unwrap().requirement, one.task(4, index).unwrap().requirement);
    }
}

/// What an agent sees of the tasks of a seed, and what it should do, is the same for ever. To be renewed only with a
/// new version of the schema.
#[test]
fn golden_tasks_never_change() {
    let generator = Generator::new();
    let mut lines = String::new();
    for index in 0..Generator::kinds().count() as u64 {
        let task = generator.task(1, index).unwrap();
        let calls: Vec<String> = task.calls.iter().map(text).collect();
        let line = serde_json::json!([task.id, task.kind, task.requirement, calls, task.reply]);
        lines += &format!("{line}\n");
    }
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/level3_tasks.jsonl");
    if std::env::var_os("PLANPROOF_WRITE_GOLDEN").is_some() {
        std::fs::write(golden, &lines).unwrap();
    }
    let expected = std::fs::read_to_string(golden).unwrap();
    assert!(
        lines == expected,
        "templates, data or draws have changed; tasks of old seeds would not be found again"
    );
}

/// The call as a text, with lists as Python writes them.
fn text(call: &RequiredCall) -> String {
    let arguments = call.arguments.iter().map(|(name, value)| format!("{name}={}", repr(value)));
    format!("[{}({})]", call.api, arguments.collect::<Vec<_>>().join(", "))
}

#[test]
#[ignore = "slow"]
fn gold_calls_as_predictions_are_all_right() {
    let tasks = &tasks()[..95];
    let all = tasks.iter().enumerate().flat_map(|(place, task)| {
        task.calls.iter().enumerate().map(move |(number, call)| CallPrediction {
            task: place,
            call: number,
            text: text(call),
        })
    });
    let mut all: Vec<CallPrediction> = all.collect();
    let scores = Forced::score(tasks, &all, &data::own()).unwrap();
    assert_eq!(
        (scores.call_accuracy(), scores.task_accuracy()),
        (Some(1.0), Some(1.0)),
        "{:?}",
        scores.misses
    );
    // Two predictions of the same task, one of another, and one for no task are spoilt.
    for (place, text) in
        [(0, "nothing"), (1, "[LikeCount(post_id='x')]"), (all.len() - 1, "[LikeCount(post_id='1')]")]
    {
        all[place].text = text.to_owned();
    }
    all.push(CallPrediction { task: 1000, call: 0, text: String::new() });
    let scores = Forced::score(tasks, &all, &data::own()).unwrap();
    assert_eq!((scores.predictions - scores.correct, scores.failed.len()), (4, 2));
    assert_eq!(scores.task_accuracy(), Some(93.0 / 95.0));
}
