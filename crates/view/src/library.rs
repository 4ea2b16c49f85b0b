//! What the server needs to know of campaigns beyond the store: their suites, and their reports.

use std::io;
use std::sync::Arc;

use planproof_campaign::StoredOptions;
use planproof_store::{CampaignRow, Store};
use planproof_suite::Suite;

/// Finds what belongs to a campaign by name. It is the only way to a suite.
pub trait Library: Send + Sync {
    /// The kind of a campaign's cases, and the options that it keeps.
    ///
    /// # Errors
    /// The store's data of the campaign make no sense, or its suite is unknown; in words.
    fn known(&self, campaign: &CampaignRow) -> Result<KnownCampaign, String>;

    /// Writes the report of a campaign as a page.
    ///
    /// # Errors
    /// The campaign cannot be read, in words, or `out` fails.
    fn write_report(&self, store: &Store, campaign: &str, out: &mut dyn io::Write) -> Result<(), String>;
}

/// What is known of a campaign by its options.
pub struct KnownCampaign {
    /// The kind of its cases.
    pub suite: Arc<dyn Suite>,
    pub options: StoredOptions,
}
