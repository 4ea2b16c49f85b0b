//! Variants of a case: other words, other tasks, another job or another paragraph, with the same constraints. The
//! dissection of an error runs the agent on them (PDoctor, section 4.5).
//! A variant is a case like any other: it can be read back, and the oracle judges it. It is determined by the case,
//! the kind of change and a seed, and records what was changed and where.
//!
//! **(ours)** Every slot of the kind changes, and none of the new texts occurred anywhere in the old paragraph, if
//! there are enough: otherwise a word that confuses an agent could come back in another place of its own variant.
//! Likewise another structure avoids the productions of the old one as far as possible.

mod structure;
mod terminals;

use thiserror::Error;

use crate::case::{Action, CaseTool, Difficulty, PlanningCase};
use crate::recover::recover;
use crate::synthesis::{merge_pairs, merge_times, whole_query};
use crate::text::{CharRange, Fills, Slot, Written, write_with_slots};
use crate::time_form::{RESTART_TOOL, TimeForm};
use crate::topic::{Topic, TopicBank, made_tool};
use crate::wording::Wordings;
use planproof_trace::Draw;

pub use structure::STRUCTURE_DRAWS_MAX;

/// A change of a case that keeps its constraints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Mutation {
    /// Other wordings everywhere; the tasks stay.
    Wordings,
    /// Other tasks of the same job, with their tools; the wordings stay.
    Actions,
    /// Both: what [`Wordings`](Self::Wordings) and [`Actions`](Self::Actions) do with the same seed.
    Terminals,
    /// Another job with its tasks and tools; wordings and structure stay.
    Topic,
    /// Another paragraph over the same tasks with equivalent constraints: the same transitive closure, and in the
    /// time form the same tightest clock times, so that the same schedules are correct.
    Structure,
}

impl Mutation {
    /// All of them, from the smallest change to the largest.
    pub const ALL: [Self; 5] = [Self::Wordings, Self::Actions, Self::Terminals, Self::Topic, Self::Structure];

    /// The word used in ids and files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Wordings => "wordings",
            Self::Actions => "actions",
            Self::Terminals => "terminals",
            Self::Topic => "topic",
            Self::Structure => "structure",
        }
    }
}

/// A case made from another one.
#[derive(Debug, Clone, PartialEq)]
pub struct Variant {
    /// The case. Its id is that of the original, a full stop, and the kind of change.
    pub case: PlanningCase,
    /// What kind of change it was.
    pub mutation: Mutation,
    /// The replaced pieces, in the order of the paragraph.
    pub changes: Vec<Replacement>,
}

/// A piece that was replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replacement {
    pub piece: PieceKind,
    pub from: String,
    pub to: String,
    /// Its position in the paragraph: before and now. `None` for the job, which is outside of it.
    pub places: Vec<(CharRange, CharRange)>,
}

/// What can be replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PieceKind {
    Wording,
    /// The text of an action, together with its tool.
    Action,
    Job,
    /// The paragraph as a whole.
    Paragraph,
}

impl PieceKind {
    pub const ALL: [Self; 4] = [Self::Wording, Self::Action, Self::Job, Self::Paragraph];

    /// The word used in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Wording => "wording",
            Self::Action => "action",
            Self::Job => "job",
            Self::Paragraph => "paragraph",
        }
    }
}

/// Why there is no such variant.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NoVariant {
    /// The paragraph does not consist of the generator's wordings, so its pieces are unknown.
    #[error("the paragraph is not one that the generator writes with its wordings")]
    ForeignParagraph,
    /// A tool is not the generator's tool for the action, so another action's tool could not replace it.
    #[error("the tool {tool} is not one that the generator makes")]
    ForeignTool { tool: String },
    /// The text around the paragraph is not the generator's, so the job in it cannot be changed.
    #[error("the query is not one that the generator writes around a paragraph")]
    ForeignQuery,
    /// A terminal has one wording only.
    #[error("there is no other wording for \"{wording}\"")]
    FewWordings { wording: String },
    /// The topic is not in the bank.
    #[error("the topic bank has no topic \"{job}\"")]
    UnknownTopic { job: String },
    /// The topic has too few other activities.
    #[error("the topic \"{job}\" has too few activities to change all {actions} tasks")]
    FewActivities {
        job: String,
        /// How many were to be changed.
        actions: usize,
    },
    /// No other topic has enough activities of its own.
    #[error(
        "the topic bank has no other topic with {actions} activities that the case does not name already"
    )]
    FewTopics {
        /// How many are needed.
        actions: usize,
    },
    /// The tasks cannot be changed, because the topic has rules, which do not cover other tasks.
    #[error("the topic \"{job}\" has rules, which hold for its own tasks alone")]
    Rules { job: String },
    /// No other paragraph was found.
    #[error("no other paragraph with equivalent constraints was found in {STRUCTURE_DRAWS_MAX} draws")]
    NoStructure,
    /// The case contradicts itself, and there is no method to find other paragraphs with the same contradiction.
    #[error("the case is infeasible, and only feasible ones have variants")]
    Infeasible,
    /// The text arrives in several messages, which say more than the paragraph.
    #[error("the text arrives in several messages, and only texts of one have variants")]
    Turns,
}

