//! How a simulated model finds that a text contradicts itself, and its report.

use planproof_constraint::{Order, Variable};
use planproof_model::shown_tools::shown_place;
use planproof_synth::{ACTIONS_MAX, Draw, REPORT_DESCRIPTION, REPORT_TOOL, SENTENCES_ARGUMENT};
use planproof_trace::Tool;

use crate::SimKind;
use crate::reading::Stated;

/// Its last words after reporting a conflict.
pub(crate) const REPORTED: &str = "Not all of this can hold together, so I have done nothing.";

/// The tool that reports conflicts, and the content of the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Report {
    /// The place of the tool.
    pub(crate) tool: u16,
    /// All sentences, a bit for each: the report of a model that sees no conflict although a guard says there is one.
    pub(crate) all: u64,
    /// The sentences that it considers in conflict; none if it sees no conflict, or keeps silent.
    pub(crate) found: u64,
}

/// The index of the tool, if there is one.
pub(crate) fn report_tool(tools: &[Tool]) -> Option<u16> {
    let takes_sentences = |tool: &Tool| {
        tool.input_schema.get("properties").is_some_and(|it| it.get(SENTENCES_ARGUMENT).is_some())
    };
    let place = shown_place(tools, REPORT_TOOL, REPORT_DESCRIPTION)?;
    takes_sentences(&tools[place]).then(|| u16::try_from(place).unwrap_or(u16::MAX))
}

impl Report {
    /// Searches for a conflict between sentences. `holds` says whether those of a set can hold together, as the model
    /// sees it.
    pub(crate) fn look(
        kind: SimKind,
        tool: u16,
        sentences: impl Iterator<Item = u32>,
        chance: f64,
        draw: &mut Draw,
        holds: impl Fn(u64) -> bool,
    ) -> Self {
        // A text with more sentences than that is not one of ours.
        let all = sentences.filter(|sentence| *sentence < u64::BITS).fold(0, |set, it| set | 1 << it);
        let mut found = 0;
        if kind != SimKind::InOrder && !holds(all) {
            found = all;
            // Removes each sentence without which the others still cannot hold together. In the conflict that is left,
            // every sentence is needed. At most 64 checks.
            for sentence in (0..u64::BITS).map(|sentence| 1 << sentence) {
                if found & sentence != 0 && !holds(found & !sentence) {
                    found &= !sentence;
                }
            }
        }
        if kind == SimKind::Forgetful {
            let forgets = |set: u64, sentence: u32| match draw.unit() < chance {
                true => set & !(1 << sentence),
                false => set,
            };
            found = (0..u64::BITS).filter(|it| found & 1 << it != 0).fold(found, forgets);
        }
        Self { tool, all, found }
    }
}

/// Whether pairs of these tasks can hold together.
pub(crate) fn is_order<'a>(tasks: &[usize], pairs: impl Iterator<Item = &'a Stated>) -> bool {
    let count = tasks.len().min(ACTIONS_MAX);
    let Some(mut order) = Order::new(count) else { return true };
    let place = |task: usize| tasks.iter().position(|&other| other == task).filter(|&place| place < count);
    let mut known = pairs.filter_map(|pair| Some((place(pair.first)?, place(pair.second)?)));
    known.all(|(first, second)| order.try_before(Variable::new(first), Variable::new(second)).is_ok())
}

/// The numbers of a set of sentences, from 1.
pub(crate) fn numbers(sentences: u64) -> impl Iterator<Item = u64> {
    (0..u64::from(u64::BITS)).filter(move |sentence| sentences & 1 << sentence != 0).map(|it| it + 1)
}
