//! A model that is given the right answers.

use std::collections::HashMap;

use planproof_model::shown_tools::shown_place;
use planproof_model::{
    BoxFuture, Capabilities, ChatReply, ChatRequest, CompletionReply, CompletionRequest, Message, Model,
    ModelError, Settings, TurnState,
};
use planproof_plan::team::Role;
use planproof_suite::Gold;
use planproof_synth::Draw;
use planproof_trace::{Arguments, CallId, FinishReason, ToolCall};
use thiserror::Error;

use crate::echo::last_paragraph;
use crate::handed::Handed;
use crate::planning::{self, Strike};
pub use crate::subtasks::SubTaskFault;
use crate::text::reply::{TextReply, ended, text_bytes, usage};
use crate::text::{Begun, aside, score, tool_data};
use crate::{SimKind, history, subtasks, team, tools, two_stage};

/// The model's name on the command line. A slash and the share of wrong answers may follow.
pub const GOLD_NAME: &str = "sim/gold";

/// Bytes by which prompts are indexed. Shorter ones are searched one after the other.
const HEAD_BYTES: usize = 8;

/// Why a name is none of this model.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "`{given}` is no share of wrong answers, nor a role that fails: write {GOLD_NAME}, {GOLD_NAME}/0.2 with a number from \
     0 to 1, {GOLD_NAME}/echo, {GOLD_NAME}/ROLE with manager, supervisor, executor or deliverer, or {GOLD_NAME}/FAULT of \
     sub-tasks with wrong-tool, wrong-order, repeated, no-summary, wrong-format or wrong-call"
)]
pub struct GoldNameError {
    /// What stands where the share should.
    pub given: String,
}

/// The mistakes of a model that is given the right answers.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct GoldFaults {
    /// The share of wrong answers, 0 to 1.
    pub share: f64,
    /// A role of a team that it plays badly: a manager's graph has a cycle; supervisor, executor and deliverer write
    /// nothing.
    pub role: Option<Role>,
    /// Its mistake when it writes sub-tasks.
    pub sub_tasks: Option<SubTaskFault>,
    /// It repeats the last paragraph of the prompt before or behind each answer.
    pub echoes: bool,
}

/// What follows [`GOLD_NAME`] and a slash for a model that echoes.
const ECHO: &str = "echo";

/// The faults in a model's name: none for `sim/gold`, a fifth of all answers for `sim/gold/0.2`, the manager of a
/// team for `sim/gold/manager`. `None` if the name is that of another model.
pub fn gold_faults(name: &str) -> Option<Result<GoldFaults, GoldNameError>> {
    let rest = name.strip_prefix(GOLD_NAME)?;
    if rest.is_empty() {
        return Some(Ok(GoldFaults::default()));
    }
    let given = rest.strip_prefix('/')?;
    let share = given.parse::<f64>().ok().filter(|share| (0.0..=1.0).contains(share));
    let share = share.map(|share| GoldFaults { share, ..GoldFaults::default() });
    let role = || Role::ALL.into_iter().find(|role| role.as_str() == given);
    let role = || role().map(|role| GoldFaults { role: Some(role), ..GoldFaults::default() });
    let fault = || SubTaskFault::ALL.into_iter().find(|fault| fault.as_str() == given);
    let fault = || fault().map(|fault| GoldFaults { sub_tasks: Some(fault), ..GoldFaults::default() });
    let echoes = || (given == ECHO).then(|| GoldFaults { echoes: true, ..GoldFaults::default() });
    let faults = share.or_else(role).or_else(fault).or_else(echoes);
    Some(faults.ok_or_else(|| GoldNameError { given: given.to_owned() }))
}

/// A simulated model that is given an answer key. It proves the plumbing of any kind of case and nothing else.
///
/// It recognises a case by its prompt: the longest prompt of the key that occurs in the request, ignoring white
/// space. It makes the calls of the key one by one if the tools are offered, or writes them in the sections of its
/// instructions, and then gives the answer of the key, whatever the tools answered. A request without a prompt of the
/// key is an error of the model, which leaves the run unscored.
#[derive(Debug)]
pub struct GoldModel {
    name: String,
    /// The role of a team that it plays badly.
    bad_role: Option<Role>,
    /// Its mistake when it writes sub-tasks.
    bad_sub_tasks: Option<SubTaskFault>,
    keys: Vec<Handed>,
    /// Indices of keys by the first bytes of their prompts.
    by_head: HashMap<[u8; HEAD_BYTES], Vec<usize>>,
    /// Whether a prompt of the index begins with two bytes, by their number. A text is asked about at each of its
    /// positions, and hashing eight bytes there took a sixth of a campaign in a build without optimisation.
    begins: Vec<bool>,
    /// Those whose prompts have fewer.
    short: Vec<usize>,
}