/// Makes variants of cases, from a bank and wordings.
#[derive(Debug, Clone, Copy)]
pub struct Mutator<'a> {
    words: &'a Wordings,
    bank: &'a TopicBank,
}

impl<'a> Mutator<'a> {
    /// From these wordings, which must be those of the cases, and topics of this bank.
    pub fn new(words: &'a Wordings, bank: &'a TopicBank) -> Self {
        Self { words, bank }
    }

    /// The variant of a case for this seed. Takes about a tenth of a millisecond.
    ///
    /// # Errors
    /// [`NoVariant`] says why there is none.
    pub fn mutate(&self, case: &PlanningCase, mutation: Mutation, seed: u64) -> Result<Variant, NoVariant> {
        if !case.is_feasible() {
            return Err(NoVariant::Infeasible);
        }
        if case.turns.is_some() {
            return Err(NoVariant::Turns);
        }
        let tree = recover(case, self.words).ok_or(NoVariant::ForeignParagraph)?;
        let mut other = tree.clone();
        let mut job = case.topic.clone();
        let mut texts = texts_of(case);
        let keeps_tasks = matches!(mutation, Mutation::Wordings | Mutation::Structure);
        let has_rules =
            || case.rules().next().is_some() || self.bank.find(&case.topic).is_some_and(Topic::has_rules);
        if !keeps_tasks && has_rules() {
            return Err(NoVariant::Rules { job });
        }
        if let Mutation::Wordings | Mutation::Terminals = mutation {
            // Each part has its own stream, so that `Terminals` does what `Wordings` and
            // `Actions` do with the same seed.
            let draw = &mut Draw::new(seed, 0, "variant/words");
            terminals::reword(&mut other, self.words, draw)?;
        }
        if let Mutation::Actions | Mutation::Terminals = mutation {
            check_tools(case, self.bank)?;
            texts = terminals::other_actions(case, self.bank, &mut Draw::new(seed, 0, "variant/tasks"))?;
        }
        match mutation {
            Mutation::Topic => {
                check_tools(case, self.bank)?;
                check_query(case)?;
                let draw = &mut Draw::new(seed, 0, "variant/topic");
                (job, texts) = terminals::other_topic(case, self.bank, draw)?;
            }
            Mutation::Structure => {
                let draw = &mut Draw::new(seed, 0, "variant/form");
                other = structure::equivalent(case, &tree, self.words, draw).ok_or(NoVariant::NoStructure)?;
            }
            Mutation::Wordings | Mutation::Actions | Mutation::Terminals => {}
        }
        let (written, slots) = write_with_slots(&other, self.words, &texts);
        let (_, old_slots) = write_with_slots(&tree, self.words, &texts_of(case));
        let changed = rebuild(case, self.bank, mutation, job, &texts, written);
        let changes = changes(case, &changed, mutation, &old_slots, &slots);
        Ok(Variant { case: changed, mutation, changes })
    }
}

fn texts_of(case: &PlanningCase) -> Vec<String> {
    case.actions.iter().map(|action| action.text.clone()).collect()
}

/// The tool of a task of this job. If the bank does not have the job, tools are made from texts.
fn tool_of(case: &PlanningCase, bank: &TopicBank, job: &str, text: &str) -> CaseTool {
    let is_timed = case.time.is_some();
    bank.find(job).map_or_else(|| made_tool(text, is_timed), |topic| topic.case_tool(text, is_timed))
}

/// Whether the tools are the generator's: only then another text determines another tool.
fn check_tools(case: &PlanningCase, bank: &TopicBank) -> Result<(), NoVariant> {
    for action in &case.actions {
        let made = tool_of(case, bank, &case.topic, &action.text);
        if made.name != action.tool || case.tool(&action.tool) != Some(&made) {
            return Err(NoVariant::ForeignTool { tool: action.tool.clone() });
        }
    }
    Ok(())
}

fn check_query(case: &PlanningCase) -> Result<(), NoVariant> {
    let is_ours = case.query
        == whole_query(
            &case.topic,
            (&case.paragraph, case.rules_text().as_deref()),
            &case.tools,
            case.time.as_ref(),
            case.offers_report(),
        );
    is_ours.then_some(()).ok_or(NoVariant::ForeignQuery)
}

