//! `planproof init`.

use serde_json::Value;

use crate::support::Place;

fn file(place: &Place) -> String {
    std::fs::read_to_string(place.path("planproof.toml")).unwrap()
}

#[test]
fn the_file_that_is_written_can_be_used_at_once() {
    let place = Place::new();
    let run = place.run("init").code(0);
    assert_eq!(
        run.out,
        "wrote planproof.toml, and .planproof/planproof.schema.json for editors\n\
         Next: `planproof test` tests tools@sim/careless; `planproof COMMAND --help` explains the keys of a command.\n"
    );
    assert_eq!(run.err, "");
    let report = place.run("test --json -q").code(1).json();
    assert_eq!((&report["agent"], &report["cases"]), (&Value::from("tools@sim/careless"), &Value::from(50)));
    let text = file(&place);
    assert_eq!(text.lines().next(), Some("#:schema .planproof/planproof.schema.json"));
    let schema = std::fs::read_to_string(place.path(".planproof/planproof.schema.json")).unwrap();
    assert_eq!(schema, place.run("init --schema").code(0).out);
    assert!(text.lines().all(|line| line.chars().count() <= 120), "{text}");
}

/// Links in the folder that planproof keeps may come with a repository of somebody else.
#[cfg(unix)]
#[test]
fn nothing_is_written_through_a_link() {
    for is_dangling in [false, true] {
        let place = Place::new();
        std::fs::create_dir(place.path(".planproof")).unwrap();
        if !is_dangling {
            place.write("victim", "mine");
        }
        for name in ["planproof.schema.json", "runs.db"] {
            std::os::unix::fs::symlink("../victim", place.path(".planproof").join(name)).unwrap();
        }
        let run = place.run("init").code(0);
        assert!(!run.out.contains("for editors"), "{run:?}");
        let run = place.run("test tools@sim/perfect --cases 1 -q").code(2);
        assert!(run.err.contains(".planproof/runs.db"), "{run:?}");
        let victim = std::fs::read_to_string(place.path("victim")).ok();
        assert_eq!(victim.as_deref(), (!is_dangling).then_some("mine"));
    }
}

#[test]
fn what_is_commented_out_is_right_too() {
    let place = Place::new();
    place.run("init").code(0);
    let is_key = |line: &str| line.split_once(" = ").is_some_and(|(name, _)| !name.contains(' '));
    let text: String = file(&place)
        .lines()
        .map(|line| line.strip_prefix("# ").filter(|rest| is_key(rest)).unwrap_or(line).to_owned() + "\n")
        .collect();
    assert!(text.matches("\n\n").count() > 10 && text.contains("\ncases = 50\n"), "{text}");
    place.write("planproof.toml", &text);
    // The agent of the example is none that a model can be served to.
    place.run("test --set test.serve-model= -q").code(1);
    let refused = place.run("test -q").code(2);
    assert!(refused.err.contains("note: test.serve-model is from planproof.toml"), "{refused:?}");
}

#[test]
fn a_file_that_is_there_is_kept() {
    let place = Place::new();
    place.write("planproof.toml", "# mine\n");
    let run = place.run("init").code(2);
    assert_eq!(run.err, "error: there is a planproof.toml already; --force overwrites it\n");
    assert_eq!(file(&place), "# mine\n");
    place.run("init --force").code(0);
    assert!(file(&place).contains("[test]"));
    // A file that cannot be used does not keep it from being replaced.
    place.write("planproof.toml", "= nonsense");
    place.run("init --force").code(0);
    place.run("test -q").code(1);
}

#[test]
fn the_agent_can_be_named() {
    let place = Place::new();
    let agent = "command:python \"my agent.py\" --path C:\\x 'y'";
    place.run_words(&["init", "--agent", agent]).code(0);
    let table: toml::Table = file(&place).parse().unwrap();
    assert_eq!(table["test"]["agent"].as_str(), Some(agent));
    let run = place.run("init --agent foo --force").code(2);
    assert!(run.err.starts_with("error: unknown agent \"foo\""), "{run:?}");
    assert_eq!(file(&place).parse::<toml::Table>().unwrap(), table);
}
