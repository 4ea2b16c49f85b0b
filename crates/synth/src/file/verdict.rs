//! Verdict v1: the judge's verdict on a run, as one line of JSON that can be read back.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

use super::json;
use crate::case::{ActionId, ConstraintId};
use crate::clock::clock_time;
use crate::oracle::{
    ConflictVerdict, Flag, OracleVerdict, OrderClass, ParameterError, Refused, StartFault, TimeVerdict,
    Violated, WrongValue,
};

/// Schema name of a verdict file.
pub const VERDICT_SCHEMA: &str = "planproof/verdict/v1";

/// The word for the flag of denied calls before anything was released.
const DENIED_BEFORE: &str = "held_back";

/// Why a verdict file cannot be used.
#[derive(Debug, Error)]
pub enum VerdictFileError {
    /// It is not JSON of this schema: malformed, or a field is unknown, missing or of a wrong type.
    #[error("not a {VERDICT_SCHEMA} document: {0}")]
    Json(#[from] serde_json::Error),
    /// It is of another schema.
    #[error("schema is \"{found}\"; this version reads {VERDICT_SCHEMA}")]
    Schema { found: String },
    /// It is of this schema but makes no sense.
    #[error("verdict of case \"{case}\": {what}")]
    Invalid {
        case: String,
        /// What is wrong, and where.
        what: String,
    },
}

/// Texts are borrowed for writing, which is done for every run.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct VerdictFile<'a> {
    schema: Cow<'a, str>,
    case: Cow<'a, str>,
    passed: bool,
    class: Option<Cow<'a, str>>,
    flags: Vec<Cow<'a, str>>,
    calls: Vec<Cow<'a, str>>,
    violated: Vec<ViolatedFile<'a>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    wrong_values: Vec<WrongValueFile<'a>>,
    undetermined: Vec<Cow<'a, str>>,
    first_wrong_call: Option<usize>,
    core: Vec<Cow<'a, str>>,
    repair: Vec<Cow<'a, str>>,
    correct_next: Vec<Vec<Cow<'a, str>>>,
    refused: Vec<RefusedFile<'a>>,
    // As planproof wrote it before anything was released; the flag is read so as well.
    #[serde(default, alias = "held_back", skip_serializing_if = "Vec::is_empty")]
    denied: Vec<RefusedFile<'a>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    failed: Vec<RefusedFile<'a>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    waived: Vec<Cow<'a, str>>,
    /// The turn of each call; missing if there is one turn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    turns: Vec<u32>,
    cut_short: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    answer: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    conflict: Option<ConflictFile>,
    // The additions of the time form: all of them or none. They are not a separate structure, because serde cannot
    // refuse unknown fields beside a flattened one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    start_times: Option<Vec<Cow<'a, str>>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    parameter_errors: Option<Vec<ParameterErrorFile<'a>>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    late: Option<Vec<Cow<'a, str>>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    restarts: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    repair_start_times: Option<Vec<Cow<'a, str>>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    correct_next_start_times: Option<Vec<Vec<Cow<'a, str>>>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    decided: Option<bool>,
}

/// The conflict of the case, and the agent's report.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ConflictFile {
    sentences: Vec<u32>,
    reported: Option<Vec<u64>>,
    /// Follows from the other two.
    named: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ParameterErrorFile<'a> {
    tool: Cow<'a, str>,
    start_time: Cow<'a, str>,
    fault: Cow<'a, str>,
    /// The end of the previous call, if this one begins before that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    until: Option<Cow<'a, str>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RefusedFile<'a> {
    tool: Cow<'a, str>,
    answer: Cow<'a, str>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ViolatedFile<'a> {
    id: Cow<'a, str>,
    words: Cow<'a, str>,
}

/// A value that a call had to pass on and did not.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrongValueFile<'a> {
    id: Cow<'a, str>,
    argument: Cow<'a, str>,
    /// Missing if the argument was omitted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    passed: Option<Value>,
    expected: Value,
}

