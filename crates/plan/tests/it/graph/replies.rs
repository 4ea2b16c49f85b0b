//! What is read of a manager's reply, and what is said of one that is not a graph.

use planproof_plan::graph::{GraphProblem, SubTaskGraph, WordedConstraint, read_graph};
use planproof_plan::limits::{
    CONSTRAINT_CHARACTERS_MAX, CONSTRAINTS_MAX, ID_CHARACTERS_MAX, SUB_TASKS_MAX, TASK_CHARACTERS_MAX,
    TYPED_BYTES_MAX,
};
use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::{EXECUTORS, graph, journey, sub_task};

fn faults(reply: &str) -> String {
    read_graph(reply, &EXECUTORS).expect_err(reply).to_string()
}

/// A reply with these sub-tasks, each of which is done by `writer` unless it says otherwise.
fn reply(sub_tasks: Json) -> String {
    let Json::Array(mut sub_tasks) = sub_tasks else { panic!("no list") };
    for sub_task in &mut sub_tasks {
        let Json::Object(fields) = sub_task else { continue };
        for (field, value) in [("task", "write"), ("executor", "writer")] {
            fields.entry(field).or_insert_with(|| json!(value));
        }
    }
    json!({ "sub_tasks": sub_tasks }).to_string()
}

#[test]
fn a_graph_is_found_wherever_it_stands() {
    let written = serde_json::to_string_pretty(&journey()).unwrap();
    for reply in [
        written.clone(),
        format!("The hotel [b] depends on {{the flight}}.\n```json\n{written}\n```\nThat is all."),
        format!("THOUGHT: first the flight.\n# RESULT #:\n{written}"),
        format!("{written}\nOnce more:\n{written}"),
    ] {
        assert_eq!(read_graph(&reply, &EXECUTORS), Ok(journey()), "{reply}");
    }
}

#[test]
fn what_may_be_left_out_may_be_left_out() {
    let reply = r#"{"sub_tasks": [
        {"id": 1, "task": "write", "executor": "writer"},
        {"id": "2", "task": "write", "executor": "writer", "after": [1, "1"], "constraints": ["short", {"words": "true", "typed": null}]}
    ], "constraints": null}"#;
    let read = read_graph(reply, &EXECUTORS).unwrap();
    let ids: Vec<_> = read.sub_tasks.iter().map(|it| (it.id.as_str(), it.after.len())).collect();
    assert_eq!(ids, [("1", 0), ("2", 2)]);
    let constraints = ["short", "true"].map(WordedConstraint::in_words);
    assert_eq!(read.sub_tasks[1].constraints, constraints);
    assert!(read.constraints.is_empty());
}

#[test]
fn a_typed_constraint_is_carried_as_it_is() {
    let typed = json!({"kind": "sum", "of": ["price"], "at_most": 900.5, "unit": "dollar"});
    let reply = json!({
        "sub_tasks": [{"id": "a", "task": "write", "executor": "writer"}],
        "constraints": [{"words": "at most 900.50", "typed": typed}],
    });
    let read = read_graph(&reply.to_string(), &EXECUTORS).unwrap();
    assert_eq!(read.constraints[0].typed.as_ref(), Some(&typed));
}

