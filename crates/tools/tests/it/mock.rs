//! Mock tools in process.

use planproof_tools::{MockError, MockTool, MockTools, SchemaCache, TimeRules, Toolbox, execute_recorded};
use planproof_trace::{Arguments, CallId, EndReason, Tool, ToolCall, ToolResult};

use crate::{mock_tools, mocks, recorded, recorder};

fn call(name: &str, arguments: &str) -> ToolCall {
    ToolCall { id: CallId::new("c"), name: name.into(), arguments: Arguments::from_text(arguments) }
}

fn check(name: &str, arguments: &str, expected: &ToolResult) {
    assert_eq!(&mock_tools().answer(&call(name, arguments)), expected);
}

fn ok(text: &str) -> ToolResult {
    ToolResult::ok(CallId::new("c"), text)
}

fn error(text: &str) -> ToolResult {
    ToolResult::error(CallId::new("c"), text)
}

#[test]
fn fitting_arguments_get_the_answer() {
    check("wash", "{}", &ok("The car is clean."));
    check("wash", "", &ok("The car is clean."));
    check("mail", r#"{"to":"Ann"}"#, &ok("Sent."));
    check("mail", r#"{"to":"Ann","copies":2}"#, &ok("Sent."));
}

#[test]
fn mistakes_are_results_that_say_what_is_wrong() {
    check("fly", "{}", &error("there is no tool named `fly`; the tools are: wash, mail, bake"));
    check("Wash", "{}", &error("there is no tool named `Wash`; the tools are: wash, mail, bake"));
    check("wash", "[1]", &error("the arguments of `wash` are not a JSON object: [1]"));
    check(
        "wash",
        r#"{"soap":true}"#,
        &error(
            "the arguments of `wash` do not fit its input schema: Additional properties are not allowed \
             ('soap' was unexpected)",
        ),
    );
    check(
        "mail",
        r#"{"copies":0}"#,
        &error(
            "the arguments of `mail` do not fit its input schema: at /copies: 0 is less than the minimum of 1; \
             \"to\" is a required property",
        ),
    );
}

#[test]
fn a_mistake_of_any_size_gets_a_short_answer() {
    let long = "x".repeat(1_000_000);
    for result in [
        mock_tools().answer(&call(&long, "{}")),
        mock_tools().answer(&call("wash", &long)),
        mock_tools().answer(&call("mail", &format!("{{\"to\":[\"{long}\"]}}"))),
        mock_tools().answer(&call("wash", &format!("{{\"{long}\":1}}"))),
    ] {
        assert!(result.is_error);
        assert!(result.text.len() < 2_000, "{} bytes", result.text.len());
    }
}

#[test]
fn no_tools_and_many_tools_are_listed_sensibly() {
    let schemas = SchemaCache::default();
    let none = MockTools::new(Vec::new(), &schemas).unwrap();
    assert_eq!(none.answer(&call("fly", "")).text, "there is no tool named `fly`; there are no tools");
    let many = (0..100)
        .map(|n| MockTool { tool: Tool::without_arguments(format!("tool{n}"), ""), answer: String::new() });
    let many = MockTools::new(many.collect(), &schemas).unwrap();
    assert!(many.answer(&call("fly", "")).text.ends_with("tool63 and 36 more"));
    assert!(!many.answer(&call("tool99", "")).is_error);
}

#[test]
fn unusable_tools_are_refused() {
    let schemas = SchemaCache::default();
    let mut twice = mocks();
    twice.push(twice[0].clone());
    let refused = MockTools::new(twice, &schemas).unwrap_err();
    assert_eq!(refused, MockError::DuplicateName { name: "wash".into() });
    let mut broken = mocks();
    broken[1].tool.input_schema = serde_json::json!({"type": "banana"}).into();
    let refused = MockTools::new(broken, &schemas).unwrap_err();
    assert!(matches!(refused, MockError::InvalidSchema { name, .. } if name == "mail"));
}

/// A task that takes a start time, and a tool that clears the day, twice at most.
fn timed_tools() -> MockTools {
    let schema = serde_json::json!({
        "type": "object",
        "properties": {"start_time": {"type": "string"}},
        "required": ["start_time"],
        "additionalProperties": false
    });
    let serde_json::Value::Object(schema) = schema else { unreachable!("an object was written above") };
    let paint = Tool { name: "paint".into(), description: "Paints.".into(), input_schema: schema.into() };
    let mocks = vec![
        MockTool { tool: paint, answer: "Painted. It took 20 minutes.".into() },
        MockTool { tool: Tool::without_arguments("restart", "Clears the day."), answer: "Cleared.".into() },
    ];
    let rules = TimeRules { start_argument: "start_time", restart_tool: "restart", restarts_max: 2 };
    MockTools::new(mocks, &SchemaCache::default()).unwrap().with_time(rules)
}

#[test]
fn a_start_that_is_no_time_is_answered_with_an_error_and_a_wrong_one_is_not() {
    let tools = timed_tools();
    for right in ["14:00", "00:00", "23:59", "9:30"] {
        let arguments = format!(r#"{{"start_time":"{right}"}}"#);
        assert_eq!(tools.answer(&call("paint", &arguments)), ok("Painted. It took 20 minutes."));
    }
    for wrong in ["25:00", "2 pm", "14:00:00", "noon", "", "24:00"] {
        let result = tools.answer(&call("paint", &format!(r#"{{"start_time":"{wrong}"}}"#)));
        let expected = format!(
            "start_time \"{wrong}\" is no clock time: write hours and minutes from 00:00 to 23:59, as in 14:30; nothing \
             was done"
        );
        assert_eq!(result, error(&expected));
    }
    let number = tools.answer(&call("paint", r#"{"start_time":14}"#));
    assert!(
        number.is_error && number.text.contains("at /start_time: 14 is not of type \"string\""),
        "{number:?}"
    );
    let missing = tools.answer(&call("paint", "{}"));
    assert!(
        missing.is_error && missing.text.contains("\"start_time\" is a required property"),
        "{missing:?}"
    );
    let long = tools.answer(&call("paint", &format!(r#"{{"start_time":"{}"}}"#, "9".repeat(100_000))));
    assert!(long.is_error && long.text.len() < 1000);
}

#[test]
fn restarts_are_counted_and_limited() {
    let tools = timed_tools();
    assert!(tools.answer(&call("restart", r#"{"why":"late"}"#)).is_error, "a mistake is no restart");
    assert_eq!(tools.answer(&call("restart", "{}")), ok("Cleared. Restarts left: 1."));
    assert_eq!(tools.answer(&call("restart", "")), ok("Cleared. Restarts left: 0."));
    for _ in 0..3 {
        let refused = error("all 2 restarts are used: the day is not cleared, go on with it as it is");
        assert_eq!(tools.answer(&call("restart", "{}")), refused);
    }
    assert_eq!(timed_tools().answer(&call("restart", "")), ok("Cleared. Restarts left: 1."), "another run");
}

#[tokio::test]
async fn a_call_is_recorded_with_its_result_until_the_run_ends() {
    let (tools, recorder) = (mock_tools(), recorder());
    assert_eq!(tools.tools().len(), 3);
    execute_recorded(&tools, &recorder, &call("wash", "")).await;
    execute_recorded(&tools, &recorder, &call("wash", "no")).await;
    assert_eq!(
        recorded(&recorder),
        [
            "c wash{}",
            "c: The car is clean.",
            "c washno",
            "c! the arguments of `wash` are not a JSON object: no"
        ]
    );
    recorder.end(EndReason::Answered { text: String::new() });
    let late = execute_recorded(&tools, &recorder, &call("wash", "")).await;
    assert!(late.is_error);
    assert_eq!(recorder.take_events().len(), 1);
}
