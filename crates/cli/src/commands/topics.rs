//! `planproof topics`: what cases are drawn from.

use std::io::Write as _;

use planproof_synth::Topic;

use crate::arguments::{Global, TopicsArguments};
use crate::failure::{ExitCode, Failure};
use crate::select;

pub(crate) fn run(arguments: &TopicsArguments, global: &Global) -> Result<ExitCode, Failure> {
    list(arguments, global)
}

/// Lists topics, or the activities of one.
fn list(arguments: &TopicsArguments, global: &Global) -> Result<ExitCode, Failure> {
    let bank = select::topic_bank(arguments.topics.as_deref())?;
    let mut out = std::io::stdout().lock();
    match &arguments.job {
        None if global.json => out.write_all(bank.to_json().as_bytes())?,
        None => {
            for Topic { job, industry, activities } in bank.topics() {
                let industry = if industry.is_empty() { String::new() } else { format!(" ({industry})") };
                writeln!(out, "{job}{industry}, {} activities", activities.len())?;
            }
        }
        Some(job) => {
            let topic = bank.find(job).ok_or_else(|| {
                Failure::usage(format!("no topic \"{job}\" in the topic bank; `planproof topics` lists them"))
            })?;
            if global.json {
                writeln!(out, "{}", topic.to_json())?;
            } else {
                for activity in &topic.activities {
                    match &activity.tool {
                        Some(tool) => writeln!(out, "{} ({})", activity.text, tool.name)?,
                        None => writeln!(out, "{}", activity.text)?,
                    }
                }
            }
        }
    }
    Ok(ExitCode::Passed)
}