#[test]
fn a_reply_without_a_graph_is_refused() {
    for (reply, fault) in [
        (
            "I cannot do that.",
            "- the graph: it cannot be read: the reply holds no JSON: there is neither `{` nor `[` with anything \
             that belongs there. Write one JSON object with `sub_tasks` and `constraints`.",
        ),
        (
            r#"{"sub_tasks": [{"id": "a",}]}"#,
            "- the graph: it cannot be read: line 1, column 27: expected a key in double quotes, found `}`. Write \
             one JSON object with `sub_tasks` and `constraints`.",
        ),
        (
            r#"{"subtasks": [], "constraints": []}"#,
            "- the graph: `sub_tasks` is missing; the reply has an object with `subtasks` and `constraints`. Write \
             one JSON object with the lists `sub_tasks` and `constraints`.",
        ),
        (
            r#"[{"id": "a", "task": "write", "executor": "writer"}]"#,
            "- the graph: `sub_tasks` is missing; the reply has a list. Write one JSON object with the lists \
             `sub_tasks` and `constraints`.",
        ),
        (
            r#"{"sub_tasks": []} {"sub_tasks": [], "constraints": []}"#,
            "- the graph: the reply holds 2 graphs where one is asked for. Write one alone.",
        ),
        (
            r#"{"sub_tasks": {}}"#,
            "- the graph: `sub_tasks` is an object, not a list of sub-tasks, which are objects. Give it a \
             `sub_tasks`: a list of sub-tasks, which are objects.",
        ),
        (
            r#"{"sub_tasks": []}"#,
            "- the graph: it has no sub-tasks. Write at least one sub-task; a task that cannot be divided is one.",
        ),
    ] {
        assert_eq!(faults(reply), fault, "{reply}");
    }
}

#[test]
fn each_fault_says_where_and_what_would_mend_it() {
    let long = |length: usize| "x".repeat(length);
    let list = |count: usize| json!(vec!["short"; count]);
    for (sub_tasks, fault) in [
        (
            json!([{"id": "a"}, {"id": "a"}]),
            "- sub-task `a`: sub-task 1 of the list has the same id. Give each sub-task an id of its own, and name \
             that in `after`.",
        ),
        (
            json!([{"id": "a", "after": ["a"]}]),
            "- sub-task `a`: it comes after itself. Take its own id out of `after`.",
        ),
        (
            json!([{"id": "flight"}, {"id": "hotel", "after": ["fligth"]}]),
            "- sub-task `hotel`: it comes after `fligth`, and there is no such sub-task. Write `flight` if that is \
             meant, or add the sub-task.",
        ),
        (
            json!([{"id": "flight", "after": ["money"]}]),
            "- sub-task `flight`: it comes after `money`, and there is no such sub-task. Add the sub-task, or take \
             its id out of `after`.",
        ),
        (
            json!([{"id": "a", "after": ["c"]}, {"id": "b", "after": ["a"]}, {"id": "c", "after": ["b"]}]),
            "- the graph: sub-tasks wait for one another: `a` → `b` → `c` → `a`. Take one of them out, such as `c` \
             from the `after` of `a`.",
        ),
        (
            json!([{"id": "a", "executor": "Flight"}]),
            "- sub-task `a`: there is no executor `Flight`. Write `flights` if that is meant.",
        ),
        (
            json!([{"id": "a", "executor": "cook"}]),
            "- sub-task `a`: there is no executor `cook`. Choose among `flights`, `hotels` and `writer`.",
        ),
        (
            json!([{"id": "a", "depends_on": ["b"]}]),
            "- sub-task `a`: it has no field `depends_on`. Leave it out, or put what it says into `id`, `task`, \
             `executor`, `after` and `constraints`.",
        ),
        (
            json!([{"id": "a", "constraint": ["short"]}]),
            "- sub-task `a`: it has no field `constraint`. Write `constraints` if that is meant.",
        ),
        (json!([{"task": "write"}]), "- sub-task 1 of the list: it has no `id`. Give it a `id`: a text."),
        (
            json!([{"id": 1.5}]),
            "- sub-task 1 of the list: `id` is a number, not a text. Give it a `id`: a text.",
        ),
        (json!(["write"]), "- sub-task 1 of the list: it is a text, not an object. Write an object."),
        (
            json!([{"id": "a", "task": " "}]),
            "- sub-task `a`: `task` is empty. Write a text that says what is to be done.",
        ),
        (
            json!([{"id": "a", "task": long(TASK_CHARACTERS_MAX + 1)}]),
            "- sub-task `a`: `task` has 16001 characters, and at most 16000 are allowed. Say it with at most 16000 \
             characters.",
        ),
        (
            json!([{"id": long(ID_CHARACTERS_MAX + 1)}]),
            "- sub-task `xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx`: `id` has 61 characters, and \
             at most 60 are allowed. Say it with at most 60 characters.",
        ),
        (
            json!([{"id": "a\nb"}]),
            "- sub-task `a\nb`: its id has a line break or another control character. Use a short name on one line.",
        ),
        (
            json!([{"id": "a", "after": "b"}]),
            "- sub-task `a`: `after` is a text, not a list of ids. Give it a `after`: a list of ids.",
        ),
        (
            json!([{"id": "a", "after": [["b"]]}]),
            "- sub-task `a`: `after` is a list with something else in it, not a list of ids. Give it a `after`: a \
             list of ids.",
        ),
        (
            json!([{"id": "a", "constraints": ["short", 3]}]),
            "- constraint 2 of sub-task `a`: it is a number, not an object. Write an object.",
        ),
        (
            json!([{"id": "a", "constraints": [{"typed": {}}]}]),
            "- constraint 1 of sub-task `a`: it has no `words`. Give it a `words`: a text that says what has to \
             hold.",
        ),
        (
            json!([{"id": "a", "constraints": [{"words": "short", "typed": "short"}]}]),
            "- constraint 1 of sub-task `a`: `typed` is a text, not an object. Give it a `typed`: an object.",
        ),
        (
            json!([{"id": "a", "constraints": [{"words": "short", "typed": {"a": long(TYPED_BYTES_MAX)}}]}]),
            "- constraint 1 of sub-task `a`: `typed` has 10008 bytes, and at most 10000 are allowed. Write it with \
             at most 10000 bytes, or state the constraint in words alone.",
        ),
        (
            json!([{"id": "a", "constraints": [long(CONSTRAINT_CHARACTERS_MAX + 1)]}]),
            "- constraint 1 of sub-task `a`: `words` has 1001 characters, and at most 1000 are allowed. Say it with \
             at most 1000 characters.",
        ),
        (
            json!([{"id": "a", "constraints": list(CONSTRAINTS_MAX + 1)}]),
            "- sub-task `a`: `constraints` has 51 entries, and at most 50 are allowed. Keep at most 50.",
        ),
    ] {
        assert_eq!(faults(&reply(sub_tasks.clone())), fault, "{sub_tasks}");
    }
}

