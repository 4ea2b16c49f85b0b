//! The call that shows whether a guard stands where it should.
//!
//! It is rejected by every guard, in shadow mode as well, and never passed on: whoever makes it, as `planproof doctor`
//! does, learns from the answer alone whether calls come past a guard, and whether that one enforces.

use crate::modes::GuardMode;

/// The tool that no server may have.
pub const CANARY_TOOL: &str = "planproof_canary";

/// What the answer of a guard that enforces has in it.
const ENFORCES: &str = "A guard stands here, and enforces";
/// That of one in shadow mode.
const WATCHES: &str = "A guard stands here, and only watches";

/// Whether a call is the canary, whatever an agent puts before the names of tools.
pub fn is_canary(tool: &str) -> bool {
    tool.ends_with(CANARY_TOOL)
}

/// Why the canary is rejected, for whoever called it.
pub fn canary_reason(mode: GuardMode) -> String {
    let what = match mode {
        GuardMode::Enforce => ENFORCES,
        GuardMode::Shadow => WATCHES,
    };
    format!("The call is denied: `{CANARY_TOOL}` is for tests of a guard alone. {what}.")
}

/// The mode of the guard that gave this answer to the canary; `None` if no guard did.
pub fn mode_of_canary(answer: &str) -> Option<GuardMode> {
    match answer {
        _ if answer.contains(ENFORCES) => Some(GuardMode::Enforce),
        _ if answer.contains(WATCHES) => Some(GuardMode::Shadow),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_says_the_mode() {
        for mode in [GuardMode::Enforce, GuardMode::Shadow] {
            assert_eq!(mode_of_canary(&canary_reason(mode)), Some(mode));
        }
        assert_eq!(mode_of_canary("unknown tool planproof_canary"), None);
        assert!(is_canary(CANARY_TOOL) && is_canary("mcp__shop__planproof_canary") && !is_canary("refund"));
    }
}