/// Writes a verdict as one line of JSON, without the line's end. `case` is the id of the case.
pub fn write_verdict(case: &str, verdict: &OracleVerdict) -> String {
    fn ids(actions: &[ActionId]) -> Vec<Cow<'_, str>> {
        actions.iter().map(|id| id.0.as_str().into()).collect()
    }
    fn times(minutes: &[u16]) -> Vec<Cow<'static, str>> {
        minutes.iter().map(|minute| clock_time(*minute).into()).collect()
    }
    fn refused(refused: &[Refused]) -> Vec<RefusedFile<'_>> {
        fn file(it: &Refused) -> RefusedFile<'_> {
            RefusedFile { tool: it.tool.as_str().into(), answer: it.answer.as_str().into() }
        }
        refused.iter().map(file).collect()
    }
    fn constraints(ids: &[ConstraintId]) -> Vec<Cow<'_, str>> {
        ids.iter().map(|id| id.0.as_str().into()).collect()
    }
    let time = verdict.time.as_ref();
    json(&VerdictFile {
        schema: VERDICT_SCHEMA.into(),
        case: case.into(),
        passed: verdict.passed,
        class: verdict.class.map(|class| class.as_str().into()),
        flags: verdict.flags.iter().map(|flag| flag.as_str().into()).collect(),
        calls: ids(&verdict.calls),
        violated: verdict
            .violated
            .iter()
            .map(|violated| ViolatedFile {
                id: violated.id.0.as_str().into(),
                words: violated.words.as_str().into(),
            })
            .collect(),
        wrong_values: verdict
            .wrong_values
            .iter()
            .map(|it| WrongValueFile {
                id: it.id.0.as_str().into(),
                argument: it.argument.as_str().into(),
                passed: it.passed.clone(),
                expected: it.expected.clone(),
            })
            .collect(),
        undetermined: constraints(&verdict.undetermined),
        first_wrong_call: verdict.first_wrong_call,
        core: constraints(&verdict.core),
        repair: ids(&verdict.repair),
        correct_next: verdict.correct_next.iter().map(|next| ids(next)).collect(),
        refused: refused(&verdict.refused),
        denied: refused(&verdict.denied),
        failed: refused(&verdict.failed),
        waived: ids(&verdict.waived),
        turns: verdict.turns.clone(),
        cut_short: verdict.cut_short.as_deref().map(Cow::Borrowed),
        answer: verdict.answer.as_deref().map(Cow::Borrowed),
        conflict: verdict.conflict.as_ref().map(|conflict| ConflictFile {
            sentences: conflict.sentences.clone(),
            reported: conflict.reported.clone(),
            named: conflict.named().map(|named| named.as_str().to_owned()),
        }),
        start_times: time.map(|time| times(&time.starts)),
        parameter_errors: time.map(|time| time.parameter_errors.iter().map(ParameterErrorFile::of).collect()),
        late: time.map(|time| ids(&time.late)),
        restarts: time.map(|time| time.restarts),
        repair_start_times: time.map(|time| times(&time.repair_starts)),
        correct_next_start_times: time
            .map(|time| time.next_starts.iter().map(|starts| times(starts)).collect()),
        decided: time.map(|time| time.is_decided),
    })
}

impl<'a> ParameterErrorFile<'a> {
    fn of(error: &'a ParameterError) -> Self {
        Self {
            tool: error.tool.as_str().into(),
            start_time: error.start.as_str().into(),
            fault: error.fault.as_str().into(),
            until: match error.fault {
                StartFault::Overlap { end } => Some(clock_time(end).into()),
                StartFault::NoClockTime | StartFault::BeforeDay => None,
            },
        }
    }

    fn read(self) -> Result<ParameterError, String> {
        let fault = match (&*self.fault, self.until.as_deref()) {
            ("no_clock_time", None) => StartFault::NoClockTime,
            ("before_day", None) => StartFault::BeforeDay,
            ("overlap", Some(until)) => StartFault::Overlap { end: minute(until)? },
            ("overlap", None) => return Err("a start with the fault \"overlap\" has no `until`".into()),
            (fault @ ("no_clock_time" | "before_day"), Some(_)) => {
                return Err(format!("a start with the fault \"{fault}\" has `until`"));
            }
            (fault, _) => return Err(format!("there is no fault \"{fault}\"")),
        };
        Ok(ParameterError { tool: self.tool.into_owned(), start: self.start_time.into_owned(), fault })
    }
}

/// Reads the output of [`write_verdict`]: the id of the case, and the verdict. The ids in it are not checked against
/// the case, which is not available here.
///
/// # Errors
/// See [`VerdictFileError`]. A verdict with the fault `overlap` that was written before `until` was introduced is
/// one.
pub fn read_verdict(text: &str) -> Result<(String, OracleVerdict), VerdictFileError> {
    #[derive(Deserialize)]
    #[serde(expecting = "a JSON object")]
    struct SchemaOnly {
        schema: Option<String>,
    }
    let file = match serde_json::from_str::<VerdictFile<'_>>(text) {
        Ok(file) if file.schema == VERDICT_SCHEMA => file,
        Ok(file) => return Err(VerdictFileError::Schema { found: file.schema.into_owned() }),
        Err(error) => {
            // A wrong schema is reported before any other fault, as for cases.
            let SchemaOnly { schema } = serde_json::from_str(text)?;
            return Err(match schema {
                Some(schema) if schema == VERDICT_SCHEMA => error.into(),
                found => VerdictFileError::Schema { found: found.unwrap_or_else(|| "(none)".into()) },
            });
        }
    };
    let case = file.case.clone().into_owned();
    match file.into_verdict() {
        Ok(verdict) => Ok((case, verdict)),
        Err(what) => Err(VerdictFileError::Invalid { case, what }),
    }
}

