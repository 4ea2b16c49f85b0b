use std::fs;
use std::path::Path;

use planproof_trace::notation::print;
use planproof_trace::wire::WireError;
use planproof_trace::wire::v1::{read_trace, read_traces, write_trace};
use planproof_trace::{
    ATTACHMENTS_MAX, Arguments, Attachment, Attachments, CallId, Event, EventKind, Header, PictureType,
    ToolCall, ToolResult, Trace,
};
use proptest::prelude::*;

use crate::events::{config, events, header};
use crate::notation::nested;

fn testdata(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/wire/v1").join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn write(traces: &[Trace]) -> String {
    let mut out = Vec::new();
    for trace in traces {
        write_trace(trace, &mut out);
    }
    String::from_utf8(out).expect("JSON is UTF-8")
}

fn trace() -> impl Strategy<Value = Trace> {
    (header(), events()).prop_map(|(header, events)| Trace { header, events })
}

proptest! {
    #![proptest_config(config(200))]

    #[test]
    fn what_is_written_reads_back_as_it_was(traces in prop::collection::vec(trace(), 1..4)) {
        let text = write(&traces);
        let lines = traces.iter().map(|trace| 1 + trace.events.len()).sum::<usize>();
        prop_assert_eq!(text.split('\n').count(), lines + 1);
        let read: Result<Vec<_>, _> = read_traces(&text).collect();
        prop_assert_eq!(read.expect("own output"), traces);
    }

    /// Wherever a crash cuts the file, the whole lines are read and the cut one is called so.
    #[test]
    fn a_cut_file_is_called_cut(trace in trace(), at in any::<prop::sample::Index>()) {
        let text = write(&[trace]);
        let cut = text.floor_char_boundary(1 + at.index(text.len()));
        let text = text.get(..cut).expect("on a boundary");
        let whole_lines = text.matches('\n').count();
        match read_trace(text) {
            Ok(trace) => prop_assert!(1 + trace.events.len() >= whole_lines),
            Err(error) => prop_assert_eq!(error, WireError::Truncated { line: whole_lines + 1 }),
        }
    }
}

