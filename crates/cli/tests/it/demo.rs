//! `planproof demo`.

use std::path::Path;

use crate::support::{Place, Run};

#[test]
#[ignore = "slow"]
fn the_demonstration_shows_a_table_and_three_findings() {
    let place = Place::new();
    let Run { out, err, .. } = place.run("demo").code(0);
    assert_eq!(err, "");
    assert!(out.contains("SIMULATIONS: the figures say nothing about any real model."), "{out}");
    for (agent, errors) in [
        ("perfect", "200 of 200"),
        ("in-order", "of 200"),
        ("forgetful", "of 200"),
        ("careless", "of 200"),
        ("clumsy", "of 200"),
        ("endless", " 0 of 200"),
    ] {
        let row = out.lines().find(|line| line.contains(&format!("tools@sim/{agent} "))).expect(agent);
        assert!(row.contains(errors), "{row}");
    }
    let findings: Vec<&str> = out.split("\nFinding ").skip(1).collect();
    assert_eq!(findings.len(), 3, "{out}");
    for finding in findings {
        assert!(
            finding.contains('«') && finding.contains('»') && finding.contains("  right:    "),
            "{finding}"
        );
    }
    assert_eq!(place.run("demo").code(0).out, out, "the same again");
    // It keeps a page and the runs that the page speaks of.
    assert_eq!(names(&place.path(".planproof")), [".gitignore", "demo.db", "demo.html"]);
    assert_eq!(std::fs::read_to_string(place.path(".planproof/.gitignore")).unwrap(), "*\n");
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
#[ignore = "slow"]
fn the_page_of_the_demonstration_shows_what_can_be_looked_at() {
    let place = Place::new();
    let out = place.run("demo").code(0).out;
    assert!(out.contains("\nAll failures of tools@sim/careless as a page: .planproof/demo.html\n"), "{out}");
    let page = std::fs::read_to_string(place.path(".planproof/demo.html")).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("tools@sim/careless"));
    // Each word of a command is an element of its own there.
    let page = page.replace("<span>", "").replace("</span>", "");
    let line = page.lines().find_map(|line| line.split_once("planproof runs show demo --case ")).unwrap().1;
    let case = line.split([' ', '<']).next().unwrap();
    let shown = place.run(&format!("runs show demo --case {case} --store .planproof/demo.db")).code(0).out;
    assert!(shown.contains("order_error") && shown.contains('«'), "{shown}");

    std::fs::create_dir(place.path("pages")).unwrap();
    place.run("demo --html pages/mine.html").code(0);
    assert!(std::fs::read_to_string(place.path("pages/mine.html")).unwrap().starts_with("<!DOCTYPE html>"));
    assert!(place.run("demo --html -").code(0).out.starts_with("<!DOCTYPE html>"));
    let run = place.run("demo --html .").code(2);
    assert_eq!(run.err, "error: --html .: cannot write it: it is a folder; name a file in it\n");
}

#[test]
fn a_page_without_a_place_goes_to_the_temporary_folder() {
    let place = Place::new();
    // Root may write anywhere, so the folder is not a folder.
    place.write(".planproof", "in the way");
    std::fs::create_dir(place.path("temporary")).unwrap();
    let mut command = place.command(&["demo"]);
    command.env("TMPDIR", place.path("temporary"));
    let out = Run::of(command, "").code(0).out;
    let page = out.lines().find_map(|line| line.split_once(" as a page: ")).unwrap().1;
    assert!(Path::new(page).starts_with(place.path("temporary")), "{page}");
    assert_eq!(names(Path::new(page).parent().unwrap()), ["demo.db", "demo.html"]);
}

#[test]
fn what_the_demonstration_suggests_shows_the_same_failure() {
    let place = Place::new();
    let out = place.run("demo").code(0).out;
    let mut seen = 0;
    for finding in out.split("\nFinding ").skip(1) {
        let class = finding.split_whitespace().nth(1).unwrap().trim_end_matches(',');
        let line = finding.lines().find_map(|line| line.strip_prefix("  see it:   ")).unwrap();
        let (synth, check) = line.split_once(" | ").unwrap();
        let synth: Vec<&str> = synth.split_whitespace().skip(1).collect();
        let check: Vec<&str> = check.split_whitespace().skip(1).collect();
        let case = place.run_words(&synth).code(0).out;
        let verdict = Run::of(place.command(&check), &case).code(1).out;
        assert!(verdict.lines().next().unwrap().ends_with(class), "{verdict}");
        // What was violated is explained in the same words.
        let explained = |text: &str| {
            let lines = text.lines().filter(|line| line.starts_with("  violated:"));
            lines.map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(explained(&verdict), explained(finding));
        seen += 1;
    }
    assert_eq!(seen, 3);
}

#[test]
#[ignore = "slow"]
fn the_demonstration_gives_reports_as_json() {
    let place = Place::new();
    let reports = place.run("demo --json --seed 11").code(0).json();
    assert!(!place.path(".planproof").exists(), "no page was asked for");
    place.run("demo --json --html page.html").code(0).json();
    assert!(place.path("page.html").exists());
    assert!(place.run("demo --json --html -").code(2).err.contains("both write to stdout"));
    let reports = reports.as_array().unwrap();
    assert_eq!(reports.len(), 6);
    for report in reports {
        assert_eq!(report["schema"], "planproof/report/v1");
        assert_eq!(report["simulated"], true);
        assert_eq!(report["cases"], 200);
    }
}

#[test]
fn the_readme_shows_what_the_demonstration_prints() {
    let readme = include_str!("../../../../README.md");
    let block = readme.split("```text\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let out = Place::new().run("demo").code(0).out;
    let printed: Vec<&str> = out.lines().map(str::trim).collect();
    for line in block.lines().map(str::trim).filter(|line| !line.is_empty() && *line != "...") {
        assert!(printed.contains(&line), "the demonstration does not print: {line}");
    }
}
