//! A verdict in words.

use planproof_suite::{EventNote, Explanation, Fact, SequenceStep, Verdict};
use planproof_trace::Event;
use serde_json::{Map, Value, json};

use super::Scoring;
use super::judge::{CalculatorCall, WordProblemDetail};
use super::problem::WordProblem;
use planproof_suite::runs::{call_notes, gist_beside_answer, on_one_line, shortened};

/// Most characters of an answer without a number that its gist repeats.
const GIST_CHARACTERS_MAX: usize = 120;

/// What went wrong, in one line.
fn gist(detail: &WordProblemDetail) -> String {
    let answer = detail.answer.as_deref().unwrap_or_default();
    let found = match detail.scoring {
        Scoring::Paper => &detail.extracted,
        Scoring::Official => &detail.extracted_strict,
    };
    gist_beside_answer(detail.class.as_deref(), detail.ended.as_ref()).unwrap_or_else(|| match found {
        Some(number) => format!("answered {number}, right is {}", detail.gold),
        None if answer.trim().is_empty() => "no number in the answer, which is empty".to_owned(),
        None => format!("no number in the answer: {}", shortened(&on_one_line(answer), GIST_CHARACTERS_MAX)),
    })
}

pub(super) fn explain(problem: &WordProblem, verdict: &Verdict) -> Explanation {
    let text = problem.question().to_owned();
    let Some(detail) = WordProblemDetail::of(verdict) else { return Explanation::of_class(text, verdict) };
    let mut facts = vec![Fact::steps("called", detail.calls.iter().map(step), detail.calls_total)];
    facts.extend(Fact::ends("answered", detail.answer.as_ref()));
    if detail.answer.is_some() {
        facts.push(Fact::text("read", read_in_words(&detail)));
        facts.push(Fact::text("rules", other_rule_in_words(&detail)));
    } else {
        facts.push(Fact::text("right", &*detail.gold));
    }
    facts.extend(Fact::ends("ended", detail.ended.as_ref()));
    Explanation {
        text,
        gist: gist(&detail),
        answer: detail.answer.unwrap_or_default(),
        facts,
        ..Explanation::default()
    }
}

/// What the rule that decides reads from the answer.
fn read_in_words(detail: &WordProblemDetail) -> String {
    let (read, gold) = match detail.scoring {
        Scoring::Paper => (&detail.extracted, &detail.gold),
        Scoring::Official => (&detail.extracted_strict, &detail.gold),
    };
    match read {
        Some(number) if detail.passed => format!("the answer read is {number}, which is right"),
        Some(number) => format!("the answer read is {number}; {gold} is right"),
        // The paper's rule cannot read each right answer.
        None if detail.passed => "the answer is right".to_owned(),
        None => format!("no answer could be read; {gold} is right"),
    }
}

/// What the rule says that does not decide.
fn other_rule_in_words(detail: &WordProblemDetail) -> String {
    let has_flag = |name: &str| detail.flags.iter().any(|flag| flag == name);
    let (rule, read, is_right) = match detail.scoring {
        Scoring::Paper => {
            ("OpenAI's rule (the number after `####`)", &detail.extracted_strict, detail.strict)
        }
        // By both rules, or by this one alone.
        Scoring::Official => (
            "the rule of the paper (the last number)",
            &detail.extracted,
            detail.strict && !has_flag("strict_only") || has_flag("paper_only"),
        ),
    };
    match (is_right, read) {
        (true, _) => format!("right by {rule}{}", if detail.passed { ", too" } else { "" }),
        (false, Some(number)) => format!("wrong by {rule}, which reads {number}"),
        (false, None) => format!("wrong by {rule}, which reads none"),
    }
}

fn step(CalculatorCall { expression, result, is_error }: &CalculatorCall) -> SequenceStep {
    let text = match result {
        Some(result) if *is_error => format!("{expression}: {result}"),
        Some(result) => format!("{expression} = {result}"),
        None => format!("{expression}, without a result"),
    };
    SequenceStep::new(text, *is_error)
}

/// Numbers the calls, and marks those with an error.
pub(super) fn notes(verdict: &Verdict, events: &[Event]) -> Vec<EventNote> {
    WordProblemDetail::of(verdict).map(|detail| call_notes(detail.calls_total, events)).unwrap_or_default()
}

pub(super) fn run_cells(verdict: &Verdict) -> Vec<String> {
    match WordProblemDetail::of(verdict) {
        Some(detail) => vec![
            detail.extracted.unwrap_or_default(),
            detail.extracted_strict.unwrap_or_default(),
            u8::from(detail.strict).to_string(),
            detail.calls_total.to_string(),
        ],
        None => vec![String::new(); 4],
    }
}

pub(super) fn metadata(problem: &WordProblem, verdict: Option<&Verdict>) -> Map<String, Value> {
    let mut metadata = Map::new();
    metadata.insert("gold".to_owned(), json!(problem.right().as_str()));
    metadata.insert("steps".to_owned(), json!(planproof_suite::Case::card(problem).size));
    if let Some(detail) = verdict.and_then(WordProblemDetail::of) {
        metadata.insert("extracted".to_owned(), json!(detail.extracted));
        metadata.insert("extracted_strict".to_owned(), json!(detail.extracted_strict));
        metadata.insert("strict".to_owned(), json!(detail.strict));
        metadata.insert("calls".to_owned(), json!(detail.calls_total));
    }
    metadata
}

