//! A person at the terminal who watches an agent with sub-tasks: the output, and the input from standard input.
//!
//! Questions go to stderr, so that stdout is only the report. Each answer is a line; a program that replaces the
//! person writes decisions as JSON.

use std::io::{self, BufRead, Read as _, Write as _};
use std::sync::Arc;

use planproof_agents::team::{ReviewWhen, Reviewer, Reviewing};
use planproof_agents::{AgentForm, AgentKind, AgentSpec};
use planproof_model::BoxFuture;
use planproof_output::failure::Failure;
use planproof_output::{secrets, tell, terminal};
use planproof_plan::graph::SubTaskState;
use planproof_plan::team::review::{Review, ReviewDecision, ReviewReason};
use tokio::sync::{Mutex, mpsc};

use crate::arguments::ReviewChoice;

/// The reviewer of this agent's work, if there is one.
///
/// # Errors
/// The agent writes no sub-tasks, so there is nothing to review.
pub(crate) fn reviewing(choice: ReviewChoice, agent: &AgentSpec) -> Result<Option<Reviewing>, Failure> {
    let when = match choice {
        ReviewChoice::None => return Ok(None),
        ReviewChoice::Plan => ReviewWhen::Planned,
        ReviewChoice::Each => ReviewWhen::Each,
    };
    match agent.form() {
        AgentForm::Asking { kind: AgentKind::Team(_) | AgentKind::SubTasks(..), .. } => {
            Ok(Some(Reviewing { by: Arc::new(AtTerminal::new()), when }))
        }
        _ => Err(Failure::usage(format!(
            "--review is for team@MODEL, one-step@, sequential@ and hierarchical@: {} has no sub-tasks to show",
            agent.as_str()
        ))),
    }
}

/// Longest line that is read, in bytes.
const LINE_BYTES_MAX: usize = 256 * 1024;

/// Most characters of a result that are shown without a request.
const RESULT_CHARACTERS_MAX: usize = 400;

const HELP: &str = "\
  approve             go on (a)
  edit ID TEXT        change what a sub-task says; it and all that needs it run again
  edit {JSON}         change all of a sub-task: id, task, executor, after, constraints
  drop ID             take a sub-task out
  rerun ID            run a sub-task and all that needs it once more
  result ID           show all of what a sub-task gave
  graph               show the graph again
  stop                stop here; --resume continues from this point";

/// A person at the terminal.
#[derive(Debug)]
pub(crate) struct AtTerminal {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The lines of standard input, from the first question on.
    lines: Option<mpsc::Receiver<String>>,
    /// What was asked about last, which is not introduced again.
    last: Option<(String, ReviewReason)>,
}

/// A line that was read.
enum Command<'l> {
    Decided(ReviewDecision),
    /// The text of a sub-task changes.
    Text {
        id: &'l str,
        text: &'l str,
    },
    Result(&'l str),
    Graph,
    Help,
    Unknown(String),
}

impl AtTerminal {
    /// A person who has not been asked yet.
    fn new() -> Self {
        Self { state: Mutex::default() }
    }

    async fn ask(&self, review: &Review) -> ReviewDecision {
        // Locked until the person has decided, so that one question waits for the other.
        let State { lines, last } = &mut *self.state.lock().await;
        let lines = lines.get_or_insert_with(read_lines);
        let asked = (review.task.clone(), review.moment.clone());
        introduce(review, last.as_ref() != Some(&asked));
        *last = Some(asked);
        loop {
            prompt();
            let Some(line) = lines.recv().await else {
                tell!("\nstandard input has ended, so the run stops here");
                return ReviewDecision::Stop;
            };
            if line.len() > LINE_BYTES_MAX {
                tell!(
                    "the line has more than {LINE_BYTES_MAX} bytes, so it is not read; write a shorter one"
                );
                continue;
            }
            match Command::read(line.trim()) {
                Command::Decided(decision) => return decision,
                Command::Text { id, text } => match review.graph.sub_task(id) {
                    Some(sub_task) => {
                        let mut sub_task = sub_task.clone();
                        text.clone_into(&mut sub_task.task);
                        return ReviewDecision::Edit { sub_task };
                    }
                    None => tell!("there is no sub-task `{id}`"),
                },
                Command::Result(id) => match review.results.get(id) {
                    Some(result) => tell!("{result}"),
                    None => tell!("there is no result of a sub-task `{id}`"),
                },
                Command::Graph => tell!("{}", review.drawing().to_lines().trim_end()),
                Command::Help => tell!("{HELP}"),
                Command::Unknown(what) => tell!("{what}; `help` lists what can be done"),
            }
        }
    }
}

impl Reviewer for AtTerminal {
    fn decide<'a>(&'a self, review: &'a Review) -> BoxFuture<'a, ReviewDecision> {
        Box::pin(self.ask(review))
    }
}

