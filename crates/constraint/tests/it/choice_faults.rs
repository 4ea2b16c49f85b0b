//! What is wrong with a problem of choosing, as it is said to who wrote it.

use planproof_constraint::choice::{
    CANDIDATES_MAX, CONSTRAINTS_MAX, FAULTS_MAX, JSON_BYTES_MAX, LIST_MAX, RECORD_FIELDS_MAX, SLOTS_MAX,
    read_task,
};
use serde_json::json;

use crate::choice::TRIP;

fn faults_of(slots: &str, constraint: &serde_json::Value) -> String {
    let text = format!(r#"{{"slots": {slots}, "constraints": [{constraint}]}}"#);
    match read_task(&text) {
        Ok(_) => "none".to_owned(),
        Err(faults) => faults.to_string(),
    }
}

/// Two slots whose fields do not fit together.
const MIXED: &str = r#"{"a": [{"fee": "EUR 30", "days": 3, "t": "10:00", "l": ["x"], "is": true}],
    "b": [{"fee": "EUR 30", "days": 2, "t": "10:00"},
          {"fee": "USD 30", "days": "3 nights", "t": "2024-05-01 10:00"}]}"#;

fn sum(terms: [&str; 2], bound: &serde_json::Value) -> serde_json::Value {
    json!({"id": "s", "text": "s", "kind": "sum", "terms": terms, "op": "<=", "bound": bound})
}

fn compare(left: &str, op: &str, right: &str) -> serde_json::Value {
    json!({"id": "c", "text": "c", "kind": "compare", "left": left, "op": op, "right": right})
}

#[test]
fn what_cannot_be_compared_is_a_fault_that_says_where() {
    let mend = "Write all in one kind and unit, or leave the field out.";
    assert_eq!(
        faults_of(MIXED, &sum(["a.fee", "b.fee"], &json!("EUR 80"))),
        format!(
            "- `slots.b[1].fee`, constraint `s`: \"USD 30\" belongs with numbers in \"USD\", but is used with numbers \
             in \"EUR\". {mend}"
        )
    );
    assert_eq!(
        faults_of(MIXED, &sum(["a.days", "b.days"], &json!(80))),
        format!(
            "- `slots.b[1].days`, constraint `s`: \"3 nights\" belongs with numbers in \"nights\", but is used with \
             numbers without a unit. {mend}"
        )
    );
    assert_eq!(
        faults_of(MIXED, &compare("a.days", "==", "b.days")),
        format!(
            "- `slots.b[1].days`, constraint `c`: \"3 nights\" belongs with texts, but is used with numbers. {mend}"
        )
    );
    assert_eq!(
        faults_of(MIXED, &compare("a.t", "<", "b.t")),
        format!(
            "- `slots.b[1].t`, constraint `c`: \"2024-05-01 10:00\" belongs with times as YYYY-MM-DD HH:MM, but is \
             used with times as HH:MM. {mend}"
        )
    );
    assert_eq!(
        faults_of(MIXED, &compare("a.is", "<=", "a.is")),
        "- `slots.a[0].is`, constraint `c`: true is used with numbers or times, but it is not a number of digits \
         with at most one decimal point. Write it as such, or leave the field out."
    );
    // Texts are equal or not, whatever their unit.
    assert_eq!(faults_of(MIXED, &compare("a.fee", "==", "b.fee")), "none");
}