#[test]
fn committed_files_are_read_and_written_the_same() {
    let text = testdata("every_event.jsonl");
    let trace = read_trace(&text).expect("valid");
    assert_eq!(
        trace.header,
        Header {
            agent: "tools@sim/perfect".into(),
            model: Some("sim/perfect".into()),
            simulated: true,
            case: "basic-7-3".into(),
            repeat: 0,
            seed: u64::MAX,
            clock: "logical".into(),
            version: "0.1.0".into(),
        }
    );
    assert_eq!(
        print(&trace.events),
        concat!(
            r#"query "Do A, then B." | turn 2 calls tokens=120/14 | call a1_tool | ok "Done." | "#,
            r#"call pay {"amount":3,"to":{"name":"Zoë \"Z\"","tags":["x|y",null,-1.5e-7]}} #toolu_01 | "#,
            r#"err "no such tool\nas \"pay\"" | turn 1 call "Again." finish=length | "#,
            r#"call pay malformed "{\"amount\":" | err | say "…" finish=content_filter tokens=7/1 | "#,
            r#"say "Finished." | answer "Finished.""#,
        )
    );
    assert_eq!(write(&[trace]), text);

    let text = testdata("every_end.jsonl");
    let traces: Vec<_> = read_traces(&text).collect::<Result<_, _>>().expect("valid");
    assert_eq!(
        traces.iter().map(|trace| print(&trace.events)).collect::<Vec<_>>(),
        [
            r#"query "Do A." | @1200 limit wall_ms 1200"#,
            r#"query "Do A." | @31 limit iterations 50"#,
            r#"query "Do A." | @32 limit output_bytes 1048576"#,
            r#"query "Do A." | @33 failed "exit status 3""#,
            r#"query "Do A." | @34 unscored "cannot reach http://localhost:8000""#,
            r#"query "Do A.""#,
        ]
    );
    assert_eq!(traces.iter().map(|trace| trace.header.repeat).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
    assert_eq!(write(&traces), text);

    let text = testdata("every_section.jsonl");
    let trace = read_trace(&text).expect("valid");
    assert_eq!(
        print(&trace.events),
        concat!(
            r#"query "Do A." | spec react partial_turn | section Ques user "Do A." | "#,
            r#"say "[Answer] No" finish=cut tokens=120/3 | "#,
            r#"correct "[Answer] may not come next" "[" discarded=11 | section Tht model "I do [A]." | "#,
            r#"section Obs environment note="judge sim/x" | tally corrections=2/1 discarded=11 tokens=3/120 | limit text_bytes 1048576"#,
        )
    );
    assert_eq!(write(&[trace]), text);

    let text = testdata("every_actor.jsonl");
    let trace = read_trace(&text).expect("valid");
    assert_eq!(
        print(&trace.events),
        concat!(
            r#"query "Add 2 and 2." | sample-1: query "Add 2 and 2." | sample-1: say "4" tokens=12/1 | "#,
            r#"sample-2: query "Add 2 and 2." | sample-2: spec direct chat | sample-2/inner: call add {"a":2} | "#,
            r#"sample-2/inner: ok "4" | sample-2: tally | answer "4""#,
        )
    );
    assert_eq!(write(&[trace]), text);

    let text = testdata("every_attachment.jsonl");
    let trace = read_trace(&text).expect("valid");
    let EventKind::Result(result) = &trace.events[2].kind else { panic!("a result") };
    let pictures =
        [("out-0.png", PictureType::Png, "iVBORw0="), ("out-1.png", PictureType::Jpeg, "/9j/+w==")];
    let pictures = pictures.map(|(name, picture, data)| Attachment::new(name, picture, data).expect("small"));
    assert_eq!(result.attachments, Attachments::new(pictures.to_vec()).expect("few"));
    // The line for people has no room for pictures.
    assert!(!print(&trace.events).contains("iVBOR"));
    assert_eq!(write(&[trace]), text);

    let trace = read_trace(&testdata("unordered_fields.jsonl")).expect("valid");
    assert_eq!(print(&trace.events), r#"query "Do A." | call x {"a":2,"b":1}"#);
    assert_eq!(trace.header.model, None);
}

#[test]
fn what_was_held_back_is_now_denied() {
    let mut trace = read_trace(&testdata("every_event.jsonl")).expect("valid");
    let id = || CallId::new("c1");
    let call = ToolCall { id: id(), name: "a".into(), arguments: Arguments::from_text("{}") };
    let result = ToolResult::denied(id(), "not yet").denied_by(vec!["once".to_owned()]);
    trace.events = vec![Event::new(0, EventKind::Call(call)), Event::new(1, EventKind::Result(result))];
    let now = write(std::slice::from_ref(&trace));
    let before = now.replace("\"denied\":true", "\"held_back\":true");
    assert_ne!(before, now);
    assert_eq!(read_trace(&before), Ok(trace));
}

#[test]
fn arguments_as_deep_as_json_is_read_survive() {
    let deepest = (1..200).rev().map(nested).find(|text| Arguments::from_text(text).as_object().is_some());
    let arguments = Arguments::from_text(&deepest.expect("some depth is read"));
    let mut trace = read_trace(&testdata("every_event.jsonl")).expect("valid");
    let kind = EventKind::Call(ToolCall { id: CallId::new("c1"), name: "a".into(), arguments });
    trace.events = vec![Event::new(0, kind)];
    assert_eq!(read_trace(&write(std::slice::from_ref(&trace))), Ok(trace));
}

const HEADER: &str = r#"{"schema":"planproof/trace/v1","agent":"a","model":null,"simulated":false,"case":"c","repeat":0,"seed":"1","clock":"logical","version":"0"}"#;

#[track_caller]
fn check_error(lines: &str, message: &str) {
    let text = lines.replace("HEADER", HEADER);
    assert_eq!(read_trace(&text).expect_err(lines).to_string(), message);
}

#[test]
fn errors_say_where_and_what() {
    check_error("", "there is no trace in the file");
    check_error("\n \n", "there is no trace in the file");
    check_error("HEADER\nHEADER\n", "line 2: a second trace begins, where one was expected");
    check_error(
        r#"{"at":0,"type":"query","text":""}"#,
        "line 1: an event without a trace: the first line must be a header with \"schema\"",
    );
    check_error(
        r#"{"schema":"planproof/trace/v2","new":[]}"#,
        "line 1: the schema is \"planproof/trace/v2\"; this planproof reads planproof/trace/v1",
    );
    check_error(
        "HEADER\n\n{\"at\":0,\"type\":\"query\",\"text\":\"x\",\"txet\":\"y\"}\n",
        "line 3, column 40: unknown field `txet`, expected one of `at`, `actor`, `type`, `text`",
    );
    check_error(
        "HEADER\n{\"at\":0,\"type\":\"call\",\"id\":\"c1\",\"name\":\"x\",\"arguments\":{},\"calls\":1}\n",
        "line 2, column 65: unknown field `calls`, expected one of `at`, `actor`, `type`, `id`, `name`, `arguments`, `arguments_text`",
    );
    check_error(
        "HEADER\n{\"at\":0,\"actor\":\"a b\",\"type\":\"query\",\"text\":\"\"}\n",
        "line 2, column 0: `actor`: \"a b\" is not the name of an actor: letters a to z, digits, `_`, `-`, `.` and `/` may stand in it, ' ' may not",
    );
    check_error("HEADER\n{\"at\":0,\"type\":\"query\"}\n", "line 2, column 23: missing field `text`");
    check_error(
        "HEADER\n{\"at\":0,\"type\":\"quary\",\"text\":\"\"}\n",
        "line 2, column 22: unknown variant `quary`, expected one of `query`, `turn`, `batch`, `call`, `result`, `spec`, `section`, `correction`, `tally`, `end`",
    );
    check_error(
        "HEADER\n{\"at\":0,\"type\":\"end\",\"reason\":\"answered\",\"message\":\"x\"}\n",
        "line 2, column 50: unknown field `message`, expected one of `at`, `actor`, `type`, `reason`, `text`",
    );
    check_error("HEADER\n{\"at\":0,\"type\":\"end\"}\n", "line 2, column 0: missing field `reason`");
    check_error(
        "HEADER\n{\"at\":0}\n",
        "line 2, column 0: neither a header (`schema`) nor an event (`type`)",
    );
    for arguments in ["", ",\"arguments\":{},\"arguments_text\":\"\""] {
        check_error(
            &format!("HEADER\n{{\"at\":0,\"type\":\"call\",\"id\":\"c1\",\"name\":\"x\"{arguments}}}\n"),
            "line 2, column 0: a call has either `arguments` or `arguments_text`",
        );
    }
    check_error(
        "HEADER\n{\"at\":0,\"type\":\"call\",\"id\":\"c1\",\"name\":\"x\",\"arguments\":[1]}\n",
        "line 2, column 0: in `arguments`, column 0: invalid type: sequence, expected a map",
    );
    let picture = r#"{"name":"a.png","type":"image/png","data":"AAAA"}"#;
    for (pictures, message) in [
        (
            picture.replace("AAAA", "<svg>"),
            "line 2, column 0: in `attachments`: its data is no base64 (letters, digits, `+`, `/`, and `=` to fill the last group of four)",
        ),
        (
            picture.replace("image/png", "image/svg+xml"),
            "line 2, column 114: unknown variant `image/svg+xml`, expected `image/png` or `image/jpeg`",
        ),
        (
            [picture; ATTACHMENTS_MAX + 1].join(","),
            "line 2, column 0: in `attachments`: there are 5; 4 are the most that a result has",
        ),
    ] {
        check_error(
            &format!(
                "HEADER\n{{\"at\":0,\"type\":\"result\",\"id\":\"c1\",\"text\":\"\",\"is_error\":false,\"attachments\":[{pictures}]}}\n"
            ),
            message,
        );
    }
    for seed in ["+1", "-1", "", "1.0", "18446744073709551616"] {
        check_error(
            &HEADER.replace("\"1\"", &format!("\"{seed}\"")),
            &format!(
                "line 1, column 0: `seed` must be a whole number below 2^64 as a string, not \"{seed}\""
            ),
        );
    }
    check_error(
        "HEADER\n{\"at\":0,\"type\":\"qu",
        "line 2 stops in the middle, and the file with it: delete the line to read what is before it",
    );
    check_error("HEADER\n{\"at\":0,\"type\":\"qu\nHEADER\n", "line 2, column 18: EOF while parsing a string");
}

#[test]
fn traces_before_an_error_are_whole() {
    let text = format!("{HEADER}\n{{\"at\":0,\"type\":\"query\",\"text\":\"x\"}}\n{HEADER}\n{{\"at\":1,");
    let mut traces = read_traces(&text);
    assert_eq!(traces.next().expect("first").expect("whole").events.len(), 1);
    assert_eq!(traces.next(), Some(Err(WireError::Truncated { line: 4 })));
    assert_eq!(traces.next(), None);
}