impl GoldModel {
    /// A model that is given these prompts with their answers. Of prompts that differ only in white space the first
    /// counts, and blank ones are never matched.
    ///
    /// `error_rate` is the chance, 0 to 1, that it gives the wrong answer of a key. Which prompts are affected
    /// depends on `seed` and the prompt alone.
    pub fn new(keys: Vec<(String, Gold)>, error_rate: f64, seed: u64) -> Self {
        let name = if error_rate > 0.0 { format!("{GOLD_NAME}/{error_rate}") } else { GOLD_NAME.to_owned() };
        let handed = |(prompt, gold): (String, Gold)| {
            let mut draw = Draw::new(seed, hash(&prompt), "sim-gold/1");
            let is_wrong = draw.unit() < error_rate;
            let (answer, other_answer) = match is_wrong {
                true => (gold.wrong_answer, gold.answer),
                false => (gold.answer, gold.wrong_answer),
            };
            Handed {
                prompt: even(&prompt),
                echo: last_paragraph(&prompt).to_owned(),
                calls: gold.wrong_calls.filter(|_| is_wrong).unwrap_or(gold.calls),
                turns: gold.turns,
                sub_tasks: gold.sub_tasks,
                reasoning: even(&gold.reasoning),
                answer,
                other_answer,
                // From the prompt alone, so that another seed changes which prompts are affected, and not their
                // mistakes.
                strike: is_wrong.then(|| Strike::of(hash(&prompt) >> 32)),
            }
        };
        let keys: Vec<Handed> = keys.into_iter().map(handed).collect();
        // A campaign may have thousands of prompts. The index limits the search at each position of a text to those
        // that begin with the same bytes.
        let mut by_head: HashMap<_, Vec<usize>> = HashMap::new();
        let mut short = Vec::new();
        let mut begins = vec![false; 1 << 16];
        for (place, key) in keys.iter().enumerate() {
            match key.prompt.as_bytes().first_chunk::<HEAD_BYTES>() {
                Some(head) => {
                    begins[first_two(head)] = true;
                    by_head.entry(*head).or_default().push(place);
                }
                None if key.prompt.is_empty() => {}
                None => short.push(place),
            }
        }
        Self { name, bad_role: None, bad_sub_tasks: None, keys, by_head, begins, short }
    }

    /// The same model, which plays a role of a team badly.
    #[must_use]
    pub fn playing_badly(mut self, role: Role) -> Self {
        self.name = format!("{GOLD_NAME}/{role}");
        self.bad_role = Some(role);
        self
    }

    /// The same model, which makes this mistake when it writes sub-tasks.
    #[must_use]
    pub fn with_bad_sub_tasks(mut self, fault: SubTaskFault) -> Self {
        self.name = format!("{GOLD_NAME}/{fault}");
        self.bad_sub_tasks = Some(fault);
        self
    }

    /// The same model, which repeats the last paragraph of the prompt before each answer or behind it, whichever the
    /// prompt decides.
    #[must_use]
    pub fn with_echo(mut self) -> Self {
        self.name = format!("{GOLD_NAME}/{ECHO}");
        for key in &mut self.keys {
            let (echo, answer) = (&key.echo, &key.answer);
            key.answer = match hash(&key.prompt) & 1 {
                0 => format!("{echo}\n{answer}"),
                _ => format!("{answer}\n{echo}"),
            };
        }
        self
    }

    /// The longest prompt that occurs in a text, as the index of its key.
    fn find(&self, text: &str) -> Option<&Handed> {
        let text = even(text);
        let bytes = text.as_bytes();
        let begins_here = |(at, head): (usize, &[u8])| {
            let head: &[u8; HEAD_BYTES] = head.try_into().ok()?;
            if !self.begins[first_two(head)] {
                return None;
            }
            let places = self.by_head.get(head)?.iter();
            let found = places.map(|place| &self.keys[*place]);
            longest(found.filter(|key| bytes[at..].starts_with(key.prompt.as_bytes())))
        };
        let long = bytes.windows(HEAD_BYTES).enumerate().filter_map(begins_here);
        // Every prompt in the index is longer than every short one.
        longest(long).or_else(|| {
            let short = self.short.iter().map(|place| &self.keys[*place]);
            longest(short.filter(|key| text.contains(&key.prompt)))
        })
    }

