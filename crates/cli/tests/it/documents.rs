//! Every command line of the README, the manual and the help does what it is said to do, and so do the recipes for CI.

use std::fs;
use std::process::Command;
use std::thread;

use crate::support::documents::{Desk, Document, Rules, commands, documents, workflow_commands};

/// Most commands of all documents that are not run. One more needs a better reason than a line in a file.
const NOT_RUN_MAX: usize = 6;

/// The examples in the help: a document for each command, with those of its sub-commands' help. An example that several
/// of these have in common is there once.
fn help() -> Vec<Document> {
    let listed = help_of(&[]);
    let names = listed.lines().take_while(|line| *line != "Options:").filter_map(name_in_list);
    let documents = names.map(|command| {
        let mut blocks: Vec<Vec<String>> = Vec::new();
        let mut paths = vec![vec![command.to_owned()]];
        while let Some(path) = paths.pop() {
            let text = help_of(&path);
            let examples = text.split_once("\nExamples:\n").map(|(_, rest)| rest).unwrap_or_default();
            let lines: Vec<&str> = examples.lines().map_while(|line| line.strip_prefix("  ")).collect();
            assert!(!lines.is_empty(), "the help of {path:?} has no example");
            let mut examples = commands(&lines.join("\n"));
            examples.retain(|example| !blocks.iter().flatten().any(|other| other == example));
            blocks.push(examples);
            let below = text.split_once("\nCommands:\n").and_then(|(_, rest)| rest.split("\n\n").next());
            let below = below.unwrap_or_default().lines().filter_map(name_in_list);
            // What is pushed last comes next.
            paths.extend(below.rev().map(|name| path.iter().cloned().chain([name.to_owned()]).collect()));
        }
        Document { path: format!("planproof {command} --help"), blocks }
    });
    documents.collect()
}

fn help_of(path: &[String]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_planproof"));
    command.args(path).arg("--help").env("PLANPROOF_CONFIG", "none").env("NO_COLOR", "1");
    let out = command.output().unwrap();
    assert!(out.status.success(), "{path:?}");
    String::from_utf8(out.stdout).unwrap()
}

/// The command that a line of a list of commands is about.
fn name_in_list(line: &str) -> Option<&str> {
    let name = line.strip_prefix("  ")?.split(' ').next().filter(|name| !name.is_empty())?;
    (name != "help").then_some(name)
}

#[test]
#[ignore = "slow"]
fn every_command_of_the_documents_runs() {
    run_all(&documents());
}

#[test]
#[ignore = "slow"]
fn every_example_of_the_help_runs() {
    let pages = help();
    assert!(pages.len() > 15, "{} commands", pages.len());
    run_all(&pages);
}

