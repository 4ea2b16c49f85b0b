//! A verdict in words.

use planproof_suite::{EventNote, Explanation, Fact, Verdict};
use planproof_trace::Event;
use serde_json::{Map, Value, json};

use super::judge::QuestionDetail;
use super::{QuestionCase, Scoring};
use planproof_suite::runs::{KeptCall, call_notes, gist_beside_answer, on_one_line, shortened};

/// Most characters of an answer that its gist repeats.
const GIST_CHARACTERS_MAX: usize = 120;

/// What went wrong, in one line.
fn gist(detail: &QuestionDetail) -> String {
    let short = |text: &str| shortened(&on_one_line(text), GIST_CHARACTERS_MAX);
    gist_beside_answer(detail.class.as_deref(), detail.ended.as_ref()).unwrap_or_else(|| {
        match &detail.found {
            Some(found) => format!("answered {}, right is {}", short(found), short(&detail.gold)),
            None => "the answer is empty".to_owned(),
        }
    })
}

pub(super) fn explain(question: &QuestionCase, verdict: &Verdict) -> Explanation {
    let text = question.question().to_owned();
    let Some(detail) = QuestionDetail::of(verdict) else { return Explanation::of_class(text, verdict) };
    let mut facts = vec![Fact::steps("called", detail.calls.iter().map(KeptCall::step), detail.calls_total)];
    facts.extend(Fact::ends("answered", detail.answer.as_ref()));
    if detail.answer.is_some() {
        facts.push(Fact::text("found", detail.found.as_deref().unwrap_or("no answer")));
    }
    facts.push(Fact::text("right", &*detail.gold));
    // Without an answer there is nothing that the rules could disagree about.
    if detail.answer.is_some() {
        facts.push(Fact::text("rules", rules_in_words(&detail)));
    }
    facts.extend(Fact::ends("ended", detail.ended.as_ref()));
    Explanation {
        text,
        gist: gist(&detail),
        // The short answer rather than the whole text, because it is what was judged.
        answer: detail.found.unwrap_or_default(),
        facts,
        ..Explanation::default()
    }
}

fn rules_in_words(detail: &QuestionDetail) -> String {
    let word = |holds: bool| if holds { "right" } else { "wrong" };
    let decides = match detail.scoring {
        Scoring::Official => "the official rule decides",
        Scoring::Paper => "the paper's rule decides",
    };
    format!(
        "{} by the official rule, {} by that of the paper's code; {decides}; F1 {:.2}",
        word(detail.official),
        word(detail.paper),
        detail.f1
    )
}

/// Numbers the calls, and marks those with an error.
pub(super) fn notes(verdict: &Verdict, events: &[Event]) -> Vec<EventNote> {
    QuestionDetail::of(verdict).map(|detail| call_notes(detail.calls_total, events)).unwrap_or_default()
}

pub(super) fn run_cells(verdict: &Verdict) -> Vec<String> {
    let one = |holds: bool| u8::from(holds).to_string();
    match QuestionDetail::of(verdict) {
        Some(detail) => vec![
            detail.found.unwrap_or_default(),
            format!("{:.4}", detail.f1),
            one(detail.official),
            one(detail.paper),
            detail.calls_total.to_string(),
        ],
        None => vec![String::new(); 5],
    }
}

pub(super) fn metadata(question: &QuestionCase, verdict: Option<&Verdict>) -> Map<String, Value> {
    let mut metadata = Map::new();
    metadata.insert("gold".to_owned(), json!(question.right()));
    metadata.insert("kind".to_owned(), json!(question.kind()));
    if let Some(detail) = verdict.and_then(QuestionDetail::of) {
        metadata.insert("found".to_owned(), json!(detail.found));
        metadata.insert("f1".to_owned(), json!(detail.f1));
        metadata.insert("official".to_owned(), json!(detail.official));
        metadata.insert("paper".to_owned(), json!(detail.paper));
        metadata.insert("calls".to_owned(), json!(detail.calls_total));
    }
    metadata
}

#[cfg(test)]
mod tests {
    use planproof_suite::Case;
    use planproof_trace::notation::parse;

    use super::*;
    use crate::questions::Benchmark;

    fn question() -> QuestionCase {
        let line =
            r#"{"schema":"planproof/hotpotqa/v1","id":"q","question":"Who?","answer":"Ann","kind":"bridge"}"#;
        QuestionCase::read(Benchmark::HotpotQa, line).unwrap()
    }

    fn explained(events: &str) -> (Verdict, Explanation) {
        let verdict = question().judge(&parse(events).unwrap()).unwrap();
        let explanation = question().explain(&verdict);
        (verdict, explanation)
    }

    #[test]
    fn the_gist_is_one_line() {
        for (events, gist) in [
            (r#"answer "ann.""#, "passed"),
            (r#"answer "Answer: Bob\nor so""#, "answered Bob, right is Ann"),
            (r#"answer """#, "the answer is empty"),
            ("limit iterations 50", "limit reached: iterations 50"),
            (r#"failed "exit\nstatus 1""#, "the agent broke: exit status 1"),
        ] {
            assert_eq!(explained(events).1.gist, gist);
        }
    }

    #[test]
    fn facts_come_in_the_order_of_questions() {
        let events = r#"call search {"title":"A"} | err "no such page" | answer "Answer: Ann Lee""#;
        let (verdict, explanation) = explained(events);
        let facts: Vec<_> =
            explanation.facts.iter().map(|fact| (fact.label, fact.content.to_text())).collect();
        let expected = [
            ("called", r#"search {"title":"A"}: no such page"#),
            ("answered", "Answer: Ann Lee"),
            ("found", "Ann Lee"),
            ("right", "Ann"),
            (
                "rules",
                "wrong by the official rule, wrong by that of the paper's code; the official rule decides; F1 0.67",
            ),
        ];
        assert_eq!(facts, expected.map(|(label, text)| (label, text.to_owned())));
        assert_eq!(question().run_cells(&verdict), ["Ann Lee", "0.6667", "0", "0", "1"]);
        assert_eq!(question().notes(&verdict, &parse(events).unwrap()).unwrap().len(), 1);
        assert_eq!(question().metadata(Some(&verdict))["kind"], "bridge");
    }

    #[test]
    fn a_foreign_verdict_is_explained_by_its_class_alone() {
        let mut verdict = explained(r#"answer "17""#).0;
        verdict.detail = "{}".into();
        assert_eq!(question().explain(&verdict).gist, "wrong_answer");
        assert_eq!(question().run_cells(&verdict).len(), 5);
    }
}
