//! Runs and their verdicts as traces of OpenTelemetry, in OTLP's JSON: for Phoenix, Langfuse and any collector.
//!
//! A run is a trace: a span `invoke_agent` for the run, a span `execute_tool` for each call, by the conventions for
//! generative AI, and with the few attributes of OpenInference that viewers group and show spans by. The verdict is an
//! event `gen_ai.evaluation.result` of the run's span, and stands in its attributes as well. Ids are digests of
//! campaign and run, so that a campaign that is sent twice is the same traces. Times are those of the trace, counted
//! from the beginning of the campaign; events of one time follow each other by a nanosecond, in their order.
//! `otlp/protobuf.rs` writes the same in protocol buffers.

mod protobuf;

use std::io;

use planproof_engine::Outcome;
use planproof_suite::{Case, Class};
use planproof_trace::wire::{DENIED_ATTRIBUTE, PENDING_ATTRIBUTE};
use planproof_trace::{Arguments, EndReason, Trace, paired_calls};
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};
use thiserror::Error;

use crate::ReportedCampaign;
use crate::explanation::full_text;

/// Nanoseconds of a millisecond. An event's place in its run is added to its time, so that no two are equal.
const MILLISECOND: u64 = 1_000_000;

/// Why the spans of a run could not be given.
#[derive(Debug, Error)]
pub enum OtlpError {
    /// They cannot be written.
    #[error(transparent)]
    Write(#[from] io::Error),
    /// The trace of a run cannot be obtained.
    #[error("the trace of case {case}: {what}")]
    Trace {
        /// Id of the case.
        case: String,
        /// The message from the trace source.
        what: String,
    },
}

/// A run as one request of OTLP (`ExportTraceServiceRequest`).
#[derive(Debug)]
pub struct OtlpRequest(Value);

impl OtlpRequest {
    /// In a line of JSON, without its end.
    pub fn json(&self) -> String {
        self.0.to_string()
    }

    /// In protocol buffers, for collectors that take nothing else.
    pub fn protobuf(&self) -> Vec<u8> {
        protobuf::encode(&self.0)
    }
}

/// Gives each run that was carried out as a request. Only one trace at a time is in memory; the same campaign gives the
/// same requests. Gives how many runs these are.
///
/// # Errors
/// The trace of a run cannot be obtained, or `take` failed.
pub fn each_request(
    campaign: &ReportedCampaign<'_>,
    take: &mut dyn FnMut(&OtlpRequest) -> io::Result<()>,
) -> Result<usize, OtlpError> {
    let mut count = 0;
    for (case, _, outcome) in campaign.runs() {
        let Some(outcome) = outcome else { continue };
        let trace = campaign
            .traces
            .trace(outcome.unit())
            .map_err(|what| OtlpError::Trace { case: case.card().id.clone(), what })?;
        take(&OtlpRequest(Run { campaign, case, outcome, trace: trace.as_ref() }.request()))?;
        count += 1;
    }
    Ok(count)
}

/// Writes the runs as a file of requests, a line each, as a collector's file exporter does.
///
/// # Errors
/// See [`OtlpError`]; what was written so far is then incomplete.
pub fn write(campaign: &ReportedCampaign<'_>, out: &mut impl io::Write) -> Result<usize, OtlpError> {
    each_request(campaign, &mut |request| {
        out.write_all(request.json().as_bytes())?;
        out.write_all(b"\n")
    })
}

/// A run that was carried out.
struct Run<'a> {
    campaign: &'a ReportedCampaign<'a>,
    case: &'a dyn Case,
    outcome: &'a Outcome,
    trace: Option<&'a Trace>,
}

