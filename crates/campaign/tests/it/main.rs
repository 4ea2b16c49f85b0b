//! The life of a campaign of a suite unknown to this crate.

mod matrix;
mod simulation;
mod toys;

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use planproof_agents::AgentSpec;
use planproof_campaign::{
    Begun, BudgetOptions, CampaignError, CampaignOutcome, Cases, Halted, Keeping, Prepared, ProgramOptions,
    RecordedCampaign, Replay, RequestedCampaign, Resumed, StoreOptions, Watch, begin, carry_out, replay,
    resume,
};
use planproof_engine::{EngineError, Outcome, RunProgress};
use planproof_store::{OWN_KEY_BYTES, OwnKey, Store};
use tokio_util::sync::CancellationToken;

use toys::{Folder, Playground, Toys, toy};

const CASES: u64 = 9;

fn cases() -> Result<Cases, CampaignError> {
    Ok(Cases::given(Arc::new(Toys), (0..CASES).map(toy).collect()))
}

fn store(folder: &Folder) -> StoreOptions {
    StoreOptions { path: folder.path("below/runs.db"), pages_max: None }
}

fn new(folder: &Folder) -> RequestedCampaign {
    RequestedCampaign {
        until_decided: false,
        guard: None,
        fail_over: None,
        shard: None,
        agent: AgentSpec::parse("tools@toy/done").expect("an agent"),
        repeats: NonZeroU32::MIN,
        seed: 7,
        seed_is_secret: false,
        timeout: Duration::from_secs(60),
        iterations: Some(9),
        reply_tokens: 4096,
        concurrency: NonZeroU32::MIN.try_into().ok(),
        serve_model: None,
        program: ProgramOptions::default(),
        budgets: BudgetOptions::default(),
        keeping: Keeping::Record { file: folder.path("r.jsonl"), force: false },
        store: store(folder),
        limit: None,
        suite: Some("toys".to_owned()),
        of_suite: serde_json::Map::from_iter([("colour".to_owned(), "red".into())]),
        command_line: "play".to_owned(),
        label: None,
        is_checked: false,
        think: None,
    }
}

/// Stops the campaign after this number of runs.
struct StopAfter(usize, CancellationToken);

impl Watch for StopAfter {
    fn begun(&mut self, begun: &Begun<'_>) {
        assert_eq!((begun.cases, begun.repeats, begun.total), (CASES, 1, CASES));
    }

    fn happened(&mut self, progress: &RunProgress) {
        let RunProgress::Ended(_) = progress else { return };
        self.0 = self.0.saturating_sub(1);
        if self.0 == 0 {
            self.1.cancel();
        }
    }

    fn over(&mut self) {}
}

async fn run(prepared: &Prepared, runs: usize) -> CampaignOutcome {
    let stop = CancellationToken::new();
    let mut watch = StopAfter(runs, stop.clone());
    let next = |outcomes: &[Outcome]| prepared.all_at_once(outcomes);
    let ended = carry_out(prepared, "key".to_owned(), &stop, &mut watch, next).await;
    ended.expect("the store can be written")
}

/// The campaign as stored, in the form in which a caller reads it.
fn resumed(store: &Store, outcomes: Vec<Outcome>, budgets: BudgetOptions) -> Resumed {
    let row = store.campaign("last").expect("it is there");
    let options = serde_json::from_str(&row.options).expect("options");
    let Cases { suite, cases, .. } = cases().expect("cases");
    Resumed { row, suite, cases, agent: None, options, outcomes, sequels: Vec::new(), budgets }
}

/// Of a campaign and of a matrix, from the beginning and with the budgets with which it was resumed.
#[tokio::test]
async fn what_a_user_began_is_proved_by_their_secret_alone() {
    let [own, other] = [[1; OWN_KEY_BYTES], [2; OWN_KEY_BYTES]].map(|bytes| OwnKey::new(&bytes));
    let folder = Folder::new("own");
    let world = Playground::default().of_user(OwnKey::new(&[1; OWN_KEY_BYTES]));
    drop(begin(&world, &new(&folder), cases).expect("it begins"));
    let kept = store(&folder).open().expect("the store");
    let is_own = |store: &Store, key: Option<&OwnKey>| {
        let row = store.campaign("last").expect("it is there");
        planproof_campaign::is_own(store.path(), &row, key).expect("budgets")
    };
    assert!(is_own(&kept, Some(&own)) && !is_own(&kept, Some(&other)) && !is_own(&kept, None));
    let larger = BudgetOptions { max_tokens: Some(1_000_000), ..BudgetOptions::default() };
    let going_on =
        resume(&world, store(&folder).open().expect("the store"), resumed(&kept, Vec::new(), larger));
    run(&going_on.expect("it resumes"), usize::MAX).await;
    assert!(is_own(&kept, Some(&own)), "with its new budget");
    // A world without a secret proves nothing.
    let world = Playground::default();
    let again = resumed(&kept, Vec::new(), BudgetOptions::default());
    run(&resume(&world, store(&folder).open().expect("the store"), again).expect("it resumes"), 1).await;
    assert!(!is_own(&kept, Some(&own)));
}

