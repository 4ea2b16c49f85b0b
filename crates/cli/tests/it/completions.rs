//! `planproof completions` and `planproof man`.

use std::process::Command;

use crate::support::{Place, Run};

/// All commands with all below them, as the manual names them.
pub(crate) const PAGES: [&str; 75] = [
    "planproof",
    "planproof-bench",
    "planproof-bench-models",
    "planproof-check",
    "planproof-completions",
    "planproof-demo",
    "planproof-doctor",
    "planproof-guard",
    "planproof-guard-decide",
    "planproof-guard-replay",
    "planproof-hook",
    "planproof-hook-install",
    "planproof-hook-uninstall",
    "planproof-init",
    "planproof-limit",
    "planproof-man",
    "planproof-mnms",
    "planproof-mnms-agree",
    "planproof-mnms-alternatives",
    "planproof-mnms-convert",
    "planproof-mnms-filter",
    "planproof-mnms-generate",
    "planproof-mnms-graph",
    "planproof-mnms-prompts",
    "planproof-mnms-rate",
    "planproof-mnms-sheet",
    "planproof-mnms-sheet-alternatives",
    "planproof-mnms-sheet-drafts",
    "planproof-mnms-sheet-results",
    "planproof-mnms-tools",
    "planproof-models",
    "planproof-models-check",
    "planproof-prompts",
    "planproof-read",
    "planproof-report",
    "planproof-rules",
    "planproof-rules-check",
    "planproof-rules-schema",
    "planproof-run",
    "planproof-runs",
    "planproof-runs-merge",
    "planproof-runs-delete",
    "planproof-runs-export",
    "planproof-runs-forget",
    "planproof-runs-label",
    "planproof-runs-lessons",
    "planproof-runs-list",
    "planproof-runs-show",
    "planproof-runs-verify",
    "planproof-scenario",
    "planproof-scenario-check",
    "planproof-scenario-from-cases",
    "planproof-scenario-from-rules",
    "planproof-scenario-from-trace",
    "planproof-scenario-init",
    "planproof-scenario-schema",
    "planproof-score",
    "planproof-serve-media",
    "planproof-serve-model",
    "planproof-serve-tools",
    "planproof-shard",
    "planproof-shard-plan",
    "planproof-spec",
    "planproof-spec-check",
    "planproof-spec-compile",
    "planproof-spec-graph",
    "planproof-spec-print",
    "planproof-spec-step",
    "planproof-synth",
    "planproof-tables",
    "planproof-test",
    "planproof-topics",
    "planproof-topics-from-mcp",
    "planproof-topics-generate",
    "planproof-view",
];

#[test]
fn every_shell_has_completions() {
    let place = Place::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = place.run(&format!("completions {shell}")).code(0).out;
        assert!(script.contains("serve-tools") && script.contains("allow-distractors"), "{shell}");
    }
    place.run("completions tcsh").code(2);
}

#[test]
fn bash_takes_its_completions() {
    let place = Place::new();
    let script = place.run("completions bash").code(0).out;
    let mut bash = Command::new("bash");
    bash.arg("-n");
    let run = Run::of(bash, &script).code(0);
    assert_eq!(run.err, "");
    // And it completes: an option of `test` that begins like this.
    let complete = "source /dev/stdin; COMP_WORDS=(planproof test --allow-d); COMP_CWORD=2; \
                    _planproof planproof --allow-d test; echo \"${COMPREPLY[@]}\"";
    let mut bash = Command::new("bash");
    bash.args(["--norc", "-c", complete]);
    assert_eq!(Run::of(bash, &script).code(0).out, "--allow-distractors\n");
}

#[test]
fn every_command_has_a_manual_page() {
    let place = Place::new();
    let listed = place.run("man pages/man1").code(0).out;
    let mut listed: Vec<&str> = listed.lines().collect();
    listed.sort_unstable();
    let expected: Vec<String> = PAGES.iter().map(|name| format!("pages/man1/{name}.1")).collect();
    // The hyphen sorts before the dot.
    let mut expected: Vec<&str> = expected.iter().map(String::as_str).collect();
    expected.sort_unstable();
    assert_eq!(listed, expected);
    for name in PAGES {
        let page = std::fs::read_to_string(place.path(&format!("pages/man1/{name}.1"))).unwrap();
        assert!(page.contains(".TH ") && page.contains(".SH SYNOPSIS") && page.len() > 500, "{name}: {page}");
    }
    let main = place.run("man").code(0).out;
    for name in PAGES.iter().filter(|name| name.matches('-').count() == 1) {
        assert!(main.contains(&name.replace('-', "\\-")), "{name} is not in the main page");
    }
    place.write("file", "");
    let run = place.run("man file").code(2);
    assert!(run.err.starts_with("error: cannot write file: "), "{run:?}");
}

#[test]
fn help_before_a_command_is_the_help_of_the_command() {
    let place = Place::new();
    for line in ["", "test", "runs", "runs show", "topics from-mcp"] {
        let words: Vec<&str> = line.split_whitespace().collect();
        let before = place.run_words(&[&["help"][..], &words[..]].concat()).code(0);
        let behind = place.run_words(&[&words[..], &["--help"][..]].concat()).code(0);
        assert_eq!((before.out.as_str(), before.err.as_str()), (behind.out.as_str(), ""), "{line}");
    }
    for (line, meant) in [("help tset", "'test'"), ("help runs shw", "'show'")] {
        let run = place.run(line).code(2);
        assert!(run.err.contains(&format!("a similar subcommand exists: {meant}")), "{run:?}");
    }
    assert!(!place.run("--help").code(0).out.contains("\n  help "));
}