    /// The entry for the question of a conversation.
    fn asked(&self, request: &ChatRequest) -> Result<&Handed, ModelError> {
        let texts = request.messages.iter().filter_map(|message| match message {
            Message::System { text } | Message::User { text } => self.find(text),
            Message::Assistant { .. } | Message::Tool { .. } => None,
        });
        longest(texts).ok_or_else(|| self.refuses("answer a question that is not in the key it was handed"))
    }

    fn refuses(&self, what: &'static str) -> ModelError {
        ModelError::Unsupported { model: self.name.clone(), what }
    }

    fn reply(&self, request: &ChatRequest) -> Result<ChatReply, ModelError> {
        let read = request.messages.iter().map(text_bytes).sum();
        // The prompts of our own agents come first, as each has a mark of its own. Anything else is a conversation,
        // with tools or without.
        if let Some(asked) = team::Request::of(request) {
            let (text, calls) = self.as_member(&asked, request)?;
            let written = text.len() + calls.iter().map(|call| call.name.len()).sum::<usize>();
            let finish = if calls.is_empty() { FinishReason::Stop } else { FinishReason::ToolCalls };
            return Ok(ChatReply {
                text,
                calls,
                finish,
                usage: usage(read, written),
                id: None,
                state: TurnState::default(),
            });
        }
        // A judge compares texts of the prompt, for which it needs no key.
        if let Some(text) = subtasks::judged(request) {
            let (finish, usage) = (FinishReason::Stop, usage(read, text.len()));
            return Ok(ChatReply {
                text,
                calls: Vec::new(),
                finish,
                usage,
                id: None,
                state: TurnState::default(),
            });
        }
        if let Some(asked) = subtasks::Request::of(request) {
            let text = asked.reply(self.asked(request)?, self.bad_sub_tasks);
            let usage = usage(read, text.len());
            let finish = FinishReason::Stop;
            return Ok(ChatReply {
                text,
                calls: Vec::new(),
                finish,
                usage,
                id: None,
                state: TurnState::default(),
            });
        }
        if let Some(asked) = two_stage::Request::of(request) {
            let text = asked.line(self.asked(request)?);
            let usage = usage(read, text.len());
            let finish = FinishReason::Stop;
            return Ok(ChatReply {
                text,
                calls: Vec::new(),
                finish,
                usage,
                id: None,
                state: TurnState::default(),
            });
        }
        if request.tools.is_empty() {
            let TextReply { text, finish } = self.in_text(request)?;
            let usage = usage(read, text.len());
            return Ok(ChatReply {
                text,
                calls: Vec::new(),
                finish,
                usage,
                id: None,
                state: TurnState::default(),
            });
        }
        let (text, calls) = self.text_and_calls(&history::read(request))?;
        let written = text.len() + calls.iter().map(|call| call.name.len()).sum::<usize>();
        let finish = if calls.is_empty() { FinishReason::Stop } else { FinishReason::ToolCalls };
        Ok(ChatReply {
            text,
            calls,
            finish,
            usage: usage(read, written),
            id: None,
            state: TurnState::default(),
        })
    }

    /// What it does as a member of a team.
    fn as_member(
        &self,
        asked: &team::Request<'_>,
        request: &ChatRequest,
    ) -> Result<(String, Vec<ToolCall>), ModelError> {
        let is_bad = self.bad_role == Some(asked.role);
        let handed = self.asked(request)?;
        let text = match asked.role {
            Role::Manager if asked.is_about_executors() => asked.crew(),
            Role::Manager => {
                let graph = asked.graph(&handed.prompt, &handed.calls);
                // A sub-task that comes after itself can never start.
                if is_bad { graph.replacen("\"after\":[]", "\"after\":[\"step-1\"]", 1) } else { graph }
            }
            _ if is_bad => String::new(),
            Role::Supervisor => asked.sub_task().to_owned(),
            Role::Deliverer if asked.is_for_solver(request) => team::problem(&handed.answer),
            Role::Deliverer => handed.answer.clone(),
            Role::Executor => return Ok(executed(handed, asked, request)),
        };
        Ok((text, Vec::new()))
    }