#[test]
fn faults_of_notation_are_reported_beside_the_others() {
    let reply = r#"{"sub_tasks": [{"id": "a", "id": "b", "task": "write", "executor": "nobody",
        "constraints": [{"words": "much", "typed": {"at_most": 1e999}}]}]}"#;
    assert_eq!(
        faults(reply),
        "- sub-task `a`: `id` is given twice. Give it once.\n\
         - constraint 1 of sub-task `a`: `typed` cannot be kept: the number 1e999 is too large; write it as a text, \
         in quotes. Write a value that JSON can carry.\n\
         - sub-task `a`: there is no executor `nobody`. Choose among `flights`, `hotels` and `writer`."
    );
}

#[test]
fn all_faults_are_reported_at_once() {
    let reply = reply(json!([
        {"id": "a", "executor": "hotel", "after": ["b", "x"]},
        {"id": "b", "after": ["a"]},
        {"id": "c", "after": ["d", "c"]},
        {"id": "d", "after": ["e"], "task": 3},
        {"id": "e", "after": ["c", "b"]},
        {"id": "e"},
        {"id": "g", "after": ["e"]},
    ]));
    assert_eq!(
        faults(&reply),
        "- sub-task `a`: there is no executor `hotel`. Write `hotels` if that is meant.\n\
         - sub-task `a`: it comes after `x`, and there is no such sub-task. Add the sub-task, or take its id out of \
         `after`.\n\
         - sub-task `c`: it comes after itself. Take its own id out of `after`.\n\
         - sub-task `d`: `task` is a number, not a text that says what is to be done. Give it a `task`: a text that \
         says what is to be done.\n\
         - sub-task `e`: sub-task 5 of the list has the same id. Give each sub-task an id of its own, and name that \
         in `after`.\n\
         - the graph: sub-tasks wait for one another: `a` → `b` → `a`. Take one of them out, such as `b` from the \
         `after` of `a`.\n\
         - the graph: sub-tasks wait for one another: `c` → `e` → `d` → `c`. Take one of them out, such as `d` from \
         the `after` of `c`."
    );
}

