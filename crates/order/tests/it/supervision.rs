//! Budgets, deadlines and keys of a campaign.

use std::collections::{BTreeMap, HashSet};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use planproof_engine::{Campaign, CampaignEnd, Outcome, Supervision, Unit, Work};
use planproof_model::metering::{Budget, Meter, MeteredModel, Spent};
use planproof_model::{BoxFuture, Capabilities, ChatReply, ChatRequest, Model, ModelError, TurnState};
use planproof_sim::{SimKind, SimModel};
use planproof_store::{NewCampaign, Store, StoreLimits, Writer};
use planproof_synth::file::write_case;
use planproof_synth::{PlanningCase, SynthesisOptions};
use planproof_trace::{FinishReason, Secrets, Usage};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::{campaign, cases, run};

/// A campaign of a simulated model that is held to so many tokens.
fn metered(cases: &Arc<[PlanningCase]>, tokens_max: u64, spent: Spent) -> (Campaign, Supervision) {
    let meter = Arc::new(Meter::new(Budget { tokens_max: Some(tokens_max), ..Budget::default() }, spent));
    let model = MeteredModel::new(Arc::new(SimModel::new(SimKind::Careless)), None, Arc::clone(&meter));
    let supervision = Supervision { meter: Some(meter), ..Supervision::default() };
    (campaign(Arc::new(model), cases), supervision)
}

async fn supervised(
    campaign: &Campaign,
    store: Option<Writer>,
    finished: &HashSet<Unit>,
    supervision: Supervision,
) -> (CampaignEnd, Vec<Outcome>) {
    let (units, stop) = (campaign.units_but(finished), CancellationToken::new());
    let mut outcomes = Vec::new();
    let end = campaign
        .run(Work::new(store, &units, &stop).under(supervision), |progress| outcomes.extend(progress.ended()))
        .await
        .expect("nothing outside fails");
    (end, outcomes)
}

fn verdicts(outcomes: &[Outcome]) -> BTreeMap<u32, Option<bool>> {
    outcomes.iter().map(|outcome| (outcome.ordinal, outcome.passed())).collect()
}

#[tokio::test]
async fn a_budget_ends_a_campaign_and_a_larger_one_finishes_it() {
    let cases = cases(SynthesisOptions::default(), 60);
    let whole =
        run(&campaign(Arc::new(SimModel::new(SimKind::Careless)), &*cases), None, &HashSet::new()).await;
    let tokens: u64 =
        whole.iter().map(|outcome| outcome.usage.input_tokens + outcome.usage.output_tokens).sum();
    for concurrency in [1, 3, 16, 100] {
        let limit = tokens / 2;
        let (mut first, supervision) = metered(&cases, limit, Spent::default());
        first.concurrency = NonZeroUsize::new(concurrency).expect("not 0");
        let meter = supervision.meter.clone().expect("there is one");
        let (end, outcomes) = supervised(&first, None, &HashSet::new(), supervision).await;
        assert_eq!(end, CampaignEnd::BudgetUsedUp);
        let spent = meter.spent();
        assert!(spent.usage.input_tokens + spent.usage.output_tokens <= limit, "{spent:?} of {limit}");
        // Hardly any run is begun that cannot be paid for. (A hundred at once are begun before anything is known.)
        assert!(outcomes.len() < 60 && (outcomes.len() > 20 || concurrency > 16), "{} of 60", outcomes.len());
        assert!(outcomes.iter().all(|outcome| outcome.passed().is_some()), "no run is unscored for it");

        let finished: HashSet<Unit> = outcomes.iter().map(Outcome::unit).collect();
        let (second, supervision) = metered(&cases, 3 * tokens, spent);
        let (end, rest) = supervised(&second, None, &finished, supervision).await;
        assert_eq!((end, outcomes.len() + rest.len()), (CampaignEnd::Complete, 60));
        let mut all = verdicts(&outcomes);
        all.extend(verdicts(&rest));
        assert_eq!(all, verdicts(&whole));
    }
}

fn store(cases: &[PlanningCase]) -> (Store, std::path::PathBuf) {
    let name = format!("planproof-supervision-{}-{:?}.db", std::process::id(), std::thread::current().id());
    let path = std::env::temp_dir().join(name);
    let store = Store::open(&path, StoreLimits::default()).expect("a new store");
    let row = NewCampaign {
        id: "test",
        created_ms: 0,
        command_line: "",
        agent: "a",
        model: None,
        simulated: true,
        options: "{}",
        repeats: 1,
        budgets: "{}",
    };
    store
        .create_campaign(&row, cases.iter().map(|case| (case.id.clone(), write_case(case))))
        .expect("a new campaign");
    (store, path)
}