    /// The reply in a conversation without tools.
    fn in_text(&self, request: &ChatRequest) -> Result<TextReply, ModelError> {
        let settings = &request.settings;
        if let Some(asked) = planning::Request::of(request) {
            let handed = self.asked(request)?;
            // `answer` is what the model gives, so with a mistake it is the wrong one.
            let (right, wrong) = match handed.strike {
                Some(_) => (&handed.other_answer, &handed.answer),
                None => (&handed.answer, &handed.other_answer),
            };
            let reply = asked.reply(right, wrong, handed.strike);
            let text =
                reply.ok_or_else(|| self.refuses("write a plan where the answer it was handed is none"))?;
            return Ok(ended(text, settings));
        }
        if let Some(begun) = Begun::in_chat(request) {
            // The examples in the instructions may be longer than the question.
            let handed = self.find(&begun.text()).map_or_else(|| self.asked(request), Ok)?;
            return Ok(begun.go_on_with(handed, settings));
        }
        let last = request.messages.iter().rev().find_map(|message| match message {
            Message::User { text } => Some(text.as_str()),
            Message::System { .. } | Message::Assistant { .. } | Message::Tool { .. } => None,
        });
        if let Some(reply) = last.and_then(|last| aside(last, settings)) {
            return Ok(reply);
        }
        // Requests for data of m&m's have no right answer that it could be given.
        if let Some(text) = tool_data::answer(SimKind::Perfect, request) {
            return Ok(ended(text, settings));
        }
        Ok(ended(self.asked(request)?.answer.clone(), settings))
    }

    /// The reply in a conversation of calls and results.
    fn text_and_calls(&self, request: &ChatRequest) -> Result<(String, Vec<ToolCall>), ModelError> {
        let handed = self.asked(request)?;
        let of_framework = tools::OfFramework::among(&request.tools);
        let (mut made, mut number, mut is_foreign) = (0, 1, false);
        for message in &request.messages {
            let Message::Assistant { text, calls, .. } = message else { continue };
            is_foreign |= calls.is_empty() && !text.trim().is_empty() && *text != handed.answer;
            made += calls.iter().filter(|call| !of_framework.has(&request.tools, &call.name)).count();
            number += calls.len();
        }
        if is_foreign && number == 1 {
            // Perhaps its calls are in a format that it does not know: it would repeat the first one for ever.
            return Err(self.refuses("understand its turns in this conversation"));
        }
        let calls: Vec<_> = handed.calls_with(&request.tools).collect();
        // Some tools are missing, perhaps because the framework has the model search for them.
        if calls.len() < handed.calls.len()
            && let Some(search) = tools::search(&request.tools, &request.messages, number)
        {
            return Ok((String::new(), vec![search]));
        }
        let said = request.messages.iter().filter(|message| matches!(message, Message::User { .. })).count();
        let until = handed.turns.get(said.saturating_sub(1)).copied().unwrap_or(usize::MAX);
        let call = calls.get(made).filter(|_| made < until).map(|(tool, call)| ToolCall {
            id: CallId::new(format!("call_{number}")),
            name: tool.name.clone(),
            arguments: Arguments::Object(planning::filled_in(&call.arguments, &request.messages)),
        });
        Ok(match call.or_else(|| tools::last_words(&request.tools, &handed.answer, number)) {
            Some(call) => (String::new(), vec![call]),
            None => (handed.answer.clone(), Vec::new()),
        })
    }

    fn completion(&self, request: &CompletionRequest) -> Result<CompletionReply, ModelError> {
        let CompletionRequest { prompt, settings, score_prompt } = request;
        // No new text is requested, so no prompt has to be recognised.
        let reply = match settings.output_tokens_max {
            Some(0) => ended(String::new(), settings),
            _ => self.go_on(prompt, settings)?,
        };
        Ok(CompletionReply {
            usage: usage(prompt.len(), reply.text.len()),
            text: reply.text,
            finish: reply.finish,
            prompt_tokens: if *score_prompt { score(prompt) } else { Vec::new() },
        })
    }

    /// What it writes after a plain text.
    fn go_on(&self, prompt: &str, settings: &Settings) -> Result<TextReply, ModelError> {
        let request = ChatRequest {
            messages: vec![Message::User { text: prompt.to_owned() }],
            previous: None,
            tools: [].into(),
            settings: settings.clone(),
        };
        match Begun::in_prompt(prompt) {
            Some(begun) => {
                let handed = self.find(&begun.text()).map_or_else(|| self.asked(&request), Ok)?;
                Ok(begun.go_on_with(handed, settings))
            }
            None => self.in_text(&request),
        }
    }
}