#[cfg(test)]
mod tests {
    use planproof_suite::Case;
    use planproof_trace::notation::parse;

    use super::*;

    fn problem() -> WordProblem {
        WordProblem::new("p", "What is 3 times 6?", "<<3*6=18>>18", "18").unwrap()
    }

    fn explained(events: &str) -> (Verdict, Explanation) {
        let verdict = problem().judge(&parse(events).unwrap()).unwrap();
        let explanation = problem().explain(&verdict);
        (verdict, explanation)
    }

    #[test]
    fn the_gist_is_one_line() {
        for (events, gist) in [
            (r#"answer "18""#, "passed"),
            (r#"answer "It is\n17.""#, "answered 17, right is 18"),
            (r#"answer "No\nidea.""#, "no number in the answer: No idea."),
            (r#"answer """#, "no number in the answer, which is empty"),
            ("limit iterations 50", "limit reached: iterations 50"),
            (r#"failed "exit\nstatus 1""#, "the agent broke: exit status 1"),
        ] {
            assert_eq!(explained(events).1.gist, gist);
        }
    }

    #[test]
    fn facts_come_in_the_order_of_questions() {
        let events = r#"call calculator {"expression":"3*"} | err "missing" | call calculator {"expression":"3*6"} | ok "18" |
            answer "18""#;
        let (verdict, explanation) = explained(events);
        assert_eq!((explanation.text.as_str(), explanation.answer.as_str()), ("What is 3 times 6?", "18"));
        let facts: Vec<_> =
            explanation.facts.iter().map(|fact| (fact.label, fact.content.to_text())).collect();
        let expected = [
            ("called", "3*: missing, 3*6 = 18"),
            ("answered", "18"),
            ("read", "the answer read is 18, which is right"),
            ("rules", "wrong by OpenAI's rule (the number after `####`), which reads none"),
        ];
        assert_eq!(facts, expected.map(|(label, text)| (label, text.to_owned())));
        assert_eq!(problem().run_cells(&verdict), ["18", "", "0", "2"]);
        let notes = problem().notes(&verdict, &parse(events).unwrap()).unwrap();
        let seen: Vec<_> = notes.iter().map(|note| (note.event, note.number, note.remark)).collect();
        assert_eq!(seen, [(0, Some(1), Some("gave an error")), (2, Some(2), None)]);
        assert_eq!(problem().notes(&verdict, &[]), Some(Vec::new()));
        let metadata = problem().metadata(Some(&verdict));
        assert_eq!(metadata["gold"], "18");
        assert_eq!(metadata["extracted_strict"], Value::Null);
    }

    #[test]
    fn both_rules_are_in_plain_words() {
        let openai = "OpenAI's rule (the number after `####`)";
        let paper = "the rule of the paper (the last number)";
        for (scoring, answer, read, rules) in [
            (
                Scoring::Paper,
                "It is 17.",
                "the answer read is 17; 18 is right",
                format!("wrong by {openai}, which reads none"),
            ),
            (
                Scoring::Paper,
                "#### 18",
                "the answer read is 18, which is right",
                format!("right by {openai}, too"),
            ),
            (
                Scoring::Paper,
                "#### 18 of 20",
                "the answer read is 20; 18 is right",
                format!("right by {openai}"),
            ),
            (
                Scoring::Paper,
                "No idea.",
                "no answer could be read; 18 is right",
                format!("wrong by {openai}, which reads none"),
            ),
            (
                Scoring::Official,
                "It is 18.",
                "no answer could be read; 18 is right",
                format!("right by {paper}"),
            ),
            (
                Scoring::Official,
                "#### 18",
                "the answer read is 18, which is right",
                format!("right by {paper}, too"),
            ),
            (
                Scoring::Official,
                "#### 18 of 20",
                "the answer read is 18, which is right",
                format!("wrong by {paper}, which reads 20"),
            ),
            (
                Scoring::Official,
                "#### 17",
                "the answer read is 17; 18 is right",
                format!("wrong by {paper}, which reads 17"),
            ),
        ] {
            let problem = problem().scored(scoring);
            let events = parse(&format!("answer {answer:?}")).unwrap();
            let explanation = problem.explain(&problem.judge(&events).unwrap());
            let facts = explanation.facts.iter().filter(|fact| ["read", "rules"].contains(&fact.label));
            let facts: Vec<_> = facts.map(|fact| fact.content.to_text()).collect();
            assert_eq!(facts, [read.to_owned(), rules], "{answer}");
        }
    }

    #[test]
    fn a_foreign_verdict_is_explained_by_its_class_alone() {
        let mut verdict = explained(r#"answer "17""#).0;
        verdict.detail = "{}".into();
        assert_eq!(problem().explain(&verdict).gist, "wrong_answer");
        assert_eq!(problem().run_cells(&verdict).len(), 4);
    }
}
