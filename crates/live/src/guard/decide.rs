//! `planproof guard decide`: decisions for a program that makes its calls itself, a line for each question on stdin and
//! one for each answer on stdout. What they say is up to `planproof-guard`.

use std::io::{BufRead, ErrorKind, Read as _, Write as _};
use std::path::Path;
use std::time::Instant;

use planproof_guard::{GuardMode, LINE_BYTES_MAX, LineGuard};
use planproof_output::failure::{ExitCode, Failure, unless_closed};
use planproof_output::report_files::must_differ;
use planproof_output::terminal::inline;
use planproof_output::{tell, terminal};

use super::log_file::{LogFile, Unwritten};

pub(super) fn run(rules: &Path, mode: Option<GuardMode>, log: Option<&Path>) -> Result<ExitCode, Failure> {
    let mut log = match log {
        Some(path) => {
            must_differ(path, &[("--rules", rules)])?;
            Some(LogFile::open(path)?)
        }
        None => None,
    };
    let (rules, modes, digest) = super::read(rules, mode);
    let mut guard = LineGuard::new(rules, modes, digest, super::session_name(), super::held_keys());
    // A program that stops to listen has ended its sessions as well.
    unless_closed(answer_all(&mut guard, log.as_mut()).map_err(Failure::from))?;
    if let Some(log) = &mut log {
        for line in guard.end_lines() {
            if log.append(&line, Unwritten::Owed).is_err() {
                break;
            }
        }
        if let Some(why) = log.close() {
            tell!("warning: {}", inline(&why));
        }
    }
    Ok(ExitCode::Passed)
}

/// Answers until there are no more questions.
fn answer_all(guard: &mut LineGuard, mut log: Option<&mut LogFile>) -> std::io::Result<()> {
    let mut questions = std::io::stdin().lock();
    let say = |line: &str| {
        let mut out = terminal::answer();
        writeln!(out, "{line}")?;
        out.flush()
    };
    say(&guard.greeting())?;
    let mut line = Vec::new();
    loop {
        line.clear();
        let mut bounded = (&mut questions).take(LINE_BYTES_MAX as u64 + 1);
        match bounded.read_until(b'\n', &mut line) {
            Ok(0) => return Ok(()),
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => {
                tell!("error: stdin cannot be read: {error}");
                return Ok(());
            }
        }
        let started = Instant::now();
        let is_whole = line.last() == Some(&b'\n');
        if line.trim_ascii().is_empty() {
            continue;
        }
        let mut answer = match is_whole || line.len() <= LINE_BYTES_MAX {
            true => {
                let microseconds = || u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
                guard.take(line.trim_ascii_end(), &microseconds)
            }
            false => {
                skip_line(&mut questions)?;
                guard.too_long(&line, LINE_BYTES_MAX)
            }
        };
        if let Some(log) = &mut log {
            for line in answer.log.clone() {
                // An approval is taken back; anything else has happened.
                let unwritten = match guard.may_take_back(&answer) {
                    true => Unwritten::Undone,
                    false => Unwritten::Owed,
                };
                if let Err(why) = log.append(&line, unwritten) {
                    tell!("warning: {}", inline(&why));
                    answer = guard.unlogged(answer, &why);
                    break;
                }
            }
        }
        say(&answer.answer)?;
    }
}

/// Reads up to the end of a line, and keeps nothing of it.
fn skip_line(questions: &mut impl BufRead) -> std::io::Result<()> {
    loop {
        let read = questions.fill_buf()?;
        if read.is_empty() {
            return Ok(());
        }
        let end = read.iter().position(|byte| *byte == b'\n');
        let (used, is_end) = end.map_or((read.len(), false), |end| (end + 1, true));
        questions.consume(used);
        if is_end {
            return Ok(());
        }
    }
}
