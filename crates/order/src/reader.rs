//! Cases of the engine as orders.

use std::sync::Arc;

use planproof_suite::{Case, CaseError};
use planproof_synth::file::read_case;
use planproof_synth::{JudgeOptions, PlanningCase};
use planproof_tools::SchemaCache;

use crate::OrderCase;

/// A case as an order.
///
/// # Errors
/// It is of another kind.
pub fn read_order(case: &dyn Case) -> Result<PlanningCase, CaseError> {
    // Cases cross the boundary of suites as lines of JSON and never by a downcast.
    read_case(&case.to_line())
        .map_err(|error| CaseError::new(format!("case {}: it is not an order: {error}", case.card().id)))
}

/// What reads cases as orders that are judged alike.
#[derive(Debug, Clone, Default)]
pub struct OrderReader {
    /// What counts as a failure.
    pub options: JudgeOptions,
    /// Compiled schemas of tools, which are costly and shared between all cases.
    pub schemas: Arc<SchemaCache>,
}

impl OrderReader {
    /// These cases as orders. Takes some ten microseconds a case.
    ///
    /// # Errors
    /// One is of another kind.
    pub fn typed(&self, cases: &[Arc<dyn Case>]) -> Result<Vec<Arc<OrderCase>>, CaseError> {
        let wrap = |case| Arc::new(OrderCase::new(case, self.options, Arc::clone(&self.schemas)));
        cases.iter().map(|case| Ok(wrap(read_order(&**case)?))).collect()
    }
}
