//! The request for a campaign whose cases are all run.

use std::path::Path;

use planproof_agents::AgentSpec;

use super::plan::CampaignPlan;
use crate::arguments::{AllCasesArguments, CampaignArguments};

/// The command line's description of a campaign whose cases are all run.
pub(crate) struct CampaignRequest<'a> {
    pub(crate) campaign: &'a CampaignArguments,
    /// The agent, if the command line names one.
    pub(crate) agent: Option<AgentSpec>,
    pub(crate) plan: CampaignPlan<'a>,
    pub(crate) all: &'a AllCasesArguments,
    /// Other files of the command, with the options that name them.
    pub(crate) taken: Vec<(&'a str, &'a Path)>,
    /// Where the smallest failing cases go.
    pub(crate) shrink_to: Option<&'a Path>,
}