fn remove(path: &std::path::Path) {
    for end in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}{end}", path.display()));
    }
}

#[tokio::test]
async fn what_was_refused_stays_unfinished_in_the_store() {
    let cases = cases(SynthesisOptions::default(), 30);
    let (store, path) = store(&cases);
    let (campaign, supervision) = metered(&cases, 12_000, Spent::default());
    let writer = store.writer().expect("it can be written");
    let (end, outcomes) = supervised(&campaign, Some(writer), &HashSet::new(), supervision).await;
    assert_eq!(end, CampaignEnd::BudgetUsedUp);
    let stored = store.campaign("test").expect("it is there");
    assert_eq!((stored.finished(), stored.unscored), (outcomes.len() as u64, 0));
    assert!(stored.started > 0, "runs were going on when the budget was used up");
    assert_eq!(store.unfinished("test").expect("reads").count(), 30 - outcomes.len());
    let finished: HashSet<Unit> = outcomes.iter().map(Outcome::unit).collect();
    let (campaign, supervision) = metered(&cases, u64::MAX, Spent::default());
    let writer = store.writer().expect("it can be written");
    assert_eq!(supervised(&campaign, Some(writer), &finished, supervision).await.0, CampaignEnd::Complete);
    assert_eq!(store.campaign("test").expect("it is there").finished(), 30);
    drop(store);
    remove(&path);
}

/// A model that says the same for ever, after a while.
struct Slow {
    says: &'static str,
    takes: Duration,
}

impl Model for Slow {
    fn name(&self) -> &str {
        "openai/slow"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { tool_calls: true, ..Capabilities::default() }
    }

    fn chat<'a>(&'a self, _: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        Box::pin(async move {
            tokio::time::sleep(self.takes).await;
            let (text, finish) = (self.says.to_owned(), FinishReason::Stop);
            Ok(ChatReply {
                text,
                calls: Vec::new(),
                finish,
                usage: Usage::default(),
                id: None,
                state: TurnState::default(),
            })
        })
    }
}

#[tokio::test]
async fn a_deadline_ends_the_runs_that_go_on() {
    let cases = cases(SynthesisOptions::default(), 20);
    let never = Duration::from_secs(3600);
    let campaign = campaign(Arc::new(Slow { says: "", takes: never }), cases);
    let start = Instant::now();
    let deadline = Some(start + Duration::from_millis(30));
    let supervision = Supervision { deadline, ..Supervision::default() };
    let (end, outcomes) = supervised(&campaign, None, &HashSet::new(), supervision).await;
    assert_eq!((end, outcomes.len()), (CampaignEnd::DeadlineReached, 0));
    assert!(start.elapsed() >= Duration::from_millis(30) && start.elapsed() < Duration::from_secs(60));
    // One that is past before the campaign begins.
    let supervision = Supervision { deadline: Some(start), ..Supervision::default() };
    let (end, outcomes) = supervised(&campaign, None, &HashSet::new(), supervision).await;
    assert_eq!((end, outcomes.len()), (CampaignEnd::DeadlineReached, 0));
}

#[tokio::test]
async fn a_deadline_far_off_changes_nothing() {
    let cases = cases(SynthesisOptions::default(), 20);
    let campaign = campaign(Arc::new(SimModel::new(SimKind::Perfect)), cases);
    let deadline = Some(Instant::now() + Duration::from_secs(3600));
    let (end, outcomes) =
        supervised(&campaign, None, &HashSet::new(), Supervision { deadline, ..Supervision::default() })
            .await;
    assert_eq!((end, outcomes.len()), (CampaignEnd::Complete, 20));
}

#[tokio::test]
async fn keys_stay_out_of_traces_and_verdicts() {
    const KEY: &str = "sk-3f9c27e1d0";
    let cases = cases(SynthesisOptions::default(), 2);
    let (store, path) = store(&cases);
    let campaign =
        campaign(Arc::new(Slow { says: "My key is sk-3f9c27e1d0.", takes: Duration::ZERO }), cases);
    let supervision = Supervision { secrets: Secrets::new([KEY.to_owned()]), ..Supervision::default() };
    let writer = store.writer().expect("it can be written");
    supervised(&campaign, Some(writer), &HashSet::new(), supervision).await;
    let mut traces = Vec::new();
    store.export_traces("test", &mut traces).expect("reads");
    let traces = String::from_utf8(traces).expect("UTF-8");
    assert!(traces.contains("My key is [key].") && !traces.contains(KEY), "{traces}");
    drop(store);
    remove(&path);
}
