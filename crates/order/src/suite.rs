//! The kind of case: its classes, flags, baselines and columns.

use std::sync::{Arc, LazyLock};

use planproof_suite as suite;
use planproof_suite::{
    Baseline, Card, CaseError, ClassInfo, Columns, FlagInfo, Judged, Section, Sequel, SizeUnit, Suite,
};
use planproof_synth::file::read_case;
use planproof_synth::{Flag, JudgeOptions, OneLook, OrderClass, PlanningCase};
use planproof_tools::SchemaCache;

use crate::case::{HAS_FAULTS, HAS_FLOWS, HAS_TURNS, OFFERS_REPORT, OrderCase};
use crate::dissect::DissectionSequel;
use crate::drawn::DrawnCases;
use crate::infeasible::InfeasibleReport;
use crate::shrink::ShrinkingSequel;
use crate::{cells, infeasible, phrasing};

/// The suite of orders.
#[derive(Debug, Clone, Default)]
pub struct OrderSuite {
    /// What counts as a failure.
    pub options: JudgeOptions,
    /// Compiled schemas of tools, which are costly and shared between all cases.
    pub schemas: Arc<SchemaCache>,
    /// How cases that are only named are drawn.
    pub drawn: Option<Arc<DrawnCases>>,
}

impl OrderSuite {
    /// A suite that judges by these options, with its own store of schemas.
    pub fn new(options: JudgeOptions) -> Self {
        Self { options, schemas: Arc::default(), drawn: None }
    }

    /// A case as the engine sees it. Its card is computed here, which takes some microseconds.
    pub fn wrap(&self, case: PlanningCase) -> Arc<OrderCase> {
        Arc::new(OrderCase::new(case, self.options, Arc::clone(&self.schemas)))
    }

    /// These cases as orders of this suite. Takes some ten microseconds a case.
    ///
    /// # Errors
    /// One is of another kind.
    pub fn typed(&self, cases: &[Arc<dyn suite::Case>]) -> Result<Vec<Arc<OrderCase>>, CaseError> {
        cases.iter().map(|case| Ok(self.wrap(read_order(&**case)?))).collect()
    }
}

/// A case as an order.
///
/// # Errors
/// It is of another kind.
pub fn read_order(case: &dyn suite::Case) -> Result<PlanningCase, CaseError> {
    // Cases cross the boundary of suites as lines of JSON and never by a downcast.
    read_case(&case.to_line())
        .map_err(|error| CaseError::new(format!("case {}: it is not an order: {error}", case.card().id)))
}

static CLASSES: LazyLock<Vec<ClassInfo>> = LazyLock::new(|| {
    let ranked = (0..).zip(OrderClass::ALL);
    ranked
        .map(|(rank, class)| ClassInfo { name: class.as_str(), meaning: class_meaning(class), rank })
        .collect()
});

static FLAGS: LazyLock<Vec<FlagInfo>> = LazyLock::new(|| {
    let flags = Flag::ALL.into_iter();
    flags.map(|flag| FlagInfo { name: flag.as_str(), meaning: flag_meaning(flag) }).collect()
});

/// The indices in a card's baselines: chance, then the one-look heuristics in order, that of mention first.
static BASELINES: [Baseline; 3] = [
    Baseline { name: "chance", title: "Chance", who: "a random order", of: &[0] },
    Baseline { name: "in_order", title: "In order", who: "calling in the order of mention", of: &[1] },
    Baseline {
        name: "one_look",
        title: "One look",
        who: "the best of five orders read off the text without planning",
        of: &[1, 2, 3, 4, 5],
    },
];

/// The names of the indices in a card's baselines.
static BASELINE_NAMES: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| ["chance"].into_iter().chain(OneLook::ALL.map(OneLook::as_str)).collect());

/// What those agents do.
static BASELINE_DEEDS: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| [""].into_iter().chain(OneLook::ALL.map(OneLook::deed)).collect());

/// The figures that verdicts have.
static SCORE_NAMES: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    [infeasible::NAMED, infeasible::ACTED].iter().chain(phrasing::SCORE_NAMES.iter()).copied().collect()
});

/// How many runs that passed a page shows with their traces: enough to see what right looks like beside the failures,
/// few enough for a page of thousands of runs to stay as small as it is.
const PASSED_SHOWN: usize = 5;

/// The class as the engine sees it.
pub(crate) fn class_of(class: OrderClass) -> Option<suite::Class> {
    suite::Class::find(&CLASSES, class.as_str())
}

