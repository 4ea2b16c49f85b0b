//! The time form of cases (PDoctor, section 4.4): tasks have start times and durations, a day bounds them all, and
//! objects of clauses can be clock times. Durations are hidden from the agent until a tool returns them.

use std::sync::LazyLock;

use planproof_constraint::{Day, MINUTE_MAX};
use planproof_trace::{Arguments, Tool, WrittenObject};
use serde_json::{Map, Value, json};

use crate::case::{CaseTool, ConstraintId};
use crate::clock::{Bound, clock_time};
use crate::infeasible::{ANSWER_OR_REPORT, TIMED_REPORT_RULE};
use crate::text::Source;
use planproof_trace::Draw;

/// The tool that clears the day. **(ours)** The paper tells the agent to stop and plan again; a tool makes it visible.
pub const RESTART_TOOL: &str = "restart_plan";

/// What it says of itself.
pub const RESTART_DESCRIPTION: &str = "Clears the whole day, to plan again from the beginning: no task is done any more. \
                                       Tasks take as long as before.";
/// The argument of every other tool: when the task starts, as "HH:MM".
pub const START_TIME_ARGUMENT: &str = "start_time";
/// Shortest day, in minutes: it has to contain a clock time that can be named.
pub const DAY_MINUTES_MIN: u16 = 60;
/// Most restarts that a case can allow.
pub const RESTARTS_MAX: u32 = 1000;

/// Durations are multiples of this many minutes.
const DURATION_STEP: u16 = 5;
/// Default shortest and longest task if the day leaves room.
const DURATION_DEFAULT: (u16, u16) = (15, 180);

/// The options of the time form in addition to [`SynthesisOptions`](crate::SynthesisOptions).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeOptions {
    /// Within which all tasks have to be done; at least [`DAY_MINUTES_MIN`] long.
    pub day: Day,
    /// Shortest task, in minutes; `None` for 15, or for 5 if 15 would fill more than half of the day.
    pub duration_min: Option<u16>,
    /// Longest task, in minutes; `None` for a length that leaves about a third of the day free, at most three hours.
    pub duration_max: Option<u16>,
    /// Most restarts; `None` for the number of actions, which is always enough: each restart is caused by a duration
    /// that the agent has just learnt.
    pub restarts_max: Option<u32>,
}

impl Default for TimeOptions {
    /// A day from 08:00 to 20:00, and default values for everything else.
    fn default() -> Self {
        let day = Day { start: 8 * 60, end: 20 * 60 };
        Self { day, duration_min: None, duration_max: None, restarts_max: None }
    }
}

/// The time options a case was drawn with, resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CaseTimeOptions {
    /// Shortest task, in minutes.
    pub duration_min: u16,
    /// Longest task, in minutes.
    pub duration_max: u16,
    pub restarts_max: u32,
}

/// The additional data of a case of the time form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimeForm {
    /// Within which all tasks have to be done.
    pub day: Day,
    /// How long each action takes, in minutes, in the order of the actions.
    pub durations: Vec<u16>,
    /// The requirements that name a clock time.
    pub bounds: Vec<StatedBound>,
    /// How often the day can be cleared.
    pub restarts_max: u32,
}

/// A requirement of the query that names a clock time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatedBound {
    /// Its id, among all constraints of the case.
    pub id: ConstraintId,
    /// Index of the action in [`PlanningCase::actions`](crate::PlanningCase::actions).
    pub action: usize,
    pub bound: Bound,
    /// Where the paragraph states it; several places if it repeats itself.
    pub sources: Vec<Source>,
}

