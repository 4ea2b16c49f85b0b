//! Spans of OpenTelemetry: OTLP JSON as collectors and exporters write it, and spans one by one as consoles and files
//! of SDKs have them. A call is a span that executes a tool, by any of the conventions that are in use.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use planproof_spec::rules::{Phase, RecordedEvent, outcome_of};
use planproof_trace::wire::{DENIED_ATTRIBUTE, PENDING_ATTRIBUTE};
use serde_json::{Map, Value, json};

use crate::items::arguments_of;
use crate::langchain::{inner_arguments, inner_result};
use crate::same_call::{self, Above, SpanKey};
use crate::{Gather, RecordedDoubts, RecordedSession, SessionError, SessionSink, counted};

/// Most calls of a file of spans: they are in memory until its end, because spans come in the order in which they end.
pub(crate) const SPAN_CALLS_MAX: usize = 2_000_000;

/// Most spans of a file that are within others: their places are in memory, in 32 bytes or so, until its end.
pub(crate) const SPANS_MAX: usize = 20_000_000;

/// Attributes that say that a span executes a tool, with the value that does.
const IS_TOOL: [(&str, &str); 6] = [
    ("gen_ai.operation.name", "execute_tool"),
    ("openinference.span.kind", "TOOL"),
    ("traceloop.span.kind", "tool"),
    ("langsmith.span.kind", "tool"),
    ("mcp.method.name", "tools/call"),
    ("operation.name", "ai.toolCall"),
];

/// Attributes with the name of the tool, the first that is there.
const NAMES: [&str; 5] =
    ["gen_ai.tool.name", "tool.name", "ai.toolCall.name", "traceloop.entity.name", "langsmith.trace.name"];

/// Those with the id of the call.
const IDS: [&str; 3] = ["gen_ai.tool.call.id", "tool_call.id", "ai.toolCall.id"];

/// Those with its arguments.
const ARGUMENTS: [&str; 8] = [
    "gen_ai.tool.call.arguments",
    "tool_arguments",
    "gcp.vertex.agent.tool_call_args",
    "ai.toolCall.args",
    "input.value",
    "traceloop.entity.input",
    "gen_ai.tool.input",
    "gen_ai.prompt",
];

/// Those with its result.
const RESULTS: [&str; 8] = [
    "gen_ai.tool.call.result",
    "tool_response",
    "gcp.vertex.agent.tool_response",
    "ai.toolCall.result",
    "output.value",
    "traceloop.entity.output",
    "gen_ai.tool.output",
    "gen_ai.completion",
];

/// Those with the conversation that a span belongs to.
const CONVERSATIONS: [&str; 6] = [
    "gen_ai.conversation.id",
    "session.id",
    "langfuse.session.id",
    "langsmith.metadata.thread_id",
    "traceloop.association.properties.session_id",
    "traceloop.association.properties.thread_id",
];

/// Keys of the span that a span is within, in each form.
const PARENTS: [&str; 4] = ["parentSpanId", "parent_span_id", "parent_id", "parentId"];

/// The spans of a file.
pub(crate) struct Spans {
    name: String,
    calls: Vec<SpanCall>,
    /// The conversation of a trace, where a span of it has one.
    conversations: HashMap<String, String>,
    /// What is above each span, because spans of one call may be within one another.
    above: HashMap<SpanKey, Above>,
    spans: usize,
    /// Objects that are not spans.
    others: usize,
}

/// A span that executes a tool.
pub(crate) struct SpanCall {
    pub(crate) trace: String,
    pub(crate) key: SpanKey,
    pub(crate) conversation: Option<String>,
    pub(crate) id: String,
    line: u64,
    /// In nanoseconds since 1970; 0 where it is missing.
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) tool: String,
    pub(crate) server: Option<String>,
    pub(crate) arguments: Option<Value>,
    /// Null where it is not recorded.
    pub(crate) outcome: Value,
    pub(crate) is_error: bool,
    /// Its result never came.
    pub(crate) is_pending: bool,
}