impl Model for GoldModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            tool_calls: true,
            streaming: true,
            partial_turn: true,
            conversational: false,
            completion: true,
            log_probabilities: true,
            grammar: false,
            server_state: false,
        }
    }

    fn is_simulated(&self) -> bool {
        true
    }

    fn chat<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        let reply = self.reply(request);
        Box::pin(std::future::ready(reply))
    }

    fn complete<'a>(
        &'a self,
        request: &'a CompletionRequest,
    ) -> BoxFuture<'a, Result<CompletionReply, ModelError>> {
        let reply = self.completion(request);
        Box::pin(std::future::ready(reply))
    }
}

/// The next call of a sub-task, or the report at its end.
fn executed(handed: &Handed, asked: &team::Request<'_>, request: &ChatRequest) -> (String, Vec<ToolCall>) {
    let steps = asked.steps().unwrap_or_default();
    let calls = handed.calls.get(steps).unwrap_or_default();
    let results: Vec<&str> = request
        .messages
        .iter()
        .filter_map(|message| match message {
            Message::Tool { text, .. } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    let mut able = calls.iter().filter_map(|call| Some((shown_place(&request.tools, &call.tool, "")?, call)));
    // It makes one call in a turn, so the number of results is that of its calls.
    match able.nth(results.len()) {
        Some((place, call)) => {
            let arguments = planning::filled_in(&call.arguments, &request.messages);
            let call = ToolCall {
                id: CallId::new(format!("call_{}", results.len() + 1)),
                name: request.tools[place].name.clone(),
                arguments: Arguments::Object(arguments),
            };
            (String::new(), vec![call])
        }
        None if results.is_empty() => ("There was nothing to call.".to_owned(), Vec::new()),
        None => (results.join("\n"), Vec::new()),
    }
}

/// The key with the longest prompt; the first among equals.
fn longest<'k>(keys: impl Iterator<Item = &'k Handed>) -> Option<&'k Handed> {
    keys.reduce(|longest, key| if key.prompt.len() > longest.prompt.len() { key } else { longest })
}

/// The number of the first two bytes.
fn first_two(head: &[u8; HEAD_BYTES]) -> usize {
    usize::from(u16::from_le_bytes([head[0], head[1]]))
}

/// A text with single spaces for white space: agents indent the lines of a question.
fn even(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

/// A hash of a prompt (FNV-1a, 64 bits, which never changes).
fn hash(text: &str) -> u64 {
    let add = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, add)
}

#[cfg(test)]
mod tests {
    use planproof_suite::GoldCall;
    use planproof_trace::Tool;
    use serde_json::{Map, json};

    use super::*;

    fn key(prompt: &str, answer: &str) -> (String, Gold) {
        let arguments = |json: serde_json::Value| json.as_object().cloned().unwrap_or_else(Map::new);
        let call = |number: u32| GoldCall {
            tool: "add".to_owned(),
            arguments: arguments(json!({"number": number})),
        };
        let gold = Gold {
            turns: Vec::new(),
            calls: vec![call(1), call(2)],
            sub_tasks: Vec::new(),
            reasoning: "One and two.".to_owned(),
            answer: answer.to_owned(),
            wrong_answer: format!("not {answer}"),
            ..Gold::default()
        };
        (prompt.to_owned(), gold)
    }

    fn model() -> GoldModel {
        let keys = [("What is 1 and 2?", "3"), ("What is 1 and 2? And 3?", "6"), ("Why?", "4"), ("", "5")];
        GoldModel::new(keys.map(|(prompt, answer)| key(prompt, answer)).into(), 0.0, 1)
    }

    fn ask(messages: Vec<Message>, tools: &[&str]) -> ChatRequest {
        let tool = |name: &&str| Tool::without_arguments(*name, "");
        let tools = tools.iter().map(tool).collect::<Vec<_>>().into();
        ChatRequest { messages, previous: None, tools, settings: Settings::default() }
    }

    fn user(text: &str) -> Message {
        Message::User { text: text.to_owned() }
    }

