//! A model server that takes what the providers' documents declare (`strict/requests.json`) and refuses
//! everything else in their own words. What it takes is answered by a simulated model.

mod messages;

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::{Arc, LazyLock, Mutex};

use jsonschema::Validator;
use serde_json::{Value, json};

use crate::servers::Served;
use crate::stand_in::{KEY, StandIn, answer};
use crate::support::{Place, Run};

/// What one provider's endpoint takes.
struct Dialect {
    path: String,
    models: String,
    /// What it says of fields that it refuses by name.
    refused: Value,
    /// What it says of a last message of the assistant, where it refuses one.
    prefill: Option<String>,
    validator: Validator,
}

static DIALECTS: LazyLock<Vec<Dialect>> = LazyLock::new(|| {
    let document: Value = serde_json::from_str(include_str!("strict/requests.json")).unwrap();
    let dialects = document["dialects"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().map(str::to_owned);
    dialects
        .map(|dialect| {
            assert!(text(&dialect["source"]).is_some(), "{dialect} names no source");
            let mut schema = dialect["schema"].clone();
            schema["$defs"] = document["$defs"].clone();
            Dialect {
                path: text(&dialect["path"]).unwrap(),
                models: text(&dialect["models"]).unwrap(),
                refused: dialect["refused"].clone(),
                prefill: text(&dialect["prefill"]),
                validator: jsonschema::draft202012::new(&schema).unwrap(),
            }
        })
        .collect()
});

impl Dialect {
    /// The one of that endpoint and model.
    fn find(path: &str, model: &str) -> Option<&'static Self> {
        let fits = |dialect: &&Self| {
            let pattern = json!({"type": "string", "pattern": dialect.models});
            dialect.path == path && jsonschema::draft202012::new(&pattern).unwrap().is_valid(&json!(model))
        };
        DIALECTS.iter().find(fits)
    }

    /// Why it refuses a body, if it does.
    fn refusal(&self, body: &Value) -> Option<String> {
        let fields = body.as_object().unwrap();
        if let Some(message) = fields.keys().find_map(|field| self.refused[field.as_str()].as_str()) {
            return Some(message.to_owned());
        }
        let messages = body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
        let last = messages.last().unwrap_or(&Value::Null);
        if let Some(prefill) = self.prefill.as_ref().filter(|_| last["role"] == "assistant") {
            return Some(prefill.clone());
        }
        if let Some(error) = self.validator.iter_errors(body).next() {
            return Some(format!("{}: {error}", error.instance_path()));
        }
        if self.path == "/v1/messages" { messages::out_of_order(messages) } else { unanswered(messages) }
    }
}

/// A call without its result, or a result without its call, which every chat refuses.
fn unanswered(messages: &[Value]) -> Option<String> {
    let mut open: Vec<&Value> = Vec::new();
    for message in messages {
        match message["role"].as_str() {
            Some("tool") => {
                let id = &message["tool_call_id"];
                let Some(place) = open.iter().position(|other| *other == id) else {
                    return Some(format!("messages with role 'tool' must answer a call, and {id} is none"));
                };
                open.remove(place);
            }
            _ if !open.is_empty() => return Some(format!("the calls {open:?} have no answers")),
            Some("assistant") => {
                let calls = message["tool_calls"].as_array().map(Vec::as_slice).unwrap_or_default();
                open.extend(calls.iter().map(|call| &call["id"]));
            }
            _ => {}
        }
    }
    (!open.is_empty()).then(|| format!("the calls {open:?} have no answers"))
}

/// The strict server, the simulated model behind it, and what was refused.
struct Strict {
    front: StandIn,
    refused: Arc<Mutex<Vec<String>>>,
    _served: Served,
}

impl Strict {
    fn start(place: &Place) -> Self {
        Self::serving(place, "sim/perfect")
    }

