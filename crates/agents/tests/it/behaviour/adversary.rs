//! Models that write arbitrary text, through the whole loop: whatever they do, a run ends, and an answered run is
//! in the language of its specification. (The tests of `spec` cover the monitor alone more thoroughly.)

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use planproof_spec::{Entered, Prompts, SHIPPED, StateId, Walk, textbook};
use planproof_trace::{Author, EndReason, EventKind};

use super::*;

/// The number of pieces of text that models write in the test.
const STEPS: u64 = 100_000;
/// The number of random specifications besides the shipped ones.
const RANDOM_SPECS: usize = 30;

/// SplitMix64 (Steele, Lea and Flood, 2014).
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % bound as u64) as usize
    }

    fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

/// Writes random text, and sometimes what is allowed next.
struct Adversary {
    capabilities: Capabilities,
    automaton: Arc<Automaton>,
    chance: Mutex<Chance>,
    pieces: AtomicU64,
}

impl Adversary {
    fn reply(&self, written: &str) -> ChatReply {
        let mut chance = self.chance.lock().unwrap();
        let states: Vec<StateId> = self.automaton.states().collect();
        let prompt = |state: StateId| self.automaton.state(state).prompt.value.as_str();
        let mut text = String::new();
        let habit = chance.below(8);
        let walk = self.walk(written);
        for _ in 0..chance.below(5) {
            let any = *chance.pick(&states);
            match habit {
                0 => text.push_str(["ä", "🚗", "\u{0}", "[", "]", "\n", "\\", "\"", "  "][chance.below(9)]),
                1 => text.push_str(prompt(any)),
                2 => text.push_str(prompt(states[0])),
                3 => text.push_str(prompt(any).get(..1 + chance.below(3)).unwrap_or("x")),
                4 => text.push_str("[Observation] done [Answer] done [Summary]"),
                _ => {
                    let valid = walk.as_ref().map(|walk| walk.valid().to_vec()).unwrap_or_default();
                    let state = if valid.is_empty() { any } else { *chance.pick(&valid) };
                    text.push_str(prompt(state));
                }
            }
            text.push_str(["", " x", " wash", " say\n", " {}", " {\"loaves\": 1}", " #E1 "][chance.below(7)]);
            if habit > 4 {
                // It looks ahead by only one section.
                break;
            }
        }
        if habit > 4 && self.tool_is_next(written) {
            text = " wash\n[Action Input] {}".to_owned();
        }
        let finish =
            *chance.pick(&[FinishReason::Stop, FinishReason::Stop, FinishReason::Stop, FinishReason::Length]);
        // A server that cuts a reply before its first word has failed, which this model does not.
        let finish = if text.is_empty() { FinishReason::Stop } else { finish };
        ChatReply {
            text,
            calls: Vec::new(),
            finish,
            usage: Usage::default(),
            id: None,
            state: TurnState::default(),
        }
    }

    /// The state after the text.
    fn walk(&self, written: &str) -> Option<Walk<'_>> {
        let prompts = Prompts::new(self.automaton.spec(), Compat::Ours);
        let mut walk = Walk::new(&self.automaton, Compat::Ours);
        for piece in prompts.split(written) {
            if let planproof_spec::PromptPiece::Prompt(state, _) = piece
                && !walk.enter(Entered::from(state))
            {
                return None;
            }
        }
        Some(walk)
    }

    fn tool_is_next(&self, written: &str) -> bool {
        written.trim_end().ends_with("[Action]")
    }
}

impl Model for Adversary {
    fn name(&self) -> &str {
        "sim/adversary"
    }

    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    fn chat<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        let texts: Vec<&str> = request
            .messages
            .iter()
            .filter_map(|message| match message {
                Message::User { text } | Message::Assistant { text, .. } => Some(text.as_str()),
                _ => None,
            })
            .take(2)
            .collect();
        self.pieces.fetch_add(1, Ordering::Relaxed);
        Box::pin(std::future::ready(Ok(self.reply(&texts.join("\n")))))
    }

    fn complete<'a>(
        &'a self,
        request: &'a CompletionRequest,
    ) -> BoxFuture<'a, Result<CompletionReply, ModelError>> {
        self.pieces.fetch_add(1, Ordering::Relaxed);
        let written = request.prompt.rsplit_once("\n\n").map_or("", |(_, text)| text);
        let ChatReply { text, finish, usage, .. } = self.reply(written);
        Box::pin(std::future::ready(Ok(CompletionReply { text, finish, usage, prompt_tokens: Vec::new() })))
    }

    fn complete_stream<'a>(
        &'a self,
        request: &'a CompletionRequest,
    ) -> BoxFuture<'a, Result<BoxStream<'a, Result<ChatDelta, ModelError>>, ModelError>> {
        let written = request.prompt.rsplit_once("\n\n").map_or("", |(_, text)| text);
        Box::pin(std::future::ready(Ok(self.stream(&self.reply(written)))))
    }

    fn chat_stream<'a>(
        &'a self,
        request: &'a ChatRequest,
    ) -> BoxFuture<'a, Result<BoxStream<'a, Result<ChatDelta, ModelError>>, ModelError>> {
        Box::pin(async move {
            let reply = self.chat(request).await?;
            Ok(self.stream(&reply))
        })
    }
}

impl Adversary {
    fn stream(&self, reply: &ChatReply) -> BoxStream<'_, Result<ChatDelta, ModelError>> {
        let mut deltas: Vec<ChatDelta> = reply.text.chars().map(|c| ChatDelta::Text(c.to_string())).collect();
        deltas.push(ChatDelta::End { finish: reply.finish, usage: reply.usage, id: None });
        let counted = deltas.into_iter().map(|delta| {
            self.pieces.fetch_add(1, Ordering::Relaxed);
            Ok(delta)
        });
        futures::stream::iter(counted).boxed()
    }
}

