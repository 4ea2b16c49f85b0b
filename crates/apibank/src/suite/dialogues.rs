//! Creates cases from the published data of levels 1 and 2, one for each call of a dialogue.

use std::collections::{BTreeMap, BTreeSet};

use planproof_suite::CaseError;
use planproof_trace::Draw;
use planproof_trace::template::fill;
use serde::{Deserialize, Serialize};

use super::calls::{CALL_SCHEMA, CallCase, Line};
use crate::catalogue::ApiCatalogue;
use crate::evaluate::replay::replay;
use crate::evaluate::{Dialogue, DialogueCall, Turn, is_fit};
use crate::value::PythonValue;
use crate::world::{ApiCompat, ApiWorld, TODAY};

/// The table of users, which every tool that takes a token accesses.
const ACCOUNTS: &str = "Account";

/// The prompt of a call. (Ours; the published instruction says the same at more length.)
pub(super) const CALL_PROMPT: &str = include_str!("../../prompts/call.txt").trim_ascii_end();

/// The published data, assembled by a caller that can read files.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedDialogues {
    /// The texts of the files in `init_database`, by file name without extension.
    pub databases: BTreeMap<String, String>,
    pub dialogues: Vec<DialogueFile>,
}

/// The file of a dialogue.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DialogueFile {
    pub file: String,
    /// 1 or 2.
    pub level: u8,
    /// Its content: one JSON record per line.
    pub text: String,
}

impl PublishedDialogues {
    /// The data as a text, from which [`cases`] creates the cases.
    pub fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Parses the data from a text; `None` if it is a text of another kind.
    pub(super) fn of_text(text: &str) -> Option<Self> {
        // `to_text` writes this field first, so other texts are recognised without parsing them.
        text.starts_with("{\"databases\":").then(|| serde_json::from_str(text).ok()).flatten()
    }

    /// Creates a case for each call that can be judged. Calls that need a missing service are left out, and so are
    /// gold calls that their own tool rejects, unless they are judged as the published evaluator judges them.
    ///
    /// # Errors
    /// A database or a dialogue cannot be parsed.
    pub(super) fn cases(&self, is_original: bool) -> Result<Vec<CallCase>, CaseError> {
        let mut world = ApiWorld::new(TODAY, Draw::new(0, 0, "apibank/data"));
        world.compat = if is_original { ApiCompat::Original } else { ApiCompat::Right };
        for (name, text) in &self.databases {
            world.load(name, text).map_err(CaseError::new)?;
        }
        let mut cases = Vec::new();
        for DialogueFile { file, level, text } in &self.dialogues {
            let dialogue =
                Dialogue::read(text).map_err(|error| CaseError::new(format!("{file}: {error}")))?;
            of_dialogue(file, *level, &dialogue, &world, is_original, &mut cases)?;
        }
        Ok(cases)
    }
}

fn of_dialogue(
    file: &str,
    level: u8,
    dialogue: &Dialogue,
    world: &ApiWorld,
    is_original: bool,
    cases: &mut Vec<CallCase>,
) -> Result<(), CaseError> {
    let mut state = world.clone();
    let mut replayed = 0;
    for (number, sample) in dialogue.samples().iter().enumerate() {
        let Some(gold) = dialogue.call(sample.gold) else { continue };
        // In the original, every call sees the initial databases.
        if !is_original {
            for before in (replayed..sample.gold).filter_map(|place| dialogue.call(place)) {
                replay(before, &mut state);
            }
            replayed = replayed.max(sample.gold);
        }
        if !is_fit(gold, &state) {
            continue;
        }
        let case = CallCase::of_line(Line {
            schema: CALL_SCHEMA.to_owned(),
            id: format!("{file}#{number}"),
            level,
            original: is_original,
            prompt: prompt(level, dialogue, sample.gold),
            gold: gold.clone(),
            tables: tables(gold, &state),
        })?;
        cases.push(case);
    }
    Ok(())
}

/// The tables that a call of the gold tool may access: its own, the users, and what it remembers from an earlier
/// call.
fn tables(gold: &DialogueCall, state: &ApiWorld) -> BTreeMap<String, PythonValue> {
    let of_tool = ApiCatalogue::tools().get(&gold.api_name).and_then(|spec| spec.database.clone());
    let names: BTreeSet<String> =
        of_tool.into_iter().chain([ACCOUNTS.to_owned(), gold.api_name.clone()]).collect();
    names.into_iter().filter_map(|name| Some((name.clone(), state.get(&name)?.clone()))).collect()
}

/// The instruction, the tools, and the conversation before the call.
fn prompt(level: u8, dialogue: &Dialogue, gold: usize) -> String {
    let mut names: Vec<&str> = Vec::new();
    for (place, turn) in dialogue.turns.iter().enumerate() {
        let Turn::Call(call) = turn else { continue };
        // At level 2, a tool is shown once a search has found it; the search itself is always shown.
        let is_shown = level == 1 || place <= gold;
        if is_shown && !names.contains(&call.api_name.as_str()) {
            names.push(&call.api_name);
        }
    }
    let tools = names.iter().filter_map(|name| ApiCatalogue::tools().get(name));
    let tools: Vec<String> =
        tools.map(|spec| serde_json::to_string(&spec.to_value()).unwrap_or_default()).collect();
    let before: Vec<String> = dialogue.turns.iter().take(gold).map(said).collect();
    fill(CALL_PROMPT, &[("apis", &tools.join("\n")), ("conversation", &before.join("\n"))])
}

fn said(turn: &Turn) -> String {
    match turn {
        Turn::User { text } => format!("User: {text}"),
        Turn::Assistant { text } => format!("AI: {text}"),
        Turn::Call(call) => format!("API: {}", call.to_history()),
    }
}
