//! The original data of both benchmarks, and questions of our own.

use std::collections::{HashMap, HashSet};
use std::fmt::Display;

use planproof_measure::answers::Normalisation;
use planproof_measure::supporting::SupportingFact;
use planproof_suite::CaseError;
use serde::Deserialize;
use serde_json::{Value, json};

use super::benchmark::Benchmark;
use super::case::{Line, QuestionCase};
use planproof_suite::rows::{DataError, lines};

const OWN: [(Benchmark, &str); 2] = [
    (Benchmark::HotpotQa, include_str!("../../data/questions/hotpotqa.jsonl")),
    (Benchmark::TriviaQa, include_str!("../../data/questions/triviaqa.jsonl")),
];

/// A question of HotpotQA. Other fields are ignored, in particular the pages in `context`, which the agent is
/// supposed to find.
#[derive(Deserialize)]
struct HotpotRow {
    #[serde(alias = "id")]
    _id: Option<String>,
    question: String,
    answer: String,
    #[serde(default, rename = "type")]
    kind: String,
    #[serde(default)]
    supporting_facts: Option<Facts>,
}

/// The supporting sentences, in the format of the authors or of the copy on Hugging Face.
#[derive(Deserialize)]
#[serde(untagged)]
enum Facts {
    Pairs(Vec<(String, i64)>),
    Columns {
        title: Vec<String>,
        #[serde(default)]
        sent_id: Vec<i64>,
    },
}

/// A file of TriviaQA as published by its authors.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct TriviaFile {
    /// `Web` or `Wikipedia`.
    #[serde(default)]
    domain: String,
    /// Whether only the verified questions and pages count.
    #[serde(default)]
    verified_eval: bool,
    data: Vec<TriviaRow>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct TriviaRow {
    question: String,
    question_id: String,
    answer: TriviaAnswer,
    question_part_of_verified_eval: Option<bool>,
    #[serde(default)]
    entity_pages: Vec<TriviaPage>,
    #[serde(default)]
    search_results: Vec<TriviaPage>,
}

/// A page that may hold the answer.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct TriviaPage {
    filename: Option<String>,
    doc_part_of_verified_eval: Option<bool>,
}

/// The right answers, with the names of either copy.
#[derive(Deserialize)]
struct TriviaAnswer {
    #[serde(alias = "Value")]
    value: String,
    #[serde(default, alias = "Aliases")]
    aliases: Vec<String>,
    #[serde(default, alias = "NormalizedAliases")]
    normalized_aliases: Vec<String>,
    #[serde(default, alias = "HumanAnswers")]
    human_answers: Vec<String>,
}

/// A line of the copy on Hugging Face, or in the format of TriviaQA in evaluation harnesses.
#[derive(Deserialize)]
#[serde(untagged)]
enum TriviaLine {
    Copy {
        question: String,
        question_id: Option<String>,
        answer: TriviaAnswer,
    },
    Harness {
        context: String,
        answer: String,
        #[serde(default)]
        aliases: Vec<String>,
    },
}

/// A line of our own.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OwnRow {
    question: String,
    answer: String,
    #[serde(default)]
    accepted: Vec<String>,
    titles: Vec<String>,
    kind: String,
}

/// What harnesses put around a question.
const HARNESS: (&str, &str) = ("Question:", "Answer:");

