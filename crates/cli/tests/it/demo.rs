//! `planproof demo`.

use crate::support::{Place, Run};

#[test]
fn the_demonstration_shows_a_table_and_three_findings() {
    let place = Place::new();
    let Run { out, err, .. } = place.run("demo").code(0);
    assert_eq!(err, "");
    assert!(out.contains("SIMULATIONS: the figures say nothing of any real model."), "{out}");
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
    assert!(!place.path(".planproof").exists(), "the demonstration keeps nothing");
}

#[test]
fn what_the_demonstration_suggests_shows_the_same_failure() {
    let place = Place::new();
    let out = place.run("demo").code(0).out;
    let mut seen = 0;
    for finding in out.split("\nFinding ").skip(1) {
        let class = finding.split_whitespace().nth(1).unwrap();
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
fn the_demonstration_gives_reports_as_json() {
    let reports = Place::new().run("demo --json --seed 11").code(0).json();
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
