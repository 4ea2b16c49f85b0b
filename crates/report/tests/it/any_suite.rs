//! Every part of a campaign must work for every kind of case: a store that survives `kill -9`, recordings and
//! replays, comparisons and every report. Nothing here depends on a particular suite.

#![expect(clippy::unwrap_used, reason = "a failed step of a test is a failed test")]

use std::collections::{HashMap, HashSet};
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use planproof_agents::{FunctionCallingAgent, RunLimits};
use planproof_engine::{AgentUnderTest, Campaign, Outcome, Report, ReportInput, Unit, Work};
use planproof_model::Model;
use planproof_model::recording::{Origin, Recording, RecordingFile, RecordingModel, ReplayModel};
use planproof_report::compare::{CaseChange, Comparison};
use planproof_report::{
    CommandLines, ReportedCampaign, TraceSource, csv, html, inspect, junit, step_summary,
};
use planproof_sim::GoldModel;
use planproof_store::{NewCampaign, RunState, Store, StoreLimits};
use planproof_suite::{Case, Suite};
use planproof_trace::wire::v1::read_trace;
use planproof_trace::{Secrets, Trace};

/// Number of cases of the campaign that is killed, and of the others.
const MANY: u64 = 4000;
const SOME: u64 = 40;
/// Number of cases that must be finished before the kill.
const BEFORE_KILL: usize = 20;
/// The share of wrong answers.
const ERROR_RATE: f64 = 0.3;
/// Passes the path of the store to the process that is killed.
const STORE: &str = "TEST_STORE_OF_ANY_SUITE";
const ID: &str = "any";

type Cases<'a> = &'a [Arc<dyn Case>];

/// Tests all of this with a suite, using as many cases as are requested from `make`. Each must have a `gold`
/// answer. `test` is the full name of the calling test, which must do nothing else: it is started again as the
/// process that is killed, in which this returns nothing. Otherwise it returns the page of a campaign.
pub(crate) fn has_everything(
    test: &str,
    suite: &dyn Suite,
    make: impl Fn(u64) -> Vec<Arc<dyn Case>>,
) -> Option<String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let many = make(MANY);
    if let Some(store) = std::env::var_os(STORE) {
        runtime.block_on(run(gold(&many, ERROR_RATE), &many, Path::new(&store)));
        return None;
    }
    runtime.block_on(survives_a_kill(test, &many));
    let cases = make(SOME);
    for case in &cases {
        let again = suite.read(&case.to_line()).unwrap();
        assert_eq!((case.card(), case.to_line()), (again.card(), again.to_line()), "a case is read back");
    }
    Some(runtime.block_on(is_replayed_and_reported(test, suite, &cases)))
}

async fn survives_a_kill(test: &str, cases: Cases<'_>) {
    let path = place(test, "killed.db");
    let mut child = Command::new(std::env::current_exe().unwrap());
    let mut child = child.args([test, "--exact", "--include-ignored"]).env(STORE, &path).spawn().unwrap();
    let before = loop {
        std::thread::sleep(Duration::from_millis(5));
        let found = Store::open_read_only(&path).map(|store| finished(&store)).unwrap_or_default();
        if found.len() > BEFORE_KILL {
            child.kill().unwrap();
            break found;
        }
        assert_eq!(child.try_wait().unwrap(), None, "it ended before it could be killed");
    };
    assert_eq!(child.wait().unwrap().code(), None, "it was killed before its end");
    let rest = run(gold(cases, ERROR_RATE), cases, &path).await;
    let after = finished(&Store::open(&path, StoreLimits::default()).unwrap());
    assert_eq!(after.len(), cases.len());
    assert!(rest.len() < cases.len(), "what was finished is not run again");
    assert!(before.iter().all(|(unit, kept)| after[unit] == *kept), "what was finished is kept");
}

