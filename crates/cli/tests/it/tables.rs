//! Root causes in `planproof tables`.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::support::{Place, json_lines};

/// The ids of all campaigns, the newest first.
fn ids(place: &Place) -> Vec<String> {
    let list = json_lines(&place.run("runs list --json").code(0).out);
    list.iter().map(|run| run["run"].as_str().unwrap().to_owned()).collect()
}

#[test]
#[ignore = "slow"]
fn causes_stand_by_agent_and_topics_by_model() {
    let place = Place::new();
    place
        .run("test tools@sim/planted/topic --cases 240 --dissect --dissect-k 2 --dissect-reruns 1 -q")
        .code(1);
    place
        .run("test tools@sim/planted/word --time --cases 40 --dissect --dissect-k 2 --dissect-reruns 1 -q")
        .code(1);
    place.run("test tools@sim/forgetful --cases 10 -q").code(1);
    place.run("test tools@sim/perfect --cases 5 -q").code(0);
    let ids = ids(&place);
    let line = format!("tables {} {} {} {}", ids[3], ids[2], ids[1], ids[0]);
    let mut text = place.run(&line).code(0).out;
    // As long as the ids, so that the columns stay where they are.
    for (id, letter) in ids.iter().zip(["d", "c", "b", "a"]) {
        text = text.replace(id, &letter.repeat(id.len()));
    }
    let (_, causes) = text
        .split_once("Failures by root cause, in per cent [95 %] (all failures; ")
        .expect("table 4 is there");
    assert_snapshot!(causes);

    let tables = place.run(&format!("{line} --json")).code(0).json();
    let shown = place.run(&format!("runs show {} --json", ids[3])).code(0).json();
    let row = &tables["causes"][0];
    assert_eq!((&row["within"], &row["causes"]), (&Value::Null, &shown["dissection"]["causes"]));
    assert_eq!(
        (&row["errors"], &row["dissected"], &row["used"]),
        (&shown["failed"], &shown["failed"], &shown["failed"])
    );
    // Every failure of this model comes from the topic, so the counts are those of the failures.
    let topics = tables["topics"][0]["topics"].as_array().unwrap();
    assert!(!topics.is_empty() && topics.iter().all(|topic| topic["caused"] == topic["errors"]), "{tables}");
    // The command that is named makes what is missing.
    let todo = tables["not_dissected"][0]["todo"].as_str().unwrap();
    let todo = todo.strip_prefix("planproof ").expect("it is a command");
    place.run(&format!("{todo} -q")).code(1);
    let tables = place.run(&format!("{line} --json")).code(0).json();
    let missing = tables["not_dissected"].as_array().unwrap();
    assert_eq!((missing.len(), &missing[0]["todo"]), (1, &json!("nothing failed in it")));
}

#[test]
#[ignore = "slow"]
fn errors_within_a_known_limit_count() {
    let place = Place::new();
    place.run("limit tools@sim/careless --threshold 40% -q").code(0);
    place
        .run(
            "test tools@sim/careless --cases 60 --actions 2..9 --dissect --dissect-k 1 --dissect-reruns 0 -q",
        )
        .code(1);
    let ids = ids(&place);
    let [test, search] = [&ids[0], &ids[1]];
    let alone = place.run(&format!("tables {test} --json")).code(0).json();
    let both = place.run(&format!("tables {test} {search} --json")).code(0).json();
    let limit = &both["classes"][1]["within"];
    assert!(limit.is_u64(), "{both}");
    for (table, failed) in [("classes", "failures"), ("causes", "errors")] {
        assert_eq!((&alone[table][0]["within"], &both[table][0]["within"]), (&Value::Null, limit));
        let [all, within] = [&alone, &both].map(|tables| tables[table][0][failed].as_u64().unwrap());
        assert!(0 < within && within < all, "{table}: {within} of {all}");
    }
    let report = place.run(&format!("runs show {test} --json")).code(0).json();
    let within = report["by_size"].as_array().unwrap().iter();
    let within = within.filter(|row| row["size"].as_u64() <= limit.as_u64());
    let failed: u64 = within.map(|row| row["runs"].as_u64().unwrap() - row["passed"].as_u64().unwrap()).sum();
    assert_eq!(both["causes"][0]["dissected"], json!(failed));
    let decided: u64 =
        both["causes"][0]["causes"].as_array().unwrap().iter().map(|it| it["errors"].as_u64().unwrap()).sum();
    assert_eq!(both["causes"][0]["decided"], json!(decided));
    // The search itself was not dissected, and cannot be.
    let missing = &both["not_dissected"][0];
    assert_eq!(missing["campaign"], json!(search));
    let todo = missing["todo"].as_str().unwrap();
    let command = todo.split_once(": planproof ").expect("it names a command").1;
    assert!(command.contains(&format!("--actions 2..{limit} ")), "{todo}");
    place.run(&format!("{command} --cases 10 --dissect-k 1 -q")).code(1);
}

#[test]
#[ignore = "slow"]
fn of_many_dissected_errors_a_hundred_are_drawn() {
    let place = Place::new();
    let line = "test tools@sim/forgetful --cases 340 --dissect --dissect-k 1 --dissect-reruns 0 -q";
    place.run(line).code(1);
    let shown = place.run("runs show last --json").code(0).json();
    let row = place.run("tables last --json").code(0).json()["causes"][0].clone();
    let found = |of: &Value| -> u64 {
        of["causes"].as_array().unwrap().iter().map(|it| it["errors"].as_u64().unwrap()).sum()
    };
    assert!(shown["failed"].as_u64() > Some(100) && row["dissected"] == shown["failed"], "{row}");
    assert_eq!((&row["errors"], &row["used"]), (&shown["failed"], &json!(100)));
    assert_eq!((json!(found(&row)), row["decided"].as_u64() <= Some(100)), (row["decided"].clone(), true));
    assert!(found(&row) < found(&shown["dissection"]), "{row}");
    // The same are drawn each time.
    assert_eq!(place.run("tables last --json").code(0).json()["causes"][0], row);
}