impl Suite for OrderSuite {
    fn name(&self) -> &'static str {
        "order"
    }

    fn about(&self) -> &'static str {
        "tasks that have to be done in an order that a paragraph of English demands"
    }

    fn read(&self, line: &str) -> Result<Arc<dyn suite::Case>, CaseError> {
        let case = match (DrawnCases::named(line), &self.drawn) {
            (Some(id), Some(drawn)) => drawn.draw(&id)?,
            (Some(id), None) => return Err(CaseError::new(format!("it does not say how {id} was drawn"))),
            (None, _) => read_case(line).map_err(CaseError::new)?,
        };
        Ok(self.wrap(case))
    }

    fn sequels(&self) -> Vec<Arc<dyn Sequel>> {
        vec![Arc::new(DissectionSequel(self.clone())), Arc::new(ShrinkingSequel(self.clone()))]
    }

    fn classes(&self) -> &'static [ClassInfo] {
        &CLASSES
    }

    fn flags(&self) -> &'static [FlagInfo] {
        &FLAGS
    }

    /// A conflict can be missed only in cases that are scored separately, a false alarm raised only if there is a tool
    /// for it, a wrong value passed only if rules define the right one, a failure mistaken only where tools fail, and a
    /// turn or a correction only where there are several messages.
    fn can_occur(&self, class: suite::Class, mut cards: &mut dyn Iterator<Item = &Card>) -> bool {
        match class.as_str() {
            it if it == OrderClass::ConflictMissed.as_str() => Iterator::any(&mut cards, Card::is_apart),
            it if it == OrderClass::FalseAlarm.as_str() => {
                Iterator::any(&mut cards, |card| card.marks & OFFERS_REPORT != 0)
            }
            it if it == OrderClass::WrongValue.as_str() => {
                Iterator::any(&mut cards, |card| card.marks & HAS_FLOWS != 0)
            }
            it if OF_TURNS.iter().any(|class| class.as_str() == it) => {
                Iterator::any(&mut cards, |card| card.marks & HAS_TURNS != 0)
            }
            it if OF_FAILURES.iter().any(|class| class.as_str() == it) => {
                Iterator::any(&mut cards, |card| card.marks & HAS_FAULTS != 0)
            }
            _ => true,
        }
    }

    fn unit(&self) -> SizeUnit {
        SizeUnit { one: "action", many: "actions" }
    }

    fn baselines(&self) -> &'static [Baseline] {
        &BASELINES
    }

    fn baseline_names(&self) -> &'static [&'static str] {
        &BASELINE_NAMES
    }

    fn baseline_deeds(&self) -> &'static [&'static str] {
        &BASELINE_DEEDS
    }

    fn score_names(&self) -> &'static [&'static str] {
        &SCORE_NAMES
    }

    fn columns(&self) -> Columns {
        cells::COLUMNS
    }

    /// A few, to be compared with the failures.
    fn passed_shown(&self) -> usize {
        PASSED_SHOWN
    }

    /// Violations by wording and relation, and the infeasible cases, if the agent can report a conflict.
    fn sections(&self, runs: &[Judged<'_>], planned: &[Card], repeats: u32) -> Vec<Section> {
        let report = InfeasibleReport::of(runs, planned, repeats);
        let infeasible = report.map(|report| infeasible::section(&report, runs, repeats));
        phrasing::section(runs).into_iter().chain(infeasible).collect()
    }
}

/// The classes of what agents make of tools that fail.
const OF_FAILURES: [OrderClass; 5] = [
    OrderClass::RetriedForever,
    OrderClass::CalledVanished,
    OrderClass::WentOnAfterFailure,
    OrderClass::NoRetry,
    OrderClass::GaveUp,
];

/// The classes of what agents make of several messages.
const OF_TURNS: [OrderClass; 2] = [OrderClass::OutOfTurn, OrderClass::MissedCorrection];

fn class_meaning(class: OrderClass) -> &'static str {
    match class {
        OrderClass::Timeout => "A limit of time, turns or output was reached before the agent had finished.",
        OrderClass::ReplyLimit => ClassInfo::reply_limit(0).meaning,
        OrderClass::UnparsedCall => ClassInfo::unparsed_call(0).meaning,
        OrderClass::ActError => {
            "A refused call (no such tool, or arguments that do not fit) explains a missing action; or the agent broke."
        }
        OrderClass::ActionLost => "An action was never done.",
        OrderClass::ParameterError => "A start time is impossible.",
        OrderClass::OutOfTurn => {
            "An action was done before the message that it had to wait for, or after the turn in which it was due."
        }
        OrderClass::MissedCorrection => {
            "Something was done as it had been asked for before a message changed it."
        }
        OrderClass::OrderError => "Actions were done in an order that the paragraph rules out.",
        OrderClass::WrongValue => "A call passed a value other than the one an earlier tool returned for it.",
        OrderClass::Repeated => "An action was done more than once.",
        OrderClass::Distractor => "A tool was called that belongs to no action.",
        OrderClass::FalseAlarm => "A conflict was reported, although everything can hold together.",
        OrderClass::RetriedForever => {
            "A tool that had reported that it would not work again was called more than three more times."
        }
        OrderClass::CalledVanished => "A tool was called after the agent had been shown that it is gone.",
        OrderClass::WentOnAfterFailure => {
            "A task was done although one that has to come before it had failed."
        }
        OrderClass::NoRetry => "A call that had failed for the moment was not made again.",
        OrderClass::GaveUp => {
            "A call was not repeated until it got through, or the agent stopped at a failure with calls still due."
        }
        OrderClass::ConflictMissed => "A conflict was not reported, or a task was done anyway.",
    }
}

fn flag_meaning(flag: Flag) -> &'static str {
    match flag {
        Flag::Class(OrderClass::ActError) => "A call was refused, or the agent broke.",
        Flag::Class(OrderClass::UnparsedCall) => "A call was written as text instead of being made.",
        Flag::Class(class) => class_meaning(class),
        Flag::Concurrent => "Calls overlapped in time.",
        Flag::AtOnce => "Calls that must follow one another were written in one reply, in the right order.",
        Flag::AgentFailed => "The agent broke instead of finishing.",
        Flag::Denied => "A guard denied a call, which was not executed.",
        Flag::ToolFailed => "A call failed because its tool did, which is not a mistake of the agent.",
        Flag::RestartLimit => "The agent tried to clear the day more often than is allowed.",
    }
}
