//! Whether a model and its server can be tested at all, asked of them before anything is judged: each fault that would
//! otherwise look like a bad plan, with the option of that server that mends it.

use std::sync::Arc;

use planproof_trace::{FinishReason, Tool};
use serde::Serialize;
use serde_json::json;

use crate::facts::{LISTED_MODELS_MAX, ServerFacts, Software};
use crate::metering::chat_bytes;
use crate::unread_calls::{advice_on_unread_calls, tool_option};
use crate::{ChatReply, ChatRequest, Message, Model, ModelError, Settings};

/// Most tokens of a reply to a question about tools. A model that thinks needs some hundred before its calls.
pub const CHECK_REPLY_TOKENS: u32 = 512;

/// Most requests of a [`Depth::Quick`] check.
pub const QUICK_REQUESTS_MAX: u32 = 2;

/// Tokens that a call and its result take in a conversation.
const CALL_TOKENS: u64 = 96;

/// Bytes of English and JSON that make a token, in tenths: on the side of too many tokens.
const BYTES_PER_TOKEN_TENTHS: u64 = 33;

/// Seed of the questions.
const SEED: u64 = 7;

/// Most characters of a server's or a model's words in a line.
const WORDS_CHARACTERS_MAX: usize = 160;

/// Marks of thoughts, which should not be in the text of a reply.
const THOUGHT_MARKS: [&str; 7] =
    ["<think>", "</think>", "<thinking>", "</thinking>", "[THINK]", "[/THINK]", "<|channel|>"];

/// How much is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Only what the server says of itself: no request to the model.
    Server,
    /// The same question twice, whose reply tells most: before a campaign.
    Quick,
    /// The same for an agent that reads calls from a model's text, for which they are as good as others.
    QuickWithTextCalls,
    /// Further questions about settings and about calls after a thought.
    Thorough,
}

/// What became of one question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Standing {
    /// It is as it should be.
    Fine,
    /// It cannot be said, or is the model's own way.
    Unsure,
    /// It would spoil results.
    Wrong,
}

/// The answer to one question about a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CheckLine {
    /// What was asked about, in a word or two.
    pub about: &'static str,
    pub standing: Standing,
    /// What was seen, in one line.
    pub seen: String,
    /// What mends it, in one line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mend: Option<String>,
}

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ModelCheck {
    pub model: String,
    /// What its server says of itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<ServerFacts>,
    /// The questions and their answers.
    pub findings: Vec<CheckLine>,
    /// Requests to the model.
    pub requests: u32,
    /// Whether the server could be reached.
    pub is_reached: bool,
}

impl ModelCheck {
    /// The findings that would spoil results.
    pub fn wrong(&self) -> impl Iterator<Item = &CheckLine> {
        self.findings.iter().filter(|finding| finding.standing == Standing::Wrong)
    }
}

/// The tokens that a conversation takes in which an agent gets this prompt with these tools and makes so many calls,
/// with room for a last reply: an estimate, on the side of too many.
pub fn conversation_tokens(prompt: &str, tools: Arc<[Tool]>, calls: usize) -> u64 {
    let request = ChatRequest {
        messages: vec![Message::User { text: prompt.to_owned() }],
        previous: None,
        tools,
        settings: Settings::default(),
    };
    let first = chat_bytes(&request).saturating_mul(10) / BYTES_PER_TOKEN_TENTHS;
    first + (calls as u64).saturating_mul(CALL_TOKENS) + u64::from(CHECK_REPLY_TOKENS)
}

/// Asks a model and its server. `tokens_needed` is the size of the largest conversation that is planned.
pub async fn check(model: &dyn Model, tokens_needed: Option<u64>, depth: Depth) -> ModelCheck {
    let mut checking = Checking {
        model,
        reads_text: depth == Depth::QuickWithTextCalls,
        software: None,
        check: ModelCheck {
            model: model.name().to_owned(),
            server: None,
            findings: Vec::new(),
            requests: 0,
            is_reached: false,
        },
    };
    if checking.server().await {
        checking.context(tokens_needed);
        if depth != Depth::Server {
            checking.tools(depth).await;
        }
        if depth == Depth::Thorough && checking.check.is_reached {
            checking.further().await;
        }
    }
    checking.check
}

struct Checking<'a> {
    model: &'a dyn Model,
    reads_text: bool,
    software: Option<Software>,
    check: ModelCheck,
}

