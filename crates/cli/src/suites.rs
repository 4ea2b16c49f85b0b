//! Campaigns of the suites that have commands of their own. What all suites need of the world is in the crate `doors`.

pub(crate) mod orders;
pub(crate) mod scenarios;
