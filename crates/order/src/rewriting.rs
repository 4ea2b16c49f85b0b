//! Cases in a model's words: one model writes the paragraph anew, the reader or a second model says what it demands,
//! and only what demands the same is kept (PDoctor, section 7).

use std::fmt;
use std::sync::Arc;

use planproof_model::{ChatRequest, Message, Model, ModelError, Settings};
use planproof_synth::read::Directions;
use planproof_synth::{
    Meaning, PlanningCase, Rewritten, judge_rewriting, paragraph_of, read_list, read_rewriting,
};

const REWRITE: &str = include_str!("../prompts/rewrite.txt");
const LIST: &str = include_str!("../prompts/list_constraints.txt");

/// A model that is asked, with the name under which it is written into cases.
#[derive(Clone)]
pub struct NamedModel {
    pub name: String,
    pub model: Arc<dyn Model>,
}

impl fmt::Debug for NamedModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NamedModel").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Who writes, and who reads what the reader cannot.
#[derive(Debug, Clone)]
pub struct Rewriters {
    pub writer: NamedModel,
    /// Lists what a paragraph demands; without it, what the reader cannot read is not kept.
    pub judge: Option<NamedModel>,
    /// The seed of all requests.
    pub seed: u64,
}

impl Rewriters {
    /// The case in the writer's words, if these are known to mean the same.
    ///
    /// # Errors
    /// A model cannot be asked.
    pub async fn rewrite(&self, case: &PlanningCase) -> Result<Meaning, ModelError> {
        let reply = ask(&self.writer, rewrite_prompt(case), self.seed).await?;
        let paragraph = match paragraph_of(case, &reply) {
            Ok(paragraph) => paragraph,
            Err(why) => return Ok(Meaning::Unread(why)),
        };
        let read = read_rewriting(case, &paragraph, &self.writer.name, Directions::shipped());
        let (Meaning::Unread(_), Some(judge)) = (&read, &self.judge) else { return Ok(read) };
        let reply = ask(judge, list_prompt(case, &paragraph), self.seed).await?;
        Ok(match read_list(case, &paragraph, &reply) {
            Ok(listed) => {
                let by = Rewritten { writer: self.writer.name.clone(), judge: Some(judge.name.clone()) };
                judge_rewriting(case, &paragraph, by, &listed)
            }
            Err(why) => Meaning::Unread(why),
        })
    }
}

async fn ask(whom: &NamedModel, prompt: String, seed: u64) -> Result<String, ModelError> {
    let request = ChatRequest {
        messages: vec![Message::User { text: prompt }],
        previous: None,
        tools: Arc::from([]),
        settings: Settings { seed: Some(seed), ..Settings::default() },
    };
    Ok(whom.model.chat(&request).await?.text)
}

/// Asks for the paragraph of a case in other words.
fn rewrite_prompt(case: &PlanningCase) -> String {
    let tasks: Vec<String> = case.actions.iter().map(|action| format!("- {}", action.text)).collect();
    REWRITE
        .replace("{{job}}", &case.topic)
        .replace("{{tasks}}", &tasks.join("\n"))
        .replace("{{text}}", &case.paragraph)
}

/// Asks what a paragraph demands of the tasks of a case.
fn list_prompt(case: &PlanningCase, paragraph: &str) -> String {
    let tasks: Vec<String> =
        case.actions.iter().map(|action| format!("- {}: {}", action.id, action.text)).collect();
    let (times, example) = match case.time.is_some() {
        true => (
            ", and by or from what time",
            ", {\"action\": \"a1\", \"ends_by\": \"14:30\", \"words\": \"...\"}, {\"action\": \"a2\", \"starts_from\": \
             \"09:00\", \"words\": \"...\"}",
        ),
        false => ("", ""),
    };
    // The text comes last, because it may hold anything.
    LIST.replace("{{times}}", times)
        .replace("{{example}}", example)
        .replace("{{tasks}}", &tasks.join("\n"))
        .replace("{{text}}", paragraph)
}
