//! Whether a predicted call is as good as the gold call.
//!
//! The published checks differ from tool to tool, and some raise if a record is not what they expect. The right
//! checks deviate from equality only where two calls can say the same in other words.

use crate::api::PythonError;
use crate::record::ApiRecord;
use crate::value::PythonValue;

/// Two texts that share more than this fraction of their words count as the same.
const SAME_TOPIC: f64 = 0.5;

/// Whether name, arguments, output and error are the same.
pub(super) fn all(predicted: &mut ApiRecord, gold: &mut ApiRecord) -> Result<bool, PythonError> {
    Ok(predicted.api_name == gold.api_name
        && is_same_result(predicted, gold)
        && predicted.input == gold.input)
}

fn is_same_result(predicted: &ApiRecord, gold: &ApiRecord) -> bool {
    predicted.output == gold.output && predicted.exception == gold.exception
}

fn same_name(predicted: &ApiRecord, gold: &ApiRecord) -> Result<(), PythonError> {
    match predicted.api_name == gold.api_name {
        true => Ok(()),
        false => Err(PythonError::assertion("The API name is not correct.")),
    }
}

/// Whether arguments, output and error are the same; raises if the names differ.
pub(super) fn all_of_one_name(predicted: &mut ApiRecord, gold: &mut ApiRecord) -> Result<bool, PythonError> {
    same_name(predicted, gold)?;
    Ok(is_same_result(predicted, gold) && predicted.input == gold.input)
}

/// Whether arguments, output and error are the same, regardless of the names.
pub(super) fn all_but_name(predicted: &mut ApiRecord, gold: &mut ApiRecord) -> Result<bool, PythonError> {
    Ok(is_same_result(predicted, gold) && predicted.input == gold.input)
}

/// Whether the arguments are the same; raises if the names differ.
pub(super) fn input_of_one_name(
    predicted: &mut ApiRecord,
    gold: &mut ApiRecord,
) -> Result<bool, PythonError> {
    same_name(predicted, gold)?;
    Ok(predicted.input == gold.input)
}

/// Whether arguments and output are the same; raises if the names differ.
pub(super) fn input_and_output_of_one_name(
    predicted: &mut ApiRecord,
    gold: &mut ApiRecord,
) -> Result<bool, PythonError> {
    same_name(predicted, gold)?;
    Ok(predicted.input == gold.input && predicted.output == gold.output)
}

/// The published check of `HotelAvailability`, which accesses outputs that may be missing.
pub(super) fn hotels(predicted: &mut ApiRecord, gold: &mut ApiRecord) -> Result<bool, PythonError> {
    same_name(predicted, gold)?;
    for name in ["destination", "check_in_date", "check_out_date"] {
        if predicted.argument(name)? != gold.argument(name)? {
            return Ok(false);
        }
    }
    Ok(item(&predicted.output, "hotels")? == item(&gold.output, "hotels")?)
}

/// The published check of `TaxCalculator`, which does so too.
pub(super) fn tax(predicted: &mut ApiRecord, gold: &mut ApiRecord) -> Result<bool, PythonError> {
    same_name(predicted, gold)?;
    if predicted.argument("salary")? != gold.argument("salary")? {
        return Ok(false);
    }
    let outputs = [&predicted.output, &gold.output].map(|it| item(it, "salary_after_tax"));
    let [predicted_output, gold_output] = outputs;
    Ok(predicted_output? == gold_output? && predicted.exception == gold.exception)
}

/// An item of a dictionary, or Python's error if the value is not a dictionary or lacks the item.
fn item<'v>(value: &'v PythonValue, name: &str) -> Result<&'v PythonValue, PythonError> {
    match value {
        PythonValue::Dict(dict) => dict.get(name).ok_or_else(|| PythonError::key(name)),
        PythonValue::Text(_) => Err(PythonError::types("string indices must be integers, not 'str'")),
        PythonValue::List(_) => Err(PythonError::types("list indices must be integers or slices, not str")),
        other => Err(PythonError::types(format!("'{}' object is not subscriptable", other.class()))),
    }
}

/// The published check of `AddMeeting`: the topics share more than half of their words, and everything else is the
/// same. Removes the topics from both records.
pub(super) fn meeting(predicted: &mut ApiRecord, gold: &mut ApiRecord) -> Result<bool, PythonError> {
    let is_same = {
        let topics = [predicted.argument("meeting_topic")?, gold.argument("meeting_topic")?];
        let [one, other] = topics.map(words);
        let (one, other) = (one?, other?);
        let shared = one.iter().filter(|word| other.contains(word)).count();
        // Each topic has at least one word, so the divisor is not zero.
        shared as f64 / (one.len() + other.len() - shared) as f64 > SAME_TOPIC
    };
    take(predicted, "meeting_topic");
    take(gold, "meeting_topic");
    Ok(is_same && predicted.input == gold.input && is_same_result(predicted, gold))
}

/// The right check of `AddMeeting`.
pub(super) fn meeting_of_one_name(
    predicted: &mut ApiRecord,
    gold: &mut ApiRecord,
) -> Result<bool, PythonError> {
    Ok(predicted.api_name == gold.api_name && meeting(predicted, gold)?)
}

/// The distinct words of a topic. It has at least one, which may be empty.
fn words(topic: &PythonValue) -> Result<Vec<&str>, PythonError> {
    let Some(topic) = topic.as_text() else {
        let text = format!("'{}' object has no attribute 'split'", topic.class());
        return Err(PythonError::new("AttributeError", text));
    };
    let mut words: Vec<&str> = topic.split(' ').collect();
    words.sort_unstable();
    words.dedup();
    Ok(words)
}

/// The published check of `EmailReminder`: everything but the content is the same. Removes the content from both
/// records.
pub(super) fn reminder(predicted: &mut ApiRecord, gold: &mut ApiRecord) -> Result<bool, PythonError> {
    same_name(predicted, gold)?;
    for record in [&mut *predicted, &mut *gold] {
        record.argument("content")?;
        take(record, "content");
    }
    Ok(is_same_result(predicted, gold) && predicted.input == gold.input)
}

/// The right check of `EmailReminder`.
pub(super) fn reminder_of_one_name(
    predicted: &mut ApiRecord,
    gold: &mut ApiRecord,
) -> Result<bool, PythonError> {
    Ok(predicted.api_name == gold.api_name && reminder(predicted, gold)?)
}

/// The right check of `Calculator`: the result is the same, because a sum may be written in any order.
pub(super) fn result(predicted: &mut ApiRecord, gold: &mut ApiRecord) -> Result<bool, PythonError> {
    Ok(predicted.api_name == gold.api_name && is_same_result(predicted, gold))
}

/// The right check of `ToolSearcher`: the same tool was found, whatever the keywords and its description.
pub(super) fn same_tool(predicted: &mut ApiRecord, gold: &mut ApiRecord) -> Result<bool, PythonError> {
    let found = found(&predicted.output);
    // A search that found nothing has found no right tool, whatever the gold record says.
    Ok(found.is_some() && found == self::found(&gold.output))
}

/// The name of the tool that a search found. If it comes with the tool that returns tokens, the other one counts.
fn found(output: &PythonValue) -> Option<&str> {
    let record = output.as_list().map_or(Some(output), <[PythonValue]>::last)?;
    record.as_dict()?.get("name")?.as_text()
}

fn take(record: &mut ApiRecord, name: &str) {
    if let Some(input) = record.input.as_dict_mut() {
        input.shift_remove(name);
    }
}
