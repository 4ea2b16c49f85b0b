//! Several sources of tools at once.

use std::sync::Arc;

use planproof_tools::{ClientLimits, CombinedTools, OpenSource, ToolSource, Toolbox};
use planproof_trace::{Arguments, CallId, ToolCall, ToolResult};

use crate::mock_tools;

fn call(name: &str, arguments: &str) -> ToolCall {
    ToolCall { id: CallId::new("c7"), name: name.to_owned(), arguments: Arguments::from_text(arguments) }
}

fn names(tools: &CombinedTools) -> Vec<&str> {
    tools.tools().iter().map(|tool| tool.name.as_str()).collect()
}

#[tokio::test]
async fn tools_of_named_sources_are_told_apart() {
    let source = |label: &str, name: Option<&str>| {
        OpenSource::new(label, name.map(str::to_owned), Arc::new(mock_tools()))
    };
    let tools = CombinedTools::new(vec![source("one", None), source("two", Some("home"))]).unwrap();
    assert_eq!(names(&tools), ["wash", "mail", "bake", "home_wash", "home_mail", "home_bake"]);
    for name in ["wash", "home_wash"] {
        let result = tools.execute(&call(name, "{}")).await;
        assert_eq!(result, ToolResult::ok(CallId::new("c7"), "The car is clean."));
    }
    let result = tools.execute(&call("two_wash", "{}")).await;
    assert!(
        result.text.starts_with("there is no tool named `two_wash`; the tools are: wash, mail,"),
        "{result:?}"
    );

    let error = CombinedTools::new(vec![source("one", None), source("two", None)]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`one` and `two` both have a tool `wash`: name one of them, as in `--tools other=two`, and its tools are called \
         `other_...`"
    );
    let twice = CombinedTools::new(vec![source("one", Some("a")), source("two", Some("a"))]);
    assert!(twice.unwrap_err().to_string().contains("both have a tool `a_wash`"));
}

#[tokio::test]
async fn sources_are_opened_by_what_the_command_line_says() {
    let script = r#"while read -r line; do
        id=${line#*\"id\":}; id=${id%%[,\}]*}
        case $line in
            *discover*) echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"error\":{\"code\":-32601,\"message\":\"\"}}" ;;
            *initialize\"*) echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"serverInfo\":{\"name\":\"\",\"version\":\"\"}}}" ;;
            *tools/list*) echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"tools\":[{\"name\":\"fs.read\",\"inputSchema\":{}},{\"name\":\"fs_read\",\"inputSchema\":{}}]}}" ;;
            *'"name":"fs_read"'*) echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"the second\"}]}}" ;;
        esac
    done"#;
    let command = format!("mcp:sh -c {}", shell_words::quote(script));
    let mut sources = Vec::new();
    for text in ["sums=calculator", &command] {
        let source = ToolSource::parse(text, |_| None).unwrap();
        sources.push(source.open(ClientLimits::default(), None).await.unwrap());
    }
    assert!(sources[0].server().is_none() && sources[1].server().is_some());
    let tools = CombinedTools::new(sources).unwrap();
    assert_eq!(names(&tools), ["sums_calculator", "fs_read", "fs_read_2"]);
    assert_eq!(tools.execute(&call("sums_calculator", r#"{"expression": "6*7"}"#)).await.text, "42");
    assert_eq!(tools.execute(&call("fs_read_2", "")).await.text, "the second");
    tools.close().await;
    assert!(tools.execute(&call("fs_read_2", "")).await.is_error);
    assert!(!tools.execute(&call("sums_calculator", r#"{"expression": "1"}"#)).await.is_error);
}

#[tokio::test]
async fn without_sources_there_are_no_tools() {
    let tools = CombinedTools::new(Vec::new()).unwrap();
    assert!(tools.tools().is_empty());
    let result = tools.execute(&call("wash", "{}")).await;
    assert_eq!(result.text, "there is no tool named `wash`; there are no tools");
}