/// The questions of a published file, in order. For HotpotQA that is a JSON list, or a line of JSON for each
/// question; for TriviaQA the object with `Data`, or lines as on Hugging Face or with `context`, `answer` and
/// `aliases`. Questions without an id get `hotpotqa-1`, `hotpotqa-2` and so on by position. `file` is its name in
/// errors.
///
/// # Errors
/// The first unreadable question, with its line; two questions with one id; a line or file beyond the limits
/// [`LINE_BYTES_MAX`](planproof_suite::rows::LINE_BYTES_MAX) and [`LINES_MAX`](planproof_suite::rows::LINES_MAX).
pub fn read_data(benchmark: Benchmark, text: &str, file: &str) -> Result<Vec<QuestionCase>, DataError> {
    // A byte order mark is not JSON.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut read = Reading { benchmark, file, questions: Vec::new(), ids: HashSet::new() };
    let whole =
        |error: serde_json::Error| DataError::of_json(file, None, &error).expecting(example(benchmark));
    match benchmark {
        // The published list begins with a bracket, a file of lines with a brace.
        Benchmark::HotpotQa if text.trim_start().starts_with('[') => {
            for row in serde_json::from_str::<Vec<HotpotRow>>(text).map_err(whole)? {
                read.hotpot(row, None)?;
            }
        }
        Benchmark::TriviaQa if is_trivia_file(text) => {
            let TriviaFile { domain, verified_eval, data } = serde_json::from_str(text).map_err(whole)?;
            for row in data {
                // As in the official script, the others are not part of the evaluation.
                if verified_eval && !read.is_verified(row.question_part_of_verified_eval, &row.question_id)? {
                    continue;
                }
                // A page without a name can be in no prediction, and matters only to those who score some.
                let pages = match is_web_half(&domain) {
                    true => read.pages(&row, verified_eval).unwrap_or_default(),
                    false => Vec::new(),
                };
                read.trivia((row.question, Some(row.question_id)), row.answer, pages, None)?;
            }
        }
        _ => {
            for line in lines(text, file) {
                let (number, line) = line?;
                let place = Some(number);
                let refuse = |error: serde_json::Error| {
                    DataError::of_json(file, place, &error).expecting(example(benchmark))
                };
                match benchmark {
                    Benchmark::HotpotQa => read.hotpot(serde_json::from_str(line).map_err(refuse)?, place)?,
                    Benchmark::TriviaQa => read.trivia_line(line, number)?,
                }
            }
        }
    }
    Ok(read.questions)
}

/// The pages of each question in a file of the web half of TriviaQA, by the question's id: the official script scores
/// each pair of a question and a page, under the id `QUESTION--PAGE`. `None` for other data, whose questions it scores.
///
/// # Errors
/// A page has no file name, or it is not said whether it is verified.
pub(super) fn web_pages(text: &str, file: &str) -> Result<Option<HashMap<String, Vec<String>>>, DataError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if !is_trivia_file(text) {
        return Ok(None);
    }
    let refuse = |error: serde_json::Error| {
        DataError::of_json(file, None, &error).expecting(example(Benchmark::TriviaQa))
    };
    let TriviaFile { domain, verified_eval, data } = serde_json::from_str(text).map_err(refuse)?;
    if !is_web_half(&domain) {
        return Ok(None);
    }
    let read = Reading { benchmark: Benchmark::TriviaQa, file, questions: Vec::new(), ids: HashSet::new() };
    let mut found = HashMap::new();
    for row in data {
        let pages = read.pages(&row, verified_eval)?;
        found.insert(row.question_id, pages);
    }
    Ok(Some(found))
}

/// Whether a file with this domain is of the web half of TriviaQA: one without a domain is none of the published ones.
fn is_web_half(domain: &str) -> bool {
    !domain.is_empty() && domain != "Wikipedia"
}

/// What a question of the published data looks like.
fn example(benchmark: Benchmark) -> &'static str {
    match benchmark {
        Benchmark::HotpotQa => {
            r#"questions such as {"_id": "5a8b", "question": "Who ...?", "answer": "..."}"#
        }
        Benchmark::TriviaQa => {
            r#"questions such as {"Question": "Who ...?", "QuestionId": "tc_1", "Answer": {"Value": "...", "Aliases": []}}"#
        }
    }
}

