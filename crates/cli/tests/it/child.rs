//! An agent for tests: this very program, which does what a variable says, one word after the other.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{self, Command};

use serde_json::{Value, json};

use crate::support::{Place, Run};

/// What the agent does: `list` looks at its tools, `call` calls the first of them, `call-and-tell` does so and says
/// the answer, `ask` asks the served model once, `ask-messages` and `ask-contents` do so in Anthropic's protocol and
/// in Gemini's, `ask-or-know` does so where no other run has asked the same, as a framework with a cache does,
/// `ask-on` until it is ended, `key` does so with a key of its own, `fail` breaks, `hang` waits, `say:WORD` says so.
const DOES: &str = "TEST_AGENT_DOES";

/// Not a test by itself.
#[test]
fn agent() {
    let Ok(does) = std::env::var(DOES) else { return };
    let key = std::env::var("OPENAI_API_KEY").unwrap_or_default();
    for word in does.split(' ') {
        match word {
            "list" => drop(tools()),
            "call" => {
                let arguments = json!({"name": tools()[0], "arguments": {}});
                ask_tools("tools/call", &arguments);
            }
            "call-and-tell" => {
                let arguments = json!({"name": tools()[0], "arguments": {}});
                println!("{}", ask_tools("tools/call", &arguments)["result"]);
            }
            "ask" => println!("The model says: {}", ask_served_model("Hello.", &key)),
            "ask-messages" => println!("The model says: {}", ask_by_messages("Hello.", &key)),
            "ask-contents" => println!("The model says: {}", ask_by_contents("Hello.", &key)),
            "ask-or-know" => {
                // The cache is a folder of the campaign's directory, with a file for each query.
                let query = std::env::var("PLANPROOF_QUERY").unwrap();
                let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(query);
                let path = format!("answers/{hash}");
                if !std::fs::exists(&path).unwrap() {
                    let answer = ask_served_model("Hello.", &key);
                    if answer.starts_with('{') {
                        std::fs::create_dir_all("answers").unwrap();
                        std::fs::write(&path, answer).unwrap();
                    }
                }
            }
            "ask-on" => loop {
                ask_served_model("Again.", &key);
            },
            "key" => println!("Error code: {}", ask_served_model("Hello.", "sk-of-my-own")),
            "fail" => {
                eprintln!(
                    "Traceback (most recent call last):\nImportError: no module named {}",
                    process::id()
                );
                process::exit(1);
            }
            "hang" => std::thread::sleep(std::time::Duration::from_secs(3600)),
            _ => println!("{}", word.strip_prefix("say:").unwrap()),
        }
    }
}

/// The agent, as the command line names it.
pub(crate) fn agent_name() -> String {
    format!("command:{} child::agent --exact --nocapture", std::env::current_exe().unwrap().display())
}

/// What a shell script runs that is to have looked at its tools. There are no single quotes in it.
pub(crate) fn look_at_tools() -> String {
    format!(
        "{DOES}=list {} child::agent --exact >/dev/null 2>&1;",
        std::env::current_exe().unwrap().display()
    )
}

/// `planproof test` of an agent that does this.
pub(crate) fn test(place: &Place, does: &str, options: &str) -> Run {
    let agent = agent_name();
    let words = ["test", &agent].into_iter().chain(options.split_whitespace());
    run(place, does, &words.collect::<Vec<_>>())
}

/// Any command, in which such an agent does this.
pub(crate) fn run(place: &Place, does: &str, words: &[&str]) -> Run {
    Run::of(command(place, does, words), "")
}

/// The same, to be started.
pub(crate) fn command(place: &Place, does: &str, words: &[&str]) -> Command {
    let mut command = place.command(words);
    command.env(DOES, does);
    command
}

/// Looks at the tools of the run that this process is in.
pub(crate) fn look_around() {
    tools();
}

