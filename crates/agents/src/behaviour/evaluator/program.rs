//! A program of the user's that judges proposed answers.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use planproof_model::BoxFuture;
use serde::Serialize;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::{Checker, Judgement, Proposal};
use crate::program::{CommandError, Ended, Output, Program, Running, failure};

/// How long a program may take to judge one answer.
pub const CHECK_TIME_MAX: Duration = Duration::from_secs(60);

/// Most bytes that a program may write to stdout and stderr together while it judges one answer.
pub const CHECK_OUTPUT_BYTES_MAX: u64 = 64 * 1024;

/// Most programs of one evaluator that are at work at the same time; further answers wait.
pub const CHECKS_AT_ONCE_MAX: usize = 8;

/// The exit status that refuses an answer.
const REFUSED: i32 = 1;

/// A program that is started for each proposed answer, directly, without a shell, in our environment and working
/// directory.
///
/// It gets the [`Proposal`] on stdin, as one line of JSON: `{"question": ..., "answer": ..., "work": ...}`. Exit
/// status 0 accepts the answer and 1 refuses it. The agent is given what the program wrote to stdout, in which
/// invalid UTF-8 is replaced by U+FFFD. Everything else says nothing about the answer and is a failure: another
/// status or a signal, a status of 1 with text on stderr alone (as from a script that crashed), more than
/// [`CHECK_OUTPUT_BYTES_MAX`], or more time than [`CHECK_TIME_MAX`].
///
/// Its process group is ended with it, by SIGTERM and 0.3 seconds later SIGKILL, and by SIGKILL alone when
/// the future is dropped. A child that moves to a session of its own (`setsid`) leaves the group and is not
/// found.
#[derive(Clone)]
pub struct ProgramChecker {
    program: Program,
    time_max: Duration,
    places: Arc<Semaphore>,
}

/// What the program reads.
#[derive(Serialize)]
struct Input<'a> {
    question: &'a str,
    answer: &'a str,
    work: &'a str,
}

impl ProgramChecker {
    /// Splits a command into words by the rules of the shell: blanks, quotes and backslashes count; pipes, variables
    /// and patterns mean nothing (for those write `sh -c '...'`).
    ///
    /// # Errors
    /// There are no words, or a quote is not closed.
    pub fn parse(text: &str) -> Result<Self, CommandError> {
        let program = Program::parse(text, "program:python my_check.py")?;
        Ok(Self { program, time_max: CHECK_TIME_MAX, places: Arc::new(Semaphore::new(CHECKS_AT_ONCE_MAX)) })
    }

    /// The same with a time limit other than [`CHECK_TIME_MAX`].
    #[must_use]
    pub fn with_time_max(self, time_max: Duration) -> Self {
        Self { time_max, ..self }
    }

    /// Makes sure that the program exists, so that a typing mistake is reported before any run.
    ///
    /// # Errors
    /// There is none, or its file cannot be executed.
    pub fn resolve(&self) -> Result<(), CommandError> {
        self.program.resolve(None).map(|_| ())
    }

    /// The words of the command: the program and its arguments.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.program.words()
    }

    async fn judge(&self, proposal: Proposal<'_>) -> Result<Judgement, String> {
        let Proposal { question, answer, work } = proposal;
        let mut input =
            serde_json::to_vec(&Input { question, answer, work }).map_err(|error| error.to_string())?;
        input.push(b'\n');
        // The time of the program starts when it gets a slot.
        let _place = self.places.acquire().await.map_err(|error| error.to_string())?;
        let mut running = Running::start(self.program.command(&[], None, None), CHECK_OUTPUT_BYTES_MAX)
            .map_err(|error| format!("`{}` could not be started: {error}", self.program.name()))?;
        let status = match timeout(self.time_max, running.until_end(&input)).await {
            Ok(Ended::Exited(status)) => status,
            Ok(Ended::TooMuch) => {
                running.stop().await;
                return Err(too_much());
            }
            Err(_) => {
                running.stop().await;
                return Err(format!(
                    "it did not end within {} seconds, which is all that it may take",
                    self.time_max.as_secs_f64()
                ));
            }
        };
        let output = running.finish().await;
        if output.is_too_much() {
            return Err(too_much());
        }
        let status = status.map_err(|error| format!("it could not be awaited: {error}"))?;
        let is_correct = match status.code() {
            Some(0) => true,
            Some(REFUSED) if !is_broken_off(&output) => false,
            _ => return Err(failure(status, &output)),
        };
        Ok(Judgement { is_correct: Some(is_correct), why: output.answer() })
    }
}

/// Whether a script that exits with 1 seems to have crashed: the interpreters of most languages then write the reason
/// to stderr.
fn is_broken_off(output: &Output) -> bool {
    output.answer().is_empty() && !output.stderr_tail().is_empty()
}

fn too_much() -> String {
    format!("it wrote more than the {CHECK_OUTPUT_BYTES_MAX} bytes that it may")
}

impl Checker for ProgramChecker {
    fn name(&self) -> &str {
        self.program.text()
    }

    fn check<'a>(&'a self, proposal: Proposal<'a>) -> BoxFuture<'a, Result<Judgement, String>> {
        Box::pin(self.judge(proposal))
    }
}

impl fmt::Debug for ProgramChecker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ProgramChecker").field(&self.program.text()).finish()
    }
}
