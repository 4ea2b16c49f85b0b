//! Custom topic banks: requested from a model with the paper's two prompts (PDoctor, section 4.2), or made from the
//! tools that a user's agent will have.
//!
//! A model's list is cleaned, checked and compared with the existing entries; for missing ones the model is asked
//! again, in the same conversation and with the reasons for rejections, at most [`ROUNDS_MAX`] times in all. Each
//! bank is tested by reading cases back: sentences about it must have one reading.

mod flows;
mod generate;
mod own_tools;

use std::sync::Arc;

use planproof_model::{ChatRequest, Message, Model, ModelError, Settings};
use planproof_synth::topic_prompts::MORE;
use planproof_synth::{SynthesisOptions, Synthesizer, TimeOptions, TopicBank, Wordings, read};

pub use flows::suggested_flows;
pub use generate::{Generated, TopicsWanted, generate_topics};
pub use own_tools::{LeftOut, NamedTools, OwnTools, name_tools};

/// Most requests in one conversation: the first, and those for what is missing.
pub const ROUNDS_MAX: u32 = 3;

/// Most characters of a reply that stay in the conversation.
const KEPT_CHARACTERS_MAX: usize = 8000;

/// Most faults that are fed back to a model.
const FAULTS_TOLD_MAX: usize = 10;

/// Most conversations at once.
const CONVERSATIONS_MAX: usize = 8;

/// Cases per topic and form that are read back.
const PROVED_CASES: u64 = 20;

/// A rejected entry of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dropped {
    /// The job that it belongs to; `None` for a job itself.
    pub job: Option<String>,
    /// The entry, as far as it was understood.
    pub text: String,
    /// Why it is not used.
    pub why: String,
}

/// A conversation in which a model is asked for a list.
struct Conversation {
    model: Arc<dyn Model>,
    messages: Vec<Message>,
    settings: Settings,
    rounds: u32,
}

impl Conversation {
    fn new(model: &Arc<dyn Model>, seed: u64) -> Self {
        let settings = Settings { seed: Some(seed), ..Settings::default() };
        Self { model: Arc::clone(model), messages: Vec::new(), settings, rounds: 0 }
    }

    /// Whether another request is allowed.
    fn may_ask(&self) -> bool {
        self.rounds < ROUNDS_MAX
    }

    /// Asks, and keeps what was said.
    async fn ask(&mut self, prompt: String) -> Result<String, ModelError> {
        self.rounds += 1;
        self.messages.push(Message::User { text: prompt });
        let request = ChatRequest {
            messages: self.messages.clone(),
            previous: None,
            tools: Arc::from([]),
            settings: self.settings.clone(),
        };
        let text = self.model.chat(&request).await?.text;
        // Only the conversation is cut: the whole reply is still read.
        let kept = text.chars().take(KEPT_CHARACTERS_MAX).collect();
        self.messages.push(Message::assistant(kept, Vec::new()));
        Ok(text)
    }
}

/// Asks for `count` more entries, with the faults of some of the last ones.
fn more(count: usize, faults: &[Dropped]) -> String {
    let mut text =
        format!("{MORE}please write {count} others, none of which is among those above, in the same form.");
    if !faults.is_empty() {
        text.push_str(" These could not be used:");
    }
    for Dropped { text: item, why, .. } in faults.iter().take(FAULTS_TOLD_MAX) {
        text.push_str("\n- ");
        text.push_str(&shortened(item));
        text.push_str(": it ");
        text.push_str(why);
    }
    text
}

/// The beginning of a text, for messages.
fn shortened(text: &str) -> String {
    let mut characters = text.chars();
    let mut short: String = characters.by_ref().take(60).collect();
    if characters.next().is_some() {
        short.push_str("...");
    }
    short
}

/// Tests that sentences about each topic have one reading: draws cases in both forms (in the basic one only for own
/// tools that take no start time), and reads them back.
///
/// # Errors
/// Names the topic with a case that does not read back as intended, or for which no case can be drawn.
pub fn prove_topics(bank: &TopicBank) -> Result<(), String> {
    for topic in bank.topics() {
        // A bank of its own, so that every case is drawn from this topic.
        let alone = TopicBank::new(vec![topic.clone()]).map_err(|error| error.to_string())?;
        let most = topic.activities.len().min(5) as u32;
        let options = SynthesisOptions { actions_min: 2, actions_max: most, ..SynthesisOptions::default() };
        let timed = SynthesisOptions { time: Some(TimeOptions::default()), ..options.clone() };
        for options in [options, timed] {
            let is_timed = options.time.is_some();
            let synthesizer = match Synthesizer::new(options, Wordings::shipped(), &alone) {
                Ok(synthesizer) => synthesizer,
                // A user's own tool may be unable to take a start time; then only the basic form is proved.
                Err(_) if is_timed => continue,
                Err(error) => return Err(format!("topic \"{}\": {error}", topic.job)),
            };
            for index in 0..PROVED_CASES {
                let case = synthesizer.case(1, index, &mut Default::default(), &mut ());
                let case = case.map_err(|error| format!("topic \"{}\": {error}", topic.job))?;
                read::verify(&case, read::Directions::shipped()).map_err(|error| {
                    format!(
                        "topic \"{}\" makes a paragraph that cannot be used: {error}: {}",
                        topic.job, case.paragraph
                    )
                })?;
            }
        }
    }
    Ok(())
}