fn tools() -> Vec<String> {
    let listed = ask_tools("tools/list", &json!({}));
    let names = listed["result"]["tools"].as_array().unwrap().iter();
    names.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

/// Calls each of the tools at a URL once, in the order of the list, and gives their number.
pub(crate) fn call_all_tools(url: &str) -> usize {
    let listed = ask_tools_at(url, "tools/list", &json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    for tool in tools {
        ask_tools_at(url, "tools/call", &json!({"name": tool["name"], "arguments": {}}));
    }
    tools.len()
}

/// Calls the tool of this name at a URL.
pub(crate) fn call_tool(url: &str, name: &str, arguments: &Value) {
    ask_tools_at(url, "tools/call", &json!({"name": name, "arguments": arguments}));
}

fn ask_tools(method: &str, parameters: &Value) -> Value {
    ask_tools_at(&std::env::var("PLANPROOF_MCP_URL").unwrap(), method, parameters)
}

fn ask_tools_at(url: &str, method: &str, parameters: &Value) -> Value {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters});
    let answer = post(url, "accept: application/json, text/event-stream", &body);
    let (_, json) = answer.split_once("\r\n\r\n").unwrap();
    let start = json.find('{').unwrap();
    serde_json::from_str(json[start..=json.rfind('}').unwrap()].trim()).unwrap()
}

/// Asks the model that the environment names, and gives the last line of its answer.
pub(crate) fn ask_served_model(question: &str, key: &str) -> String {
    let variable = |name: &str| std::env::var(name).unwrap();
    let query = variable("PLANPROOF_QUERY");
    let body = json!({
        "model": variable("OPENAI_MODEL"),
        "messages": [{"role": "user", "content": format!("{question} {query}")}],
        "tools": functions(),
    });
    let url = format!("{}/chat/completions", variable("OPENAI_BASE_URL"));
    answer_of(&post(&url, &format!("authorization: Bearer {key}"), &body))
}

/// The same in Anthropic's protocol.
fn ask_by_messages(question: &str, key: &str) -> String {
    let variable = |name: &str| std::env::var(name).unwrap();
    let tool = |function: Value| {
        let Value::Object(mut tool) = function["function"].clone() else { panic!("{function}") };
        let schema = tool.remove("parameters").unwrap();
        tool.insert("input_schema".to_owned(), schema);
        Value::Object(tool)
    };
    let body = json!({
        "model": variable("ANTHROPIC_MODEL"),
        "messages": [{"role": "user", "content": format!("{question} {}", variable("PLANPROOF_QUERY"))}],
        "tools": functions().into_iter().map(tool).collect::<Vec<_>>(),
    });
    let url = format!("{}/v1/messages", variable("ANTHROPIC_BASE_URL"));
    answer_of(&post(&url, &format!("x-api-key: {key}"), &body))
}

/// The same in Gemini's protocol.
fn ask_by_contents(question: &str, key: &str) -> String {
    let variable = |name: &str| std::env::var(name).unwrap();
    let functions: Vec<Value> =
        functions().into_iter().map(|function| function["function"].clone()).collect();
    let body = json!({
        "contents": [{"parts": [{"text": format!("{question} {}", variable("PLANPROOF_QUERY"))}]}],
        "tools": [{"functionDeclarations": functions}],
    });
    let (root, model) = (variable("GOOGLE_GEMINI_BASE_URL"), variable("GEMINI_MODEL"));
    let url = format!("{root}/v1beta/models/{model}:generateContent");
    answer_of(&post(&url, &format!("x-goog-api-key: {key}"), &body))
}

/// The last line of an answer, with its status where it is an error.
fn answer_of(answer: &str) -> String {
    let status = answer.split(' ').nth(1).unwrap_or_default();
    let body = answer.lines().last().unwrap_or_default();
    if status == "200" { body.to_owned() } else { format!("{status} {body}") }
}

/// The tools as a model is shown them.
fn functions() -> Vec<Value> {
    let listed = ask_tools("tools/list", &json!({}));
    let function = |tool: &Value| {
        let (name, description) = (&tool["name"], &tool["description"]);
        let function = json!({"name": name, "description": description, "parameters": tool["inputSchema"]});
        json!({"type": "function", "function": function})
    };
    listed["result"]["tools"].as_array().unwrap().iter().map(function).collect()
}

fn post(url: &str, header: &str, body: &Value) -> String {
    let (address, path) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let body = body.to_string();
    let mut connection = TcpStream::connect(address).unwrap();
    write!(
        connection,
        "POST /{path} HTTP/1.1\r\nhost: {address}\r\n{header}\r\ncontent-type: application/json\r\n\
         connection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).unwrap();
    answer
}