    fn serving(place: &Place, model: &str) -> Self {
        let served = Served::start(place, &format!("serve-model {model}"));
        let refused = Arc::new(Mutex::new(Vec::new()));
        let (base_url, seen) = (served.base_url.clone(), Arc::clone(&refused));
        let front = StandIn::start_with_heads(move |_, head, body| {
            let path = head.split(' ').nth(1).unwrap();
            let model = body["model"].as_str().unwrap_or_default();
            let is_anthropic = path == "/v1/messages";
            if let Some((status, message)) = refusal(path, model, head, body) {
                seen.lock().unwrap().push(format!("{model}: {message}"));
                let error = json!({"type": "invalid_request_error", "message": message});
                let whole = json!({"type": "error", "error": error});
                return answer(status, "", &whole.to_string());
            }
            if is_anthropic { messages::answered(&base_url, body) } else { forwarded(&base_url, path, body) }
        });
        Self { front, refused, _served: served }
    }

    /// Runs the command with this server as that of every provider.
    fn run(&self, place: &Place, line: &str) -> Run {
        let mut command = self.front.command(place, &line.split(' ').collect::<Vec<_>>());
        command.env("ANTHROPIC_API_KEY", KEY).env("ANTHROPIC_BASE_URL", self.front.base_url());
        Run::of(command, "")
    }

    fn refused(&self) -> Vec<String> {
        std::mem::take(&mut *self.refused.lock().unwrap())
    }
}

/// Status and message, if the request is refused.
fn refusal(path: &str, model: &str, head: &str, body: &Value) -> Option<(&'static str, String)> {
    let head = head.to_ascii_lowercase();
    let key = if path == "/v1/messages" {
        format!("\r\nx-api-key: {KEY}")
    } else {
        format!("\r\nauthorization: bearer {KEY}")
    };
    if !head.contains(&key) || (path == "/v1/messages" && !head.contains("\r\nanthropic-version: 2023-06-01"))
    {
        return Some(("401 Unauthorized", "no key, or no version".to_owned()));
    }
    let Some(dialect) = Dialect::find(path, model) else {
        return Some(match path {
            "/v1/completions" => (
                "404 Not Found",
                "This is a chat model and not supported in the v1/completions endpoint. Did you mean to use v1/chat/completions?"
                    .to_owned(),
            ),
            _ => ("404 Not Found", format!("The model `{model}` does not exist at {path}.")),
        });
    };
    dialect.refusal(body).map(|message| ("400 Bad Request", message))
}

/// What the simulated model answers to the same request.
fn forwarded(base_url: &str, path: &str, body: &Value) -> String {
    let address = base_url.strip_prefix("http://").and_then(|rest| rest.strip_suffix("/v1")).unwrap();
    let mut connection = TcpStream::connect(address).unwrap();
    let body = body.to_string();
    let length = body.len();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {KEY}\r\ncontent-type: application/json\r\n\
         connection: close\r\ncontent-length: {length}\r\n\r\n"
    );
    connection.write_all((head + &body).as_bytes()).unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).unwrap();
    answer
}

const KINDS: [&str; 7] = ["tools", "direct", "cot", "react", "rewoo", "reflexion", "pass"];

/// Runs every kind of agent on a model. No run may stay without a score; those that call tools pass.
fn all_kinds(strict: &Strict, place: &Place, model: &str, options: &str) {
    for kind in KINDS {
        let answers_alone = matches!(kind, "direct" | "cot");
        let line = match answers_alone {
            true => format!("bench gsm8k {kind}@{model} --limit 2 -q --json{options}"),
            false => format!("test {kind}@{model} --cases 2 --actions 3..4 -q --json{options}"),
        };
        let run = strict.run(place, &line);
        let report = run.json();
        assert_eq!(report["unscored"], 0, "{kind}@{model}: {run:?}\n{:?}", strict.refused());
        if !answers_alone {
            assert_eq!(report["passed"], 2, "{kind}@{model}: {run:?}");
        }
    }
}