#[test]
fn what_is_not_there_is_a_fault_that_names_what_is() {
    assert_eq!(
        faults_of(MIXED, &sum(["a.fees", "c.fee"], &json!("EUR 1"))),
        "- `constraints[0]`, constraint `s`: no candidate has a field `fees`. Use `days`, `fee`, `is`, `l` or `t`.\n\
         - `constraints[0]`, constraint `s`: there is no slot `c`. Use `a` or `b`."
    );
    assert_eq!(
        faults_of(MIXED, &json!({"id": "c", "kind": "compare", "left": "days", "op": "=", "value": [1]})),
        "- `constraints[0]`, constraint `c`: it has no `text`. Give `text`: the words of the task.\n\
         - `constraints[0].left`, constraint `c`: `days` is no field of a slot. Write `slot.field`, such as \
         `hotel.price`.\n\
         - `constraints[0].op`, constraint `c`: it is `=`. Write one of \
         `==`, `!=`, `<`, `<=`, `>` and `>=`.\n\
         - `constraints[0].value[0]`, constraint `c`: it is a number. Write a text."
    );
    assert_eq!(
        faults_of(MIXED, &json!({"id": "c", "text": "c", "kind": "differ", "fields": []})),
        "- `constraints[0].kind`, constraint `c`: it is `differ`. Write one of `sum`, `count`, \
         `different`, `same`, `implies`, `compare`, `member`, `time` and `filled`."
    );
    assert_eq!(
        faults_of(
            MIXED,
            &json!({"id": "c", "text": "c", "kind": "different", "fields": ["a.t"], "field": "a.t"})
        ),
        "- `constraints[0]`, constraint `c`: it has no key `field`. Use `id`, `text`, `kind` or `fields`."
    );
    assert_eq!(
        faults_of(r#"{"a.b": [{"x": 1.0000001}, 3, {"y": {"z": 1}}], "": 4}"#, &json!(1)),
        "- `slots.`: it is a number. Write a list of candidates, or an object with `candidates` and `optional`.\n\
         - `slots.a.b[0].x`: `1.0000001` cannot be used: it has more than 6 decimal places. Write plain digits with a \
         decimal point, without separators of thousands.\n\
         - `slots.a.b[1]`: it is a number. Write an object with the fields of a candidate.\n\
         - `slots.a.b[2].y`: it is an object. Write a text, a number, a truth value or a list of texts.\n\
         - `constraints[0]`: it is a number. Write an object."
    );
    let text = |text: &str| read_task(text).unwrap_err().to_string();
    assert_eq!(
        text(r#"{"slots": {"a": [{"x": 1, "x": 2}]}}"#),
        "- the problem: it is no JSON that can be read: key `x` is given twice at line 1 column 33. Write one JSON \
         object with `slots` and `constraints`, each key once."
    );
    assert!(text("no").starts_with("- the problem: it is no JSON that can be read: expected"));
    assert_eq!(
        text(r#"{"slots": {"a.b": []}, "constraints": []}"#),
        "- `slots.a.b`: `a.b` cannot be a name. Use a short name on one line; that of a slot has no dot."
    );
}

/// A list that a problem has not, and texts nested too deeply: nothing that is read makes it panic.
#[test]
fn any_text_is_an_answer() {
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    for text in ["", "{", "}", "{}", "[]", "null", "```", "```json\n{", "} {", "\u{0}", deep.as_str()] {
        assert!(read_task(text).is_err(), "{text}");
    }
    // Each piece of a good one, cut anywhere.
    for end in (0..TRIP.len()).filter(|end| TRIP.is_char_boundary(*end)) {
        assert!(read_task(&TRIP[..end]).is_err());
    }
}

/// Each limit is an answer of its own.
#[test]
fn what_is_too_much_is_said() {
    let too_many = |text: &str, expected: &str| {
        let faults = read_task(text).unwrap_err();
        assert!(faults.to_string().contains(expected), "{faults}");
        assert!(faults.faults.len() <= FAULTS_MAX);
    };
    let many = |item: &str, count: usize| vec![item; count].join(",");
    let slot = |candidates: &str| format!(r#"{{"slots": {{"a": [{candidates}]}}}}"#);
    too_many(&slot(&many("{}", CANDIDATES_MAX + 1)), "`slots.a`: there are 10001 candidates");
    too_many(&slot(&many("[]", CANDIDATES_MAX)), "and 970 more");
    too_many(
        &slot(&format!(r#"{{"l": [{}]}}"#, many("1", LIST_MAX + 1))),
        "`slots.a[0].l`: there are 201 texts",
    );
    let fields: Vec<String> = (0..=RECORD_FIELDS_MAX).map(|field| format!(r#""f{field}": 1"#)).collect();
    too_many(&slot(&format!("{{{}}}", fields.join(","))), "`slots.a[0]`: there are 101 fields");
    let slots: Vec<String> = (0..=SLOTS_MAX).map(|slot| format!(r#""s{slot}": []"#)).collect();
    too_many(&format!(r#"{{"slots": {{{}}}}}"#, slots.join(",")), "`slots`: there are 65 slots");
    let constraints = many("1", CONSTRAINTS_MAX + 1);
    too_many(&format!(r#"{{"slots": {{}}, "constraints": [{constraints}]}}"#), "there are 257 constraints");
    let all = format!("[{}]", many(r#"{"x": 1}"#, CANDIDATES_MAX));
    let slots: Vec<String> = (0..11).map(|slot| format!(r#""s{slot}": {all}"#)).collect();
    too_many(&format!(r#"{{"slots": {{{}}}}}"#, slots.join(",")), "`slots`: there are 110000 candidates");
    let terms: Vec<serde_json::Value> = (0..210).map(|it| json!(format!("s{}.x", it % 9))).collect();
    let sum = json!({"id": "s", "text": "s", "kind": "sum", "op": "<=", "bound": 1, "terms": terms});
    let text = format!(r#"{{"slots": {{{}}}, "constraints": [{sum}]}}"#, slots[..9].join(","));
    too_many(&text, "there are 2100000 values to look at");
    too_many(&" ".repeat(JSON_BYTES_MAX + 1), "bytes, and at most 16777216 are allowed");
}