impl Spans {
    pub(crate) fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            calls: Vec::new(),
            conversations: HashMap::new(),
            above: HashMap::new(),
            spans: 0,
            others: 0,
        }
    }

    /// Takes a request of OTLP, or a span.
    fn object(&mut self, value: &Value, line: u64) -> Result<(), SessionError> {
        if !value.is_object() {
            self.others += 1;
            return Ok(());
        }
        // Of what is not a list nothing would be read, and nothing read is no violation.
        let list = |value: &Value, keys: &[&str]| match keys
            .iter()
            .find_map(|key| Some((*key, value.get(key)?)))
        {
            None => Ok(None),
            Some((_, Value::Array(items))) => Ok(Some(items.clone())),
            Some((key, _)) => Err(SessionError::new(format!("{}:{line}: `{key}` is not a list", self.name))),
        };
        let Some(resources) = list(value, &["resourceSpans", "resource_spans"])? else {
            return self.span(value, line);
        };
        let mut spans = Vec::new();
        for resource in &resources {
            let keys =
                ["scopeSpans", "scope_spans", "instrumentationLibrarySpans", "instrumentation_library_spans"];
            for scope in list(resource, &keys)?.unwrap_or_default() {
                spans.extend(list(&scope, &["spans"])?.unwrap_or_default());
            }
        }
        for span in &spans {
            self.span(span, line)?;
        }
        Ok(())
    }

    fn span(&mut self, span: &Value, line: u64) -> Result<(), SessionError> {
        let trace = identity(span, &["traceId", "trace_id"]);
        let id = identity(span, &["spanId", "span_id"]);
        let (Some(trace), Some(id)) = (trace, id) else {
            self.others += 1;
            return Ok(());
        };
        self.spans += 1;
        let attributes = attributes_of(span.get("attributes"));
        let key = SpanKey::of(&trace, &id);
        if let Some(parent) = identity(span, &PARENTS) {
            if self.above.len() >= SPANS_MAX {
                return Err(SessionError::new(format!(
                    "{}:{line}: the file has more than {SPANS_MAX} spans within others; split it by traces",
                    self.name
                )));
            }
            let parent = SpanKey::of(&trace, &parent);
            self.above.insert(key, Above { parent, decides: same_call::decides(&attributes) });
        }
        let text = |keys: &[&str]| keys.iter().find_map(|key| attributes.get(*key)?.as_str());
        let conversation = text(&CONVERSATIONS).filter(|id| !id.is_empty()).map(str::to_owned);
        if let Some(conversation) = &conversation {
            self.conversations.entry(trace.clone()).or_insert_with(|| conversation.clone());
        }
        let is_tool = IS_TOOL.iter().any(|(key, value)| attributes.get(*key).is_some_and(|it| it == value));
        let is_set = |key: &str| attributes.get(key) == Some(&Value::Bool(true));
        // A call of ours that a guard denied never happened.
        if !is_tool || is_set(DENIED_ATTRIBUTE) {
            return Ok(());
        }
        if self.calls.len() >= SPAN_CALLS_MAX {
            return Err(SessionError::new(format!(
                "{}:{line}: the file has more than {SPAN_CALLS_MAX} calls; split it by traces",
                self.name
            )));
        }
        let name = span.get("name").and_then(Value::as_str).unwrap_or_default();
        let of_name = name.strip_prefix("execute_tool ").or_else(|| name.strip_prefix("tools/call "));
        let tool = text(&NAMES).filter(|name| !name.is_empty()).or(of_name).unwrap_or(name);
        let events = events_of(span);
        let valued =
            |keys: &[&str]| keys.iter().find_map(|key| attributes.get(*key).filter(|value| !value.is_null()));
        // Older conventions have the texts of a call in events.
        let of_event = |event: &str, key: &str| {
            let found = events.iter().find(|(name, _)| name == event);
            found.and_then(|(_, attributes)| attributes.get(key)).filter(|value| !value.is_null())
        };
        let arguments = valued(&ARGUMENTS).or_else(|| of_event("gen_ai.tool.message", "content"));
        let result = valued(&RESULTS).or_else(|| of_event("gen_ai.choice", "message"));
        let status = span.get("status");
        let result = result.map(|result| match result {
            Value::String(text) => inner_result(&outcome_of(text)),
            other => inner_result(other),
        });
        let says_error = result.as_ref().is_some_and(|(_, says_error)| *says_error);
        let is_error = says_error
            || status.is_some_and(is_failure)
            || attributes.get("error.type").is_some_and(|kind| !kind.is_null());
        let said = || {
            let status = ["message", "description"].iter().find_map(|key| status?.get(key)?.as_str());
            let raised = of_event("exception", "exception.message").and_then(Value::as_str);
            status.filter(|text| !text.is_empty()).or(raised).or(text(&["error.type"])).unwrap_or_default()
        };
        let outcome = match result {
            Some((result, _)) => result,
            None if is_error => Value::from(said()),
            None => Value::Null,
        };
        let time = |keys: [&str; 4]| keys.iter().find_map(|key| nanoseconds(span.get(key)?)).unwrap_or(0);
        self.calls.push(SpanCall {
            trace,
            key,
            conversation,
            id: text(&IDS).unwrap_or_default().to_owned(),
            line,
            start: time(["startTimeUnixNano", "start_time_unix_nano", "startTime", "start_time"]),
            end: time(["endTimeUnixNano", "end_time_unix_nano", "endTime", "end_time"]),
            tool: tool.to_owned(),
            server: text(&["mcp.server.name"]).map(str::to_owned),
            arguments: arguments.map(|it| inner_arguments(arguments_of(Some(it)))),
            outcome,
            is_error,
            is_pending: is_set(PENDING_ATTRIBUTE),
        });
        Ok(())
    }
}

