//! The rules that a command is given.

use std::path::Path;
use std::sync::Arc;

use planproof_output::failure::Failure;
use planproof_output::{tell, text_files};
use planproof_spec::rules::RuleSet;

/// Most faults that are shown for one file; `rules check --json` has all.
const SHOWN_MAX: usize = 50;

/// The rules of a file that is used for something else than being checked.
///
/// # Errors
/// The file cannot be read, or its rules are not valid: then their faults are on stderr.
pub fn rules_of(path: &Path) -> Result<Arc<RuleSet>, Failure> {
    read_rules(path, &text_files::read_text(path)?)
}

/// The same from the text of that file.
///
/// # Errors
/// As for [`rules_of`].
pub fn read_rules(path: &Path, text: &str) -> Result<Arc<RuleSet>, Failure> {
    RuleSet::read(text).map(Arc::new).map_err(|faults| {
        for fault in faults.iter().take(SHOWN_MAX) {
            tell!("{}:{fault}", path.display());
        }
        Failure::usage(format!("{} cannot be used: see `planproof rules check`", path.display()))
    })
}