/// Ten questions of our own, about pages of our own, so that a first try needs no download.
///
/// # Errors
/// None; the data is embedded and tested.
pub fn own(benchmark: Benchmark) -> Result<Vec<QuestionCase>, DataError> {
    let text = OWN.iter().find(|(of, _)| *of == benchmark).map_or("", |(_, text)| text);
    let mut questions = Vec::new();
    for line in lines(text, "own.jsonl") {
        let (number, line) = line?;
        let refuse = |error: serde_json::Error| DataError::of_json("own.jsonl", Some(number), &error);
        let row: OwnRow = serde_json::from_str(line).map_err(refuse)?;
        let line = Line {
            id: format!("{}-own-{number}", benchmark.name()),
            question: row.question,
            answer: row.answer,
            accepted: row.accepted,
            titles: row.titles,
            kind: row.kind,
            own_pages: true,
            ..Line::default()
        };
        let question = QuestionCase::of_line(benchmark, line);
        questions.push(
            question.map_err(|CaseError { what, .. }| DataError::new("own.jsonl", Some(number), what))?,
        );
    }
    Ok(questions)
}

/// The answers of a file for an official script, by the ids of their questions: one object, for HotpotQA with the
/// answers under `answer`. `None` for any other text. The ids of the web half of TriviaQA, which contain a page after
/// `--`, also identify their questions; of several pages the first counts.
pub(super) fn official_predictions(text: &str) -> Option<HashMap<String, String>> {
    let Value::Object(whole) = serde_json::from_str(text).ok()? else { return None };
    let answers = match whole.get("answer") {
        Some(Value::Object(answers)) => answers.clone(),
        // A line with one prediction is an object, too.
        _ if whole.contains_key("prediction") => return None,
        _ => whole,
    };
    let mut found = HashMap::new();
    for (id, answer) in answers {
        let Value::String(answer) = answer else { return None };
        if let Some((question, _)) = id.split_once("--") {
            found.entry(question.to_owned()).or_insert_with(|| answer.clone());
        }
        found.insert(id, answer);
    }
    Some(found)
}

/// The sentences under `sp` of the same file of HotpotQA, by the ids of the questions; `None` if there are none at
/// all. As in the official script, an entry that is not a sentence is one that is not needed; with `is_original`, so is
/// what stops that script. Otherwise a question whose value is not a list has none.
///
/// # Errors
/// The value of `sp` has another form, or with `is_original` that of a question has one; the text says which is
/// required.
pub(super) fn official_facts(
    text: &str,
    is_original: bool,
) -> Result<Option<HashMap<String, Vec<SupportingFact>>>, String> {
    // Lines of predictions are not a single object, and so name no facts.
    let Ok(Value::Object(mut whole)) = serde_json::from_str(text) else { return Ok(None) };
    let Some(named) = whole.remove("sp").filter(|named| !named.is_null()) else { return Ok(None) };
    let Value::Object(named) = named else {
        return Err("the supporting facts are no object: write {\"answer\": {...}, \"sp\": {\"ID\": [[\"TITLE\", 0]]}}".to_owned());
    };
    let mut found = HashMap::new();
    for (id, value) in named {
        let facts = match &value {
            Value::Array(entries) => entries.iter().map(|entry| fact(entry, is_original)).collect(),
            _ => None,
        };
        match facts {
            Some(facts) => {
                found.insert(id, facts);
            }
            None if is_original => {
                return Err(format!(
                    "the published script stops at the supporting facts of question {id}: write \"{id}\": [[\"TITLE\", 0]]"
                ));
            }
            None => {}
        }
    }
    Ok(Some(found))
}