/// Reads standard input on a separate thread: a read from it cannot be cancelled.
fn read_lines() -> mpsc::Receiver<String> {
    // With a bound, a program that writes faster than decisions are needed is made to wait.
    let (sender, receiver) = mpsc::channel(1);
    std::thread::spawn(move || {
        let mut input = io::stdin().lock();
        let mut line = Vec::new();
        // Whatever bytes there are, they are a line.
        while next_line(&mut input, &mut line).unwrap_or(false) {
            if sender.blocking_send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                break;
            }
        }
    });
    receiver
}

/// Reads a line; of one that is too long, only as much as shows that it is. Returns whether there was one.
fn next_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    let bytes = input.by_ref().take(LINE_BYTES_MAX as u64 + 1).read_until(b'\n', line)?;
    if bytes > LINE_BYTES_MAX && !line.ends_with(b"\n") {
        // Otherwise its rest would be the next command.
        input.skip_until(b'\n')?;
    }
    Ok(bytes > 0)
}

/// Shows the progress of the team, and why a person is asked.
fn introduce(review: &Review, is_new: bool) {
    if let Some(why) = &review.refused {
        tell!("nothing was changed: {why}");
        return;
    }
    match &review.moment {
        // After a change the person is asked about the same moment again, and only the graph is different.
        _ if !is_new => {}
        ReviewReason::Planned => {
            tell!("the task: {}", shortened(&review.task.split_whitespace().collect::<Vec<_>>().join(" ")));
            for constraint in &review.graph.constraints {
                tell!("it has to hold: {}", terminal::inline(&constraint.words));
            }
        }
        ReviewReason::Ended { sub_task } => {
            let place = review.graph.sub_tasks.iter().position(|other| other.id == *sub_task);
            let state = place.and_then(|place| review.states.get(place));
            let verb = if state == Some(&SubTaskState::Failed) { "has failed" } else { "has finished" };
            let result = review.results.get(sub_task).map(|text| shortened(text)).unwrap_or_default();
            tell!("{} {verb}: {result}", terminal::inline(sub_task));
        }
    }
    tell!("{}", review.drawing().to_lines().trim_end());
}

fn prompt() {
    let mut errors = terminal::errors();
    // The person may be gone; then there is no answer either.
    let _ = errors.write_all(b"review> ").and_then(|()| errors.flush());
}

fn shortened(text: &str) -> String {
    // Before it is cut, or a part of a key could be left.
    let text = secrets::without(text);
    let shown: String = text.chars().take(RESULT_CHARACTERS_MAX).collect();
    let more = if shown.len() < text.len() { " ..." } else { "" };
    terminal::inline(&shown) + more
}

impl<'l> Command<'l> {
    fn read(line: &'l str) -> Self {
        if line.starts_with('{') {
            return match serde_json::from_str(line) {
                Ok(decision) => Self::Decided(decision),
                Err(error) => Self::Unknown(format!("this is not a decision in JSON: {error}")),
            };
        }
        let (verb, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        let id = || rest.to_owned();
        // Words that take no id must stand alone: `stop 3` could be meant for one sub-task, and would end the run.
        match (verb, rest.is_empty()) {
            ("a" | "approve", true) => Self::Decided(ReviewDecision::Approve),
            ("stop", true) => Self::Decided(ReviewDecision::Stop),
            ("graph", true) => Self::Graph,
            // An empty line decides nothing, because Enter is easily pressed once too often.
            ("" | "h" | "help" | "?", _) => Self::Help,
            ("drop", false) => Self::Decided(ReviewDecision::Drop { id: id() }),
            ("rerun", false) => Self::Decided(ReviewDecision::Rerun { id: id() }),
            ("result", false) => Self::Result(rest),
            ("edit", false) if rest.starts_with('{') => match serde_json::from_str(rest) {
                Ok(sub_task) => Self::Decided(ReviewDecision::Edit { sub_task }),
                Err(error) => Self::Unknown(format!("this is not a sub-task in JSON: {error}")),
            },
            ("edit", false) => match rest.split_once(char::is_whitespace) {
                Some((id, text)) => Self::Text { id, text: text.trim() },
                None => Self::Unknown("write the new text after the id".to_owned()),
            },
            ("drop" | "rerun" | "result" | "edit", true) => {
                Self::Unknown(format!("`{verb}` needs the id of a sub-task"))
            }
            _ => Self::Unknown(format!("`{}` is unknown", shortened(line))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_line_that_is_too_long_only_the_beginning_is_kept() {
        let long = io::repeat(b'x').take(8 * LINE_BYTES_MAX as u64);
        let mut input = io::BufReader::new(long.chain(&b"\nstop\nend"[..]));
        let mut line = Vec::new();
        let mut next = || next_line(&mut input, &mut line).unwrap().then(|| line.clone());
        assert!(next().is_some_and(|line| line.len() == LINE_BYTES_MAX + 1));
        assert_eq!(next().as_deref(), Some(&b"stop\n"[..]));
        assert_eq!(next().as_deref(), Some(&b"end"[..]));
        assert_eq!(next(), None);
    }
}
