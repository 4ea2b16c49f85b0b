//! What guards say on stderr, for whoever watches them.

use std::path::Path;

use planproof_guard::{GuardMode, GuardModes};
use planproof_output::layout::counted;
use planproof_output::terminal::inline;
use planproof_spec::rules::RuleSet;

/// A call, or a message, that is or would be rejected: which one, and why.
pub(crate) fn refused(is_rejected: bool, about: &str, reason: &str) -> String {
    let what = if is_rejected { "rejected" } else { "would be rejected" };
    format!("guard: {what}: {}: {}", inline(about), inline(reason))
}

/// What a guard begins with.
pub(super) fn begun(modes: GuardModes, file: &Path, rules: &RuleSet) -> String {
    let rules = rules.rules();
    if rules.is_empty() {
        return format!(
            "warning: guard: {} has no rules, so nothing is denied",
            inline(&file.to_string_lossy())
        );
    }
    let shadow = rules.iter().filter(|rule| rule.is_shadow).count();
    let modes = match (modes.is_by_rule(), modes.mode()) {
        (true, _) if shadow == 0 => "all of them enforced".to_owned(),
        (true, _) if shadow == rules.len() => "all of them in shadow mode".to_owned(),
        (true, _) => format!("{shadow} of them in shadow mode"),
        (false, GuardMode::Enforce) => "all of them enforced (--enforce)".to_owned(),
        (false, GuardMode::Shadow) => "all of them in shadow mode (--shadow)".to_owned(),
    };
    format!("guard: {} of {}, {modes}", counted(rules.len(), "rule"), inline(&file.to_string_lossy()))
}