async fn is_replayed_and_reported(test: &str, suite: &dyn Suite, cases: Cases<'_>) -> String {
    let origin = Origin { version: String::new(), command: String::new() };
    let path = place(test, "recording.jsonl");
    let file = RecordingFile::create(&path, true, &origin, Secrets::default()).unwrap();
    let recorded = Arc::new(RecordingModel::new(gold(cases, ERROR_RATE), file));
    let (store_a, store_b) = (place(test, "a.db"), place(test, "b.db"));
    let a = run(recorded, cases, &store_a).await;
    let recording = Arc::new(Recording::read(&path).unwrap());
    let replay = Arc::new(ReplayModel::new(recording, Secrets::default()).unwrap());
    let again = run(replay, cases, &place(test, "replayed.db")).await;
    let verdicts =
        |outcomes: &[Outcome]| -> Vec<_> { outcomes.iter().map(|it| it.verdict.clone()).collect() };
    assert_eq!(verdicts(&again), verdicts(&a), "a replay comes out as it was recorded");
    let b = run(gold(cases, 0.0), cases, &store_b).await;
    let report = |outcomes: &[Outcome]| {
        Report::new(ReportInput {
            suite,
            agent: "tools@sim/gold",
            model: Some("sim/gold"),
            simulated: true,
            cases,
            repeats: 1,
            outcomes,
            synthesis: None,
            cost: None,
            ended_by: None,
        })
    };
    let (report_a, report_b) = (report(&a), report(&b));
    assert!(report_a.failed > 0 && report_a.unscored == 0 && report_b.failed + report_b.unscored == 0);
    let commands = CommandLines::new(&format!("bench {}", suite.name()), None, ["tools@sim/gold"]);
    let [traces_a, traces_b] =
        [&store_a, &store_b].map(|path| Traces(Store::open(path, StoreLimits::default()).unwrap()));
    let reported = |outcomes, report, traces| ReportedCampaign {
        gate: None,
        suite,
        id: ID,
        created_ms: 0,
        command_line: "planproof",
        commands: Some(&commands),
        seed: 1,
        cases,
        repeats: 1,
        outcomes,
        report,
        traces,
    };
    let reported_a = reported(&a, &report_a, &traces_a);
    let reported_b = reported(&b, &report_b, &traces_b);
    let compared = Comparison::new(&reported_a, &reported_b).unwrap();
    assert_eq!((compared.common, compared.count(CaseChange::Fixed)), (cases.len() as u64, report_a.failed));
    let failed = a.iter().find(|outcome| outcome.passed() == Some(false)).unwrap();
    let (case, class) = (&cases[failed.ordinal as usize], failed.class().unwrap());
    let limits = html::HtmlLimits::default();
    type Write<'a> = Box<dyn Fn(&mut Vec<u8>) + 'a>;
    let reports: [(&str, Write<'_>); 6] = [
        ("page", Box::new(|out| html::write(&reported_a, &limits, out).unwrap())),
        (
            "comparison",
            Box::new(|out| {
                html::write_comparison(&compared, &reported_a, &reported_b, &limits, out).unwrap();
            }),
        ),
        ("JUnit", Box::new(|out| junit::write(&reported_a, out).unwrap())),
        ("CSV", Box::new(|out| csv::write(&reported_a, out).unwrap())),
        ("Inspect", Box::new(|out| inspect::write(&reported_a, out).unwrap())),
        ("step", Box::new(|out| step_summary::write(&reported_a, out).unwrap())),
    ];
    let mut page = String::new();
    for (name, write) in reports {
        let (mut out, mut twice) = (Vec::new(), Vec::new());
        write(&mut out);
        write(&mut twice);
        assert_eq!(out, twice, "{name}: the same campaign gives the same bytes");
        let text = String::from_utf8(out).unwrap();
        // The page of a comparison shows what changed; the step summary shows only the first findings.
        assert!(name == "comparison" || text.contains(class.as_str()), "{name}: {class}: {text}");
        assert!(name == "step" || text.contains(&case.card().id), "{name}: {}: {text}", case.card().id);
        if name == "page" {
            page = text;
        }
    }
    page
}

/// Runs an agent with this model on the cases that are not finished in this store, and stores the results.
async fn run(model: Arc<dyn Model>, cases: Cases<'_>, store: &Path) -> Vec<Outcome> {
    let name = model.name().to_owned();
    let agent = Arc::new(FunctionCallingAgent::new(model).unwrap());
    let campaign = Campaign {
        places: None,
        id: ID.to_owned(),
        agent: AgentUnderTest {
            agent,
            name: "tools".into(),
            model: Some(name),
            simulated: true,
            asks_real_models: false,
            guarded: false,
            held_to: None,
            of_suite: None,
        },
        cases: cases.into(),
        repeats: NonZeroU32::MIN,
        seed: 1,
        limits: RunLimits::default(),
        concurrency: NonZeroUsize::MIN,
        token: Default::default,
        served: None,
        memory: None,
    };
    let store = Store::open(store, StoreLimits::default()).unwrap();
    if store.campaign(ID).is_err() {
        let row = NewCampaign {
            id: ID,
            created_ms: 0,
            command_line: "planproof",
            agent: "tools",
            model: None,
            simulated: true,
            options: "{}",
            repeats: 1,
            budgets: "{}",
        };
        let rows = cases.iter().map(|case| (case.card().id.clone(), case.to_line()));
        store.create_campaign(&row, rows).unwrap();
    }
    let finished: HashSet<Unit> = finished(&store).into_keys().collect();
    let mut outcomes = Vec::new();
    let (units, stop) = (campaign.units_but(&finished), Default::default());
    let work = Work::new(Some(store.writer().unwrap()), &units, &stop);
    campaign.run(work, |progress| outcomes.extend(progress.ended())).await.unwrap();
    outcomes
}

/// The verdicts of the runs finished in the store.
fn finished(store: &Store) -> HashMap<Unit, String> {
    let rows = store.runs(ID).into_iter().flatten().map(Result::unwrap);
    let rows = rows.filter(|row| row.state == RunState::Finished);
    rows.map(|row| (row.unit, row.verdict.unwrap())).collect()
}

/// A simulated model that is given the right answers, and errs at this rate.
fn gold(cases: Cases<'_>, error_rate: f64) -> Arc<dyn Model> {
    let keys = cases.iter().map(|case| (case.prompt().to_owned(), case.gold().unwrap()));
    Arc::new(GoldModel::new(keys.collect(), error_rate, 3))
}

struct Traces(Store);

impl TraceSource for Traces {
    fn trace(&self, unit: Unit) -> Result<Option<Trace>, String> {
        let run = self.0.run(ID, unit).map_err(|error| error.to_string())?.ok_or("there is no such run")?;
        read_trace(&run.trace).map(Some).map_err(|error| error.to_string())
    }
}

fn place(test: &str, name: &str) -> PathBuf {
    let file = format!("{}-{}-{name}", test.replace("::", "-"), std::process::id());
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(file);
    let _ = std::fs::remove_file(&path);
    path
}
