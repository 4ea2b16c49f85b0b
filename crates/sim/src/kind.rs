//! The kinds of simulated models: what each does wrong.

use crate::planted::PlantedFault;

/// A simulated model's mistakes, the same in both forms unless stated otherwise.
///
/// If it can report a conflict, it searches what it notices of the text for one, reports its sentences, then does no
/// task, and is right about it except for the mistakes of its kind. If a guard says that there is a conflict where it
/// sees none, it reports all sentences.
///
/// In text, the calls are those of the tool-calling form if query, tools and seed are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SimKind {
    Perfect,
    /// None, and it writes several calls in one reply: for half of the requests its whole plan, for the others those
    /// that may be made now in any order. In the time form, where the next call depends on how long a task took, it
    /// first tries all tasks with guessed times, or continues to the next task of unknown duration; once all are
    /// known, it clears the day and does them in the same reply. In text it behaves like the perfect one.
    Parallel,
    /// Calls the tools in the order of mention, whatever the text says; in the time form each when the previous one
    /// has ended. It never reports a conflict.
    InOrder,
    /// Forgets actions: each with a chance of 3 % for every action beyond the first, at most 50 %. It forgets
    /// sentences of a conflict in the same way; if it forgets all of them, it continues as if there were none.
    Forgetful,
    /// Misreads sub-sentences: each is ignored with a chance of 5 % for every action beyond the first, at most 60 %,
    /// and the open choices are then drawn. So it misses a conflict if it ignores one of its sub-sentences.
    Careless,
    /// Writes invalid calls (a wrong name, an unexpected argument or a missing one, in the time form a start that is
    /// no clock time): each call with a chance of 5 % for every action beyond the first, at most 50 %. Half of the
    /// time it then corrects itself, otherwise it continues.
    ///
    /// In text a wrong name is written for the tool; asked again, it corrects itself half of the time, and otherwise
    /// repeats the mistake, so that an agent that requires valid tools must give up. An unexpected argument is
    /// harmless if tools without parameters ignore it. Besides, before a call it breaks the form with the same
    /// chance: half of the time it writes a section that must not come there, otherwise words in front of a mark.
    /// Corrected, it continues.
    Clumsy,
    /// Plans correctly and then repeats its last call for ever; in the time form it clears the day, for ever. In the
    /// text form its replies end at a limit if it is allowed to continue.
    Endless,
    /// None, but it writes each call as text, in a fence, as models do whose server does not read their calls.
    TextCalls,
    /// It writes on and on, and reaches any limit of its replies.
    Rambling,
    /// It never repeats a call, even if its tool said that this would help.
    NoRetry,
    /// It takes a task for done whose tool will not work again, and continues with what comes after it.
    IgnoresFailures,
    /// It repeats a call once, and ends as soon as a call fails again or for good.
    GivesUp,
    /// It repeats calls of tools that have said that they will not work again, for ever.
    RetriesForever,
    /// It takes no note of messages that change what was said before.
    ForgetsCorrections,
    /// One planted fault, and nothing else: for the dissection of errors.
    Planted(PlantedFault),
}

impl SimKind {
    /// Stand-ins for what real models do on real servers, whatever the case.
    pub const OF_SERVERS: [Self; 2] = [Self::TextCalls, Self::Rambling];

    /// Those that make a mistake only where tools fail, and only in conversations with calls.
    pub const OF_FAILURES: [Self; 4] =
        [Self::NoRetry, Self::IgnoresFailures, Self::GivesUp, Self::RetriesForever];

    /// Those that make a mistake only where the user writes more than once.
    pub const OF_MESSAGES: [Self; 1] = [Self::ForgetsCorrections];

    /// All other kinds but those with a planted fault.
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
            Self::TextCalls => "text-calls",
            Self::Rambling => "rambling",
            Self::NoRetry => "no-retry",
            Self::IgnoresFailures => "ignores-failures",
            Self::GivesUp => "gives-up",
            Self::RetriesForever => "retries-forever",
            Self::ForgetsCorrections => "forgets-corrections",
            Self::Planted(fault) => fault.as_str(),
        }
    }

    /// The kind of that name.
    pub fn find(name: &str) -> Option<Self> {
        let planted = PlantedFault::ALL.into_iter().map(Self::Planted);
        let others = Self::OF_SERVERS.into_iter().chain(Self::OF_FAILURES).chain(Self::OF_MESSAGES);
        Self::ALL.into_iter().chain(others).chain(planted).find(|kind| kind.as_str() == name)
    }

    /// Chance of one mistake with `actions` actions; see the kinds, which define the mistake.
    pub fn mistake_chance(self, actions: usize) -> f64 {
        let more = actions.saturating_sub(1) as f64;
        match self {
            Self::Forgetful => (0.03 * more).min(0.5),
            Self::Careless => (0.05 * more).min(0.6),
            Self::Clumsy => (0.05 * more).min(0.5),
            Self::Perfect
            | Self::Parallel
            | Self::InOrder
            | Self::Endless
            | Self::TextCalls
            | Self::Rambling
            | Self::NoRetry
            | Self::IgnoresFailures
            | Self::GivesUp
            | Self::RetriesForever
            | Self::ForgetsCorrections
            | Self::Planted(_) => 0.0,
        }
    }
}
