//! The kind of case: its baselines, columns and sequels.

use std::sync::{Arc, LazyLock};

use planproof_suite as suite;
use planproof_suite::{
    Baseline, Card, CaseError, ClassInfo, Columns, FlagInfo, Judged, Section, Sequel, SizeUnit, Suite,
    SuiteOption,
};
use planproof_synth::file::read_case;
use planproof_synth::{JudgeOptions, OneLook, OrderClass, PlanningCase};
use planproof_tools::SchemaCache;

use crate::case::{HAS_FAULTS, HAS_FLOWS, HAS_TURNS, OFFERS_REPORT, OrderCase};
use crate::classes::{CLASSES, FLAGS};
use crate::dissect::{self, DissectionSequel};
use crate::drawn::DrawnCases;
use crate::infeasible::InfeasibleReport;
use crate::reader::OrderReader;
use crate::shrink::{self, ShrinkingSequel};
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
}

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

/// What its sequels can be asked for.
static OPTIONS: LazyLock<Vec<SuiteOption>> =
    LazyLock::new(|| dissect::OPTIONS.into_iter().chain(shrink::OPTIONS).collect());

/// How many runs that passed a page shows with their traces: enough to see what right looks like beside the failures,
/// few enough for a page of thousands of runs to stay as small as it is.
const PASSED_SHOWN: usize = 5;

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

    fn options(&self) -> &'static [SuiteOption] {
        &OPTIONS
    }

    fn sequels(&self) -> Vec<Arc<dyn Sequel>> {
        let reader = || OrderReader { options: self.options, schemas: Arc::clone(&self.schemas) };
        vec![Arc::new(DissectionSequel(reader())), Arc::new(ShrinkingSequel(reader()))]
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
