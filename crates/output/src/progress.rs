//! Progress on stderr, shown only to a person.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::{secrets, terminal};

/// Whether the user wants no progress shown, for what has no arguments at hand.
static IS_QUIET: AtomicBool = AtomicBool::new(false);

/// Notes whether the user wants no progress shown.
pub fn be_quiet(is_quiet: bool) {
    IS_QUIET.store(is_quiet, Ordering::Relaxed);
}

/// Whether the user wants no progress shown.
pub fn is_quiet() -> bool {
    IS_QUIET.load(Ordering::Relaxed)
}

/// A line on stderr, as with `eprintln!`. If it cannot be written it is dropped: the reader is gone, and that is no
/// reason to lose the work.
#[macro_export]
macro_rules! tell {
    ($($argument:tt)*) => {
        $crate::progress::write_line(format_args!($($argument)*))
    };
}

/// What [`tell!`](crate::tell) does.
pub fn write_line(line: std::fmt::Arguments<'_>) {
    // Answers of servers may contain the key that they were sent.
    let line = line.to_string();
    let _ = writeln!(terminal::errors(), "{}", secrets::held().redact(&line));
}

/// A bar over `total` runs, of which `done` are done. Hidden if stderr is not a terminal, or in quiet mode.
pub fn bar(is_quiet: bool, total: u64, done: u64) -> ProgressBar {
    let target = if is_quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
    let bar = ProgressBar::with_draw_target(Some(total), target);
    let style = ProgressStyle::with_template("{wide_bar} {pos}/{len}  {msg}  {elapsed}, {eta} to go")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.set_style(style);
    bar.set_position(done);
    bar
}

/// A bar for the phases of single work, each with a name and a total of its own. Hidden if stderr is not a terminal, or
/// in quiet mode. It clears itself when it is dropped.
#[derive(Debug)]
pub struct Phases(ProgressBar);

impl Phases {
    /// One that is about `what`.
    pub fn new(is_quiet: bool, what: &str) -> Self {
        let target = if is_quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(Some(1), target);
        let style = ProgressStyle::with_template("{prefix}: {msg} {wide_bar} {percent} %  {elapsed}")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
        bar.set_style(style);
        bar.set_prefix(what.to_owned());
        Self(bar)
    }

    /// Whether a person can see it.
    pub fn is_seen(&self) -> bool {
        !self.0.is_hidden()
    }

    /// Says how far a phase has come.
    pub fn at(&self, phase: &'static str, done: u64, of: u64) {
        if self.0.message() != phase {
            self.0.set_message(phase);
        }
        // A bar of length 0 shows 100 %.
        self.0.set_length(of.max(1));
        self.0.set_position(done);
    }
}

impl Drop for Phases {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// A warning on stderr, which is not progress: it is shown even in quiet mode.
pub fn warn(what: &str) {
    tell!("warning: {what}");
}

/// A line on stderr, except in quiet mode.
pub fn say(is_quiet: bool, line: &str) {
    if !is_quiet {
        tell!("{line}");
    }
}
