//! Streams of tool calls as servers write them that do not keep to the protocol: the calls that were meant come of
//! each, or an error of the server.

use futures::StreamExt;
use planproof_model::{ChatDelta, Model, ModelError};
use planproof_trace::{FinishReason, Tool};
use serde_json::{Value, json};

use crate::protocol::added_up;
use crate::stand_in::{StandIn, chunked, question};

/// A piece of a call: its index, id, name and arguments. Null is left out.
fn piece(index: Value, id: Value, name: Value, arguments: Value) -> Value {
    let given = |fields: [(&str, Value); 2]| {
        let fields = fields.into_iter().filter(|(_, value)| !value.is_null());
        Value::Object(fields.map(|(field, value)| (field.to_owned(), value)).collect())
    };
    let mut call = given([("index", index), ("id", id)]);
    call["type"] = "function".into();
    call["function"] = given([("name", name), ("arguments", arguments)]);
    call
}

/// The body of a stream with these calls in each delta.
fn body(deltas: &[Vec<Value>]) -> Vec<u8> {
    let chunk = |delta: Value, finish: Value| {
        format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}))
    };
    let mut body: String =
        deltas.iter().map(|calls| chunk(json!({"tool_calls": calls}), Value::Null)).collect();
    body += &chunk(json!({}), "tool_calls".into());
    (body + "data: [DONE]\n\n").into_bytes()
}

/// The names and arguments that come of it.
async fn calls_of(deltas: &[Vec<Value>]) -> Result<Vec<(String, String)>, ModelError> {
    let server = StandIn::start(vec![chunked([&body(deltas)[..]])]).await;
    let model = server.model_with(|config| config.connection.attempts_max = 1);
    let mut request = question();
    request.tools = ["archive_note", "rename_note", "list_notes"]
        .map(|name| Tool::without_arguments(name, "Does it."))
        .into();
    let reply = added_up(model.chat_stream(&request).await?).await?;
    assert_eq!(reply.finish, FinishReason::ToolCalls);
    Ok(reply.calls.into_iter().map(|call| (call.name, call.arguments.to_text())).collect())
}

const A: &str = r#"{"id":"n1"}"#;
const B: &str = r#"{"id":"n2","title":"x}"}"#;

/// A name, the deltas, and the calls that were meant.
type Shape<'a> = (&'a str, Vec<Vec<Value>>, Vec<(&'a str, &'a str)>);

/// Shorthand for a piece of a delta of its own.
macro_rules! pieces {
    ($([$index:tt $id:tt $name:tt $arguments:expr])*) => {
        vec![$(vec![piece(json!($index), json!($id), json!($name), json!($arguments))]),*]
    };
}