    #[test]
    fn names_hold_the_share_of_wrong_answers() {
        let rate = |name: &str| gold_faults(name).map(|faults| faults.ok().map(|faults| faults.share));
        assert_eq!(rate("sim/gold"), Some(Some(0.0)));
        assert_eq!(rate("sim/gold/0.2"), Some(Some(0.2)));
        assert_eq!(rate("sim/gold/1"), Some(Some(1.0)));
        let role = gold_faults("sim/gold/manager").unwrap().unwrap().role;
        assert_eq!((rate("sim/gold/manager"), role), (Some(Some(0.0)), Some(Role::Manager)));
        for broken in ["sim/gold/", "sim/gold/2", "sim/gold/-0.1", "sim/gold/NaN", "sim/gold/x"] {
            assert_eq!(rate(broken), Some(None), "{broken}");
        }
        for other in ["sim/golden", "sim/perfect", "gold"] {
            assert_eq!(rate(other), None, "{other}");
        }
        assert_eq!(GoldModel::new(Vec::new(), 0.2, 1).name(), "sim/gold/0.2");
    }

    #[test]
    fn the_longest_prompt_counts() {
        let model = model();
        let answer = |text: &str| model.find(text).map(|key| key.answer.as_str());
        assert_eq!(answer("Q: What is 1\n  and 2?"), Some("3"));
        assert_eq!(answer("What is 1 and 2? Why? What is 1 and 2? And 3?"), Some("6"));
        assert_eq!(answer("(Why?)"), Some("4"));
        assert_eq!((answer(""), answer("What?")), (None, None));
    }

    #[test]
    fn calls_are_made_one_by_one() {
        let model = model();
        let mut request = ask(vec![user("What is 1 and 2?")], &["mcp__add", "other"]);
        for number in 1..=2 {
            let (text, calls) = model.text_and_calls(&request).unwrap();
            assert_eq!((text.as_str(), calls.len(), calls[0].name.as_str()), ("", 1, "mcp__add"));
            assert_eq!(calls[0].arguments.to_text(), format!("{{\"number\":{number}}}"));
            let id = calls[0].id.clone();
            request.messages.push(Message::assistant(text, calls));
            request.messages.push(Message::Tool { id, text: "?".to_owned() });
        }
        assert_eq!(model.text_and_calls(&request).unwrap(), ("3".to_owned(), Vec::new()));
        // Without the tool there is nothing to call; a tool for the answer is used.
        request.tools = vec![Tool::without_arguments("other", "")].into();
        assert_eq!(model.text_and_calls(&request).unwrap().0, "3");
        request.tools = vec![Tool::without_arguments("final_answer", "")].into();
        assert_eq!(model.text_and_calls(&request).unwrap().1[0].name, "final_answer");
    }

    #[test]
    fn what_it_does_not_know_is_an_error() {
        let model = model();
        for request in [ask(vec![user("How?")], &[]), ask(vec![user("How?")], &["add"])] {
            let error = model.reply(&request).unwrap_err().to_string();
            assert_eq!(error, "sim/gold cannot answer a question that is not in the key it was handed");
        }
        let foreign = Message::assistant("add(1)".to_owned(), Vec::new());
        let request = ask(vec![user("What is 1 and 2?"), foreign], &["add"]);
        assert!(model.reply(&request).unwrap_err().to_string().contains("understand its turns"));
        let request = CompletionRequest {
            prompt: "How?".to_owned(),
            settings: Settings::default(),
            score_prompt: false,
        };
        assert!(model.completion(&request).is_err());
        let nothing = Settings { output_tokens_max: Some(0), ..Settings::default() };
        let request = CompletionRequest { settings: nothing, score_prompt: true, ..request };
        assert!(!model.completion(&request).unwrap().prompt_tokens.is_empty());
    }

    #[test]
    fn a_share_of_answers_is_wrong() {
        let keys = || (0..1000).map(|it| key(&format!("What is {it}?"), "x")).collect::<Vec<_>>();
        let wrong = |rate, seed| -> Vec<bool> {
            let model = GoldModel::new(keys(), rate, seed);
            model.keys.iter().map(|key| key.answer != "x").collect()
        };
        let count = |wrong: &[bool]| wrong.iter().filter(|it| **it).count();
        assert_eq!([count(&wrong(0.0, 1)), count(&wrong(1.0, 1))], [0, 1000]);
        assert!((150..250).contains(&count(&wrong(0.2, 1))));
        assert_eq!(wrong(0.2, 1), wrong(0.2, 1));
        assert_ne!(wrong(0.2, 1), wrong(0.2, 2));
    }
}