#[test]
fn too_many_sub_tasks_are_one_fault() {
    let of = |count: usize| {
        let sub_tasks: Vec<Json> = (0..count).map(|id| json!({"id": id, "after": ["nowhere"]})).collect();
        reply(json!(sub_tasks))
    };
    assert_eq!(
        faults(&of(200)),
        "- the graph: it has 200 sub-tasks, and at most 100 are allowed. Join what one executor can do together, \
         until there are at most 100."
    );
    // As many as are allowed are looked at, and what cannot be named is counted.
    let shown = faults(&of(SUB_TASKS_MAX));
    assert_eq!(shown.lines().count(), 31);
    assert!(shown.ends_with("\n- and 70 more"), "{shown}");
    assert!(read_graph(&of(SUB_TASKS_MAX).replace("\"nowhere\"", ""), &EXECUTORS).is_ok());
}

#[test]
fn a_large_faulty_reply_is_quick() {
    let after: Vec<String> = (0..200_000).map(|id| format!("x{id}")).collect();
    let reply = reply(json!([{"id": "a", "after": after}]));
    let start = std::time::Instant::now();
    assert!(read_graph(&reply, &EXECUTORS).is_err());
    let fields: String = (0..200_000).map(|id| format!("\"x{id}\": 1,")).collect();
    assert!(read_graph(&format!("{{{fields} \"sub_tasks\": []}}"), &EXECUTORS).is_err());
    assert!(start.elapsed() < std::time::Duration::from_secs(10), "{:?}", start.elapsed());
}

/// Otherwise a reply with a long id and many constraints would take the memory of both multiplied.
#[test]
fn faults_of_a_large_reply_are_few_and_small() {
    let constraints = vec![json!(1); 1_000];
    let reply = reply(json!([{"id": "x".repeat(10_000), "constraints": constraints}]));
    let faults = read_graph(&reply, &EXECUTORS).unwrap_err().faults;
    // Those of the constraints that may be there, the length of their list, and that of the id.
    assert_eq!(faults.len(), CONSTRAINTS_MAX + 2);
    let ids = faults.iter().filter_map(|fault| fault.site.id.as_ref());
    assert!(ids.map(String::len).all(|length| length < 100));
}

#[test]
fn a_graph_in_memory_is_checked_alike() {
    assert_eq!(journey().check(&EXECUTORS), Ok(()));
    let mut broken = graph("a; b: a c");
    broken.constraints.push(WordedConstraint::in_words(""));
    let faults = broken.check(&EXECUTORS).unwrap_err().faults;
    let problems: Vec<&GraphProblem> = faults.iter().map(|fault| &*fault.problem).collect();
    assert!(matches!(problems[..], [GraphProblem::AfterUnknown { .. }, GraphProblem::TextEmpty { .. }]));
    assert_eq!(faults[1].site.constraint, Some(0));
}