/// An entry of the supporting facts of a question; `None` for what stops the official script, if that counts. The
/// script makes a tuple of each entry, so that one of another form equals no sentence, but counts as named.
fn fact(entry: &Value, is_original: bool) -> Option<SupportingFact> {
    // Parts as Python compares them: `true` is 1, and `1.0` is.
    let part = |value: &Value| match value {
        Value::Bool(is_true) => json!(i64::from(*is_true)),
        Value::Number(number) if number.as_f64().is_some_and(|it| it.fract() == 0.0 && it.abs() < 1e15) => {
            json!(number.as_f64().unwrap_or_default() as i64)
        }
        other => other.clone(),
    };
    let parts: Vec<Value> = match entry {
        Value::Array(parts) => parts.iter().map(part).collect(),
        Value::String(text) => text.chars().map(|c| json!(c.to_string())).collect(),
        Value::Object(map) => map.keys().map(|key| json!(key)).collect(),
        _ if is_original => return None,
        other => vec![other.clone()],
    };
    if is_original && parts.iter().any(|part| part.is_array() || part.is_object()) {
        return None;
    }
    Some(match parts.as_slice() {
        [Value::String(title), Value::Number(place)] if place.is_i64() => {
            (title.clone(), place.as_i64().unwrap_or_default())
        }
        // No title has the character 0, so that this equals no sentence.
        _ => (format!("\0{}", Value::Array(parts)), 0),
    })
}

/// Whether the text is one object, as opposed to one of several lines.
fn is_trivia_file(text: &str) -> bool {
    let first = text.trim_start().lines().next().unwrap_or_default();
    // An indented file has only the brace in its first line; an unindented one is a single line with `Data` in it.
    first.starts_with('{') && (first.trim_end() == "{" || first.contains("\"Data\""))
}

/// What has been read of a file.
struct Reading<'f> {
    benchmark: Benchmark,
    file: &'f str,
    questions: Vec<QuestionCase>,
    ids: HashSet<String>,
}