#[test]
#[ignore = "slow"]
fn no_request_to_a_known_model_is_refused() {
    let place = Place::new();
    let strict = Strict::start(&place);
    for model in ["openai/gpt-5", "openai/gpt-4.1", "anthropic/claude-sonnet-4-5"] {
        all_kinds(&strict, &place, model, "");
        assert_eq!(strict.refused(), [""; 0], "{model}");
    }
    all_kinds(&strict, &place, "openai/Qwen/Qwen3-8B", "");
    assert_eq!(strict.refused(), [""; 0]);
    for model in ["openai/o4-mini", "openai/gpt-5-mini", "anthropic/claude-opus-4-7"] {
        for line in [
            format!("test tools@{model} --cases 2 -q --json"),
            format!("test react@{model} --cases 2 -q --json --continuation chat"),
            format!("test responses@{model} --cases 2 -q --json"),
        ] {
            assert_eq!(strict.run(&place, &line).code(0).json()["passed"], 2, "{line}");
        }
        assert_eq!(strict.refused(), [""; 0], "{model}");
    }
}

/// Whatever the model makes of them: the tools of every suite that has some, instructions to reason, and what agents
/// ask that write sub-tasks and a team, with what they ask their models to mend.
#[test]
#[ignore = "slow"]
fn no_request_of_a_suite_or_a_team_is_refused() {
    let place = Place::new();
    let (strict, echo) = (Strict::start(&place), Strict::serving(&place, "sim/echo"));
    for model in ["openai/gpt-5", "openai/Qwen/Qwen3-8B", "anthropic/claude-sonnet-4-5"] {
        let line = format!("test tools-cot@{model} --cases 2 --actions 3..4 -q --json");
        assert_eq!(strict.run(&place, &line).code(0).json()["passed"], 2, "{line}");
        for kind in ["one-step", "sequential", "hierarchical"] {
            let line = format!("test {kind}@{model} --cases 2 --actions 3..4 -q --json");
            assert_eq!(strict.run(&place, &line).code(0).json()["passed"], 2, "{line}");
        }
        for asked in [
            "apibank tools-cot",
            "tptu tools",
            "tptu one-step",
            "mnms sequential",
            "gsm8k hierarchical",
            "mnms tools",
            "travelplanner tools",
            "travelplanner two-stage",
            "gsm8k team",
            "gsm8k team:deliver=solver",
        ] {
            // The echo writes no graph, so that its manager is asked again; of the others, only a model with the
            // answers plays a team.
            let strict = if asked.contains("team") { &echo } else { &strict };
            let before = strict.front.requests();
            let run = strict.run(&place, &format!("bench {asked}@{model} --limit 2 -q --json"));
            assert_eq!(strict.refused(), [""; 0], "{asked}@{model}: {run:?}");
            assert!(strict.front.requests() > before, "{asked}@{model} asked nothing: {run:?}");
        }
        let bodies = echo.front.bodies();
        let last = bodies.last().unwrap().to_string();
        assert!(last.contains("cannot be carried out"), "{last}");
    }
}

/// Of a model that nothing is known of, the server's refusals tell once what it does not take.
#[test]
fn an_unknown_model_is_probed_once() {
    let place = Place::new();
    let strict = Strict::start(&place);
    let line = "test react@openai/reasoner --cases 3 --concurrency 1 -q --json";
    let report = strict.run(&place, line).code(0).json();
    assert_eq!(report["passed"], 3);
    let refused: Vec<String> = strict.refused();
    let words = ["This is a chat model", "'max_tokens'", "'stop'", "'temperature'"];
    assert_eq!(refused.len(), words.len(), "{refused:?}");
    for (refused, word) in refused.iter().zip(words) {
        assert!(refused.contains(word), "{refused} instead of {word}");
    }
}