impl Checking<'_> {
    fn add(
        &mut self,
        about: &'static str,
        standing: Standing,
        seen: impl Into<String>,
        mend: Option<String>,
    ) {
        self.check.findings.push(CheckLine { about, standing, seen: seen.into(), mend });
    }

    async fn ask(
        &mut self,
        text: &str,
        tools: &Arc<[Tool]>,
        settings: Settings,
    ) -> Result<ChatReply, ModelError> {
        self.check.requests += 1;
        let request = ChatRequest {
            messages: vec![Message::User { text: text.to_owned() }],
            previous: None,
            tools: Arc::clone(tools),
            settings,
        };
        self.model.chat(&request).await
    }

    /// Notes an error that says nothing of how the server treats a request: it is out of order, overloaded, or refuses
    /// the key. There is no use in further questions then. `false` for any other error.
    fn is_outage(&mut self, error: &ModelError) -> bool {
        let is_refused = matches!(error.status(), Some(401..=403));
        if error.is_transient() || is_refused || matches!(error, ModelError::MissingKey { .. }) {
            self.check.is_reached = false;
            self.add("server", Standing::Wrong, words(&error.to_string()), None);
        }
        !self.check.is_reached
    }

    /// Whether the server is there, and what it is.
    async fn server(&mut self) -> bool {
        let facts = match self.model.server_facts().await {
            Ok(facts) => facts,
            Err(error) => {
                let start = match self.model.name().split('/').next().and_then(Software::of_provider) {
                    Some(Software::LlamaCpp) => Some("`llama-server -m FILE --jinja -c 8192`"),
                    Some(Software::Vllm) => {
                        Some("`vllm serve MODEL --enable-auto-tool-choice --tool-call-parser hermes`")
                    }
                    Some(Software::Sglang) => {
                        Some("`python -m sglang.launch_server --model-path MODEL --tool-call-parser qwen25`")
                    }
                    Some(Software::Ollama) => Some("`ollama serve`"),
                    Some(Software::LmStudio) => Some("`lms server start`"),
                    None => None,
                };
                let is_missing = matches!(error, ModelError::Unreachable { .. });
                let mend = start.filter(|_| is_missing).map(|command| format!("start it with {command}"));
                self.add("server", Standing::Wrong, words(&error.to_string()), mend);
                return false;
            }
        };
        self.check.is_reached = true;
        let Some(facts) = facts else { return true };
        self.software = facts.software;
        let summary = facts.summary();
        let named = if summary.is_empty() { "it does not say what it is".to_owned() } else { summary };
        self.add("server", Standing::Fine, format!("{named} at {}", facts.url), None);
        let asked =
            self.model.name().strip_prefix(facts_prefix(self.model.name(), &facts)).unwrap_or_default();
        self.known_model(asked, &facts.models);
        self.check.server = Some(facts);
        true
    }

    fn known_model(&mut self, asked: &str, known: &[String]) {
        if known.is_empty() {
            self.add("model", Standing::Unsure, "the server lists no models", None);
        } else if known.iter().any(|name| name == asked || name.strip_suffix(":latest") == Some(asked)) {
            self.add("model", Standing::Fine, format!("{asked} is known"), None);
        } else if self.software == Some(Software::LlamaCpp) {
            // It has one model, and answers to any name.
            self.add("model", Standing::Fine, format!("the server has {}", known.join(", ")), None);
        } else if known.len() >= LISTED_MODELS_MAX {
            let seen =
                format!("{asked} is not among the first {LISTED_MODELS_MAX} models that the server lists");
            self.add("model", Standing::Unsure, words(&seen), None);
        } else {
            let shown: Vec<&str> = known.iter().take(5).map(String::as_str).collect();
            let rest = known.len() - shown.len();
            let more = if rest == 0 { String::new() } else { format!(" and {rest} more") };
            let mend = match self.software {
                Some(Software::Ollama) => format!("`ollama pull {asked}`, or name one of these"),
                _ => "name one of these".to_owned(),
            };
            let seen = format!("{asked} is not known; there are {}{more}", shown.join(", "));
            self.add("model", Standing::Wrong, words(&seen), Some(mend));
        }
    }

    /// Whether the context is large enough.
    fn context(&mut self, needed: Option<u64>) {
        let context = self.check.server.as_ref().and_then(|facts| facts.context);
        let (Some(context), Some(needed)) = (context, needed) else {
            let seen = match context {
                Some(context) => format!("{context} tokens"),
                None => "the server does not say how large it is".to_owned(),
            };
            return self.add("context", Standing::Unsure, seen, None);
        };
        let seen = format!("{context} tokens; the largest case needs about {needed}");
        if context >= needed {
            return self.add("context", Standing::Fine, seen, None);
        }
        let enough = needed.next_power_of_two();
        let mend = match self.software {
            Some(Software::LlamaCpp) => {
                format!("start llama-server with -c {enough} (times the number of -np)")
            }
            Some(Software::Vllm) => format!("start vLLM with --max-model-len {enough}"),
            Some(Software::Sglang) => format!("start SGLang with --context-length {enough}"),
            // Its own protocol sizes the context by itself, up to what the model allows.
            Some(Software::Ollama) if self.model.name().starts_with("ollama/") => {
                "take a model with a longer context, or smaller cases".to_owned()
            }
            Some(Software::Ollama) => format!("start Ollama with OLLAMA_CONTEXT_LENGTH={enough}"),
            Some(Software::LmStudio) => format!("load the model with `lms load --context-length {enough}`"),
            None => format!("give the server a context of {enough} tokens"),
        };
        self.add("context", Standing::Wrong, seen, Some(mend));
    }

    /// Whether tools are understood, calls come back as calls, two at once, and the same reply comes twice.
    async fn tools(&mut self, depth: Depth) {
        let tools: Arc<[Tool]> = Arc::from(question_tools());
        let settings = settings(CHECK_REPLY_TOKENS);
        let reply = match self.ask(TWO_CALLS, &tools, settings.clone()).await {
            Ok(reply) => reply,
            Err(error) => return self.tools_refused(&error),
        };
        self.calls("tools", &reply, 2);
        self.thought(&reply);
        // The second request of a quick check is not worth its cost if the first one has shown a fault.
        if depth == Depth::Quick && self.check.wrong().next().is_some() {
            return;
        }
        match self.ask(TWO_CALLS, &tools, settings).await {
            Ok(again) if is_same(&reply, &again) => {
                self.add("repeatable", Standing::Fine, "the same request gave the same reply twice", None);
            }
            Ok(_) => {
                let mend = match self.software {
                    Some(Software::LlamaCpp) => {
                        Some("start llama-server with -np 1, and run with --concurrency 1")
                    }
                    Some(Software::Vllm) => Some("start vLLM with VLLM_BATCH_INVARIANT=1"),
                    Some(Software::Sglang) => Some("start SGLang with --enable-deterministic-inference"),
                    _ => None,
                };
                let seen =
                    "the same request at temperature 0 gave two replies, so results vary from run to run";
                self.add("repeatable", Standing::Unsure, seen, mend.map(str::to_owned));
            }
            Err(error) if self.is_outage(&error) => {}
            Err(error) => self.add("repeatable", Standing::Wrong, words(&error.to_string()), None),
        }
    }

    fn tools_refused(&mut self, error: &ModelError) {
        let message = error.to_string();
        let lower = message.to_ascii_lowercase();
        let is_about_tools =
            ["tool", "jinja", "template", "function"].iter().any(|word| lower.contains(word));
        // Some servers break on tools instead of refusing them.
        let is_passing = matches!(error.status(), None | Some(401..=403 | 408 | 409 | 429));
        let is_refusal = !is_passing && is_about_tools;
        if !is_refusal && self.is_outage(error) {
            return;
        }
        let mend = is_refusal.then(|| self.tool_option());
        self.add("tools", Standing::Wrong, words(&message), mend);
    }

    fn calls(&mut self, about: &'static str, reply: &ChatReply, expected: usize) {
        let made = reply.calls.iter().filter(|call| NAMES.contains(&call.name.as_str())).count();
        if made >= expected {
            let seen =
                if expected == 1 { "the call came back as a call" } else { "two calls came back at once" };
            self.add(about, Standing::Fine, seen, None);
        } else if made > 0 {
            self.add(
                about,
                Standing::Unsure,
                "one call came back as a call, and the other one not with it",
                None,
            );
        } else if is_call_as_text(&reply.text) && self.reads_text {
            self.add(about, Standing::Fine, "the call came back as text, from which it is read", None);
        } else if is_call_as_text(&reply.text) {
            let seen = format!("the call came back as text: {}", words(&reply.text));
            let mend = advice_on_unread_calls(self.check.server.as_ref());
            self.add(about, Standing::Wrong, seen, Some(mend));
        } else if self.check.server.as_ref().is_some_and(|facts| facts.template_has_tools == Some(false)) {
            let seen = "the model's chat template has no place for tools, and it called none";
            self.add(about, Standing::Wrong, seen, Some(self.tool_option()));
        } else if reply.finish == FinishReason::Length {
            let seen = format!("the reply was cut after {CHECK_REPLY_TOKENS} tokens, before any call");
            self.add(about, Standing::Unsure, seen, None);
        } else if !reply.calls.is_empty() {
            let seen = format!("it called `{}`, which it was not offered", words(&reply.calls[0].name));
            self.add(about, Standing::Unsure, seen, None);
        } else {
            let seen = format!("the model called no tool, and said: {}", words(&reply.text));
            self.add(about, Standing::Unsure, seen, None);
        }
    }

    /// The option of this server that makes calls out of what the model writes.
    fn tool_option(&self) -> String {
        let has_place = self.check.server.as_ref().and_then(|facts| facts.template_has_tools);
        tool_option(self.software, has_place).to_owned()
    }

    /// Whether thoughts are kept apart from the text.
    fn thought(&mut self, reply: &ChatReply) {
        let Some(mark) = THOUGHT_MARKS.into_iter().find(|mark| reply.text.contains(mark)) else {
            return self.add("thought", Standing::Fine, "no mark of a thought is in the text", None);
        };
        let mend = match self.software {
            Some(Software::LlamaCpp) => "start llama-server with --jinja --reasoning-format deepseek",
            Some(Software::Vllm) => "start vLLM with --reasoning-parser qwen3 (or the parser of this model)",
            Some(Software::Sglang) => {
                "start SGLang with --reasoning-parser qwen3 (or the parser of this model)"
            }
            Some(Software::Ollama) => "update Ollama, or run with --think off",
            Some(Software::LmStudio) | None => "set the server's option that separates reasoning",
        };
        let seen = format!("the thought stands in the text, with the mark {mark}");
        self.add("thought", Standing::Wrong, seen, Some(mend.to_owned()));
    }

    /// The further questions, as long as the server answers.
    async fn further(&mut self) {
        self.after_a_thought().await;
        if self.check.is_reached {
            self.limit().await;
        }
        if self.check.is_reached {
            self.stop().await;
        }
        if self.check.is_reached {
            self.seed().await;
        }
        if self.check.is_reached {
            self.grammar().await;
        }
    }

    async fn after_a_thought(&mut self) {
        let tools: Arc<[Tool]> = Arc::from(question_tools());
        match self.ask(THOUGHT_THEN_CALL, &tools, settings(CHECK_REPLY_TOKENS)).await {
            Ok(reply) => self.calls("after a thought", &reply, 1),
            Err(error) if self.is_outage(&error) => {}
            Err(error) => {
                let mend = Some(self.tool_option());
                self.add("after a thought", Standing::Wrong, words(&error.to_string()), mend);
            }
        }
    }

    /// Whether the limit on written tokens is kept.
    async fn limit(&mut self) {
        const LIMIT: u32 = 12;
        match self.ask(COUNT, &Arc::from([]), settings(LIMIT)).await {
            // A text of more characters has more tokens, however long they are; some servers do not count.
            Ok(reply)
                if reply.usage.output_tokens > u64::from(LIMIT) + 2
                    || reply.text.len() > 12 * LIMIT as usize =>
            {
                let seen = format!("{} tokens came where {LIMIT} were the limit", reply.usage.output_tokens);
                self.add("max_tokens", Standing::Wrong, seen, None);
            }
            Ok(_) => self.add("max_tokens", Standing::Fine, "the limit is kept", None),
            Err(error) if self.is_outage(&error) => {}
            Err(error) => self.add("max_tokens", Standing::Wrong, words(&error.to_string()), None),
        }
    }

    /// Whether stop texts end a reply.
    async fn stop(&mut self) {
        const STOP: &str = ",";
        let settings = Settings { stop: vec![STOP.to_owned()], ..settings(64) };
        match self.ask(COUNT, &Arc::from([]), settings).await {
            Ok(reply) if reply.text.contains(STOP) => {
                let seen = "the text goes on after a stop text; planproof cuts it, but its tokens are paid";
                self.add("stop", Standing::Unsure, seen, None);
            }
            Ok(_) => self.add("stop", Standing::Fine, "stop texts end the reply", None),
            Err(error) if self.is_outage(&error) => {}
            Err(error) => self.add("stop", Standing::Unsure, words(&error.to_string()), None),
        }
    }

    /// Whether replies are held to a grammar, where agents by specification would send one.
    async fn grammar(&mut self) {
        let option = match self.software {
            Some(Software::LlamaCpp) => "update llama-server",
            Some(Software::Vllm) => "start vLLM with --structured-outputs-config.backend xgrammar",
            Some(Software::Sglang) => "start SGLang with --grammar-backend xgrammar",
            Some(Software::Ollama | Software::LmStudio) | None => return,
        };
        let settings = Settings { grammar: Some(format!("root ::= \"{ODD_WORD}\"").into()), ..settings(24) };
        let seen = match self.ask(PLAIN_WORD, &Arc::from([]), settings).await {
            Ok(reply) if reply.text.trim() == ODD_WORD => {
                return self.add("grammar", Standing::Fine, "the reply was held to a grammar", None);
            }
            Ok(reply) => {
                format!("a grammar allowed the word {ODD_WORD} alone, and there came: {}", words(&reply.text))
            }
            Err(error) => words(&error.to_string()),
        };
        let mend = format!("{option}, or run agents by specification with --grammar off");
        self.add("grammar", Standing::Unsure, seen, Some(mend));
    }

    /// Whether a seed makes sampling repeatable.
    async fn seed(&mut self) {
        let settings = Settings { temperature: Some(1.0), ..settings(24) };
        let first = self.ask(INVENT, &Arc::from([]), settings.clone()).await;
        let second = self.ask(INVENT, &Arc::from([]), settings).await;
        match (first, second) {
            (Ok(first), Ok(second)) if is_same(&first, &second) => {
                self.add("seed", Standing::Fine, "the same seed gave the same sample twice", None);
            }
            (Ok(_), Ok(_)) => {
                let seen = "the same seed gave two samples: campaigns with samples cannot be repeated";
                self.add("seed", Standing::Unsure, seen, None);
            }
            (Err(error), _) | (_, Err(error)) if self.is_outage(&error) => {}
            (Err(error), _) | (_, Err(error)) => {
                self.add("seed", Standing::Unsure, words(&error.to_string()), None);
            }
        }
    }
}

