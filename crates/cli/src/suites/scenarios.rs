//! Campaigns over cases of one's own: of a file of scenarios (`source.rs`), or drawn from rules (`from_rules.rs`).

mod from_rules;
mod source;

pub(crate) use from_rules::RuleCases;
pub(crate) use source::ScenarioCases;