fn run_all(documents: &[Document]) {
    let rules = Rules::read();
    let wrong: Vec<String> = thread::scope(|scope| {
        let running: Vec<_> =
            documents.iter().map(|document| scope.spawn(|| document.run(&rules, None))).collect();
        running.into_iter().flat_map(|running| running.join().unwrap()).collect()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
#[ignore = "slow"]
fn what_is_said_of_commands_is_used() {
    let rules = Rules::read();
    let documents: Vec<Document> = documents().into_iter().chain(help()).collect();
    for rule in &rules.command {
        let document = documents.iter().find(|document| document.path == rule.document);
        let is_there =
            document.is_some_and(|document| document.blocks.iter().flatten().any(|line| *line == rule.line));
        assert!(is_there, "{} has no command `{}`", rule.document, rule.line);
        let says_something = rule.status != 0 || rule.run_as.is_some() || rule.not_run.is_some();
        assert!(says_something, "nothing is said of `{}`", rule.line);
    }
    for document in rules.before.keys() {
        assert!(documents.iter().any(|it| it.path == *document), "{document} has no command");
    }
    let not_run = rules.command.iter().filter(|rule| rule.not_run.is_some()).count();
    assert!(not_run <= NOT_RUN_MAX, "{not_run} commands are not run");
    let all: usize = documents.iter().flat_map(|document| &document.blocks).map(Vec::len).sum();
    assert!(all > 50 && documents.len() > 4, "{all} commands in {} documents", documents.len());
}

/// What the recipes for CI run, on a desk with the agent and what was recorded of it.
fn recipe(file: &str) -> Vec<String> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/ci");
    workflow_commands(&fs::read_to_string(format!("{path}/{file}")).unwrap())
}

/// A desk with the agent of the recipe, whose model was recorded once, on that many cases.
fn recorded(model: &str, cases: u32, status: i32) -> Desk {
    let desk = Desk::new(model, None);
    let before = [
        "cp $REPOSITORY/examples/langgraph/agent.py $REPOSITORY/examples/langgraph/requirements.txt ."
            .to_owned(),
        "export OPENAI_API_KEY=...".to_owned(),
        format!(
            "planproof test 'command:python agent.py' --serve-model openai/gpt-5-mini --cases {cases} --seed 7 \
             --record planning.jsonl -q --store r.db"
        ),
    ];
    let ran = desk.run(&before);
    assert_eq!(ran.last().map(|(status, _)| *status), Some(status), "{ran:?}");
    desk
}

#[test]
#[ignore = "slow"]
fn the_recipes_for_ci_end_with_what_they_should() {
    // GitHub: against the recording, then against the model, as two jobs of the workflow do.
    let commands = recipe("github-workflow.yml");
    let is_action = |command: &&String| command.starts_with("action\n");
    assert_eq!(commands.iter().filter(is_action).count(), 2, "{commands:?}");
    let desk = recorded("sim/perfect", 20, 0);
    for (command, (status, log)) in commands.iter().zip(desk.run(&commands)) {
        assert_eq!(status, 0, "{command}: {log}");
    }
    let output = fs::read_to_string(desk.place.path("GITHUB_OUTPUT")).unwrap();
    for line in [
        "exit-code=0",
        "cases=20",
        "cases=100",
        "passed=20",
        "passed=100",
        "failed=0",
        "unscored=0",
        "not-run=0",
    ] {
        assert!(output.lines().any(|it| it == line), "{line} is not in {output}");
    }
    for file in ["planproof-reports/report.json", "planproof-reports/junit.xml", "planproof-reports/runs.db"]
    {
        assert!(desk.folder().join(file).is_file(), "{file}");
    }
    assert!(fs::read_to_string(desk.place.path("GITHUB_STEP_SUMMARY")).unwrap().contains("20 of 20"));
    // GitLab.
    let commands = recipe("gitlab-ci.yml");
    desk.run(&["mkdir -p planproof/bin && ln -s ../../../bin/planproof-under-test planproof/bin/planproof"
        .to_owned()]);
    assert_eq!(commands.len(), 3, "{commands:?}");
    for (command, (status, log)) in commands.iter().zip(desk.run(&commands)) {
        assert_eq!(status, 0, "{command}: {log}");
    }
}

#[test]
#[ignore = "slow"]
fn a_recipe_fails_where_it_should() {
    let commands = recipe("github-workflow.yml");
    // With fewer cases than it says, because it is run seven times.
    let replay = commands.iter().find(|command| command.contains("--replay")).unwrap();
    let replay = replay.replace("cases: 20", "cases: 8");
    let live = commands.iter().find(|command| command.contains("success-min")).unwrap().clone();
    let desk = recorded("sim/in-order", 8, 1);
    let status = |command: &str| {
        let (status, log) = desk.run(&[command.to_owned()]).remove(0);
        println!("{command}\n{log}");
        status
    };
    // What failed when it was recorded fails again, and that is what the job is to find.
    assert_eq!(status(&replay), 0);
    // A gate on success is asked for, as a rate or for every run.
    assert_eq!(status(&format!("{replay}\nsuccess-min: 90")), 1);
    assert_eq!(status(&format!("{replay}\nsuccess-min: 1")), 0);
    assert_eq!(status(&format!("{replay}\n--require-pass")), 1);
    // The model itself is worse than the rate.
    assert_eq!(status(&live.replace("cases: 100", "cases: 10")), 1);
    // Other cases than those of the recording are a mistake, and the agent's asking otherwise is a difference.
    assert_eq!(status(&replay.replace("cases: 8", "cases: 7")), 2);
    assert_eq!(status("sed -i 's/requests/REQUESTS/; s/You work/You now work/g' planning.jsonl"), 0);
    assert_eq!(status(&replay), 3);
}
