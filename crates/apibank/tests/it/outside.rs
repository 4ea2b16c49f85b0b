//! Tools that ask services, and the search for tools.

use std::sync::Arc;

use planproof_apibank::api::ApiFault;
use planproof_apibank::evaluate::{CallOutcome, DialogueCall, judge_text};
use planproof_apibank::tools::{Retriever, Services};
use planproof_apibank::value::PythonValue;
use planproof_apibank::world::{ApiCompat, ApiWorld};
use planproof_trace::Draw;

use crate::{call, world};

#[derive(Debug)]
struct Canned;

impl Services for Canned {
    fn define(&self, word: &str) -> Result<PythonValue, ApiFault> {
        if word == "cat" { Ok("an animal".into()) } else { Err(ApiFault::caught("Failed.")) }
    }

    fn translate(&self, text: &str, source: Option<&str>, target: Option<&str>) -> Result<String, ApiFault> {
        Ok(format!("{text} {source:?} {target:?}"))
    }
}

impl Retriever for Canned {
    fn closest(&self, _: &str, texts: &[String]) -> Option<usize> {
        texts.iter().position(|text| text.starts_with("add alarm"))
    }
}

#[test]
fn services_answer() {
    let mut world = world(ApiCompat::Right);
    let outage =
        "!!Dictionary cannot be carried out: it asks a service of the network, and none is configured";
    assert_eq!(call(&mut world, "Dictionary", r#"{"keyword": "cat"}"#), outage);
    world.services = Some(Arc::new(Canned));
    assert_eq!(call(&mut world, "Dictionary", r#"{"keyword": " Cat"}"#), "'an animal'");
    assert_eq!(call(&mut world, "Dictionary", r#"{"keyword": "dog"}"#), "!Failed.");
    assert_eq!(
        call(&mut world, "Translate", r#"{"src": "Hi", "tgt_lang": "French"}"#),
        "'Hi None Some(\"french\")'"
    );
}

/// What is missing outside of a call says nothing of it.
#[test]
fn an_outage_is_no_verdict() {
    let mut gold: DialogueCall = serde_json::from_str(
        r#"{"api_name": "Wiki", "param_dict": {"keyword": "cat"},
            "result": {"api_name": "Wiki", "input": {"keyword": "cat"}, "output": null, "exception": "x"}}"#,
    )
    .unwrap();
    let mut empty = ApiWorld::new("2023-03-31", Draw::new(0, 0, "test"));
    let judged = judge_text("[Wiki(keyword='cat')]", &mut gold, &mut empty);
    assert!(matches!(judged.outcome, CallOutcome::Outage(what) if what.contains("init_database/Wiki.json")));
    assert!(empty.load("Wiki", "{").unwrap_err().to_string().contains("`Wiki` is no JSON"));
}

#[test]
fn a_tool_that_needs_a_token_comes_with_the_one_that_gives_it() {
    let found = |compat| {
        let mut world = world(compat);
        world.retriever = Arc::new(Canned);
        call(&mut world, "ToolSearcher", r#"{"keywords": "x"}"#)
    };
    let (original, right) = (found(ApiCompat::Original), found(ApiCompat::Right));
    assert!(original.starts_with("[{'name': 'GetUserToken'") && original.contains("}, {'name': 'AddAlarm'"));
    assert!(original.contains("'desc_for_search': 'get user token") && !right.contains("desc_for_search"));
}