impl Gather for Spans {
    fn value(
        &mut self,
        value: Value,
        line: u64,
        _: &str,
        _: &mut dyn SessionSink,
    ) -> Result<(), SessionError> {
        match &value {
            Value::Array(items) => items.iter().try_for_each(|item| self.object(item, line)),
            value => self.object(value, line),
        }
    }

    fn end(&mut self, sink: &mut dyn SessionSink) -> Result<(), SessionError> {
        let name = &self.name;
        if self.others > 0 {
            let left_out = if self.others == 1 {
                "is left out: it is not a span"
            } else {
                "are left out: they are not spans"
            };
            sink.note(&format!("{name}: {} {left_out}", counted(self.others, "object")));
        }
        if self.calls.is_empty() && self.spans > 0 {
            sink.warn(&format!("{name}: none of {} executes a tool", counted(self.spans, "span")));
        }
        let calls = same_call::distinct(std::mem::take(&mut self.calls), &self.above);
        let mut sessions: Vec<(String, Vec<SpanCall>)> = Vec::new();
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        for call in calls {
            let of_trace = || self.conversations.get(&call.trace).cloned();
            let session = call.conversation.clone().or_else(of_trace).unwrap_or_else(|| call.trace.clone());
            let place = *places.entry(session.clone()).or_insert_with(|| {
                sessions.push((session, Vec::new()));
                sessions.len() - 1
            });
            sessions[place].1.push(call);
        }
        for (session, calls) in sessions {
            sink.session(session_of(&self.name, &session, &calls))?;
        }
        Ok(())
    }

    fn may_leave_out(&self) -> bool {
        true
    }
}

/// An event of a call, at its time.
struct Timed {
    time: u64,
    /// Results before calls of the same time, except the call's own.
    rank: u8,
    call: usize,
    is_call: bool,
}

/// The session of these calls, in the order of their times.
fn session_of(file: &str, id: &str, calls: &[SpanCall]) -> RecordedSession {
    let mut timed = Vec::new();
    for (place, call) in calls.iter().enumerate() {
        let end = call.end.max(call.start);
        let is_at_once = end == call.start;
        timed.push(Timed { time: call.start, rank: 1, call: place, is_call: true });
        if call.is_pending {
            continue;
        }
        timed.push(Timed { time: end, rank: if is_at_once { 2 } else { 0 }, call: place, is_call: false });
    }
    // Stable, so that equal ones stay in the order of the file.
    timed.sort_by_key(|event| (event.time, event.rank, event.call));
    let mut doubts = RecordedDoubts {
        without_arguments: calls.iter().filter(|call| call.arguments.is_none()).count(),
        ..RecordedDoubts::default()
    };
    let mut unordered: HashSet<usize> = HashSet::new();
    for pair in timed.windows(2) {
        if pair[0].time == pair[1].time && pair[0].call != pair[1].call {
            unordered.extend([pair[0].call, pair[1].call]);
        }
    }
    unordered.extend((0..calls.len()).filter(|place| calls[*place].start == 0));
    doubts.unordered = if calls.len() > 1 { unordered.len() } else { 0 };
    // Whoever begins while others are open overlaps with them.
    let (mut open, mut overlapping): (Vec<usize>, HashSet<usize>) = (Vec::new(), HashSet::new());
    for event in &timed {
        if event.is_call {
            if !open.is_empty() {
                overlapping.extend(open.iter().copied().chain([event.call]));
            }
            open.push(event.call);
        } else {
            open.retain(|call| *call != event.call);
        }
    }
    doubts.overlapping = overlapping.len();
    let mut happened = Vec::new();
    let mut call_lines = Vec::new();
    for event in timed {
        let call = &calls[event.call];
        let arguments = Arc::new(call.arguments.clone().unwrap_or_else(|| json!({})));
        let (phase, outcome) = match (event.is_call, call.is_error) {
            (true, _) => (Phase::Call, None),
            (false, true) => (Phase::Failed, Some(call.outcome.clone())),
            (false, false) => (Phase::Done, Some(call.outcome.clone())),
        };
        if event.is_call {
            call_lines.push(call.line);
        }
        let (server, tool) = (call.server.clone(), call.tool.clone());
        happened.push(RecordedEvent { phase, server, tool, arguments, outcome });
    }
    RecordedSession {
        name: format!("{file} session {id}"),
        line: call_lines.iter().copied().min().unwrap_or(1),
        query: None,
        tools: None,
        happened,
        call_lines,
        call_files: Vec::new(),
        doubts,
    }
}

