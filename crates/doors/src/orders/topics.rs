//! `planproof topics`: the topics of cases.

pub mod arguments;
mod from_mcp;
mod generate;

use std::io::Write as _;
use std::path::PathBuf;

use planproof_order::synth::{Topic, TopicBank};
use planproof_output::failure::{ExitCode, Failure};
use planproof_output::print::print_json;
use planproof_output::report_files::ReportFile;
use planproof_output::{progress, terminal};
use serde_json::Value;

use self::arguments::{OutArguments, TopicsArguments, TopicsCommand};
use super::files::{no_topic, topic_bank};
use crate::Globals;

/// Most notes of a kind.
const NOTES_MAX: usize = 10;

pub fn run(arguments: &TopicsArguments, global: &Globals) -> Result<ExitCode, Failure> {
    match &arguments.command {
        None => list(arguments, global),
        Some(TopicsCommand::Generate(arguments)) => generate::run(arguments, global),
        Some(TopicsCommand::FromMcp(arguments)) => from_mcp::run(arguments, global),
    }
}

/// Lists topics, or the activities of one.
fn list(arguments: &TopicsArguments, global: &Globals) -> Result<ExitCode, Failure> {
    let bank = topic_bank(arguments.topics.as_deref())?;
    let mut out = terminal::results(global.json);
    match &arguments.job {
        // The whole bank in the form of `--topics`, so that the output can be edited and used.
        None if global.json => out.write_all(bank.to_json().as_bytes())?,
        None => {
            for topic @ Topic { job, industry, activities, .. } in bank.topics() {
                let industry = if industry.is_empty() { String::new() } else { format!(" ({industry})") };
                let rules = match topic.orders.len() + topic.flows.len() {
                    0 => String::new(),
                    1 => ", 1 rule".to_owned(),
                    count => format!(", {count} rules"),
                };
                writeln!(out, "{job}{industry}, {} activities{rules}", activities.len())?;
            }
        }
        Some(job) => {
            let topic = bank.find(job).ok_or_else(|| no_topic(job, &bank))?;
            if global.json {
                writeln!(out, "{}", topic.to_json())?;
            } else {
                for activity in &topic.activities {
                    match &activity.tool {
                        Some(tool) => writeln!(out, "{} ({})", activity.text, tool.name)?,
                        None => writeln!(out, "{}", activity.text)?,
                    }
                }
                for rule in topic.rules_in_words() {
                    writeln!(out, "rule: {rule}")?;
                }
            }
        }
    }
    Ok(ExitCode::Passed)
}

/// Where topics are written to.
struct Out(Option<(PathBuf, ReportFile)>);

impl Out {
    /// Checks that they can be written, before anything is requested.
    fn open(arguments: &OutArguments) -> Result<Self, Failure> {
        let Some(path) = &arguments.out else { return Ok(Self(None)) };
        Ok(Self(Some((path.clone(), ReportFile::open_new(path, arguments.force)?.of_json()))))
    }

    /// Writes them, and the result to stdout, if that is requested and free.
    fn write(self, bank: &TopicBank, summary: &Value, global: &Globals) -> Result<(), Failure> {
        let text = bank.to_json();
        let Some((path, file)) = self.0.filter(|(_, file)| !file.is_stdout()) else {
            terminal::json().write_all(text.as_bytes())?;
            return Ok(());
        };
        file.write_silently(|out| out.write_all(text.as_bytes()))?;
        if global.json {
            return print_json(summary);
        }
        let count = |what: &str, one: &str, many: &str| {
            let count = summary[what].as_u64().unwrap_or_default();
            format!("{count} {}", if count == 1 { one } else { many })
        };
        progress::say(
            global.quiet,
            &format!(
                "wrote {0}: {1} with {2}; `planproof test AGENT --topics {0}` draws from it",
                path.display(),
                count("topics", "topic", "topics"),
                count("activities", "activity", "activities")
            ),
        );
        Ok(())
    }
}

/// Reports which activities seem to have a natural order: the job if there are several, the earlier, the later one.
fn note_in_order(pairs: &[(Option<&str>, &String, &String)], global: &Globals) {
    for (job, one, other) in pairs.iter().take(NOTES_MAX) {
        let of = job.map(|job| format!(" ({job})")).unwrap_or_default();
        progress::say(
            global.quiet,
            &format!(
                "note: \"{one}\" seems to come before \"{other}\" by its nature{of}, and a query may say otherwise"
            ),
        );
    }
    if let Some(more) = pairs.len().checked_sub(NOTES_MAX).filter(|more| *more > 0) {
        progress::say(global.quiet, &format!("note: so do {more} more pairs"));
    }
}
