//! How answers compare with the right ones under the published rules of the question-answering benchmarks, and what
//! the published tools and planners of their agents do.
//!
//! Each file is checked against one rule: `hotpot_em_f1` and `trivia_em_f1` against the official rules of their
//! benchmarks; `gsm8k_extract` against both GSM8K rules (`openai_...` is the strict one, `ibm_...` the paper's);
//! `rouge_l` against version 1.0.1 of the Python package; `react_wikienv` and `react_clean_str` against the `react`
//! dialect of `search` and `lookup`; `ibm_wiki_tools` against their `ibm` dialect; `ibm_calculator` and
//! `gsm8k_calculator` against the published calculators; `rewoo_parse` against ReWOO's rules of evidence, not ours.

mod agreement;
mod plans;
mod tools;
mod wiki;

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use planproof_measure::answers::Normalisation;
use planproof_measure::numbers::{RightNumber, by_paper, by_strict};
use planproof_measure::rouge::rouge_l;
use serde_json::{Value, json};

use agreement::Agreement;

/// What the strict GSM8K rule returns when it finds no number.
const NO_NUMBER: &str = "[invalid]";

/// The right answer used for extraction when an input names no problem.
const USUAL_NUMBER: &str = "18";

/// Files whose recorded values are stored beside their inputs and cover only some of them.
const WITH_EXPECTED: [&str; 4] = ["hotpot_em_f1", "trivia_em_f1", "gsm8k_extract", "rouge_l"];

pub(super) fn lines(directory: &Path) -> Result<Vec<String>> {
    let mut all = Vec::new();
    let values = first_answers(directory)?;
    for file in WITH_EXPECTED {
        let mut agreement = Agreement::new(file);
        let mut recorded = HashMap::new();
        for mut expected in read(directory, &format!("{file}_expected.jsonl"))? {
            // It repeats an input.
            expected.as_object_mut().context("an expectation is no object")?.remove("gold_answer");
            recorded.insert(expected["line"].to_string(), expected);
        }
        for input in read(directory, &format!("{file}_inputs.jsonl"))? {
            let found = match file {
                "hotpot_em_f1" => hotpot(&input),
                "trivia_em_f1" => trivia(&input, &values),
                "rouge_l" => rouge(&input),
                _ => gsm8k(&input),
            };
            let mut found = found.with_context(|| format!("{file}: {input}"))?;
            found["line"] = input["line"].clone();
            // Only some inputs have recorded values; ours are printed for all.
            if let Some(expected) = recorded.get(&input["line"].to_string()) {
                agreement.compare(expected, &found);
            }
            found["file"] = file.into();
            all.push(found.to_string());
        }
        agreement.report();
    }
    for (file, cases) in [
        ("ibm_calculator", tools::ibm_calculator as fn(&Path) -> Result<Vec<(Value, Value)>>),
        ("gsm8k_calculator", tools::gsm8k_calculator),
        ("react_clean_str", tools::clean_texts),
        ("react_wikienv", wiki::react_steps),
        ("ibm_wiki_tools", wiki::ibm_steps),
        ("rewoo_parse", plans::rewoo),
    ] {
        let mut agreement = Agreement::new(file);
        for (line, (expected, mut found)) in cases(directory).context(file)?.into_iter().enumerate() {
            agreement.compare(&expected, &found);
            found["file"] = file.into();
            found["line"] = line.into();
            all.push(found.to_string());
        }
        agreement.report();
    }
    Ok(all)
}

fn read(directory: &Path, file: &str) -> Result<Vec<Value>> {
    let path = directory.join(file);
    let text = fs::read_to_string(&path).with_context(|| format!("{} cannot be read", path.display()))?;
    text.lines().map(|line| Ok(serde_json::from_str(line)?)).collect()
}

