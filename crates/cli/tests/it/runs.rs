//! `planproof runs label` and `runs delete`, and what `--label` leads to.

use serde_json::json;

use crate::support::{Place, Run, json_lines};

/// A label stands wherever a campaign is named, and can be changed.
#[test]
fn labels_are_shown_wherever_campaigns_are() {
    let place = Place::new();
    let args = [
        "test",
        "tools@sim/careless",
        "--cases",
        "5",
        "--seed",
        "1",
        "--label",
        "first try",
        "--html",
        "a.html",
    ];
    let run = place.run_words(&args);
    assert!(run.out.contains("\nlabel: first try\n"), "{run:?}");
    let page = std::fs::read_to_string(place.path("a.html")).unwrap();
    assert!(page.contains("<dt>Label</dt><dd>first try</dd>"));
    place.run("test tools@sim/perfect --cases 5 --seed 1").code(0);
    place.run("test tools@sim/perfect --cases 5 --seed 1").code(0);
    let rows = json_lines(&place.run("runs list --json").code(0).out);
    let id = |place: usize| rows[place]["run"].as_str().unwrap().to_owned();
    assert_eq!((&rows[2]["label"], &rows[0]["label"]), (&json!("first try"), &json!(null)));
    place.run_words(&["runs", "label", "last", "second"]).code(0);
    let list = place.run("runs list").code(0).out;
    assert!(list.contains("Label") && list.contains("first try") && list.contains("second"), "{list}");
    assert_eq!(place.run("report last --json").code(0).json()["label"], "second");
    let [a, b, c] = [id(2), id(0), id(1)];
    let two = place.run(&format!("report {a} {b} --json")).json();
    assert_eq!((&two["a"]["label"], &two["b"]["label"]), (&json!("first try"), &json!("second")));
    let two = place.run(&format!("report {a} {b}"));
    assert!(two.out.contains("first try: tools@sim/careless"), "{two:?}");
    let three = place.run(&format!("report {a} {b} {c}"));
    assert!(three.out.contains("second: tools@sim/perfect"), "{three:?}");
    place.run("runs verify last").code(0);
    place.run("runs label last").code(0);
    assert_eq!(place.run("report last --json").json()["label"], json!(null));
    let matrix = "bench tptu tools@sim/gold plan@sim/gold --limit 2 --label both";
    let matrix = place.run(matrix);
    assert!(matrix.out.contains(" (both): tptu, 2 combinations"), "{matrix:?}");
    for (text, part) in
        [(" ", "it has 0 characters"), ("a\nb", "one line"), (&"x".repeat(81), "it has 81 characters")]
    {
        let refused =
            place.run_words(&["test", "tools@sim/perfect", "--cases", "1", "--label", text]).code(2);
        assert!(refused.err.contains(part), "{refused:?}");
    }
}

/// Deleting asks for a word, says what went, and gives the space back.
#[test]
fn campaigns_are_deleted_and_their_space_given_back() {
    let place = Place::new();
    place.run("test tools@sim/careless --cases 200 --seed 1 --shrink --shrink-max 1 --label old").code(1);
    place.run("test tools@sim/perfect --cases 5 --seed 1").code(0);
    let rows = json_lines(&place.run("runs list --json").code(0).out);
    let [kept, old] = [0, 1].map(|row| rows[row]["run"].as_str().unwrap().to_owned());
    let asked = place.run(&format!("runs delete {old}")).code(2);
    assert!(asked.err.contains("nothing is deleted without --yes"), "{asked:?}");
    assert!(
        asked
            .err
            .contains(&format!("{old} \"old\" of tools@sim/careless: 200 cases, 200 of 200 runs finished")),
        "{asked:?}"
    );
    place.run(&format!("runs delete {old} nosuch --yes")).code(2);
    let gone = place.run(&format!("runs delete {old} {old} --yes --json")).code(0).json();
    let ids: Vec<&str> = gone["deleted"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
    assert!(ids[0] == old && ids.len() == 2, "with its shrinking: {ids:?}");
    assert!(
        gone["runs"].as_u64().unwrap() > 200 && gone["bytes_freed"].as_u64().unwrap() > 100_000,
        "{gone}"
    );
    let rows = json_lines(&place.run("runs list --json").code(0).out);
    assert_eq!(rows.iter().map(|row| row["run"].as_str().unwrap()).collect::<Vec<_>>(), [&kept]);
    place.run("runs verify last").code(0);
    place.run(&format!("runs show {old}")).code(2);
    let text = place.run("runs delete last --yes").code(0).out;
    assert!(text.starts_with(&format!("deleted {kept} with 5 runs; the run store takes ")), "{text}");
    place.run("runs delete last --yes").code(2);
}

/// What is written to a terminal fits it; a program gets whole rows.
#[test]
fn tables_fit_the_terminal() {
    let place = Place::new();
    let agents = ["fallback:direct,react@sim/perfect", "tools@sim/careless", "tools@sim/in-order"];
    for agent in agents {
        place.run(&format!("test {agent} --cases 12 --seed 1 --require-pass -q"));
    }
    let list = json_lines(&place.run("runs list --json").code(0).out);
    let ids: Vec<&str> = list.iter().map(|row| row["run"].as_str().unwrap()).collect();
    let commands = [vec!["runs", "list"], [&["report"], ids.as_slice()].concat()];
    for arguments in commands {
        for columns in [40, 80, 120] {
            let mut command = place.command(&arguments);
            command.env("COLUMNS", columns.to_string());
            let out = Run::of(command, "").code(0).out;
            let widest = out.lines().map(|line| line.chars().count()).max();
            assert!(widest <= Some(columns), "{arguments:?} in {columns}: {out}");
            assert!(ids.iter().all(|id| out.contains(id)), "{arguments:?} in {columns}: {out}");
            // A long name of an agent leaves the list a table.
            let is_row = |line: &str| line.contains(ids[0]) && line.contains(agents[2]);
            assert!(arguments[0] == "report" || columns == 40 || out.lines().any(is_row), "{out}");
        }
        let whole = place.run_words(&arguments).code(0).out;
        assert!(whole.lines().any(|line| line.contains(ids[0]) && line.contains(agents[2])), "{whole}");
    }
}

/// Texts are wrapped as well, but no command to be copied; and what is read above is not written again in the trace.
#[test]
#[ignore = "slow"]
fn reports_fit_the_terminal() {
    let place = Place::new();
    place.run("test tools@sim/in-order --cases 60 --seed 1 -q").code(1);
    let shown = place.run("runs show last").code(0).out;
    let case = shown.lines().find_map(|line| line.split_once(" --case ")).unwrap().1;
    let of_case = ["runs", "show", "last", "--case", case];
    for arguments in [&["demo"][..], &["report", "last"], &["runs", "show", "last"], &of_case] {
        for columns in [80, 120] {
            let mut command = place.command(arguments);
            command.env("COLUMNS", columns.to_string());
            let out = Run::of(command, "").code(0).out;
            let is_long = |line: &&str| line.chars().count() > columns && !line.contains("planproof ");
            assert_eq!(out.lines().find(is_long), None, "{arguments:?} in {columns}: {out}");
        }
    }
    let trace = place.run_words(&of_case).code(0).out;
    assert!(trace.contains("\ntrace:\n  query (the text above)\n") && !trace.contains(r"\n"), "{trace}");
}