#[test]
fn the_schema_takes_what_is_read_and_refuses_what_is_not() {
    let typed = json!({"type": "object", "properties": {"kind": {"type": "string"}}});
    let schema = SubTaskGraph::schema(&EXECUTORS, Some(&typed));
    let validator = jsonschema::validator_for(&schema).unwrap();
    let mut written = serde_json::to_value(journey()).unwrap();
    // In a structured output nothing is left out.
    written["constraints"][0]["typed"] = json!({"kind": "sum"});
    written["sub_tasks"][1]["constraints"][0]["typed"] = Json::Null;
    assert!(validator.is_valid(&written), "{:?}", validator.validate(&written));
    assert!(read_graph(&written.to_string(), &EXECUTORS).is_ok());
    for (pointer, value) in [
        ("/sub_tasks/0/executor", json!("cook")),
        ("/sub_tasks/0/id", json!("")),
        ("/sub_tasks/0/task", json!(3)),
        ("/sub_tasks/0/after", json!([1])),
        ("/sub_tasks", json!([])),
        ("/constraints/0/typed", json!("sum")),
    ] {
        let mut other = written.clone();
        *other.pointer_mut(pointer).unwrap() = value;
        assert!(!validator.is_valid(&other), "{pointer}");
        if pointer != "/sub_tasks/0/after" {
            assert!(read_graph(&other.to_string(), &EXECUTORS).is_err(), "{pointer}");
        }
    }
    let plain = SubTaskGraph::schema(&EXECUTORS, None);
    let validator = jsonschema::validator_for(&plain).unwrap();
    assert!(validator.is_valid(&serde_json::to_value(journey()).unwrap()));
    assert!(!validator.is_valid(&written));
}

fn any_json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<u64>().prop_map(Json::from),
        (-1e9..1e9).prop_map(Json::from),
        ".{0,8}".prop_map(Json::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Json::from),
            prop::collection::btree_map(".{0,4}", inner, 0..3)
                .prop_map(|map| Json::Object(map.into_iter().collect())),
        ]
    })
}

fn any_graph() -> impl Strategy<Value = SubTaskGraph> {
    let constraint = (".{0,12}", prop::option::of(any_json()))
        .prop_map(|(words, typed)| WordedConstraint { words, typed });
    let constraints = prop::collection::vec(constraint, 0..3).boxed();
    let task = (".{0,4}", ".{0,12}", ".{0,4}", prop::collection::vec(".{0,4}", 0..3), constraints.clone());
    let task = task.prop_map(|(id, task, executor, after, constraints)| {
        let task = planproof_plan::graph::SubTask { id, task, executor, after, constraints };
        if task.task.is_empty() { sub_task(&task.id, &[]) } else { task }
    });
    (prop::collection::vec(task, 0..5), constraints)
        .prop_map(|(sub_tasks, constraints)| SubTaskGraph { sub_tasks, constraints })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn what_is_written_is_read_as_it_was(graph in any_graph()) {
        let written = serde_json::to_string(&graph).unwrap();
        prop_assert_eq!(serde_json::from_str::<SubTaskGraph>(&written).unwrap(), graph.clone());
        // The reader of replies refuses only what the check refuses, and otherwise reads the same.
        match (read_graph(&written, &EXECUTORS), graph.check(&EXECUTORS)) {
            (Ok(read), Ok(())) => prop_assert_eq!(read, graph),
            (Err(_), _) => {}
            (Ok(_), Err(faults)) => {
                // `null` in a reply is nothing.
                let is_null = |fault: &planproof_plan::graph::GraphFault| fault.problem.to_string().contains("`typed` is null");
                prop_assert!(faults.faults.iter().all(is_null), "{}", faults);
            }
        }
    }

    #[test]
    fn any_reply_is_read_or_refused(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..30)) {
        let text = pieces.concat();
        match read_graph(&text, &EXECUTORS) {
            Ok(graph) => prop_assert_eq!(graph.check(&EXECUTORS), Ok(())),
            Err(faults) => prop_assert!(!faults.faults.is_empty() && !faults.to_string().is_empty()),
        }
    }
}

const PIECES: &[&str] = &[
    "{\"sub_tasks\": [",
    "{",
    "}",
    "]",
    "[",
    ",",
    "]}",
    "\"id\": ",
    "\"a\"",
    "\"b\"",
    "1",
    "\"task\": \"x\"",
    "\"executor\": \"writer\"",
    "\"after\": [\"a\"]",
    "\"constraints\": ",
    "{\"words\": \"x\"}",
    "null",
    "\"typed\": ",
    "```",
    "\n",
    "RESULT #:",
    "{\"id\": \"a\", \"task\": \"x\", \"executor\": \"writer\"}",
    "\"constraints\": []",
    "é",
];