impl Reading<'_> {
    fn hotpot(&mut self, row: HotpotRow, line: Option<usize>) -> Result<(), DataError> {
        let (named, facts): (Vec<String>, Vec<SupportingFact>) = match row.supporting_facts {
            Some(Facts::Pairs(pairs)) => (pairs.iter().map(|(title, _)| title.clone()).collect(), pairs),
            Some(Facts::Columns { title, sent_id }) if title.len() == sent_id.len() => {
                (title.clone(), title.into_iter().zip(sent_id).collect())
            }
            // Pages without positions of sentences can be searched, but nothing can be compared with them.
            Some(Facts::Columns { title, .. }) => (title, Vec::new()),
            None => Default::default(),
        };
        let mut titles: Vec<String> = Vec::new();
        for title in named {
            if !titles.contains(&title) {
                titles.push(title);
            }
        }
        let mut question = Line { facts, titles, kind: row.kind, ..Line::default() };
        (question.question, question.answer) = (row.question, row.answer);
        self.add(row._id, question, line)
    }

    fn trivia_line(&mut self, text: &str, number: usize) -> Result<(), DataError> {
        let line = Some(number);
        // The error of an untagged enumeration is not helpful, so the line is first parsed as JSON.
        let value: Value = serde_json::from_str(text).map_err(|error| {
            DataError::of_json(self.file, line, &error).expecting(example(self.benchmark))
        })?;
        match serde_json::from_value(value) {
            Ok(TriviaLine::Copy { question, question_id, answer }) => {
                self.trivia((question, question_id), answer, Vec::new(), line)
            }
            Ok(TriviaLine::Harness { context, answer, aliases }) => {
                let question = context.trim();
                let question = question.strip_prefix(HARNESS.0).unwrap_or(question);
                let question = question.strip_suffix(HARNESS.1).unwrap_or(question).trim().to_owned();
                let (normalized_aliases, human_answers) = Default::default();
                let answer = TriviaAnswer { value: answer, aliases, normalized_aliases, human_answers };
                self.trivia((question, None), answer, Vec::new(), line)
            }
            Err(_) => Err(self.fault(
                line,
                "no question of TriviaQA: expected `question` with an `answer` that has `value` and `aliases`, or \
                 `context` with `answer` and `aliases`",
            )),
        }
    }

    /// The accepted answers are those of the official script: the normalised aliases, and the answers of people.
    fn trivia(
        &mut self,
        (question, id): (String, Option<String>),
        answer: TriviaAnswer,
        web_pages: Vec<String>,
        line: Option<usize>,
    ) -> Result<(), DataError> {
        let TriviaAnswer { value, aliases, normalized_aliases, human_answers } = answer;
        let aliases = if normalized_aliases.is_empty() { aliases } else { normalized_aliases };
        let mut accepted: Vec<String> =
            aliases.iter().chain(&human_answers).map(|alias| Normalisation::Trivia.normal(alias)).collect();
        // Several spellings are the same once they are normalised.
        accepted.sort_unstable();
        accepted.dedup();
        self.add(id, Line { question, answer: value, accepted, web_pages, ..Line::default() }, line)
    }

    fn add(&mut self, id: Option<String>, question: Line, line: Option<usize>) -> Result<(), DataError> {
        let id = id.unwrap_or_else(|| format!("{}-{}", self.benchmark.name(), self.questions.len() + 1));
        let whole = Line { id: id.clone(), ..question };
        // Without a line, the number of the question says where the fault is.
        let place = format!("question {}: ", self.questions.len() + 1);
        let place = if line.is_some() { String::new() } else { place };
        let question = QuestionCase::of_line(self.benchmark, whole)
            .map_err(|CaseError { what, .. }| self.fault(line, format!("{place}{what}")))?;
        if !self.ids.insert(id.clone()) {
            return Err(self.fault(line, format!("{place}two questions have the id `{id}`")));
        }
        self.questions.push(question);
        Ok(())
    }

    /// The names of a question's pages, each once: the official script has one answer for each pair.
    fn pages(&self, row: &TriviaRow, verified_eval: bool) -> Result<Vec<String>, DataError> {
        let id = &row.question_id;
        let mut pages: Vec<String> = Vec::new();
        for page in row.entity_pages.iter().chain(&row.search_results) {
            if verified_eval && !self.is_verified(page.doc_part_of_verified_eval, id)? {
                continue;
            }
            let Some(name) = &page.filename else {
                let what = format!("question {id}: a page has no `Filename`, by which predictions name it");
                return Err(self.fault(None, what));
            };
            if !pages.contains(name) {
                pages.push(name.clone());
            }
        }
        Ok(pages)
    }

    /// Whether a question, or one of its pages, is part of the verified evaluation.
    fn is_verified(&self, part: Option<bool>, id: &str) -> Result<bool, DataError> {
        part.ok_or_else(|| {
            self.fault(
                None,
                format!(
                    "question {id}: `VerifiedEval` is true, so that `QuestionPartOfVerifiedEval` and \
                     `DocPartOfVerifiedEval` have to say what is part of it"
                ),
            )
        })
    }

    fn fault(&self, line: Option<usize>, what: impl Display) -> DataError {
        DataError::new(self.file, line, what.to_string())
    }
}

#[cfg(test)]
mod tests {
    use planproof_suite::Case;

    use super::*;
    use crate::questions::pages::OwnPages;