/// The preferred answer of the data, keyed by the ordered list of all accepted answers: the TriviaQA inputs contain
/// only that list.
fn first_answers(directory: &Path) -> Result<HashMap<Vec<String>, String>> {
    let mut values = HashMap::new();
    for row in read(directory, "triviaqa/triviaqa_sm_sub.jsonl")? {
        let mut aliases: Vec<String> = aliases(&row)?.into_iter().map(str::to_owned).collect();
        aliases.sort_unstable();
        values.insert(aliases, text(&row, "answer")?.to_owned());
    }
    Ok(values)
}

fn document(directory: &Path, file: &str) -> Result<Value> {
    let path = directory.join(file);
    let text = fs::read_to_string(&path).with_context(|| format!("{} cannot be read", path.display()))?;
    Ok(serde_json::from_str(&text)?)
}

fn aliases(row: &Value) -> Result<Vec<&str>> {
    Ok(row["aliases"].as_array().context("there are no aliases")?.iter().filter_map(Value::as_str).collect())
}

fn text<'v>(input: &'v Value, key: &str) -> Result<&'v str> {
    input[key].as_str().with_context(|| format!("there is no text `{key}`"))
}

fn hotpot(input: &Value) -> Result<Value> {
    let (answer, right) = (text(input, "pred")?, text(input, "gold")?);
    let found = Normalisation::Hotpot.compare(answer, right);
    Ok(json!({
        "norm_pred": Normalisation::Hotpot.normal(answer),
        "norm_gold": Normalisation::Hotpot.normal(right),
        "em": found.is_exact,
        "f1": found.f1,
        "precision": found.precision,
        "recall": found.recall,
    }))
}

fn trivia(input: &Value, values: &HashMap<Vec<String>, String>) -> Result<Value> {
    let answer = text(input, "pred")?;
    let aliases = aliases(input)?;
    let mut sorted: Vec<String> = aliases.iter().map(|alias| (*alias).to_owned()).collect();
    sorted.sort_unstable();
    let first = values.get(&sorted).map(String::as_str).or_else(|| aliases.first().copied());
    let mut normal: Vec<String> = aliases.iter().map(|alias| Normalisation::Trivia.normal(alias)).collect();
    normal.sort_unstable();
    normal.dedup();
    let best = Normalisation::Trivia.best(answer, normal.iter().map(String::as_str));
    // The recording also has a comparison by HotpotQA's rule with the preferred answer alone.
    let value = first.is_some_and(|value| Normalisation::Hotpot.compare(answer, value).is_exact);
    Ok(json!({
        "normalized_aliases": normal,
        "norm_pred": Normalisation::Trivia.normal(answer),
        "em": best.is_exact,
        "f1": best.f1,
        "is_exact_match": best.is_exact,
        "hotpot_style_em_vs_value": value,
    }))
}

fn gsm8k(input: &Value) -> Result<Value> {
    let answer = text(input, "text")?;
    let given = input["gold"].as_str();
    let right = RightNumber::read(given.unwrap_or(USUAL_NUMBER)).context("the right answer is no number")?;
    let (paper, strict) = (by_paper(answer), by_strict(answer));
    let rule = |name: &str| match given {
        Some(_) => format!("{name}_correct"),
        // If the input has no right answer, the name of the recorded field says with which number it was compared.
        None => format!("{name}_correct_vs_18"),
    };
    let mut found = json!({
        "openai_extract": strict.as_deref().unwrap_or(NO_NUMBER),
        "ibm_last_number": paper,
    });
    found[rule("ibm")] = paper.is_some_and(|number| right.is_by_paper(&number)).into();
    found[rule("openai")] = strict.is_some_and(|number| right.is_by_strict(&number)).into();
    Ok(found)
}

fn rouge(input: &Value) -> Result<Value> {
    Ok(match rouge_l(text(input, "hyp")?, text(input, "ref")?) {
        Ok(found) => json!({"rouge_l": {"r": found.recall, "p": found.precision, "f": found.f}}),
        Err(error) => json!({"rouge_l": {"error": format!("ValueError: {error}")}}),
    })
}
