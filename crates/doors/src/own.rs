//! What a campaign keeps of its suite itself, in a form of the suite. Only orders have such options.

use std::borrow::Cow;
use std::sync::Arc;

use planproof_order::OrderOptions;
use serde_json::{Map, Value};

use super::orders::judging_in_words;

/// The suite of a campaign that names none.
pub const ORDER: &str = "order";

/// What a campaign keeps of its suite.
#[derive(Debug, Clone, Default)]
pub struct OwnOptions(Option<Arc<OrderOptions>>);

impl OwnOptions {
    /// Those of a campaign of orders.
    pub fn of_orders(orders: OrderOptions) -> Self {
        Self(Some(Arc::new(orders)))
    }

    /// Those of that suite where nothing else is asked for.
    pub fn defaults(suite: &str) -> Self {
        if suite == ORDER { Self::of_orders(OrderOptions::default()) } else { Self::default() }
    }

    /// Those that a campaign of that suite keeps, or one of orders where it names none.
    ///
    /// # Errors
    /// They cannot be read.
    pub fn read(suite: Option<&str>, kept: Map<String, Value>) -> Result<Self, serde_json::Error> {
        // Campaigns of other suites have the options of orders as well if an older planproof began them.
        let orders: OrderOptions = serde_json::from_value(Value::Object(kept))?;
        Ok(if suite.is_none() { Self::of_orders(orders) } else { Self::default() })
    }

    /// As a campaign keeps them.
    pub fn to_map(&self) -> Map<String, Value> {
        match self.0.as_ref().map(|orders| serde_json::to_value(&**orders)) {
            Some(Ok(Value::Object(map))) => map,
            // All keys are strings, so it is a map.
            Some(_) | None => Map::new(),
        }
    }

    /// Those of orders: the defaults in a campaign of another suite.
    pub fn orders(&self) -> Cow<'_, OrderOptions> {
        self.0.as_ref().map_or_else(|| Cow::Owned(OrderOptions::default()), |orders| Cow::Borrowed(&**orders))
    }

    /// As options of a command line, without defaults.
    pub fn in_words(&self) -> Vec<&'static str> {
        judging_in_words(&self.orders())
    }

    /// What campaigns are compared by: those of all suites have what orders are judged by.
    pub fn as_rules(&self) -> Self {
        Self::of_orders(self.orders().into_owned())
    }

    /// Whether they say how cases are drawn, so that some can be stored by name.
    pub fn draws_again(&self) -> bool {
        self.0.as_ref().is_some_and(|orders| orders.levels.is_some())
    }
}
