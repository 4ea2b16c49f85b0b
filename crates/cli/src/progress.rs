//! Progress on stderr, only where a person watches.

use std::io::Write;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::arguments::Global;
use crate::terminal;

/// A line on stderr, written as by `eprintln!`. One that cannot be written is left out: whoever watched is
/// gone, and that is no reason to lose the work.
macro_rules! tell {
    ($($argument:tt)*) => {
        $crate::progress::write_line(format_args!($($argument)*))
    };
}

pub(crate) use tell;

/// What [`tell!`] does.
pub(crate) fn write_line(line: std::fmt::Arguments<'_>) {
    let _ = writeln!(terminal::errors(), "{line}");
}

/// A bar over `total` runs, of which `done` are done. Hidden when stderr is no terminal, or quiet was asked for.
pub(crate) fn bar(global: &Global, total: u64, done: u64) -> ProgressBar {
    let target = if global.quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
    let bar = ProgressBar::with_draw_target(Some(total), target);
    let style = ProgressStyle::with_template("{wide_bar} {pos}/{len}  {msg}  {elapsed}, {eta} to go")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.set_style(style);
    bar.set_position(done);
    bar
}

/// A warning on stderr, which is no progress: it is shown even where quiet was asked for.
pub(crate) fn warn(what: &str) {
    tell!("warning: {what}");
}

/// A line on stderr, unless quiet was asked for.
pub(crate) fn say(global: &Global, line: &str) {
    if !global.quiet {
        tell!("{line}");
    }
}