    #[test]
    fn hotpotqa_is_read_in_each_form() {
        let list = r#"[{"_id":"h1","question":"Q?","answer":"yes","type":"comparison",
            "supporting_facts":[["A",0],["B",1],["A",2]],"context":[]}, {"question":"R?","answer":"x"}]"#;
        let read = read_data(Benchmark::HotpotQa, list, "f").unwrap();
        assert_eq!(
            (read[0].id(), read[0].card().size, read[0].card().label.as_str()),
            ("h1", 2, "comparison")
        );
        assert_eq!(read[0].gold().unwrap().calls[1].arguments["title"], "B");
        assert_eq!((read[1].id(), read[1].card().size), ("hotpotqa-2", 2));
        let lines = r#"{"id":"h1","question":"Q?","answer":"yes","type":"bridge","supporting_facts":{"title":["A"],"sent_id":[0]}}"#;
        assert_eq!(read_data(Benchmark::HotpotQa, lines, "f").unwrap()[0].card().size, 1);
    }

    #[test]
    fn triviaqa_is_read_in_each_form() {
        let file = "{\n \"Data\": [{\"Question\":\"Q?\",\"QuestionId\":\"t1\",\"Answer\":{\"Value\":\"The Sun\",\
                    \"Aliases\":[\"Sol\"],\"NormalizedAliases\":[\"sun\",\"sol\"],\"HumanAnswers\":[\"Our sun\"]}}]}";
        let read = read_data(Benchmark::TriviaQa, file, "f").unwrap();
        assert_eq!((read[0].id(), read[0].right()), ("t1", "The Sun"));
        assert!(read[0].officially("our sun").is_exact && !read[0].by_paper("sol").is_exact);
        let copy = r#"{"question":"Q?","question_id":"t1","answer":{"value":"Sun","aliases":["Sol"]}}"#;
        assert!(read_data(Benchmark::TriviaQa, copy, "f").unwrap()[0].officially("SOL").is_exact);
        let harness = r#"{"context":"Question: Who?\nAnswer:","answer":"Ann","aliases":["Anna"]}"#;
        let read = read_data(Benchmark::TriviaQa, harness, "f").unwrap();
        assert_eq!((read[0].question(), read[0].id()), ("Who?", "triviaqa-1"));
    }

    #[test]
    fn the_named_answer_of_each_form_is_accepted_without_being_an_alias() {
        for text in [
            r#"{"Data": [{"Question":"Q?","QuestionId":"t","Answer":{"Value":"The Sun","Aliases":["Sol"],"NormalizedAliases":["sol"]}}]}"#,
            r#"{"Data": [{"Question":"Q?","QuestionId":"t","Answer":{"Value":"The Sun","HumanAnswers":["our star"]}}]}"#,
            r#"{"question":"Q?","question_id":"t","answer":{"value":"The Sun","aliases":["Sol"]}}"#,
            r#"{"question":"Q?","answer":{"Value":"The Sun","NormalizedAliases":["sol"]}}"#,
            r#"{"context":"Question: Q?\nAnswer:","answer":"The Sun","aliases":["Sol"]}"#,
            r#"{"context":"Q?","answer":"The Sun"}"#,
        ] {
            let read = read_data(Benchmark::TriviaQa, text, "f").unwrap();
            assert!(read[0].officially("sun").is_exact && read[0].by_paper("the sun").is_exact, "{text}");
            assert!(!read[0].officially("moon").is_exact, "{text}");
        }
    }

    #[test]
    fn faults_are_named_with_their_places() {
        let fault = |of, text: &str| read_data(of, text, "x").unwrap_err().to_string();
        assert!(fault(Benchmark::HotpotQa, "[{\"question\":1}]").starts_with("x:1:14: invalid type"));
        let empty = "[{\"question\":\"Q\",\"answer\":\" \"}]";
        assert_eq!(fault(Benchmark::HotpotQa, empty), "x: question 1: the answer is empty");
        assert!(fault(Benchmark::HotpotQa, "\n{\"question\":\"a\"}").contains("x:2:"));
        assert!(
            fault(Benchmark::TriviaQa, "\n{\"question\":\"a\"}").starts_with("x:2: no question of TriviaQA")
        );
        let twice = "{\"id\":\"a\",\"question\":\"Q\",\"answer\":\"b\"}\n".repeat(2);
        assert_eq!(fault(Benchmark::HotpotQa, &twice), "x:2: two questions have the id `a`");
        assert!(fault(Benchmark::TriviaQa, "{\n\"Data\": 1}").starts_with("x:2:"));
    }

    #[test]
    fn official_predictions_are_told_from_lines() {
        let found = official_predictions(r#"{"t1--Page.txt":"a","t1--Other.txt":"b"}"#).unwrap();
        assert!(found["t1"] == "a" || found["t1"] == "b");
        assert_eq!(found["t1--Other.txt"], "b");
        let hotpot = r#"{"answer":{"h":"x"},"sp":{"h":[["A",0]]}}"#;
        assert_eq!(official_predictions(hotpot).unwrap()["h"], "x");
        for is_original in [false, true] {
            let facts = |text: &str| official_facts(text, is_original);
            assert_eq!(facts(hotpot).unwrap().unwrap()["h"], [("A".to_owned(), 0)]);
            for none in [r#"{"answer":{}}"#, r#"{"answer":{},"sp":null}"#, "[3]", "{}\n{}", "x"] {
                assert!(facts(none).unwrap().is_none(), "{none}");
            }
            assert!(facts(r#"{"answer":{},"sp":["A"]}"#).unwrap_err().contains("write {"));
        }
        for other in [r#"{"id":"t1","prediction":"a"}"#, r#"{"prediction":"a"}"#, "{\"a\":1}", "[]", "x"] {
            assert!(official_predictions(other).is_none(), "{other}");
        }
    }

    /// An entry of another form equals no sentence and counts as named, as `tuple(entry)` of the official script does.
    #[test]
    fn an_odd_supporting_fact_is_judged_alone() {
        let facts = |entries: &str, is_original| {
            official_facts(&format!(r#"{{"answer":{{}},"sp":{{"h":{entries},"i":[["B",1]]}}}}"#), is_original)
        };
        let needed = [("A".to_owned(), 0), ("A".to_owned(), 1)];
        for (entries, named, exact) in [
            (r#"[["A",0],["A",1]]"#, 2, true),
            // As Python compares numbers.
            (r#"[["A",0.0],["A",true]]"#, 2, true),
            (r#"[["A",0],["A",0.0],["A",false],["A",1]]"#, 2, true),
            (r#"[["A",0],["A",1],["A",0,7]]"#, 3, false),
            (r#"[["A",0],["A","1"]]"#, 2, false),
            (r#"[["A",0],"A1",["A","1"]]"#, 2, false),
            (r#"[["A",0],{"A":1},["A"],[]]"#, 3, false),
            (r#"[["A",0.5]]"#, 1, false),
        ] {
            for is_original in [false, true] {
                let found = facts(entries, is_original).unwrap().unwrap();
                let distinct: HashSet<&SupportingFact> = found["h"].iter().collect();
                let agreed = planproof_measure::supporting::facts(&found["h"], &needed);
                assert_eq!((distinct.len(), agreed.is_exact), (named, exact), "{entries}");
                assert_eq!(found["i"], [("B".to_owned(), 1)]);
            }
        }
        // These stop the official script.
        for entries in ["[7]", "[null]", r#"[["A",[0]]]"#, r#"[[{"A":0}]]"#, "7", "null"] {
            let error = facts(entries, true).unwrap_err();
            assert!(error.contains("of question h: write \"h\": [["), "{error}");
            let found = facts(entries, false).unwrap().unwrap();
            assert!(found.get("h").is_none_or(|it| it.len() == 1), "{entries}");
            assert_eq!(found["i"].len(), 1);
        }
    }

    #[test]
    fn questions_of_our_own_are_answered_by_pages_of_our_own() {
        use planproof_tools::pages::{PageLookup, PageSource as _};
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        for benchmark in [Benchmark::HotpotQa, Benchmark::TriviaQa] {
            let questions = own(benchmark).unwrap();
            assert_eq!(questions.len(), 10);
            for question in &questions {
                let mut text = String::new();
                for call in question.gold().unwrap().calls {
                    let title = call.arguments["title"].as_str().unwrap().to_owned();
                    let Ok(PageLookup::Page { text: page, .. }) =
                        runtime.block_on(OwnPages::get().find(&title))
                    else {
                        panic!("{}: there is no page {title}", question.id());
                    };
                    text += &page;
                    assert!(
                        question.question().contains(&title) || benchmark == Benchmark::HotpotQa,
                        "{}: the question does not name {title}",
                        question.id()
                    );
                }
                let right = question.right();
                assert!(text.contains(right) || ["yes", "no"].contains(&right), "{}", question.id());
                assert!(question.officially(right).is_exact && question.by_paper(right).is_exact);
            }
        }
    }
}