impl VerdictFile<'_> {
    fn into_verdict(self) -> Result<OracleVerdict, String> {
        let find_class = |name: &str| OrderClass::ALL.into_iter().find(|class| class.as_str() == name);
        let find_flag = |name: &str| match name {
            DENIED_BEFORE => Some(Flag::Denied),
            name => Flag::ALL.into_iter().find(|flag| flag.as_str() == name),
        };
        let class = match &self.class {
            None => None,
            Some(name) => Some(find_class(name).ok_or_else(|| format!("there is no class \"{name}\""))?),
        };
        if self.passed != class.is_none() {
            return Err("a verdict has a `class` if it is not `passed`, and none if it is".into());
        }
        let flags = self
            .flags
            .iter()
            .map(|name| find_flag(name).ok_or_else(|| format!("there is no flag \"{name}\"")))
            .collect::<Result<BTreeSet<Flag>, String>>()?;
        // Readers use it as an index into the calls.
        if self.first_wrong_call.is_some_and(|call| call >= self.calls.len()) {
            return Err(format!("first_wrong_call is none of its {} calls", self.calls.len()));
        }
        let calls = actions(self.calls);
        if !self.turns.is_empty() && self.turns.len() != calls.len() {
            return Err("it has not as many turns as calls".into());
        }
        let repair = actions(self.repair);
        let correct_next: Vec<Vec<ActionId>> = self.correct_next.into_iter().map(actions).collect();
        // Serde can make each field optional, but cannot demand all of them together.
        let time = match (
            self.start_times,
            self.parameter_errors,
            self.late,
            self.restarts,
            self.repair_start_times,
            self.correct_next_start_times,
            self.decided,
        ) {
            (None, None, None, None, None, None, None) => None,
            (
                Some(starts),
                Some(parameter_errors),
                Some(late),
                Some(restarts),
                Some(repair_starts),
                Some(next_starts),
                Some(is_decided),
            ) => Some(TimeVerdict {
                starts: minutes(&starts)?,
                parameter_errors: parameter_errors
                    .into_iter()
                    .map(ParameterErrorFile::read)
                    .collect::<Result<_, _>>()?,
                late: actions(late),
                restarts,
                repair_starts: minutes(&repair_starts)?,
                next_starts: next_starts.iter().map(|starts| minutes(starts)).collect::<Result<_, _>>()?,
                is_decided,
            }),
            _ => return Err("a verdict has all fields of the time form or none".into()),
        };
        if time
            .as_ref()
            // Starts and calls are matched by position.
            .is_some_and(|time| time.starts.len() != calls.len() || time.repair_starts.len() != repair.len())
        {
            return Err("it has not as many start times as calls".into());
        }
        Ok(OracleVerdict {
            passed: self.passed,
            class,
            flags,
            calls,
            violated: self
                .violated
                .into_iter()
                .map(|it| Violated { id: ConstraintId(it.id.into_owned()), words: it.words.into_owned() })
                .collect(),
            wrong_values: self
                .wrong_values
                .into_iter()
                .map(|it| WrongValue {
                    id: ConstraintId(it.id.into_owned()),
                    argument: it.argument.into_owned(),
                    passed: it.passed,
                    expected: it.expected,
                })
                .collect(),
            undetermined: constraints(self.undetermined),
            first_wrong_call: self.first_wrong_call,
            core: constraints(self.core),
            repair,
            correct_next,
            refused: refused(self.refused),
            denied: refused(self.denied),
            failed: refused(self.failed),
            waived: actions(self.waived),
            turns: self.turns,
            cut_short: self.cut_short.map(Cow::into_owned),
            answer: self.answer.map(Cow::into_owned),
            conflict: self
                .conflict
                .map(|it| ConflictVerdict { sentences: it.sentences, reported: it.reported }),
            time,
        })
    }
}

fn actions(ids: Vec<Cow<'_, str>>) -> Vec<ActionId> {
    ids.into_iter().map(|id| ActionId(id.into_owned())).collect()
}

fn constraints(ids: Vec<Cow<'_, str>>) -> Vec<ConstraintId> {
    ids.into_iter().map(|id| ConstraintId(id.into_owned())).collect()
}

fn refused(files: Vec<RefusedFile<'_>>) -> Vec<Refused> {
    let read = |it: RefusedFile<'_>| Refused { tool: it.tool.into_owned(), answer: it.answer.into_owned() };
    files.into_iter().map(read).collect()
}

fn minutes(times: &[Cow<'_, str>]) -> Result<Vec<u16>, String> {
    times.iter().map(|time| minute(time)).collect()
}

/// The inverse of [`clock_time`], which counts hours beyond 24 if a task ends after its day.
fn minute(time: &str) -> Result<u16, String> {
    let read = || {
        let (hours, minutes) = time.split_once(':')?;
        let number = |digits: &str| {
            let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
            is_number.then(|| digits.parse::<u16>().ok()).flatten()
        };
        let minutes = number(minutes).filter(|minutes| *minutes < 60)?;
        number(hours)?.checked_mul(60)?.checked_add(minutes)
    };
    read().ok_or_else(|| format!("\"{time}\" is no clock time of the form HH:MM"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_minute_reads_back() {
        for it in 0..=u16::MAX {
            assert_eq!(minute(&clock_time(it)), Ok(it));
        }
        for text in ["", ":", "1:", ":30", "12:60", "+1:00", "1093:00", "a:bc", "12:00:00"] {
            assert!(minute(text).is_err(), "{text}");
        }
    }
}
