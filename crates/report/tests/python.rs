//! Tests that need Python: third-party readers of our report formats, and the schemas of workflows.
//!
//! Each needs a virtual environment that `examples/make_venvs.sh` creates. If it is missing, the test is *ignored*,
//! which the usual harness cannot do at run time; with `PLANPROOF_CI` set it fails.

#[path = "it/campaigns.rs"]
#[allow(dead_code, reason = "the other tests use the rest")]
mod campaigns;
#[path = "it/mixed.rs"]
mod mixed;
#[path = "support/venvs.rs"]
mod venvs;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output};

use planproof_report::{inspect, junit};
use planproof_sim::SimKind;
use planproof_synth::SynthesisOptions;

use campaigns::TestCampaign;
use mixed::{hostile, mixed};
use venvs::{keep_compiled, python, root, run_tests};

fn main() -> ExitCode {
    let tests: [(&str, &str, fn()); 6] = [
        ("reports", "readers_of_junit_agree_with_the_report", readers_of_junit_agree_with_the_report),
        ("reports", "a_broken_junit_file_is_caught", a_broken_junit_file_is_caught),
        ("inspect", "inspect_agrees_with_the_report", inspect_agrees_with_the_report),
        ("inspect", "a_broken_inspect_log_is_caught", a_broken_inspect_log_is_caught),
        ("reports", "workflows_and_the_action_are_what_schemas_say", workflows_are_what_schemas_say),
        ("reports", "a_broken_workflow_is_caught", a_broken_workflow_is_caught),
    ];
    run_tests(tests, [])
}

/// An empty folder for the test.
fn folder(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    if folder.exists() {
        fs::remove_dir_all(&folder).expect("what is left of the last time is ours");
    }
    fs::create_dir_all(&folder).expect("cargo gave a folder");
    folder
}

/// Runs a program until it ends.
fn run(venv: &str, words: &[&Path], folder: &Path) -> Output {
    let mut command = Command::new(python(venv));
    command.args(words).current_dir(folder);
    keep_compiled(&mut command);
    command.output().expect("the interpreter starts")
}

#[track_caller]
fn must_pass(output: &Output) {
    assert!(output.status.success(), "{}", text(output));
}