/// The case with another paragraph, and with other tasks and another job if these were changed.
fn rebuild(
    case: &PlanningCase,
    bank: &TopicBank,
    mutation: Mutation,
    job: String,
    texts: &[String],
    written: Written,
) -> PlanningCase {
    let Written { text: paragraph, pairs, times } = written;
    let mut constraints = merge_pairs(case.actions.len(), &pairs);
    let time = case
        .time
        .as_ref()
        .map(|time| TimeForm { bounds: merge_times(constraints.len(), &times), ..time.clone() });
    // A case with rules keeps its tasks, and with them its rules.
    constraints.extend(case.rules().cloned());
    let renamed = |place: usize| texts[place] != case.actions[place].text;
    // Only a renamed action gets another tool; all others stay as the file has them.
    let new_tool = |place: usize| renamed(place).then(|| tool_of(case, bank, &job, &texts[place]));
    let actions: Vec<Action> = case
        .actions
        .iter()
        .enumerate()
        .map(|(place, action)| {
            let text = texts[place].clone();
            let tool = new_tool(place).map_or_else(|| action.tool.clone(), |tool| tool.name);
            Action { id: action.id.clone(), text, tool }
        })
        .collect();
    let tools = case.tools.iter().map(|tool| {
        let new = case.action_of_tool(&tool.name).and_then(new_tool);
        new.unwrap_or_else(|| tool.clone())
    });
    let tools: Vec<CaseTool> = tools.collect();
    let query = if job == case.topic {
        // The text around the paragraph stays as it is, even if another version wrote it.
        case.query.replacen(&case.paragraph, &paragraph, 1)
    } else {
        // No rules: a topic with rules has no such variant.
        whole_query(&job, (&paragraph, None), &tools, time.as_ref(), case.offers_report())
    };
    let stated = constraints.len() + time.as_ref().map_or(0, |time| time.bounds.len());
    PlanningCase {
        id: format!("{}.{}", case.id, mutation.as_str()),
        seed: case.seed,
        options: case.options,
        topic: job,
        query,
        paragraph,
        difficulty: Difficulty::new(case.actions.len(), stated, case.difficulty.correct_plans),
        tools,
        actions,
        constraints,
        time,
        conflict: None,
        rewritten: None,
        faults: case.faults.clone(),
        turns: None,
    }
}

/// The pieces that differ.
fn changes(
    case: &PlanningCase,
    changed: &PlanningCase,
    mutation: Mutation,
    from: &[Slot],
    to: &[Slot],
) -> Vec<Replacement> {
    let mut changes = Vec::new();
    if changed.topic != case.topic {
        let (from, to) = (case.topic.clone(), changed.topic.clone());
        changes.push(Replacement { piece: PieceKind::Job, from, to, places: Vec::new() });
    }
    if mutation == Mutation::Structure {
        let whole = |case: &PlanningCase| CharRange {
            start: 0,
            end: u32::try_from(case.paragraph.chars().count()).unwrap_or(u32::MAX),
        };
        let (from, to) = (case.paragraph.clone(), changed.paragraph.clone());
        let places = vec![(whole(case), whole(changed))];
        changes.push(Replacement { piece: PieceKind::Paragraph, from, to, places });
        // Two structures have no slots in common that could be compared.
        return changes;
    }
    for (place, (old, new)) in case.actions.iter().zip(&changed.actions).enumerate() {
        if old.text != new.text {
            let fills = |slot: &Slot| slot.fills == Fills::Action(place as u8);
            // Both paragraphs have the same tree here, so their slots correspond one to one.
            let places = from.iter().zip(to).filter(|(slot, _)| fills(slot));
            let places = places.map(|(from, to)| (from.span, to.span)).collect();
            let (from, to) = (old.text.clone(), new.text.clone());
            changes.push(Replacement { piece: PieceKind::Action, from, to, places });
        }
    }
    let wordings = from.iter().zip(to).filter(|(slot, _)| slot.fills == Fills::Wording);
    for (old, new) in wordings {
        let (from, to) = (words_at(&case.paragraph, old.span), words_at(&changed.paragraph, new.span));
        if from != to {
            changes.push(Replacement {
                piece: PieceKind::Wording,
                from,
                to,
                places: vec![(old.span, new.span)],
            });
        }
    }
    changes
}

fn words_at(paragraph: &str, span: CharRange) -> String {
    paragraph.chars().skip(span.start as usize).take((span.end - span.start) as usize).collect()
}