/// The id of a span or of its trace. Those of one form of a span are in its `context`.
fn identity(span: &Value, keys: &[&str]) -> Option<String> {
    let within = |value: &Value| keys.iter().find_map(|key| value.get(key)?.as_str().map(str::to_owned));
    let id = within(span).or_else(|| within(span.get("context")?))?;
    (!id.is_empty()).then_some(id)
}

/// Attributes as one object, whatever form they have: a list of keys and values, each a union of types, or an object.
fn attributes_of(attributes: Option<&Value>) -> Map<String, Value> {
    match attributes {
        Some(Value::Object(attributes)) => attributes.clone(),
        Some(Value::Array(entries)) => entries
            .iter()
            .filter_map(|entry| {
                let key = entry.get("key").or_else(|| entry.get("Key"))?.as_str()?;
                Some((key.to_owned(), plain(entry.get("value").or_else(|| entry.get("Value"))?)))
            })
            .collect(),
        _ => Map::new(),
    }
}

/// The value in a union of types.
fn plain(union: &Value) -> Value {
    let Value::Object(union) = union else { return union.clone() };
    let get = |keys: [&str; 2]| keys.iter().find_map(|key| union.get(*key));
    if let Some(value) = get(["stringValue", "string_value"]).or_else(|| get(["boolValue", "bool_value"])) {
        return value.clone();
    }
    if let Some(value) = get(["intValue", "int_value"]) {
        // Integers of 64 bits are texts in JSON of protocol buffers.
        let parsed = value.as_str().and_then(|text| text.parse::<i64>().ok());
        return parsed.map_or_else(|| value.clone(), Value::from);
    }
    if let Some(value) = get(["doubleValue", "double_value"]).or_else(|| get(["bytesValue", "bytes_value"])) {
        return value.clone();
    }
    if let Some(list) = get(["arrayValue", "array_value"]) {
        let values = list.get("values").and_then(Value::as_array);
        return values.into_iter().flatten().map(plain).collect();
    }
    if let Some(list) = get(["kvlistValue", "kvlist_value"]) {
        return Value::Object(attributes_of(list.get("values")));
    }
    // Also what is `Value` within `Value`, as an exporter of Go writes it.
    union.get("Value").cloned().unwrap_or(Value::Null)
}

/// The events within a span, with their attributes.
fn events_of(span: &Value) -> Vec<(String, Map<String, Value>)> {
    let events = span.get("events").and_then(Value::as_array).into_iter().flatten();
    let events = events.filter_map(|event| {
        let name = event.get("name")?.as_str()?.to_owned();
        Some((name, attributes_of(event.get("attributes"))))
    });
    events.collect()
}

/// Whether the status of a span says that it failed.
fn is_failure(status: &Value) -> bool {
    let code = status.get("code").or_else(|| status.get("status_code")).unwrap_or(status);
    match code {
        Value::Number(code) => code.as_u64() == Some(2),
        Value::String(code) => {
            matches!(code.as_str(), "STATUS_CODE_ERROR" | "ERROR" | "Error" | "StatusCode.ERROR")
        }
        _ => false,
    }
}

/// A time in nanoseconds since 1970: a number or its text, seconds with nanoseconds, or a date.
pub(crate) fn nanoseconds(time: &Value) -> Option<u64> {
    match time {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => text.parse::<u64>().ok().or_else(|| {
            let time = humantime::parse_rfc3339_weak(text.trim_end_matches("+00:00")).ok()?;
            let since = time.duration_since(std::time::UNIX_EPOCH).ok()?;
            u64::try_from(since.as_nanos()).ok()
        }),
        Value::Array(parts) => match parts.as_slice() {
            [seconds, nanoseconds] => {
                seconds.as_u64()?.checked_mul(1_000_000_000)?.checked_add(nanoseconds.as_u64()?)
            }
            _ => None,
        },
        _ => None,
    }
}