impl Run<'_> {
    fn request(&self) -> Value {
        let report = self.campaign.report;
        let mut resource = vec![
            attribute("service.name", "planproof"),
            attribute("service.version", env!("CARGO_PKG_VERSION")),
            attribute("planproof.campaign", self.campaign.id),
            attribute("planproof.suite", self.campaign.suite.name()),
            // Phoenix and its kin make a project of it.
            attribute("openinference.project.name", format!("planproof {}", report.agent)),
        ];
        if report.simulated {
            resource.push(attribute("planproof.simulated", true));
        }
        json!({ "resourceSpans": [{
            "resource": { "attributes": resource },
            "scopeSpans": [{
                "scope": { "name": "planproof", "version": env!("CARGO_PKG_VERSION") },
                "spans": self.spans(),
            }],
        }] })
    }

    /// What a digest begins with that no other run has.
    fn identity(&self) -> String {
        format!("{}\n{}\n{}", self.campaign.id, self.case.card().id, self.outcome.repeat)
    }

    fn trace_id(&self) -> String {
        hex(&self.identity(), 16)
    }

    /// The id of the span of this number: 0 for the run, then its calls.
    fn span_id(&self, number: usize) -> String {
        hex(&format!("{}\n{number}", self.identity()), 8)
    }

    fn spans(&self) -> Vec<Value> {
        let begin = self.campaign.created_ms.saturating_mul(MILLISECOND);
        let events = self.trace.map_or(&[][..], |trace| &trace.events);
        // Their places make times of one millisecond follow each other.
        let mut latest = 0;
        let times: Vec<u64> = (1..)
            .zip(events)
            .map(|(place, event)| {
                latest = event.at.saturating_mul(MILLISECOND).saturating_add(place).max(latest + 1);
                begin.saturating_add(latest)
            })
            .collect();
        let end = times.last().map_or(begin, |last| last.saturating_add(1)).max(begin.saturating_add(1));
        let mut spans = vec![self.root(begin, end)];
        for (number, paired) in (1..).zip(paired_calls(events)) {
            let (called, result) = (paired.call, paired.result);
            let call_time = times.get(paired.place).copied().unwrap_or(begin);
            let mut attributes = vec![
                attribute("gen_ai.operation.name", "execute_tool"),
                attribute("gen_ai.tool.name", called.name.as_str()),
                attribute("gen_ai.tool.call.id", called.id.as_str()),
                attribute("gen_ai.tool.type", "function"),
                attribute("gen_ai.conversation.id", self.conversation()),
                attribute("session.id", self.conversation()),
                attribute("openinference.span.kind", "TOOL"),
                attribute("tool.name", called.name.as_str()),
            ];
            let arguments = match &called.arguments {
                Arguments::Object(object) => {
                    attributes.push(attribute("input.mime_type", "application/json"));
                    Value::Object(object.clone()).to_string()
                }
                Arguments::Malformed(text) => text.clone(),
            };
            attributes.push(attribute("gen_ai.tool.call.arguments", arguments.as_str()));
            attributes.push(attribute("input.value", arguments));
            let mut status = json!({});
            match result {
                Some((_, result)) => {
                    attributes.push(attribute("gen_ai.tool.call.result", result.text.as_str()));
                    attributes.push(attribute("output.value", result.text.as_str()));
                    if result.is_denied {
                        attributes.push(attribute(DENIED_ATTRIBUTE, true));
                    }
                    if result.is_error {
                        attributes.push(attribute("error.type", "tool_error"));
                        status = json!({ "code": 2, "message": result.text });
                    }
                }
                None => attributes.push(attribute(PENDING_ATTRIBUTE, true)),
            }
            let result_time = result.and_then(|(place, _)| times.get(place).copied()).unwrap_or(end);
            spans.push(json!({
                "traceId": self.trace_id(),
                "spanId": self.span_id(number),
                "parentSpanId": self.span_id(0),
                "name": format!("execute_tool {}", called.name),
                "kind": 1,
                "startTimeUnixNano": call_time.to_string(),
                "endTimeUnixNano": result_time.to_string(),
                "attributes": attributes,
                "status": status,
            }));
        }
        spans
    }

    /// What viewers group the spans of a run by.
    fn conversation(&self) -> String {
        format!("{}/{}#{}", self.campaign.id, self.case.card().id, self.outcome.repeat)
    }

    /// The span of the run itself, with its verdict.
    fn root(&self, begin: u64, end: u64) -> Value {
        let report = self.campaign.report;
        let mut attributes = vec![
            attribute("gen_ai.operation.name", "invoke_agent"),
            attribute("gen_ai.agent.name", report.agent.as_str()),
            attribute("gen_ai.conversation.id", self.conversation()),
            attribute("session.id", self.conversation()),
            attribute("openinference.span.kind", "AGENT"),
            attribute("input.value", self.case.prompt()),
            attribute("planproof.case", self.case.card().id.as_str()),
            attribute("planproof.repeat", u64::from(self.outcome.repeat)),
        ];
        if let Some(model) = &report.model {
            attributes.push(attribute("gen_ai.request.model", model.as_str()));
        }
        let usage = self.outcome.usage;
        if usage.input_tokens + usage.output_tokens > 0 {
            attributes.push(attribute("gen_ai.usage.input_tokens", usage.input_tokens));
            attributes.push(attribute("gen_ai.usage.output_tokens", usage.output_tokens));
        }
        let ended = self.trace.and_then(|trace| trace.end());
        if let Some(EndReason::Answered { text }) = ended {
            attributes.push(attribute("output.value", text.as_str()));
        }
        let (mut events, mut status) = (Vec::new(), json!({}));
        match &self.outcome.verdict {
            Ok(verdict) => {
                let label = verdict.class().map_or("passed", Class::as_str);
                let score = f64::from(u8::from(verdict.passed()));
                let explanation = full_text(&self.case.explain(verdict));
                let evaluation = vec![
                    attribute("gen_ai.evaluation.name", "planproof"),
                    attribute("gen_ai.evaluation.score.value", score),
                    attribute("gen_ai.evaluation.score.label", label),
                    attribute("gen_ai.evaluation.explanation", explanation),
                ];
                attributes.extend(evaluation.iter().cloned());
                events.push(json!({
                    "timeUnixNano": end.to_string(),
                    "name": "gen_ai.evaluation.result",
                    "attributes": evaluation,
                }));
            }
            Err(unscored) => {
                attributes.push(attribute("error.type", "unscored"));
                status = json!({ "code": 2, "message": unscored.to_string() });
            }
        }
        json!({
            "traceId": self.trace_id(),
            "spanId": self.span_id(0),
            "name": format!("invoke_agent {}", report.agent),
            "kind": 1,
            "startTimeUnixNano": begin.to_string(),
            "endTimeUnixNano": end.to_string(),
            "attributes": attributes,
            "events": events,
            "status": status,
        })
    }
}

/// A value of an attribute.
enum Attribute {
    Text(String),
    Flag(bool),
    Whole(u64),
    Number(f64),
}

impl From<&str> for Attribute {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Attribute {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<bool> for Attribute {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl From<u64> for Attribute {
    fn from(number: u64) -> Self {
        Self::Whole(number)
    }
}

impl From<f64> for Attribute {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

fn attribute(key: &str, value: impl Into<Attribute>) -> Value {
    let value = match value.into() {
        Attribute::Text(text) => json!({ "stringValue": text }),
        Attribute::Flag(flag) => json!({ "boolValue": flag }),
        // Integers of 64 bits are texts in JSON of protocol buffers.
        Attribute::Whole(number) => json!({ "intValue": number.to_string() }),
        Attribute::Number(number) => json!({ "doubleValue": number }),
    };
    json!({ "key": key, "value": value })
}

/// The first bytes of the digest of a text.
fn hex(text: &str, bytes: usize) -> String {
    let digest = digest(&SHA256, text.as_bytes());
    digest.as_ref().iter().take(bytes).map(|byte| format!("{byte:02x}")).collect()
}
