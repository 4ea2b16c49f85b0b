//! Built-in tools, which need no server.

pub mod calculator;

use std::sync::Arc;

use crate::Toolbox;

/// The names that [`builtin`] knows.
pub const BUILTIN_NAMES: [&str; 1] = ["calculator"];

/// The built-in tools of that name.
pub fn builtin(name: &str) -> Option<Arc<dyn Toolbox>> {
    (name == BUILTIN_NAMES[0]).then(|| Arc::new(calculator::Calculator::new()) as Arc<dyn Toolbox>)
}
