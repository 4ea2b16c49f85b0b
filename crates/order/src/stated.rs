//! The statements of a case, of either kind: one action before another, or, in the time form, a clock time for an
//! action.

use std::fmt;

use planproof_synth::{
    ActionId, Bound, ConstraintId, PlanningCase, Rule, Source, StatedBound, StatedConstraint, StatedTurn,
    TurnDemand, clock_time,
};

/// A constraint of a case.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Stated<'a> {
    /// One action before another.
    Order(&'a StatedConstraint),
    /// A clock time for an action.
    Time(&'a StatedBound),
    /// The turn that an action belongs to.
    Turn(&'a StatedTurn),
}

impl<'a> Stated<'a> {
    /// All constraints of the case, in the order of [`PlanningCase::constraint_ids`].
    pub(crate) fn all(case: &'a PlanningCase) -> impl Iterator<Item = Self> {
        let bounds = case.time.iter().flat_map(|time| &time.bounds).map(Self::Time);
        let turns = case.turns.iter().flat_map(|turns| &turns.demands).map(Self::Turn);
        case.constraints.iter().map(Self::Order).chain(bounds).chain(turns)
    }

    /// The constraint with that id.
    pub(crate) fn find(case: &'a PlanningCase, id: &ConstraintId) -> Option<Self> {
        Self::all(case).find(|stated| stated.id() == id)
    }

    pub(crate) fn id(self) -> &'a ConstraintId {
        match self {
            Self::Order(stated) => &stated.id,
            Self::Time(stated) => &stated.id,
            Self::Turn(stated) => &stated.id,
        }
    }

    /// Where the paragraph says so.
    pub(crate) fn sources(self) -> &'a [Source] {
        match self {
            Self::Order(stated) => &stated.sources,
            Self::Time(stated) => &stated.sources,
            Self::Turn(_) => &[],
        }
    }

    /// Its rule in words, if a rule states it.
    pub(crate) fn rule(self, case: &PlanningCase) -> Option<String> {
        match self {
            Self::Order(stated) => stated.rule_words(&case.actions),
            Self::Time(_) | Self::Turn(_) => None,
        }
    }

    /// The sentence of a message that says so, if it is not one of the paragraph.
    pub(crate) fn message(self, case: &'a PlanningCase) -> Option<&'a str> {
        match self {
            Self::Order(stated) => {
                case.turns.as_ref()?.change_to(&stated.id).map(|change| change.words.as_str())
            }
            Self::Time(_) => None,
            Self::Turn(stated) => Some(stated.words.as_str()).filter(|words| !words.is_empty()),
        }
    }

    /// The words of the first place that states it, or of its rule.
    pub(crate) fn words(self, case: &PlanningCase) -> String {
        let stated = || self.sources().first().map(|source| case.words_at(source).to_owned());
        let message = || self.message(case).map(str::to_owned);
        self.rule(case).or_else(message).or_else(stated).unwrap_or_default()
    }

    /// The words of its first action, and its demand on it.
    pub(crate) fn parts(self, case: &'a PlanningCase) -> (&'a str, Demand<'a>) {
        let text = |place: usize| case.actions.get(place).map_or("", |action| action.text.as_str());
        match self {
            Self::Order(stated) => match &stated.rule {
                Some(Rule::Flow { argument, .. }) => {
                    (text(stated.second), Demand::Takes { argument, from: text(stated.first) })
                }
                _ => (text(stated.first), Demand::Before(text(stated.second))),
            },
            Self::Time(stated) => (text(stated.action), Demand::Time(stated.bound)),
            Self::Turn(stated) => (text(stated.action), Demand::Turn(stated.kind)),
        }
    }

    /// "payroll audit before stock check", "email sending takes its address from customer search", "payroll audit ends
    /// by 14:30".
    pub(crate) fn in_words(self, case: &PlanningCase) -> String {
        let (action, demand) = self.parts(case);
        format!("{action} {demand}")
    }
}

/// A constraint's demand on an action.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Demand<'a> {
    /// It precedes the action with these words.
    Before(&'a str),
    /// To pass on a value, for which it has to come later as well.
    Takes {
        /// The argument that takes the value.
        argument: &'a str,
        /// The words of the action whose tool returns it.
        from: &'a str,
    },
    /// To keep to a clock time.
    Time(Bound),
    /// To keep to a turn.
    Turn(TurnDemand),
}

impl fmt::Display for Demand<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Before(action) => write!(f, "before {action}"),
            Self::Takes { argument, from } => write!(f, "takes its {argument} from {from}"),
            Self::Time(bound) => bound.fmt(f),
            Self::Turn(TurnDemand::NotBefore(message)) => write!(f, "not before message {message}"),
            Self::Turn(TurnDemand::ByTurn(turn)) => write!(f, "before message {}", turn.saturating_add(1)),
            Self::Turn(TurnDemand::Never(message)) => write!(f, "not at all, as message {message} says"),
        }
    }
}

/// The duration of an action, in minutes; `None` in the basic form.
pub(crate) fn duration(case: &PlanningCase, id: &ActionId) -> Option<u16> {
    let place = case.actions.iter().position(|action| action.id == *id)?;
    case.time.as_ref()?.durations.get(place).copied()
}

/// "09:00 to 09:45": the time of an action with that start.
pub(crate) fn span(case: &PlanningCase, id: &ActionId, start: u16) -> String {
    match duration(case, id) {
        Some(duration) => format!("{} to {}", clock_time(start), clock_time(start.saturating_add(duration))),
        None => clock_time(start),
    }
}