#[tokio::test]
async fn a_campaign_begins_is_cut_off_resumes_and_is_replayed() {
    let (folder, world) = (Folder::new("life"), Playground::default());
    let begun = begin(&world, &new(&folder), cases).expect("it begins");
    assert_eq!(world.agents.get(), 1, "an agent is made once");
    let cut_off = run(&begun, 4).await;
    assert!(matches!(cut_off.failure, Some(Halted::Runs(EngineError::Stopped))));
    let id = begun.campaign.id.clone();
    drop(begun);

    let kept = store(&folder).open().expect("the store");
    let resumed = resumed(&kept, cut_off.outcomes.clone(), BudgetOptions::default());
    assert_eq!(resumed.options.of_suite["colour"], "red");
    let going_on = resume(&world, kept, resumed).expect("it resumes");
    assert_eq!((&going_on.campaign.id, world.agents.get()), (&id, 2));
    let ended = run(&going_on, usize::MAX).await;
    assert!(ended.failure.is_none());
    let passed = ended.outcomes.iter().map(Outcome::passed);
    assert!(passed.eq((0..CASES).map(|number| Some(number % 2 == 0))));
    // Every run is paid for only once.
    assert_eq!(ended.progress.spent.input_tokens, CASES * 5);
    drop(going_on);

    let recorded = RecordedCampaign::read(&world, &folder.path("r.jsonl"), None).expect("a recording");
    let again = recorded.cases(&world).expect("its cases");
    let asked = Replay {
        file: folder.path("r.jsonl"),
        may_differ: None,
        agent: None,
        program: ProgramOptions::default(),
        timeout: None,
        concurrency: None,
        budgets: BudgetOptions::default(),
        store: store(&folder),
        command_line: "play again".to_owned(),
        label: None,
        fail_over: None,
    };
    let replayed = replay(&world, &asked, recorded, again).expect("it is replayed");
    assert_eq!(world.agents.get(), 3);
    let came = run(&replayed, usize::MAX).await;
    assert!(replayed.is_as_recorded(&came.outcomes, &came.progress));
    let differences = replayed.replayed().map(|it| it.differences(&replayed.campaign.cases, &came.outcomes));
    assert_eq!(differences, Some(Vec::new()));
    assert_eq!(*world.reported.borrow(), Vec::<String>::new());
}

#[tokio::test]
async fn a_budget_ends_a_campaign_and_a_larger_one_lets_it_go_on() {
    let (folder, world) = (Folder::new("budget"), Playground::default());
    let tokens = |most| BudgetOptions { max_tokens: Some(most), ..BudgetOptions::default() };
    let with_budget = RequestedCampaign { budgets: tokens(20), keeping: Keeping::Nowhere, ..new(&folder) };
    let begun = begin(&world, &with_budget, cases).expect("it begins");
    let ended = run(&begun, usize::MAX).await;
    assert_eq!(ended.progress.ended_by.as_deref(), Some("20 tokens"));
    assert!(ended.failure.is_none() && ended.outcomes.len() < CASES as usize);
    drop(begun);

    let kept = store(&folder).open().expect("the store");
    let same = resumed(&kept, ended.outcomes.clone(), BudgetOptions::default());
    let error = resume(&world, kept, same).err().expect("nothing is left of it").to_string();
    assert!(error.contains("set a larger one with --max-tokens"), "{error}");
    let kept = store(&folder).open().expect("the store");
    let larger = resumed(&kept, ended.outcomes, tokens(100_000));
    let ended = run(&resume(&world, kept, larger).expect("it resumes"), usize::MAX).await;
    assert_eq!((ended.progress.ended_by, ended.outcomes.len()), (None, CASES as usize));
}

/// The budget is stored with the campaign itself: a campaign killed before its first run must not resume without
/// it.
#[test]
fn a_campaign_that_never_ran_resumes_within_its_budget() {
    let (folder, world) = (Folder::new("unborn"), Playground::default());
    let budgets = BudgetOptions { max_tokens: Some(20), ..BudgetOptions::default() };
    drop(begin(&world, &RequestedCampaign { budgets, ..new(&folder) }, cases).expect("it begins"));
    let kept = store(&folder).open().expect("the store");
    let budgets = kept.campaign("last").expect("it is there").progress.budgets;
    assert!(budgets.contains(r#""max_tokens":20"#), "{budgets}");
}

/// Errors are reported before the store is touched.
#[test]
fn what_cannot_begin_leaves_no_store() {
    let (folder, world) = (Folder::new("wrong"), Playground::default());
    let spec = |name| AgentSpec::parse(name).expect("an agent's name");
    let all = [
        (RequestedCampaign { agent: spec("tools@toy/other"), ..new(&folder) }, "there is no model toy/other"),
        (
            RequestedCampaign { repeats: NonZeroU32::MAX, ..new(&folder) },
            "a campaign has at most 1000000 runs",
        ),
        (RequestedCampaign { serve_model: Some("toy/done".into()), ..new(&folder) }, "--serve-model is for"),
        (
            RequestedCampaign {
                budgets: BudgetOptions { max_cost: Some(1.0), ..BudgetOptions::default() },
                ..new(&folder)
            },
            "the price of toy/done is not known",
        ),
    ];
    for (new, expected) in all {
        let error = begin(&world, &new, cases).err().expect("it cannot begin").to_string();
        assert!(error.contains(expected), "{expected}: {error}");
        assert!(!new.store.path.exists(), "{expected}");
    }
}
