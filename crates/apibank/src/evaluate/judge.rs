//! The judgement of one predicted call.

use super::checks;
use super::dialogue::DialogueCall;
use super::outcome::CallOutcome;
use crate::api::{ApiFault, ApiTool, PythonError};
use crate::call;
use crate::record::ApiRecord;
use crate::tools;
use crate::value::{Dict, PythonValue};
use crate::world::{ApiCompat, ApiWorld};

#[derive(Debug, Clone, PartialEq)]
pub struct JudgedPrediction {
    pub outcome: CallOutcome,
    /// The call in the text, with its arguments before type conversion.
    pub call: Option<(String, Dict)>,
    /// The tool's record, if the call was executed.
    pub record: Option<ApiRecord>,
    /// The same record after the comparison: some checks of the original remove arguments from it.
    pub compared: Option<ApiRecord>,
}

impl JudgedPrediction {
    fn without_record(outcome: CallOutcome) -> Self {
        Self { outcome, call: None, record: None, compared: None }
    }
}

/// Judges a text that should contain a call. The call changes `world`; some checks of the original change `gold`,
/// but none do in the right mode.
pub fn judge_text(text: &str, gold: &mut DialogueCall, world: &mut ApiWorld) -> JudgedPrediction {
    let found = match world.compat {
        ApiCompat::Original => call::extract(text).and_then(call::parse),
        ApiCompat::Right => call::read(text),
    };
    match found {
        None => JudgedPrediction::without_record(CallOutcome::NoCall),
        Some((name, arguments)) => {
            let judged = judge_call(&name, &arguments, gold, world);
            JudgedPrediction { call: Some((name, arguments)), ..judged }
        }
    }
}

/// Judges a call. Same as [`judge_text`], but without a text.
pub fn judge_call(
    name: &str,
    arguments: &Dict,
    gold: &mut DialogueCall,
    world: &mut ApiWorld,
) -> JudgedPrediction {
    // Another tool is wrong whatever it returns, so it is not executed.
    if name != gold.api_name {
        let outcome = CallOutcome::OtherTool { predicted: name.to_owned(), gold: gold.api_name.clone() };
        return JudgedPrediction::without_record(outcome);
    }
    let record = match carry_out(name, arguments, world) {
        Ok(record) => record,
        Err(ApiFault::Outage { tool, what }) => {
            return JudgedPrediction::without_record(CallOutcome::Outage(
                ApiFault::Outage { tool, what }.to_string(),
            ));
        }
        Err(ApiFault::Raised(raised)) => {
            return JudgedPrediction::without_record(CallOutcome::NotCarriedOut(raised));
        }
        // A tool writes what it catches into its record, so this does not occur. It would be the call's fault.
        Err(ApiFault::Caught(text)) => {
            return JudgedPrediction::without_record(CallOutcome::NotCarriedOut(PythonError::new(
                "Exception",
                text,
            )));
        }
    };
    let mut compared = record.clone();
    let outcome = match check(name, &mut compared, gold, world.compat) {
        Ok(true) => CallOutcome::Correct,
        Ok(false) => difference(&compared, &gold.result),
        Err(raised) => CallOutcome::CheckFailed(raised),
    };
    JudgedPrediction { outcome, call: None, record: Some(record), compared: Some(compared) }
}

fn check(
    name: &str,
    record: &mut ApiRecord,
    gold: &mut DialogueCall,
    compat: ApiCompat,
) -> Result<bool, PythonError> {
    let entry = entry(name)?;
    if compat == ApiCompat::Original {
        return (entry.check)(record, &mut gold.result);
    }
    checks::is_same(entry, record, &gold.result)
}

fn entry(name: &str) -> Result<&'static ApiTool, PythonError> {
    tools::get(name).ok_or_else(|| PythonError::new("Exception", "invalid tool name."))
}

/// Executes a call in a world: converts its arguments, fills in omitted ones, and runs the tool.
///
/// # Errors
/// [`ApiFault::Raised`] if the call does not reach the tool, [`ApiFault::Outage`] if something outside the call is
/// missing.
pub fn carry_out(name: &str, arguments: &Dict, world: &mut ApiWorld) -> Result<ApiRecord, ApiFault> {
    let entry = entry(name)?;
    let spec = world
        .catalogue
        .get(name)
        .cloned()
        .ok_or_else(|| PythonError::new("Exception", "invalid tool name."))?;
    // Before the arguments are bound, as in the original, which reports an unknown parameter rather than a missing one.
    let typed = match world.compat {
        ApiCompat::Original => call::coerce(&spec, arguments)?,
        ApiCompat::Right => call::typed(&spec, arguments)?,
    };
    (entry.call)(call::bind(&spec, entry.optional, typed)?, world)
}

/// The first difference of a wrong record, in the order in which the original checks.
fn difference(record: &ApiRecord, gold: &ApiRecord) -> CallOutcome {
    if record.exception.is_truthy() {
        CallOutcome::Exception
    } else if record.output != gold.output {
        CallOutcome::OutputMismatch
    } else if record.input != gold.input {
        CallOutcome::InputMismatch
    } else {
        CallOutcome::Incorrect
    }
}

/// Whether predictions of a gold call can be judged. In the original, this holds unless something external is
/// missing; in the right mode, it holds for calls that pass their own check with typed arguments or else with text
/// arguments.
pub fn is_fit(gold: &DialogueCall, world: &ApiWorld) -> bool {
    let typed = gold.result.input.as_dict();
    let none = Dict::new();
    let arguments = match (&gold.result.input, typed) {
        (_, Some(typed)) => typed,
        // A tool without parameters records no input, such as `GetToday`.
        (PythonValue::None, None) => &none,
        _ => &gold.arguments,
    };
    // The gold call is judged as its own prediction, on clones, so that nothing is changed.
    let judged = judge_call(&gold.api_name, arguments, &mut gold.clone(), &mut world.clone());
    match world.compat {
        ApiCompat::Original => !matches!(judged.outcome, CallOutcome::Outage(_)),
        ApiCompat::Right => judged.outcome.is_correct(),
    }
}
