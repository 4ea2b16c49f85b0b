//! What a verdict notes beside whether its demands hold, so that a finding can say it: what the world lacked when one
//! of its lines refused a call, and which values a call should have taken.

use planproof_spec::rules::{CallRule, Phase, RecordedEvent, RuleDemand, ToolNames, arguments_of, targets};
use planproof_suite::runs::shortened;
use planproof_trace::PairedCall;
use serde_json::Value;

use crate::case::Scenario;
use crate::limits::VALUE_CHARACTERS_MAX;

/// Values that a result had, of which a finding names so many.
const VALUES_NAMED_MAX: usize = 3;

/// A value, cut where it is long.
pub(crate) fn brief(value: &Value) -> String {
    shortened(&value.to_string(), VALUE_CHARACTERS_MAX)
}

/// For each call of a run what the values of the world lacked, in words, if a line of the world refused it for that:
/// `wallet to be at least 61 (/amount), and it was 60`.
pub(crate) fn lacked(case: &Scenario, calls: &[PairedCall<'_>]) -> Vec<Option<String>> {
    let mut values = case.beginning.clone();
    let of_call = |call: &PairedCall<'_>| {
        if values.is_empty() {
            return None;
        }
        let arguments = arguments_of(&call.call.arguments);
        let answered = case.answer(&values, &call.call.name, &arguments);
        let Some((_, result)) = call.result.filter(|(_, result)| result.is_error) else {
            values = answered.after.unwrap_or_else(|| std::mem::take(&mut values));
            return None;
        };
        // An error changes nothing. It is that of a line whose needs are not met, of another line, or of nobody here.
        let tool = case.tools.iter().find(|tool| tool.tool.name == call.call.name)?;
        let line =
            answered.line.filter(|line| tool.tool.answers[*line].otherwise.as_ref() == Some(&result.text))?;
        let unmet = tool.lines()[line].needs.iter().filter(|need| !need.holds(&values, &arguments));
        let unmet: Vec<String> = unmet.map(|need| need.in_words(&values, &arguments)).collect();
        (!unmet.is_empty()).then(|| unmet.join("; "))
    };
    calls.iter().map(of_call).collect()
}

/// The value that a call had for an argument, and those that it should have taken: `/amount "40", and order_info had
/// returned 40`. The call is named by its number in the session, from 1.
pub(crate) fn had(rule: &CallRule, session: &[RecordedEvent], call: usize) -> Option<String> {
    let RuleDemand::Takes { argument, from, value, .. } = &rule.demand else { return None };
    let calls = session.iter().enumerate().filter(|(_, event)| event.phase == Phase::Call);
    let (place, event) = calls.into_iter().nth(call.checked_sub(1)?)?;
    let group =
        |event: &RecordedEvent| rule.per.as_ref().map(|per| event.arguments.pointer(per.as_str()).cloned());
    let results = session[..place]
        .iter()
        .filter(|earlier| from.matches(&earlier.as_seen()) && group(earlier) == group(event))
        .filter_map(|earlier| earlier.outcome.as_ref());
    let mut given: Vec<String> = Vec::new();
    let mut has_result = false;
    for target in results.flat_map(|result| {
        has_result = true;
        targets(result, value)
    }) {
        let target = brief(target);
        if !given.contains(&target) {
            given.push(target);
        }
    }
    let tool = from.tools.as_ref().map_or("any tool", ToolNames::written);
    let returned = match (has_result, given.len()) {
        (false, _) => format!("no result of {tool} had come"),
        (true, 0) => format!("no result of {tool} had {}", value.as_str()),
        (true, count) => {
            let more = count.saturating_sub(VALUES_NAMED_MAX);
            given.truncate(VALUES_NAMED_MAX);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!("{tool} had returned {}{more}", given.join(", "))
        }
    };
    let own = event.arguments.pointer(argument.as_str()).map_or_else(|| "nothing".to_owned(), brief);
    let place = if argument.as_str().is_empty() { "the arguments" } else { argument.as_str() };
    Some(format!("{own} for {place}, and {returned}"))
}