/// An option out of its range: its name, its value, and its allowed values.
pub(crate) type OptionFault = (&'static str, String, String);

impl TimeOptions {
    /// Checks the options for cases of up to `actions` actions.
    pub(crate) fn check(&self, actions: u32) -> Result<(), OptionFault> {
        let Day { start, end } = self.day;
        if start >= end || end > MINUTE_MAX || self.day.minutes() < DAY_MINUTES_MIN {
            let range = format!("within 00:00-24:00 and at least {DAY_MINUTES_MIN} minutes long");
            return Err(("day", show_day(self.day), range));
        }
        let in_range =
            |minutes: Option<u16>| minutes.is_none_or(|minutes| (1..=MINUTE_MAX).contains(&minutes));
        if !in_range(self.duration_min) || !in_range(self.duration_max) {
            // The one of the two that is out of range.
            let value = self.duration_min.filter(|_| !in_range(self.duration_min)).or(self.duration_max);
            return Err((
                "duration",
                value.unwrap_or_default().to_string(),
                format!("1 to {MINUTE_MAX} minutes"),
            ));
        }
        if self.restarts_max.is_some_and(|most| !(1..=RESTARTS_MAX).contains(&most)) {
            let value = self.restarts_max.unwrap_or_default().to_string();
            return Err(("restarts", value, format!("1 to {RESTARTS_MAX}")));
        }
        // If the shortest tasks do not fit into the day, no drawn durations do.
        let shortest = self.duration_min(actions);
        let needed = u32::from(shortest) * actions;
        if needed > u32::from(self.day.minutes()) {
            let value = format!("{}, that is {} minutes", show_day(self.day), self.day.minutes());
            let range = format!("at least {needed} minutes long for {actions} actions of {shortest} minutes");
            return Err(("day", value, range));
        }
        if self.duration_max.is_some_and(|longest| longest < shortest) {
            let value = format!("{shortest}..{}", self.duration_max.unwrap_or_default());
            return Err(("duration", value, "a rising range".into()));
        }
        Ok(())
    }

    pub(crate) fn resolve(&self, actions: u32) -> CaseTimeOptions {
        let duration_min = self.duration_min(actions);
        let duration_max = self.duration_max.unwrap_or_else(|| {
            // With uniformly drawn durations, 1.3 times the day over n minus the shortest fills 65 % of the day on
            // average.
            let even = u32::from(self.day.minutes()) * 13 / (10 * actions);
            let longest = even.saturating_sub(u32::from(duration_min)) as u16;
            let rounded = (longest + DURATION_STEP / 2) / DURATION_STEP * DURATION_STEP;
            // The upper end is raised to the lower one where necessary, because `clamp` panics otherwise.
            rounded.clamp(duration_min, DURATION_DEFAULT.1.max(duration_min))
        });
        let restarts_max = self.restarts_max.unwrap_or(actions);
        CaseTimeOptions { duration_min, duration_max, restarts_max }
    }

    fn duration_min(&self, actions: u32) -> u16 {
        self.duration_min.unwrap_or({
            let fills_half = u32::from(DURATION_DEFAULT.0) * actions * 2 > u32::from(self.day.minutes());
            if fills_half { DURATION_STEP } else { DURATION_DEFAULT.0 }
        })
    }

    /// Draws a duration for each action. The sum leaves about a seventh of the day free, if the shortest durations
    /// allow that.
    pub(crate) fn draw_durations(&self, draw: &mut Draw, actions: usize) -> Vec<u16> {
        let CaseTimeOptions { duration_min, duration_max, .. } = self.resolve(actions as u32);
        let minutes = u32::from(self.day.minutes());
        let shortest = u32::from(duration_min);
        let mut left = (minutes * 6 / 7).max(shortest * actions as u32);
        (1..=actions as u32)
            .rev()
            .map(|waiting| {
                // What the tasks after this one need at least is left for them, so no
                // subtraction here falls below zero.
                let most = (left - shortest * (waiting - 1)).min(u32::from(duration_max));
                let steps = (most - shortest) / u32::from(DURATION_STEP);
                let duration = shortest + u32::from(DURATION_STEP) * draw.below(steps + 1);
                left -= duration;
                duration as u16
            })
            .collect()
    }
}

/// The arguments of a call that starts a task then; the text may not be a clock time, because agents write all kinds
/// of things.
pub fn start_arguments(start_time: impl Into<String>) -> Arguments {
    Arguments::Object(Map::from_iter([(START_TIME_ARGUMENT.to_owned(), Value::String(start_time.into()))]))
}

fn show_day(day: Day) -> String {
    format!("{}-{}", clock_time(day.start), clock_time(day.end))
}

/// The tool of an action, or a distractor, in the time form.
pub(crate) fn timed_tool(text: &str, name: &str) -> CaseTool {
    static SCHEMA: LazyLock<WrittenObject> = LazyLock::new(|| {
        json!({
            "type": "object",
            "properties": {
                START_TIME_ARGUMENT: {"type": "string", "description": START_TIME_DESCRIPTION},
            },
            "required": [START_TIME_ARGUMENT],
            "additionalProperties": false,
        })
        .into()
    });
    CaseTool { name: name.to_owned(), description: timed_sentence(text), input_schema: Some(SCHEMA.clone()) }
}

/// The description of a tool's argument in the time form.
const START_TIME_DESCRIPTION: &str = "When the task starts, as HH:MM.";

/// Keywords at the top of a schema that are compatible with an additional property.
const OPEN_KEYWORDS: [&str; 12] = [
    "type",
    "properties",
    "required",
    "additionalProperties",
    "title",
    "description",
    "default",
    "examples",
    "$schema",
    "$id",
    "$defs",
    "definitions",
];

/// Why a tool of the user's own cannot get a start time; `None` if it can.
pub(crate) fn no_start_time(tool: &Tool) -> Option<String> {
    let schema = &tool.input_schema;
    let has = |place: &str| {
        let found = schema.get(place);
        found.is_some_and(|it| match it {
            Value::Object(properties) => properties.contains_key(START_TIME_ARGUMENT),
            Value::Array(names) => names.iter().any(|name| name == START_TIME_ARGUMENT),
            _ => false,
        })
    };
    // Ours would replace the tool's own argument of this name, which may mean something else.
    if has("properties") || has("required") {
        return Some(format!("it has an argument {START_TIME_ARGUMENT} of its own"));
    }
    // Keywords such as `oneOf` and `patternProperties` speak of all arguments, so adding one
    // could make every call invalid.
    let closed = schema.keys().find(|keyword| !OPEN_KEYWORDS.contains(&keyword.as_str()))?;
    Some(format!("its input schema says \"{closed}\" of all arguments, so that none can be added"))
}

/// A user's own tool, mocked, that takes a start time beside its own arguments.
pub(crate) fn timed_own_tool(tool: &Tool, description: String) -> CaseTool {
    let argument = json!({"type": "string", "description": START_TIME_DESCRIPTION});
    let schema = tool.input_schema.clone().edited(|schema| {
        match schema.entry("properties").or_insert_with(|| Value::Object(Map::new())) {
            Value::Object(properties) => drop(properties.insert(START_TIME_ARGUMENT.to_owned(), argument)),
            // A user's schema is not checked this far; what is not an object could name no argument anyway.
            other => *other = json!({START_TIME_ARGUMENT: argument}),
        }
        match schema.entry("required").or_insert_with(|| Value::Array(Vec::new())) {
            Value::Array(names) => names.push(START_TIME_ARGUMENT.into()),
            other => *other = json!([START_TIME_ARGUMENT]),
        }
    });
    CaseTool { name: tool.name.clone(), description, input_schema: Some(schema) }
}

/// The description of a tool of the time form.
pub(crate) fn timed_sentence(text: &str) -> String {
    ["Does the task \"", text, "\" from start_time on, and says how long it took."].concat()
}

/// The tool that clears the day.
pub(crate) fn restart_tool() -> CaseTool {
    CaseTool {
        name: RESTART_TOOL.to_owned(),
        description: RESTART_DESCRIPTION.to_owned(),
        input_schema: None,
    }
}

/// The agent's instructions. The oracle judges each of these rules.
pub(crate) fn timed_query(
    job: &str,
    paragraph: &str,
    day: Day,
    restarts_max: u32,
    takes_arguments: bool,
    offers_report: bool,
) -> String {
    let article = if job.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    let times = if restarts_max == 1 { "once".to_owned() } else { format!("{restarts_max} times") };
    let [start, end] = [day.start, day.end].map(clock_time);
    let others = if takes_arguments {
        "Where a tool takes other arguments, any that fit its schema will do; make them up, and do not ask for them. "
    } else {
        ""
    };
    let [mark, rule, last] = match offers_report {
        false => ["", "", "When all tasks are done, finish with a short answer."],
        true => ["\n- ", TIMED_REPORT_RULE, ANSWER_OR_REPORT],
    };
    format!(
        "You work as {article} {job}. The next paragraph names your tasks and says what it requires of their order and \
         their times. There is one tool for each task: calling it with a start time does the task, and the answer says how \
         long the task took, which cannot be known before. {others}These are the rules:\n\
         - Do every task exactly once, and do nothing else.\n\
         - Do one task at a time: make the calls one after the other, in the order of their start times, and start no task \
         before the one in front of it has ended.\n\
         - The day goes from {start} to {end}: no task starts earlier or ends later.\n\
         - Where one task has to come before another, it must have ended when the other starts.\n\
         - When an answer shows that your plan cannot work any more, stop, call {RESTART_TOOL}, and plan again. That clears \
         the whole day: every task has to be done anew, and takes as long as before. You can do so {times} at most.{mark}{rule}\n\n\
         {paragraph}\n\n{last}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(start: u16, end: u16) -> TimeOptions {
        TimeOptions { day: Day { start, end }, ..TimeOptions::default() }
    }

    #[test]
    fn durations_fit_the_day() {
        let mut draw = Draw::new(3, 0, "test/durations");
        for (day, actions, expected) in [
            (options(480, 1200), 3, (15, 180)),
            (options(480, 1200), 5, (15, 170)),
            (options(480, 1200), 64, (5, 10)),
            (options(480, 800), 64, (5, 5)),
            (TimeOptions { duration_min: Some(240), ..options(480, 1200) }, 3, (240, 240)),
            (TimeOptions { duration_max: Some(30), ..options(480, 1200) }, 4, (15, 30)),
        ] {
            assert_eq!(day.check(actions), Ok(()));
            let resolved = day.resolve(actions);
            assert_eq!((resolved.duration_min, resolved.duration_max), expected, "{day:?}");
            for _ in 0..200 {
                let durations = day.draw_durations(&mut draw, actions as usize);
                assert!(durations.iter().all(|it| (expected.0..=expected.1).contains(it)), "{durations:?}");
                assert!(durations.iter().sum::<u16>() <= day.day.minutes(), "{durations:?}");
            }
        }
    }

    #[test]
    fn options_out_of_range_say_what_is_possible() {
        let fault = |options: TimeOptions, actions| {
            let (option, value, range) = options.check(actions).expect_err("it is out of range");
            format!("{option} is {value}; it must be {range}")
        };
        assert_eq!(
            fault(options(480, 600), 64),
            "day is 08:00-10:00, that is 120 minutes; it must be at least 320 minutes long for 64 actions of 5 minutes"
        );
        assert!(fault(options(600, 480), 3).contains("day is 10:00-08:00; it must be within 00:00-24:00"));
        assert!(fault(options(480, 539), 3).contains("at least 60 minutes long"));
        assert!(fault(options(480, 1441), 3).contains("day is 08:00-24:01"));
        let base = TimeOptions::default();
        assert!(fault(TimeOptions { duration_min: Some(0), ..base }, 3).contains("duration is 0"));
        assert!(fault(TimeOptions { duration_max: Some(0), ..base }, 3).contains("duration is 0"));
        assert!(fault(TimeOptions { duration_max: Some(10), ..base }, 3).contains("duration is 15..10"));
        assert!(
            fault(TimeOptions { duration_min: Some(400), ..base }, 2).contains("2 actions of 400 minutes")
        );
        assert!(
            fault(TimeOptions { restarts_max: Some(0), ..base }, 3)
                .contains("restarts is 0; it must be 1 to")
        );
    }
}