/// The part of a model's name on the command line that is not the server's name for it.
fn facts_prefix<'n>(name: &'n str, facts: &ServerFacts) -> &'n str {
    // `mine=http://127.0.0.1:8000/v1/qwen3`: the base URL is a part of the name.
    let after_url = name.find(&facts.url).filter(|_| name.contains('=')).map(|at| at + facts.url.len());
    let start = after_url.unwrap_or(0);
    let end = name[start..].find('/').map_or(name.len(), |at| start + at + 1);
    // Two slashes may stand between the URL and the model.
    let end = if name[end..].starts_with('/') { end + 1 } else { end };
    &name[..end]
}

/// The tools of the questions.
const NAMES: [&str; 2] = ["note_number", "note_word"];

const TWO_CALLS: &str = "Call the tool note_number with the number 7 and, in the same reply, the tool note_word with the \
                         word blue. Do nothing else.";

const THOUGHT_THEN_CALL: &str = "First think in one sentence about which of 7 and 9 is larger. Then call the tool \
                                 note_number with the larger one.";

const COUNT: &str = "Count from 1 to 100. Separate the numbers by commas. Write only the numbers.";

const INVENT: &str = "Invent the first sentence of a story about a lighthouse.";

const PLAIN_WORD: &str = "Which colour has the sky by day? Answer with one word.";

