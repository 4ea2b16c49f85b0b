//! The judgement of one predicted call.

use super::checks;
use super::dialogue::GoldCall;
use super::outcome::Outcome;
use crate::api::{Entry, Fault, Raised};
use crate::call;
use crate::record::Record;
use crate::tools;
use crate::value::{Dict, Value};
use crate::world::{Compat, World};

/// A judged prediction.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// The outcome.
    pub outcome: Outcome,
    /// The call in the text, with its arguments before type conversion.
    pub call: Option<(String, Dict)>,
    /// The tool's record, if the call was executed.
    pub record: Option<Record>,
    /// The same record after the comparison: some checks of the original remove arguments from it.
    pub compared: Option<Record>,
}

impl Judged {
    fn without_record(outcome: Outcome) -> Self {
        Self { outcome, call: None, record: None, compared: None }
    }
}

/// Judges a text that should contain a call. The call changes `world`; some checks of the original change `gold`,
/// but none do in the right mode.
pub fn judge_text(text: &str, gold: &mut GoldCall, world: &mut World) -> Judged {
    let found = match world.compat {
        Compat::Original => call::extract(text).and_then(call::parse),
        Compat::Right => call::read(text),
    };
    match found {
        None => Judged::without_record(Outcome::NoCall),
        Some((name, arguments)) => {
            let judged = judge_call(&name, &arguments, gold, world);
            Judged { call: Some((name, arguments)), ..judged }
        }
    }
}

/// Judges a call. Same as [`judge_text`], but without a text.
pub fn judge_call(name: &str, arguments: &Dict, gold: &mut GoldCall, world: &mut World) -> Judged {
    if name != gold.api_name {
        let outcome = Outcome::OtherTool { predicted: name.to_owned(), gold: gold.api_name.clone() };
        return Judged::without_record(outcome);
    }
    let record = match carry_out(name, arguments, world) {
        Ok(record) => record,
        Err(Fault::Outage { tool, what }) => {
            return Judged::without_record(Outcome::Outage(Fault::Outage { tool, what }.to_string()));
        }
        Err(Fault::Raised(raised)) => return Judged::without_record(Outcome::NotCarriedOut(raised)),
        Err(Fault::Caught(text)) => {
            return Judged::without_record(Outcome::NotCarriedOut(Raised::new("Exception", text)));
        }
    };
    let mut compared = record.clone();
    let outcome = match check(name, &mut compared, gold, world.compat) {
        Ok(true) => Outcome::Correct,
        Ok(false) => difference(&compared, &gold.result),
        Err(raised) => Outcome::CheckFailed(raised),
    };
    Judged { outcome, call: None, record: Some(record), compared: Some(compared) }
}

fn check(name: &str, record: &mut Record, gold: &mut GoldCall, compat: Compat) -> Result<bool, Raised> {
    let entry = entry(name)?;
    if compat == Compat::Original {
        return (entry.check)(record, &mut gold.result);
    }
    checks::is_same(entry, record, &gold.result)
}

fn entry(name: &str) -> Result<&'static Entry, Raised> {
    tools::get(name).ok_or_else(|| Raised::new("Exception", "invalid tool name."))
}

/// Executes a call in a world: converts its arguments, fills in omitted ones, and runs the tool.
///
/// # Errors
/// [`Fault::Raised`] if the call does not reach the tool, [`Fault::Outage`] if something outside the call is
/// missing.
pub fn carry_out(name: &str, arguments: &Dict, world: &mut World) -> Result<Record, Fault> {
    let entry = entry(name)?;
    let spec =
        world.catalogue.get(name).cloned().ok_or_else(|| Raised::new("Exception", "invalid tool name."))?;
    let typed = match world.compat {
        Compat::Original => call::coerce(&spec, arguments)?,
        Compat::Right => call::typed(&spec, arguments)?,
    };
    (entry.call)(call::bind(&spec, entry.optional, typed)?, world)
}

/// The first difference of a wrong record, in the order in which the original checks.
fn difference(record: &Record, gold: &Record) -> Outcome {
    if record.exception.is_truthy() {
        Outcome::Exception
    } else if record.output != gold.output {
        Outcome::OutputMismatch
    } else if record.input != gold.input {
        Outcome::InputMismatch
    } else {
        Outcome::Incorrect
    }
}

/// Whether predictions of a gold call can be judged. In the original, this holds unless something external is
/// missing; in the right mode, it holds for calls that pass their own check with typed arguments or else with text
/// arguments.
pub fn is_fit(gold: &GoldCall, world: &World) -> bool {
    let typed = gold.result.input.as_dict();
    let none = Dict::new();
    let arguments = match (&gold.result.input, typed) {
        (_, Some(typed)) => typed,
        (Value::None, None) => &none,
        _ => &gold.arguments,
    };
    let judged = judge_call(&gold.api_name, arguments, &mut gold.clone(), &mut world.clone());
    match world.compat {
        Compat::Original => !matches!(judged.outcome, Outcome::Outage(_)),
        Compat::Right => judged.outcome.is_correct(),
    }
}
