//! Whether a predicted call is as good as the gold one.
//!
//! The published checks differ from tool to tool, and some raise where a record is not as they expect it; the right
//! ones differ only where two calls can say the same in other words.

use crate::api::Raised;
use crate::record::Record;
use crate::value::Value;

/// Two texts with more than this share of words in common say the same.
const SAME_TOPIC: f64 = 0.5;

/// Name, arguments, output and error are the same.
pub(super) fn all(predicted: &mut Record, gold: &mut Record) -> Result<bool, Raised> {
    Ok(predicted.api_name == gold.api_name
        && is_same_result(predicted, gold)
        && predicted.input == gold.input)
}

fn is_same_result(predicted: &Record, gold: &Record) -> bool {
    predicted.output == gold.output && predicted.exception == gold.exception
}

fn same_name(predicted: &Record, gold: &Record) -> Result<(), Raised> {
    match predicted.api_name == gold.api_name {
        true => Ok(()),
        false => Err(Raised::assertion("The API name is not correct.")),
    }
}

/// The same arguments, output and error; another name raises.
pub(super) fn all_of_one_name(predicted: &mut Record, gold: &mut Record) -> Result<bool, Raised> {
    same_name(predicted, gold)?;
    Ok(is_same_result(predicted, gold) && predicted.input == gold.input)
}

/// The same arguments, output and error, whatever the names.
pub(super) fn all_but_name(predicted: &mut Record, gold: &mut Record) -> Result<bool, Raised> {
    Ok(is_same_result(predicted, gold) && predicted.input == gold.input)
}

/// The same arguments; another name raises.
pub(super) fn input_of_one_name(predicted: &mut Record, gold: &mut Record) -> Result<bool, Raised> {
    same_name(predicted, gold)?;
    Ok(predicted.input == gold.input)
}

/// The same arguments and output; another name raises.
pub(super) fn input_and_output_of_one_name(
    predicted: &mut Record,
    gold: &mut Record,
) -> Result<bool, Raised> {
    same_name(predicted, gold)?;
    Ok(predicted.input == gold.input && predicted.output == gold.output)
}

/// The published check of `HotelAvailability`, which looks into outputs that are not there.
pub(super) fn hotels(predicted: &mut Record, gold: &mut Record) -> Result<bool, Raised> {
    same_name(predicted, gold)?;
    for name in ["destination", "check_in_date", "check_out_date"] {
        if predicted.argument(name)? != gold.argument(name)? {
            return Ok(false);
        }
    }
    Ok(item(&predicted.output, "hotels")? == item(&gold.output, "hotels")?)
}

/// The published check of `TaxCalculator`, likewise.
pub(super) fn tax(predicted: &mut Record, gold: &mut Record) -> Result<bool, Raised> {
    same_name(predicted, gold)?;
    if predicted.argument("salary")? != gold.argument("salary")? {
        return Ok(false);
    }
    let outputs = [&predicted.output, &gold.output].map(|it| item(it, "salary_after_tax"));
    let [predicted_output, gold_output] = outputs;
    Ok(predicted_output? == gold_output? && predicted.exception == gold.exception)
}

/// An item of a dictionary, and the errors of Python where it is none or lacks it.
fn item<'v>(value: &'v Value, name: &str) -> Result<&'v Value, Raised> {
    match value {
        Value::Dict(dict) => dict.get(name).ok_or_else(|| Raised::key(name)),
        Value::Text(_) => Err(Raised::types("string indices must be integers, not 'str'")),
        Value::List(_) => Err(Raised::types("list indices must be integers or slices, not str")),
        other => Err(Raised::types(format!("'{}' object is not subscriptable", other.class()))),
    }
}

/// Of `AddMeeting`: topics that share more than half of their words, and all else the same. Takes the topics out of
/// both records.
pub(super) fn meeting(predicted: &mut Record, gold: &mut Record) -> Result<bool, Raised> {
    let is_same = {
        let topics = [predicted.argument("meeting_topic")?, gold.argument("meeting_topic")?];
        let [one, other] = topics.map(words);
        let (one, other) = (one?, other?);
        let shared = one.iter().filter(|word| other.contains(word)).count();
        shared as f64 / (one.len() + other.len() - shared) as f64 > SAME_TOPIC
    };
    take(predicted, "meeting_topic");
    take(gold, "meeting_topic");
    Ok(is_same && predicted.input == gold.input && is_same_result(predicted, gold))
}

/// The right check of `AddMeeting`.
pub(super) fn meeting_of_one_name(predicted: &mut Record, gold: &mut Record) -> Result<bool, Raised> {
    Ok(predicted.api_name == gold.api_name && meeting(predicted, gold)?)
}

/// The distinct words of a topic. It has at least one, which may be empty.
fn words(topic: &Value) -> Result<Vec<&str>, Raised> {
    let Some(topic) = topic.as_text() else {
        let text = format!("'{}' object has no attribute 'split'", topic.class());
        return Err(Raised::new("AttributeError", text));
    };
    let mut words: Vec<&str> = topic.split(' ').collect();
    words.sort_unstable();
    words.dedup();
    Ok(words)
}

/// Of `EmailReminder`: all but the content, which is taken out of both records.
pub(super) fn reminder(predicted: &mut Record, gold: &mut Record) -> Result<bool, Raised> {
    same_name(predicted, gold)?;
    for record in [&mut *predicted, &mut *gold] {
        record.argument("content")?;
        take(record, "content");
    }
    Ok(is_same_result(predicted, gold) && predicted.input == gold.input)
}

/// The right check of `EmailReminder`.
pub(super) fn reminder_of_one_name(predicted: &mut Record, gold: &mut Record) -> Result<bool, Raised> {
    Ok(predicted.api_name == gold.api_name && reminder(predicted, gold)?)
}

/// The right check of `Calculator`: the same result, because a sum may be written in any order.
pub(super) fn result(predicted: &mut Record, gold: &mut Record) -> Result<bool, Raised> {
    Ok(predicted.api_name == gold.api_name && is_same_result(predicted, gold))
}

/// The right check of `ToolSearcher`: the same tool was found, by whatever words and however it is described.
pub(super) fn same_tool(predicted: &mut Record, gold: &mut Record) -> Result<bool, Raised> {
    let found = found(&predicted.output);
    Ok(found.is_some() && found == self::found(&gold.output))
}

/// The name of the tool that a search found; with a tool that gives tokens, the other one.
fn found(output: &Value) -> Option<&str> {
    let record = output.as_list().map_or(Some(output), <[Value]>::last)?;
    record.as_dict()?.get("name")?.as_text()
}

fn take(record: &mut Record, name: &str) {
    if let Some(input) = record.input.as_dict_mut() {
        input.shift_remove(name);
    }
}
