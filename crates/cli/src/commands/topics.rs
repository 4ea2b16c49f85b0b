//! `planproof topics`: what cases are drawn from.

use std::io::Write as _;

use planproof_synth::TopicBank;
use serde_json::json;

use super::print_json;
use crate::arguments::{Global, TopicsArguments};
use crate::failure::{ExitCode, Failure};

pub(crate) fn run(arguments: &TopicsArguments, global: &Global) -> Result<ExitCode, Failure> {
    let bank = TopicBank::shipped();
    let mut out = std::io::stdout().lock();
    match &arguments.job {
        None if global.json => {
            let topics: Vec<_> = bank
                .topics()
                .iter()
                .map(|topic| json!({"job": topic.job, "industry": topic.industry, "activities": topic.activities}))
                .collect();
            drop(out);
            print_json(&json!({"schema": "planproof/topics/v1", "topics": topics}))?;
        }
        None => {
            for topic in bank.topics() {
                writeln!(out, "{} ({}), {} activities", topic.job, topic.industry, topic.activities.len())?;
            }
        }
        Some(job) => {
            let topic = bank.find(job).ok_or_else(|| {
                Failure::usage(format!("no topic \"{job}\" in the topic bank; `planproof topics` lists them"))
            })?;
            if global.json {
                drop(out);
                print_json(
                    &json!({"job": topic.job, "industry": topic.industry, "activities": topic.activities}),
                )?;
            } else {
                for activity in &topic.activities {
                    writeln!(out, "{activity}")?;
                }
            }
        }
    }
    Ok(ExitCode::Passed)
}