#[tokio::test]
async fn the_calls_that_were_meant_come_of_every_shape() {
    let (archive, rename, none) = ("archive_note", "rename_note", Value::Null);
    let (a1, a2) = A.split_at(5);
    let (b1, b2) = B.split_at(9);
    let two = [(archive, A), (rename, B)];
    let object = |text: &str| serde_json::from_str::<Value>(text).expect("an object");
    let one = |name: &str, arguments: &str| piece(none.clone(), none.clone(), json!(name), json!(arguments));
    let shapes: Vec<Shape<'_>> = vec![
        (
            "as the protocol has it",
            pieces!([0 "a" archive ""] [0 none none A] [1 "b" rename ""] [1 none none B]),
            two.into(),
        ),
        (
            "the second call at the first place, its rest at the second",
            pieces!([0 "a" archive ""] [0 none none A] [0 "b" rename ""] [1 none none b1] [1 none none b2]),
            two.into(),
        ),
        (
            "the rest of every call at the first place",
            pieces!([0 "a" archive ""] [0 none none A] [1 "b" rename ""] [0 none none b1] [0 none none b2]),
            two.into(),
        ),
        ("every call at the first place", pieces!([0 "a" archive A] [0 "b" rename B]), two.into()),
        (
            "every call at the first place, of one tool",
            pieces!([0 "a" archive A] [0 "b" archive A] [0 "c" archive "{}"] [0 "d" archive "{}"]),
            vec![(archive, A), (archive, A), (archive, "{}"), (archive, "{}")],
        ),
        (
            "every call at the first place, without ids",
            pieces!([0 none archive a1] [0 none none a2] [0 none rename b1] [0 none none b2]),
            two.into(),
        ),
        (
            "calls without arguments at the first place, without ids",
            pieces!([0 none archive ""] [0 none "list_notes" ""]),
            vec![(archive, "{}"), ("list_notes", "{}")],
        ),
        (
            "no places, whole calls in one delta",
            vec![vec![
                piece(none.clone(), json!("a"), json!(archive), json!(A)),
                piece(none.clone(), json!("b"), json!(rename), json!(B)),
            ]],
            two.into(),
        ),
        ("neither places nor ids, in one delta", vec![vec![one(archive, A), one(rename, B)]], two.into()),
        (
            "neither places nor ids nor arguments, in one delta",
            vec![vec![one(archive, ""), one(archive, "")]],
            vec![(archive, "{}"), (archive, "{}")],
        ),
        (
            "neither places nor ids, side by side in pieces",
            vec![vec![one(archive, a1), one(rename, b1)], vec![one("", a2), one("", b2)]],
            two.into(),
        ),
        ("neither places nor ids", pieces!([none none archive A] [none none rename B]), two.into()),
        (
            "no places, no ids with the rest",
            pieces!([none "a" archive ""] [none none none A] [none "b" rename ""] [none none none B]),
            two.into(),
        ),
        (
            "no places, arguments before the name",
            pieces!([none "a" none a1] [none "a" archive a2] [none "b" none b1] [none "b" rename b2]),
            two.into(),
        ),
        (
            "arguments before the name, at the first place",
            pieces!([0 "a" none a1] [0 "a" archive a2] [0 "b" none b1] [0 "b" rename b2]),
            two.into(),
        ),
        (
            "the name with every piece",
            pieces!([0 "a" archive a1] [0 "a" archive a2] [1 "b" rename b1] [1 "b" rename b2]),
            two.into(),
        ),
        (
            "another id with every piece",
            pieces!([0 "x0" archive ""] [0 "x1" none A] [1 "x2" rename b1] [1 "x3" none b2]),
            two.into(),
        ),
        (
            "another id with every piece, and the name",
            pieces!([0 "x0" archive a1] [0 "x1" archive a2] [1 "x2" rename b1] [1 "x3" rename b2]),
            two.into(),
        ),
        (
            "another id with every piece, and no places",
            pieces!([none "x0" archive ""] [none "x1" none A] [none "x2" rename b1] [none "x3" none b2]),
            two.into(),
        ),
        (
            "the name in pieces",
            pieces!([0 "a" "archive_" ""] [0 none "note" A] [1 "b" "ren" ""] [1 none "ame_" ""] [1 none "note" B]),
            two.into(),
        ),
        (
            "the name so far with every piece",
            pieces!([0 "a" "archive_" ""] [0 "a" archive a1] [0 "a" archive a2] [1 "b" rename B]),
            two.into(),
        ),
        (
            "interleaved",
            pieces!([0 "a" archive ""] [1 "b" rename ""] [0 none none a1] [1 none none b1] [0 none none a2]
                [1 none none b2]),
            two.into(),
        ),
        (
            "interleaved by ids alone",
            pieces!([none "a" archive ""] [none "b" rename ""] [none "a" none a1] [none "b" none b1]
                [none "a" none a2] [none "b" none b2]),
            two.into(),
        ),
        ("places from 1", pieces!([1 "a" archive A] [2 "b" rename B]), two.into()),
        ("places in another order", pieces!([1 "a" archive A] [0 "b" rename B]), two.into()),
        ("places as texts", pieces!(["0" "a" archive a1] ["0" none none a2] ["1" "b" rename B]), two.into()),
        ("places as floats", pieces!([0.0 "a" archive a1] [0.0 none none a2] [1.0 "b" rename B]), two.into()),
        (
            "one id for all",
            pieces!([0 "c" archive ""] [0 none none A] [1 "c" rename ""] [1 none none B]),
            two.into(),
        ),
        ("one id for all, and no places", pieces!([none "c" archive A] [none "c" rename B]), two.into()),
        ("arguments as objects", pieces!([0 "a" archive (object(A))] [1 "b" rename (object(B))]), two.into()),
        (
            "an empty object before the arguments",
            pieces!([0 "a" archive (object("{}"))] [0 none none a1] [0 none none a2] [1 "b" rename "{}"] [1 none none B]),
            two.into(),
        ),
        (
            "a repetition at the end",
            pieces!([0 "a" archive a1] [0 none none a2] [0 "a" archive A] [0 "a" archive ""] [1 "b" rename B]
                [1 none none B]),
            two.into(),
        ),
        (
            "padding",
            pieces!([0 "a" archive A] [0 "" "" ""] [1 "b" rename B] [1 none none none] [2 none none ""]),
            two.into(),
        ),
        (
            "what stands for no arguments",
            pieces!([0 "a" archive "nu"] [0 none none "ll"] [1 "b" rename " "] [2 "c" archive "\"{}"] [2 none none "\""]),
            vec![(archive, "{}"), (rename, "{}"), (archive, "{}")],
        ),
        (
            "tokens behind the arguments, in any pieces",
            pieces!([0 "a" archive (format!("{A}<|im_end|>"))] [1 "b" rename b1] [1 none none b2] [1 none none "<|eot"]
                [1 none none "_id|>"]),
            two.into(),
        ),
        (
            "what is left of the model's own format around the names",
            pieces!([0 "a" "functions.archive_note:0" A] [1 "b" "rename_note<|channel|>commentary" B]),
            two.into(),
        ),
        (
            "tags that the model wrote",
            pieces!([0 "a" archive "{}<b>"] [0 none none "x"] [1 "b" rename B]),
            vec![(archive, "{}<b>x"), (rename, B)],
        ),
        (
            "arguments that the model wrote badly",
            pieces!([0 "a" archive "{\"id\""] [0 none none "}}"] [0 none none " x"] [1 "b" rename "[1"] [1 none none "]"]),
            vec![(archive, "{\"id\"}} x"), (rename, "[1]")],
        ),
    ];
    let mut wrong = Vec::new();
    for (shape, deltas, expected) in &shapes {
        let expected: Vec<_> = expected.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
        let found = calls_of(deltas).await;
        if found.as_ref() != Ok(&expected) {
            wrong.push(format!("{shape}: {found:?} instead of {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn a_piece_that_belongs_to_no_call_is_an_error_of_the_server() {
    let none = Value::Null;
    for (deltas, words) in [
        (pieces!([0 "a" "archive_note" A] [3 none none B]), "belongs to none"),
        (pieces!([0 "a" none A]), "a tool call without a name"),
        (pieces!([0 none none A]), "a tool call without a name"),
    ] {
        let error = calls_of(&deltas).await.unwrap_err();
        assert!(matches!(&error, ModelError::Malformed { what, .. } if what.contains(words)), "{error:?}");
    }
}

#[tokio::test]
async fn words_come_before_calls() {
    let text = json!({"choices": [{"index": 0, "delta": {"content": "On it."}}]});
    let calls = body(&[vec![piece(json!(0), json!("a"), json!("archive_note"), json!(A))]]);
    let whole = [format!("data: {text}\n\n").into_bytes(), calls].concat();
    let server = StandIn::start(vec![chunked([&whole[..]])]).await;
    let model = server.model();
    let request = question();
    let deltas: Vec<_> = model.chat_stream(&request).await.unwrap().collect().await;
    assert!(
        matches!(&deltas[..], [Ok(ChatDelta::Text(_)), Ok(ChatDelta::CallStart { .. }), ..]),
        "{deltas:?}"
    );
}
