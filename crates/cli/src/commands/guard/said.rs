//! What guards say on stderr, for whoever watches them.

use std::path::Path;

use planproof_guard::GuardMode;
use planproof_spec::rules::RuleSet;

use crate::render::counted;
use crate::terminal::inline;

/// What reasons begin with, which are written for the agent.
const DENIED: &str = "The call is denied";

/// A call, or a message, that is or would be rejected: which one, and why.
pub(in crate::commands) fn refused(is_rejected: bool, about: &str, reason: &str) -> String {
    let (what, reason) = match is_rejected {
        true => ("rejected", reason.to_owned()),
        false => ("would be rejected", reason.replacen(DENIED, "The call would be denied", 1)),
    };
    format!("guard: {what}: {}: {}", inline(about), inline(&reason))
}

/// What a guard begins with.
pub(super) fn begun(mode: GuardMode, file: &Path, rules: &RuleSet) -> String {
    let mode = match mode {
        GuardMode::Shadow => "shadow",
        GuardMode::Enforce => "enforce",
    };
    let rules = rules.rules();
    let shadow = match rules.iter().filter(|rule| rule.is_shadow).count() {
        0 => String::new(),
        count => format!(", {count} of them with `mode: shadow`"),
    };
    format!(
        "guard: mode {mode}: {} of {}{shadow}",
        counted(rules.len(), "rule"),
        inline(&file.to_string_lossy())
    )
}
