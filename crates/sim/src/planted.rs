//! Simulated models with one planted fault each, to test whether dissection finds it. They plan perfectly except for
//! the fault, and find its trigger in the text alone, like the other simulated models.

use planproof_constraint::{Order, Variable};
use planproof_synth::{ACTIONS_MAX, Draw};

use crate::reading::Found;

/// A fault, and so a cause that dissection has to name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PlantedFault {
    /// Misreads [`WORD`](Self::WORD) as its opposite.
    Word,
    /// Reads everything reversed when the job is [`JOB`](Self::JOB).
    Topic,
    /// Reads everything reversed when the text has a relative clause.
    Structure,
    /// Reads everything reversed when [`CHAIN`](Self::CHAIN) tasks or more have to follow one another.
    Constraint,
    /// Reads everything reversed in [`COIN`](Self::COIN) of its runs, drawn by the seed of the request.
    Coin,
}

impl PlantedFault {
    /// All faults.
    pub const ALL: [Self; 5] = [Self::Word, Self::Topic, Self::Structure, Self::Constraint, Self::Coin];
    /// The wording that is misread.
    pub const WORD: &'static str = "in advance of";
    /// As what.
    const OPPOSITE: &'static str = "later than";
    /// The job that is mishandled.
    pub const JOB: &'static str = "librarian";
    /// The length of the chains that are mishandled, in tasks.
    pub const CHAIN: usize = 3;
    /// How often the coin falls on the wrong side, as numerator and denominator.
    pub const COIN: (u32, u32) = (3, 10);

    /// The name behind `sim/`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Word => "planted/word",
            Self::Topic => "planted/topic",
            Self::Structure => "planted/structure",
            Self::Constraint => "planted/constraint",
            Self::Coin => "planted/coin",
        }
    }

    /// The text as the model sees it.
    pub(crate) fn see(self, text: &str) -> String {
        let capital = |word: &str| word[..1].to_uppercase() + &word[1..];
        match self {
            Self::Word => text
                .replace(Self::WORD, Self::OPPOSITE)
                .replace(&capital(Self::WORD), &capital(Self::OPPOSITE)),
            _ => text.to_owned(),
        }
    }

    /// The model's reading of the paragraph. `texts` are all texts of the user.
    pub(crate) fn misread<'a>(
        self,
        mut texts: impl Iterator<Item = &'a str>,
        paragraph: &str,
        mut found: Found,
        draw: &mut Draw,
    ) -> Found {
        let strikes = match self {
            Self::Word => false,
            Self::Topic => {
                let named = format!(" {}. ", Self::JOB);
                texts.any(|text| text.contains(&named))
            }
            Self::Structure => paragraph.contains(", which "),
            Self::Constraint => longest_chain(&found) >= Self::CHAIN,
            Self::Coin => draw.chance(Self::COIN.0, Self::COIN.1),
        };
        if strikes {
            for pair in &mut found.pairs {
                std::mem::swap(&mut pair.first, &mut pair.second);
            }
            // Clock times have no reverse, so a model that reads everything reversed ignores them.
            found.bounds.clear();
        }
        found
    }
}

/// The length of the longest chain of tasks.
fn longest_chain(found: &Found) -> usize {
    let count = found.mentioned.len();
    let Some(mut order) = Order::new(count.min(ACTIONS_MAX)) else { return 0 };
    let place = |task: usize| found.mentioned.iter().position(|other| *other == task);
    for pair in &found.pairs {
        if let (Some(first), Some(second)) = (place(pair.first), place(pair.second))
            && first.max(second) < order.len()
        {
            // A contradictory text has no meaningful chains.
            let _ = order.try_before(Variable::new(first), Variable::new(second));
        }
    }
    let mut depth = vec![1; order.len()];
    // In this sequence, all predecessors of a task come before it, so their depths are known.
    for variable in order.first_sequence() {
        let before = planproof_constraint::variables_in(order.predecessors(variable));
        depth[variable.index()] = 1 + before.map(|it| depth[it.index()]).max().unwrap_or(0);
    }
    depth.into_iter().max().unwrap_or(0)
}
