//! A program's run, from the host's side of the line.

use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::time::timeout;

use super::process::{BreakOff, Worker};
use crate::functions::{CallError, Functions, ProgramCall};
use crate::limits::{SandboxLimits, VALUE_DEPTH_MAX};
use crate::outcome::{ProgramEnd, ProgramOutcome};
use crate::protocol::{FromWorker, Run, ToWorker};

/// Time beyond the limit of a run after which a worker is killed. The interpreter checks its clock between steps, and
/// a step can be long, such as the power of a large number.
const DEADLINE_GRACE: Duration = Duration::from_secs(1);

/// One run: its program, and its results so far.
pub(super) struct Talk<'a> {
    functions: &'a dyn Functions,
    names: Vec<String>,
    limits: SandboxLimits,
    run: Run,
    printed: String,
    calls: usize,
    was_answered: bool,
}

impl<'a> Talk<'a> {
    pub(super) fn new(functions: &'a dyn Functions, run: Run) -> Self {
        let (names, limits) = (run.functions.clone(), run.limits.clone());
        Self { functions, names, limits, run, printed: String::new(), calls: 0, was_answered: false }
    }

    pub(super) fn outcome(self, end: ProgramEnd) -> ProgramOutcome {
        ProgramOutcome { end, printed: self.printed, calls: self.calls }
    }

    /// Whether a worker has sent anything about the program.
    pub(super) fn was_answered(&self) -> bool {
        self.was_answered
    }

    /// Has a worker run the program, and makes its calls. The worker's messages are checked against its limits.
    pub(super) async fn hold(&mut self, worker: &mut Worker) -> Result<ProgramEnd, BreakOff> {
        let mut say = ToWorker::Run(Box::new(self.run.clone()));
        worker.runs += 1;
        let line_bytes_max = self.limits.line_bytes_max();
        let mut time_left = self.limits.time + DEADLINE_GRACE;
        loop {
            let asked = Instant::now();
            let answer = async {
                worker.say(&say).await?;
                worker.hear(line_bytes_max).await
            };
            let heard = timeout(time_left, answer).await.map_err(|_| BreakOff::Silent)??;
            // Only the worker's part of the time counts: the host's calls take as long as they take.
            time_left = time_left.saturating_sub(asked.elapsed());
            self.was_answered = true;
            match heard {
                FromWorker::Ended { end, printed } => {
                    self.print(&printed)?;
                    return Ok(end);
                }
                FromWorker::Call { id: _, function, args, kwargs, printed } => {
                    self.print(&printed)?;
                    say = self.answer(ProgramCall { function, args, kwargs }).await?;
                }
                FromWorker::Ready => return Err(BreakOff::Nonsense("it says that it is ready".into())),
            }
        }
    }

    fn print(&mut self, printed: &str) -> Result<(), BreakOff> {
        self.printed.push_str(printed);
        // A worker that works as it should ends the run itself at this limit. The same holds for calls.
        if self.printed.len() > self.limits.output_bytes {
            return Err(BreakOff::Nonsense("it prints more than it may".into()));
        }
        Ok(())
    }

    /// Makes a call of the program's.
    async fn answer(&mut self, call: ProgramCall) -> Result<ToWorker, BreakOff> {
        if !self.names.contains(&call.function) || self.calls >= self.limits.calls {
            return Err(BreakOff::Nonsense("it makes a call that it may not make".into()));
        }
        self.calls += 1;
        let function = call.function.clone();
        let result = match self.functions.call(call).await {
            Ok(value) if is_deeper(&value, VALUE_DEPTH_MAX) => {
                Err(CallError::runtime(format!("the result of {function}() is nested too deep")))
            }
            Ok(value) if bytes(&value) > self.limits.value_bytes => {
                Err(CallError::runtime(format!("the result of {function}() is too large")))
            }
            result => result,
        };
        Ok(match result {
            Ok(value) => ToWorker::Result(value),
            Err(CallError { kind, mut message }) => {
                message.truncate(message.floor_char_boundary(self.limits.value_bytes));
                ToWorker::Raise { kind, message }
            }
        })
    }
}

/// Whether lists and objects are nested more than `levels` deep. Checks no deeper than that.
fn is_deeper(value: &Value, levels: usize) -> bool {
    let Some(below) = levels.checked_sub(1) else {
        return matches!(value, Value::Array(_) | Value::Object(_));
    };
    match value {
        Value::Array(items) => items.iter().any(|item| is_deeper(item, below)),
        Value::Object(members) => members.values().any(|member| is_deeper(member, below)),
        _ => false,
    }
}

/// Bytes of a value as JSON.
fn bytes(value: &Value) -> usize {
    struct Count(usize);
    impl std::io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    match serde_json::to_writer(&mut count, value) {
        Ok(()) => count.0,
        Err(_) => usize::MAX,
    }
}
