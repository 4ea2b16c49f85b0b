//! A campaign to be created, and where its cases come from.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use crate::digest::Digest;

/// A campaign to be created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewCampaign<'a> {
    /// Its id; unique in the store. Preferably short, and sorting by time.
    pub id: &'a str,
    /// When it was created, in milliseconds since 1970.
    pub created_ms: u64,
    /// The command line that created it.
    pub command_line: &'a str,
    /// The agent, as written on the command line.
    pub agent: &'a str,
    /// The model, if the agent's loop is ours.
    pub model: Option<&'a str>,
    /// Whether a model of the agent is one of our simulations.
    pub simulated: bool,
    /// All options, as JSON; stored unchanged.
    pub options: &'a str,
    /// How often each case is run.
    pub repeats: u32,
    /// Its budgets, as JSON, like [`Progress::budgets`](crate::Progress::budgets). They are stored from the start;
    /// otherwise a campaign killed before its first run would resume without a limit.
    pub budgets: &'a str,
}

/// A case of a campaign to be created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewCase {
    pub id: String,
    /// The case, as JSON; stored unchanged.
    pub json: String,
    /// The data from which figures are computed, as JSON; stored unchanged. See
    /// [`Store::case_summaries`](crate::Store::case_summaries).
    pub summary: Option<String>,
}

/// Id and JSON, without a summary.
impl<I: Into<String>, J: Into<String>> From<(I, J)> for NewCase {
    fn from((id, json): (I, J)) -> Self {
        Self { id: id.into(), json: json.into(), summary: None }
    }
}

/// Makes a case of a campaign from its place; `None` if the campaign has no such case.
pub type CaseSource = Arc<dyn Fn(u32) -> Option<NewCase> + Send + Sync>;

/// The sources of the cases that are stored when their first run starts, by campaign key.
pub(crate) type Deferred = Arc<Mutex<HashMap<i64, CaseSource>>>;

/// The digests of the cases of campaigns, by campaign key.
pub(crate) type CaseDigests = HashMap<i64, Vec<Digest>>;