/// What a text agent asks beside its text goes the way that it was told, too.
#[test]
fn no_plain_completion_is_asked_for_in_conversations() {
    let place = Place::new();
    let strict = Strict::start(&place);
    for kind in ["rewoo", "pass:evaluator=model", "reflexion:evaluator=model"] {
        let (base, options) = kind.split_once(':').map_or((kind, String::new()), |(base, option)| {
            (base, format!(" --{}", option.replace('=', " ")))
        });
        let line = format!("test {base}@openai/m --cases 2 -q --json --continuation chat{options}");
        let before = strict.front.requests();
        assert_eq!(strict.run(&place, &line).json()["unscored"], 0, "{line}");
        let asked = strict.front.bodies().split_off(before);
        assert!(asked.len() >= 4 && asked.iter().all(|body| body["prompt"].is_null()), "{line}");
    }
    assert_eq!(strict.refused(), [""; 0]);
}

/// The server itself: what it must refuse.
#[test]
fn the_strict_server_refuses_what_the_documents_do() {
    let user = json!([{"role": "user", "content": "hello"}]);
    let block = json!([{"role": "user", "content": [{"type": "text", "text": "hello"}]}]);
    let good = [
        ("/v1/chat/completions", json!({"model": "Qwen/x", "messages": user, "seed": 7, "stop": ["a"]})),
        ("/v1/completions", json!({"model": "Qwen/x", "prompt": "hello", "max_tokens": 9, "echo": true})),
        ("/v1/chat/completions", json!({"model": "gpt-5", "messages": user, "max_completion_tokens": 9})),
        ("/v1/chat/completions", json!({"model": "gpt-4o", "messages": user, "temperature": 0.0})),
        (
            "/v1/responses",
            json!({"model": "gpt-5", "input": [{"type": "message", "role": "user", "content": "a"}]}),
        ),
        ("/v1/messages", json!({"model": "claude-3-5-haiku", "max_tokens": 9, "messages": block})),
        ("/v1/messages", json!({"model": "claude-opus-4-7", "max_tokens": 9, "messages": block})),
    ];
    let refuses = |path: &str, body: &Value| {
        let model = body["model"].as_str().unwrap();
        let dialect = Dialect::find(path, model).unwrap_or_else(|| panic!("no dialect for {model}"));
        dialect.refusal(body)
    };
    for (path, body) in &good {
        assert_eq!(refuses(path, body), None, "{body}");
        let mut with_more = body.clone();
        with_more["hologram"] = json!(1);
        assert!(refuses(path, &with_more).is_some(), "{with_more}");
    }
    let prefill = json!([block[0], {"role": "assistant", "content": [{"type": "text", "text": "I"}]}]);
    let blank = json!([{"role": "user", "content": [{"type": "text", "text": " \n"}]}]);
    let open = json!([user[0], {"role": "assistant", "content": null, "tool_calls": [
        {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}]);
    for (place, field, value) in [
        (0, "seed", json!(1_u64 << 63)),
        (0, "seed", json!(1_u64 << 31)),
        (0, "stop", json!(["a", "b", "c", "d", "e"])),
        (0, "stream_options", json!({"include_usage": true})),
        (0, "tools", json!([])),
        (0, "messages", open),
        (1, "max_tokens", Value::Null),
        (1, "max_tokens", json!(0)),
        (2, "temperature", json!(0)),
        (2, "stop", json!(["a"])),
        (2, "max_tokens", json!(9)),
        (3, "temperature", json!(2.5)),
        (4, "stop", json!(["a"])),
        (4, "max_output_tokens", json!(1)),
        (5, "stop_sequences", json!(["\n"])),
        (5, "temperature", json!(1.5)),
        (5, "messages", blank),
        (6, "temperature", json!(0)),
        (6, "messages", prefill),
    ] {
        let (path, mut body) = good[place].clone();
        body[field] = value;
        assert!(refuses(path, &body).is_some(), "{path} {body}");
    }
}
