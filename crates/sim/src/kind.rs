//! The kinds of simulated models: what each does wrong.

use crate::planted::Fault;

/// What a simulated model does wrong, the same in both forms unless something else is said.
///
/// Where it can report a conflict, it looks for one among what it heeds of the text, reports the sentences
/// that this takes, does no task then, and is right about it but for what the kinds say. Told by a guard that
/// there is a conflict where it sees none, it reports all sentences.
///
/// In text, the calls are those of the tool-calling form where query, tools and seed are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SimKind {
    /// Nothing.
    Perfect,
    /// Nothing, and it writes several calls in one reply: of half of the requests all of its plan, of the
    /// others what may be done now in any order. In the time form, where what comes next depends on how long
    /// a task took, it first tries all tasks with guessed times, or goes on to the next task whose duration
    /// is not known; once all are, it clears the day and does them in the same reply. In text it is as the
    /// perfect one.
    Parallel,
    /// Calls the tools in the order of mention, whatever the text says; in the time form each when the one
    /// before has ended. It never reports a conflict.
    InOrder,
    /// Forgets actions: each with a chance of 3 % for every action beyond the first, at most 50 %. In the
    /// same way sentences of a conflict; where it forgets all of them, it goes on as if there was none.
    Forgetful,
    /// Misreads sub-sentences: each is ignored with a chance of 5 % for every action beyond the first, at
    /// most 60 %, and what is then open is done in a drawn order. So it misses a conflict with the chance
    /// that it ignores one of the sub-sentences that it takes.
    Careless,
    /// Writes calls that cannot be executed (a wrong name, an argument that is not wanted or none where some
    /// are, in the time form a start that is no clock time): each call with a chance of 5 % for every action
    /// beyond the first, at most 50 %. Half of the time it then corrects itself, otherwise it goes on.
    ///
    /// In text a wrong name is written for the tool; asked again, it corrects itself half of the time, and
    /// otherwise writes the same again, so that whoever holds it to its tools must give up. An argument that
    /// is not wanted is harmless where tools without parameters pass over it. Besides, before a call it
    /// breaks the form with the same chance: half of the time it writes a section that may not come there,
    /// otherwise words in front of a mark. Corrected, it goes on.
    Clumsy,
    /// Plans rightly and then repeats its last call for ever; in the time form it clears the day, for ever.
    /// Where the text form lets it write on, its replies end at a limit.
    Endless,
    /// One planted fault, and nothing else: for the dissection of errors.
    Planted(Fault),
}

impl SimKind {
    /// All kinds but those with a planted fault.
    pub const ALL: [Self; 7] = [
        Self::Perfect,
        Self::Parallel,
        Self::InOrder,
        Self::Forgetful,
        Self::Careless,
        Self::Clumsy,
        Self::Endless,
    ];

    /// The name behind `sim/`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Perfect => "perfect",
            Self::Parallel => "parallel",
            Self::InOrder => "in-order",
            Self::Forgetful => "forgetful",
            Self::Careless => "careless",
            Self::Clumsy => "clumsy",
            Self::Endless => "endless",
            Self::Planted(fault) => fault.as_str(),
        }
    }

    /// The kind of that name.
    pub fn find(name: &str) -> Option<Self> {
        let planted = Fault::ALL.into_iter().map(Self::Planted);
        Self::ALL.into_iter().chain(planted).find(|kind| kind.as_str() == name)
    }

    /// Chance of one mistake with `actions` actions; see the kinds. What a mistake is depends on the kind.
    pub fn mistake_chance(self, actions: usize) -> f64 {
        let more = actions.saturating_sub(1) as f64;
        match self {
            Self::Forgetful => (0.03 * more).min(0.5),
            Self::Careless => (0.05 * more).min(0.6),
            Self::Clumsy => (0.05 * more).min(0.5),
            Self::Perfect | Self::Parallel | Self::InOrder | Self::Endless | Self::Planted(_) => 0.0,
        }
    }
}