/// What no model says to that.
const ODD_WORD: &str = "quixotry";

fn question_tools() -> [Tool; 2] {
    let tool = |name: &str, about: &str, field: &str, kind: &str| Tool {
        name: name.into(),
        description: about.into(),
        input_schema: json!({
            "type": "object",
            "properties": {field: {"type": kind}},
            "required": [field],
            "additionalProperties": false,
        })
        .into(),
    };
    [
        tool(NAMES[0], "Notes a number.", "number", "integer"),
        tool(NAMES[1], "Notes a word.", "word", "string"),
    ]
}

fn settings(output_tokens_max: u32) -> Settings {
    Settings {
        temperature: Some(0.0),
        output_tokens_max: Some(output_tokens_max),
        seed: Some(SEED),
        ..Settings::default()
    }
}

/// Whether a text without calls names one of the tools in the way of a call.
fn is_call_as_text(text: &str) -> bool {
    let named = NAMES.iter().filter_map(|name| text.find(name).map(|at| (at, name.len()))).min();
    named.is_some_and(|(at, length)| {
        let opens = |part: &str, marks: &[char]| part.contains(marks);
        opens(&text[..at], &['{', '<', '[']) || text[at + length..].trim_start().starts_with(['(', '{'])
    })
}

/// Whether two replies say and call the same. Ids of calls may differ.
fn is_same(first: &ChatReply, second: &ChatReply) -> bool {
    let calls = |reply: &ChatReply| -> Vec<_> {
        reply.calls.iter().map(|call| (call.name.clone(), call.arguments.clone())).collect()
    };
    first.text == second.text && calls(first) == calls(second)
}

