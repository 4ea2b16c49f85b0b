use std::collections::HashSet;
use std::sync::Arc;

use planproof_engine::{EngineError, RunProgress, Unit, Work};
use planproof_model::{BoxFuture, Capabilities, ChatReply, ChatRequest, Model, ModelError};
use planproof_sim::{SimKind, SimModel};
use planproof_store::{NewCampaign, Store, StoreLimits};
use planproof_synth::SynthesisOptions;
use planproof_synth::file::write_case;
use tokio_util::sync::CancellationToken;

use crate::{campaign, cases, run};

/// A model whose server is down.
struct Down;

impl Model for Down {
    fn name(&self) -> &str {
        "openai/down"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { tool_calls: true, ..Capabilities::default() }
    }

    fn chat<'a>(&'a self, _: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        let error = ModelError::Unreachable { url: "http://127.0.0.1:1".into(), reason: "refused".into() };
        Box::pin(std::future::ready(Err(error)))
    }
}

#[tokio::test]
async fn a_model_that_is_down_is_no_failure_of_the_agent() {
    let campaign = campaign(Arc::new(Down), cases(SynthesisOptions::default(), 5));
    let outcomes = run(&campaign, None, &HashSet::new()).await;
    assert!(outcomes.iter().all(|outcome| outcome.passed().is_none()));
    let reason = outcomes[0].verdict.as_ref().expect_err("it is unscored").to_string();
    assert!(reason.ends_with("cannot reach http://127.0.0.1:1: refused"), "{reason}");
}

/// A model that never answers.
struct Silent;

impl Model for Silent {
    fn name(&self) -> &str {
        "openai/silent"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { tool_calls: true, ..Capabilities::default() }
    }

    fn chat<'a>(&'a self, _: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        Box::pin(std::future::pending())
    }
}

#[tokio::test]
async fn silence_is_a_timeout_and_stopping_stops() {
    let mut campaign = campaign(Arc::new(Silent), cases(SynthesisOptions::default(), 3));
    let stop = CancellationToken::new();
    stop.cancel();
    let units = campaign.units_but(&HashSet::new());
    let observe = |progress: RunProgress| assert_eq!(progress.ended(), None, "no run can end");
    let stopped = campaign.run(Work::new(None, &units, &stop), observe).await;
    assert!(matches!(stopped, Err(EngineError::Stopped)));

    campaign.limits.wall = std::time::Duration::from_millis(30);
    for outcome in run(&campaign, None, &HashSet::new()).await {
        assert!(outcome.passed() == Some(false));
        assert_eq!(outcome.class().map(planproof_suite::Class::as_str), Some("timeout"));
    }
}

fn units(ordinals: std::ops::Range<u32>) -> HashSet<Unit> {
    ordinals.map(|ordinal| Unit { ordinal, repeat: 0 }).collect()
}

#[tokio::test]
async fn what_is_finished_is_not_run_again_and_traces_are_the_same_bytes() {
    let folder = std::env::temp_dir().join(format!("planproof-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for the test");
    let mut exports = Vec::new();
    for name in ["whole.db", "parts.db"] {
        let store = Store::open(&folder.join(name), StoreLimits::default()).expect("a new store");
        let cases = cases(SynthesisOptions::default(), 40);
        let row = NewCampaign {
            id: "test",
            created_ms: 0,
            command_line: "",
            agent: "tools@sim/careless",
            model: None,
            simulated: true,
            options: "{}",
            repeats: 1,
            budgets: "{}",
        };
        store
            .create_campaign(&row, cases.iter().map(|case| (case.id.clone(), write_case(case))))
            .expect("a new campaign");
        let campaign = campaign(Arc::new(SimModel::new(SimKind::Careless)), cases);
        let writer = store.writer().expect("the store can be written");
        if name == "whole.db" {
            assert_eq!(run(&campaign, Some(writer), &HashSet::new()).await.len(), 40);
        } else {
            let half: HashSet<Unit> = units(0..20);
            let other: HashSet<Unit> = units(20..40);
            assert_eq!(run(&campaign, Some(writer.clone()), &half).await.len(), 20);
            assert_eq!(run(&campaign, Some(writer.clone()), &other).await.len(), 20);
            let (units, stop) = (campaign.units_but(&half), CancellationToken::new());
            let again = campaign.run(Work::new(Some(writer), &units, &stop), |_| ()).await;
            assert!(matches!(again, Err(EngineError::Store(_))), "a finished run cannot be run again");
        }
        let mut text = Vec::new();
        store.export_traces("test", &mut text).expect("the store can be read");
        exports.push(text);
    }
    assert!(exports[0] == exports[1], "the traces differ");
    std::fs::remove_dir_all(&folder).expect("the folder was ours");
}