/// A random formula over the states of [`random_spec`].
fn formula(chance: &mut Chance, depth: usize) -> String {
    let inner = |chance: &mut Chance| formula(chance, depth - 1);
    match if depth == 0 { 0 } else { chance.below(6) } {
        0 | 1 => (*chance.pick(&["T", "Act Inp", "L", "O", "E"])).replace("Act Inp", "(next Act Inp)"),
        2 => format!("(next {} {})", inner(chance), inner(chance)),
        3 => format!("(or {} {})", inner(chance), inner(chance)),
        4 => format!("(until {} {})", inner(chance), inner(chance)),
        _ => format!("(always {} :max 3)", inner(chance)),
    }
}

fn random_spec(chance: &mut Chance) -> Option<Arc<Automaton>> {
    let handler = *chance.pick(&["run-call", "run-calls", "summarise", "evaluate"]);
    let source = format!(
        r##"(define random (:states
             (Q (:text "[Question]")) (T (:text "[Thought]")) (Act (:text "[Action]") (:content tool))
             (Inp (:text "[Action Input]") (:content arguments)) (L (:text "<<") (:content (max-length 4)))
             (O (:text "[Observation]") (:flags :env-input) (:handler {handler})) (E (:text "<<E>>")))
           (:behavior (next Q {})))"##,
        formula(chance, 3)
    );
    load(&source, Compat::Ours).ok().map(|loaded| loaded.automaton)
}

/// The states of a trace, in the order in which they were entered.
fn word(automaton: &Automaton, events: &[Event]) -> Vec<StateId> {
    let state = |event: &Event| match &event.kind {
        EventKind::Section { state, .. } => {
            Some(automaton.state_named(state).expect("a state of the specification"))
        }
        _ => None,
    };
    events.iter().filter_map(state).collect()
}

fn is_in_language(automaton: &Automaton, word: &[StateId]) -> bool {
    let word: Vec<Entered<'_>> = word.iter().map(|state| Entered::from(*state)).collect();
    textbook::accepts(automaton.spec(), &word)
}

#[tokio::test]
#[ignore = "slow"]
async fn whatever_a_model_writes_an_answered_run_is_in_the_language() {
    let mut chance = Chance(11);
    let mut automata: Vec<Arc<Automaton>> = SHIPPED.iter().map(|(name, _)| spec_of(name)).collect();
    while automata.len() < SHIPPED.len() + RANDOM_SPECS {
        automata.extend(random_spec(&mut chance));
    }
    let chat = Capabilities { completion: false, ..WHOLE };
    let ways = [WHOLE, chat, Capabilities { partial_turn: true, ..chat }];
    let mut ends: BTreeMap<&str, u64> = BTreeMap::new();
    let mut answered = vec![0; automata.len()];
    let (mut steps, mut run, mut caught) = (0, 0, 0);
    while steps < STEPS {
        let index = if run % 2 == 0 { run / 2 % SHIPPED.len() } else { run / 2 % automata.len() };
        let automaton = Arc::clone(&automata[index]);
        let capabilities = Capabilities { streaming: run % 3 == 0, ..ways[run / 3 % 3] };
        let model = Arc::new(Adversary {
            capabilities,
            automaton: Arc::clone(&automaton),
            chance: Mutex::new(Chance(run as u64)),
            pieces: AtomicU64::new(0),
        });
        let options = BehaviourOptions { text_bytes_max: 20_000, ..BehaviourOptions::default() };
        let agent =
            BehaviourAgent::new(Arc::clone(&model) as Arc<_>, Arc::clone(&automaton), options).unwrap();
        let events = events_of(&agent, limits(60)).await;
        steps += model.pieces.load(Ordering::Relaxed);
        run += 1;
        let Some(EventKind::End(end)) = events.last().map(|event| &event.kind) else { panic!("no end") };
        *ends
            .entry(match end {
                EndReason::Answered { .. } => "answered",
                EndReason::LimitReached { .. } => "limit",
                EndReason::AgentFailed { .. } => "failed",
                EndReason::Unscored { .. } => panic!("nothing outside can fail: {end:?}"),
            })
            .or_default() += 1;
        let EndReason::Answered { text } = end else { continue };
        answered[index] += 1;
        let mut word = word(&automaton, &events);
        assert!(is_in_language(&automaton, &word), "run {run}: {}{}", lines(&events), automaton.spec());
        let last = events.iter().rev().find_map(|event| match &event.kind {
            EventKind::Section { text, .. } => Some(text),
            _ => None,
        });
        assert_eq!(last, Some(text), "the answer is the content of the last state");
        let by_user = events
            .iter()
            .filter(|event| matches!(&event.kind, EventKind::Section { author: Author::User, .. }));
        assert_eq!(by_user.count(), 1);
        // A canary: a loop that let a single disallowed state through would be detected.
        let walk = word.iter().take(1).fold(Walk::new(&automaton, Compat::Ours), |mut walk, state| {
            walk.enter(Entered::from(*state));
            walk
        });
        if let Some(stray) = automaton.states().find(|state| !walk.valid().contains(state)) {
            word.insert(1, stray);
            assert!(!is_in_language(&automaton, &word), "a violation went through unseen: {word:?}");
            caught += 1;
        }
    }
    for end in ["answered", "limit", "failed"] {
        assert!(ends.get(end).is_some_and(|runs| *runs >= 10), "{ends:?}");
    }
    assert!(answered[..SHIPPED.len()].iter().all(|runs| *runs > 0), "{answered:?}, {ends:?}");
    assert!(caught >= 50, "only {caught} canaries");
}