/// The program must exit with status 1 and report this reason.
#[track_caller]
fn must_fail(output: &Output, reason: &str) {
    assert_eq!(output.status.code(), Some(1), "{}", text(output));
    assert!(text(output).contains(reason), "{reason} is not in\n{}", text(output));
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// Campaigns of all kinds: many simulated runs, every way to end, hostile texts, nothing scored.
fn campaigns() -> Vec<TestCampaign> {
    let mut bought = mixed("tools@openai/some-model", Some("openai/some-model"));
    bought.report.cost = Some(0.0123);
    let cases = mixed("command:agent", None).cases;
    let nothing = TestCampaign::of_runs("command:agent", None, cases, vec![None; 8]);
    vec![
        TestCampaign::simulated(SimKind::Careless, SynthesisOptions::default(), 100),
        bought,
        TestCampaign::of_everything(130),
        TestCampaign::repeated(SimKind::Careless, campaigns::cases(SynthesisOptions::default(), 30), 3),
        hostile("<script>\u{1}\u{ffff}\"'\\ ]]> &amp; \u{1f600}"),
        nothing,
        TestCampaign::simulated(
            SimKind::Clumsy,
            SynthesisOptions {
                infeasible: planproof_synth::InfeasibleShare::new(0.5),
                ..SynthesisOptions::default()
            },
            60,
        ),
    ]
}

fn write_report(campaign: &TestCampaign, folder: &Path) {
    let report = serde_json::to_string(&campaign.report).expect("a report is JSON");
    fs::write(folder.join("report.json"), report).expect("the folder is ours");
}

fn check_junit(folder: &Path, xml: &str) -> Output {
    fs::write(folder.join("junit.xml"), xml).expect("the folder is ours");
    let program = root().join("ci/check_junit.py");
    run("reports", &[&program, "junit.xml".as_ref(), "--report".as_ref(), "report.json".as_ref()], folder)
}

fn junit_text(campaign: &TestCampaign) -> String {
    let mut out = Vec::new();
    junit::write(&campaign.reported(), &mut out).expect("memory can be written");
    String::from_utf8(out).expect("XML is text")
}

fn readers_of_junit_agree_with_the_report() {
    let folder = folder("junit");
    for campaign in campaigns() {
        write_report(&campaign, &folder);
        must_pass(&check_junit(&folder, &junit_text(&campaign)));
    }
}

fn a_broken_junit_file_is_caught() {
    let folder = folder("broken-junit");
    let campaign = mixed("tools@sim/test", Some("sim/test"));
    write_report(&campaign, &folder);
    let whole = junit_text(&campaign);
    for (right, wrong, reason) in [
        ("tests=\"8\"", "tests=\"9\"", "tests: the suite says 9, counted 8"),
        ("time=\"1.500\"", "time=\"1,5\"", "attribute time='1,5'"),
        (" type=\"timeout\"", "", "missing required attribute 'type'"),
        ("type=\"timeout\"", "type=\"order_error\"", "classes: the report says"),
        ("<skipped ", "<omitted ", "Unexpected child with tag 'omitted'"),
        ("7-2 fashion designer", "7-1 astronomer", "duplicated value"),
        ("name=\"tools@sim/test\" timestamp", "name=\"tools@sim/best\" timestamp", "the suite is named"),
        ("&quot;", "\u{1}", "not well-formed"),
        ("</testsuites>", "", "no element found"),
    ] {
        assert!(whole.contains(right), "{right} is not there to be broken");
        must_fail(&check_junit(&folder, &whole.replace(right, wrong)), reason);
    }
}

fn check_inspect(folder: &Path, log: &str, words: &[&str]) -> Output {
    fs::write(folder.join("log.json"), log).expect("the folder is ours");
    let program = root().join("ci/check_inspect.py");
    let mut all: Vec<&Path> =
        vec![&program, "log.json".as_ref(), "--report".as_ref(), "report.json".as_ref()];
    all.extend(words.iter().map(|word| Path::new(*word)));
    run("inspect", &all, folder)
}

fn inspect_text(campaign: &TestCampaign) -> String {
    let mut out = Vec::new();
    inspect::write(&campaign.reported(), &mut out).expect("memory can be written");
    String::from_utf8(out).expect("JSON is text")
}

fn inspect_agrees_with_the_report() {
    let folder = folder("inspect");
    for (number, campaign) in campaigns().iter().enumerate() {
        write_report(campaign, &folder);
        let words: &[&str] = if number == 0 { &["--commands"] } else { &[] };
        must_pass(&check_inspect(&folder, &inspect_text(campaign), words));
    }
}

fn a_broken_inspect_log_is_caught() {
    let folder = folder("broken-inspect");
    let campaign = mixed("tools@sim/test", Some("sim/test"));
    write_report(&campaign, &folder);
    let whole = inspect_text(&campaign);
    for (right, wrong, reason) in [
        ("\"value\":\"C\"", "\"value\":\"I\"", "accuracy: the log says"),
        ("\"tool_call_id\":\"call_0\"", "\"tool_call_id\":\"call_99\"", "a result of call_99"),
        ("\"total_time\"", "\"whole_time\"", "whole_time is not known to Inspect"),
        ("\"version\":2", "\"version\":99", "Unable to read version 99"),
    ] {
        assert!(whole.contains(right), "{right} is not there to be broken");
        must_fail(&check_inspect(&folder, &whole.replace(right, wrong), &[]), reason);
    }
}

fn check_schema(schema: &str, file: &Path) -> Output {
    let words = ["-m", "check_jsonschema", "--builtin-schema", schema].map(Path::new);
    run("reports", &[&words[..], &[file]].concat(), root())
}

/// Which file is checked against which schema.
const SCHEMAS: [(&str, &str); 4] = [
    ("vendor.github-workflows", "examples/ci/github-workflow.yml"),
    ("vendor.gitlab-ci", "examples/ci/gitlab-ci.yml"),
    ("vendor.github-actions", "action.yml"),
    ("vendor.github-workflows", ".github/workflows/release.yml"),
];

fn workflows_are_what_schemas_say() {
    for (schema, file) in SCHEMAS {
        must_pass(&check_schema(schema, Path::new(file)));
    }
}

fn a_broken_workflow_is_caught() {
    let folder = folder("broken-workflow");
    for (schema, file) in SCHEMAS {
        let text = fs::read_to_string(root().join(file)).expect("the file is there");
        let broken = folder.join("broken.yml");
        fs::write(&broken, text.replace("runs", "rans").replace("script:", "scripts:"))
            .expect("the folder is ours");
        must_fail(&check_schema(schema, &broken), "Schema validation errors");
    }
}
