//! Spans of one call: a framework, a client and a server of MCP may each report it, one within another or side by side.

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};

use serde_json::{Map, Value};

use crate::spans::SpanCall;

/// Most spans above a span that are looked at for one of the same call.
pub(crate) const SPANS_ABOVE_MAX: usize = 64;

/// Calls with one id, of which each is compared with that many before it.
const SAME_IDS_MAX: usize = 64;

/// Attributes of spans in which a model or an agent decides, each with the beginnings of its values. A call within them
/// is another call, even if they are within a call of the same tool.
const DECIDES: [(&str, &[&str]); 5] = [
    ("gen_ai.operation.name", &["chat", "invoke_", "create_agent", "generate_content", "text_completion"]),
    ("openinference.span.kind", &["LLM", "AGENT"]),
    ("traceloop.span.kind", &["agent", "workflow"]),
    ("langsmith.span.kind", &["llm"]),
    ("operation.name", &["ai.generate", "ai.stream"]),
];

/// A span in short: spans are many, and only what is above a call matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct SpanKey(u64);

impl SpanKey {
    pub(crate) fn of(trace: &str, span: &str) -> Self {
        let mut hasher = DefaultHasher::new();
        (trace, span).hash(&mut hasher);
        Self(hasher.finish())
    }
}

/// What is above a span.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Above {
    pub(crate) parent: SpanKey,
    /// The span itself is one in which a model or an agent decides.
    pub(crate) decides: bool,
}

pub(crate) fn decides(attributes: &Map<String, Value>) -> bool {
    DECIDES.iter().any(|(key, beginnings)| {
        let value = attributes.get(*key).and_then(Value::as_str);
        value.is_some_and(|value| beginnings.iter().any(|beginning| value.starts_with(beginning)))
    })
}

/// The calls, each once, with all that their spans say: those that are reported twice, those within one of the same
/// tool, and those with the id of the same call.
pub(crate) fn distinct(calls: Vec<SpanCall>, above: &HashMap<SpanKey, Above>) -> Vec<SpanCall> {
    let mut groups = Groups((0..calls.len()).collect());
    let mut of_span: HashMap<SpanKey, usize> = HashMap::with_capacity(calls.len());
    for (place, call) in calls.iter().enumerate() {
        let first = *of_span.entry(call.key).or_insert(place);
        if calls[first].tool == call.tool {
            groups.unite(first, place);
        }
    }
    let mut of_id: HashMap<(&str, &str, &str), Vec<usize>> = HashMap::new();
    for (place, call) in calls.iter().enumerate() {
        if let Some(around) = around(call, &calls, &of_span, above) {
            groups.unite(around, place);
        }
        if !call.id.is_empty() {
            let known = of_id.entry((&call.trace, &call.id, &call.tool)).or_default();
            let mut latest = known.iter().rev().take(SAME_IDS_MAX);
            if let Some(same) = latest.find(|other| may_be_same(call, &calls[**other])) {
                groups.unite(*same, place);
            }
            known.push(place);
        }
    }
    // In the order of the first span of each.
    let mut members: Vec<Vec<SpanCall>> = Vec::new();
    let mut place_of: HashMap<usize, usize> = HashMap::new();
    for (place, call) in calls.into_iter().enumerate() {
        let group = *place_of.entry(groups.root(place)).or_insert_with(|| {
            members.push(Vec::new());
            members.len() - 1
        });
        members[group].push(call);
    }
    members.into_iter().filter_map(one_of).collect()
}

/// Which calls are one.
struct Groups(Vec<usize>);

impl Groups {
    fn root(&mut self, mut place: usize) -> usize {
        while self.0[place] != place {
            self.0[place] = self.0[self.0[place]];
            place = self.0[place];
        }
        place
    }

    fn unite(&mut self, one: usize, other: usize) {
        let (one, other) = (self.root(one), self.root(other));
        self.0[one.max(other)] = one.min(other);
    }
}

/// The span of the same tool that a call is within, with only spans in between in which nobody decides and no other
/// tool runs.
fn around(
    call: &SpanCall,
    calls: &[SpanCall],
    of_span: &HashMap<SpanKey, usize>,
    above: &HashMap<SpanKey, Above>,
) -> Option<usize> {
    let mut at = above.get(&call.key)?.parent;
    for _ in 0..SPANS_ABOVE_MAX {
        if let Some(place) = of_span.get(&at) {
            return is_same_tool(&calls[*place].tool, &call.tool).then_some(*place);
        }
        let next = above.get(&at).filter(|above| !above.decides)?;
        at = next.parent;
    }
    None
}

/// Whether the tool of an outer span is that of an inner one. An agent may have the server in its name for it.
fn is_same_tool(outer: &str, inner: &str) -> bool {
    let of_server = outer.strip_prefix("mcp__").and_then(|rest| rest.strip_suffix(inner));
    outer == inner || of_server.is_some_and(|rest| rest.ends_with("__"))
}

/// Whether two spans with one id can be of one call. Some servers of models use an id again: these calls have other
/// arguments, and neither is around the other.
fn may_be_same(one: &SpanCall, other: &SpanCall) -> bool {
    let is_around = |one: &SpanCall, other: &SpanCall| one.start <= other.start && other.end <= one.end;
    match (&one.arguments, &other.arguments) {
        (Some(of_one), Some(of_other)) if of_one != of_other => {
            is_around(one, other) || is_around(other, one)
        }
        _ => true,
    }
}

/// The call of these spans. The widest of them says when it was and how it is called; what it does not say, others do.
fn one_of(mut spans: Vec<SpanCall>) -> Option<SpanCall> {
    let start = |call: &SpanCall| if call.start == 0 { u64::MAX } else { call.start };
    spans.sort_by_key(|call| (start(call), std::cmp::Reverse(call.end)));
    let mut spans = spans.into_iter();
    let mut call = spans.next()?;
    let inner: Vec<SpanCall> = spans.collect();
    // What came last counts: an attempt that failed before another one is not the end.
    let last = inner.iter().filter(|it| !it.is_pending).max_by_key(|it| it.end);
    let mut end = call.end;
    if let Some(last) = last {
        let is_around = call.end >= last.end;
        let is_error = last.is_error || is_around && call.is_error;
        if call.is_pending || call.outcome.is_null() || !is_around && !last.outcome.is_null() {
            call.outcome = last.outcome.clone();
        }
        (call.is_error, call.is_pending) = (is_error, false);
        end = end.max(last.end);
    }
    let says_nothing = |arguments: &Option<Value>| match arguments {
        None | Some(Value::Null) => true,
        Some(Value::Object(entries)) => entries.is_empty(),
        Some(_) => false,
    };
    for other in inner {
        if says_nothing(&call.arguments) && other.arguments.is_some() {
            call.arguments = other.arguments;
        }
        if call.server.is_none() && other.tool == call.tool {
            call.server = other.server;
        }
        call.conversation = call.conversation.or(other.conversation);
        if call.start == 0 {
            call.start = other.start;
        }
    }
    call.end = end;
    Some(call)
}