/// Foreign words in one line.
fn words(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(WORDS_CHARACTERS_MAX) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_in_a_text_is_seen_in_any_notation() {
        for text in [
            "```json\n{\"name\": \"note_number\", \"arguments\": {\"number\": 7}}\n```",
            "<tool_call>{\"name\": \"note_word\"}</tool_call>",
            "<function=note_number>",
            "[TOOL_CALLS][{\"name\":\"note_number\"}]",
            "note_number(7)",
            "note_word {\"word\": \"blue\"}",
        ] {
            assert!(is_call_as_text(text), "{text}");
        }
        for text in ["", "I cannot call tools.", "I called note_number with 7."] {
            assert!(!is_call_as_text(text), "{text}");
        }
    }

    /// A model whose server answers the first questions and is out of order then.
    struct Failing {
        answers: u32,
        asked: std::sync::Mutex<u32>,
        status: u16,
    }

    impl Model for Failing {
        fn name(&self) -> &'static str {
            "odd/m"
        }

        fn capabilities(&self) -> crate::Capabilities {
            crate::Capabilities { tool_calls: true, ..crate::Capabilities::default() }
        }

        fn chat<'a>(&'a self, _: &'a ChatRequest) -> crate::BoxFuture<'a, Result<ChatReply, ModelError>> {
            Box::pin(async move {
                let mut asked = self.asked.lock().unwrap();
                *asked += 1;
                if *asked > self.answers {
                    let (url, message) = ("u".to_owned(), "m".to_owned());
                    return Err(ModelError::Status { url, status: self.status, message, retry_after: None });
                }
                Ok(ChatReply {
                    text: "7".to_owned(),
                    calls: Vec::new(),
                    finish: FinishReason::Stop,
                    usage: planproof_trace::Usage::new(1, 1),
                    id: None,
                    state: crate::TurnState::default(),
                })
            })
        }
    }

    #[tokio::test]
    async fn an_outage_is_no_finding_about_the_model() {
        for status in [401, 403, 429, 500, 503] {
            for answers in 0..7 {
                let model = Failing { answers, asked: std::sync::Mutex::default(), status };
                let found = check(&model, None, Depth::Thorough).await;
                let wrong: Vec<_> = found.wrong().map(|line| (line.about, line.mend.clone())).collect();
                assert_eq!((found.is_reached, wrong), (false, vec![("server", None)]), "{status} {answers}");
                assert!(found.requests <= answers + 2, "no more is asked");
            }
        }
    }

    #[test]
    fn the_servers_name_of_a_model_follows_the_provider_or_the_url() {
        let facts = |url: &str| ServerFacts { url: url.to_owned(), ..ServerFacts::default() };
        for (name, url, expected) in [
            ("vllm/Qwen/Qwen3-8B", "http://127.0.0.1:8000/v1", "Qwen/Qwen3-8B"),
            ("a=http://h/v1/Qwen/Qwen3-8B", "http://h/v1", "Qwen/Qwen3-8B"),
            ("a=http://h/x//org/m", "http://h/x", "org/m"),
        ] {
            assert_eq!(name.strip_prefix(facts_prefix(name, &facts(url))), Some(expected), "{name}");
        }
    }
}
