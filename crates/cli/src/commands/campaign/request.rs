//! The request for a campaign whose cases are all run.

use std::path::Path;

use planproof_agents::AgentSpec;

use super::plan::CampaignPlan;
use crate::arguments::{AllCasesArguments, CampaignArguments};

/// The command line's description of a campaign whose cases are all run.
pub(in crate::commands) struct CampaignRequest<'a> {
    pub(in crate::commands) campaign: &'a CampaignArguments,
    /// The agent, if the command line names one.
    pub(in crate::commands) agent: Option<AgentSpec>,
    pub(in crate::commands) plan: CampaignPlan<'a>,
    pub(in crate::commands) all: &'a AllCasesArguments,
    /// Other files of the command, with the options that name them.
    pub(in crate::commands) taken: Vec<(&'a str, &'a Path)>,
    /// Where the smallest failing cases go.
    pub(in crate::commands) shrink_to: Option<&'a Path>,
}
