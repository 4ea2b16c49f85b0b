//! A plan being executed: evidence put into arguments, and which calls may be executed with them.

use planproof_spec::Monitor;
use planproof_spec::monitor::{Call, Denial, Fault, PlanExecution};
use planproof_trace::ToolCall;

use super::evidence::{Evidence, EvidenceRules, execution_order, labels};

/// Most bytes of evidence that are put into the inputs and arguments of a plan together. Where results repeat the
/// arguments, as those of many tools do, each call could double them.
pub(super) const EVIDENCE_BYTES_MAX: usize = 16 << 20;

/// The calls of a run in order. Each is executed or denied before the next one is considered.
pub(super) struct Plan {
    labels: Vec<String>,
    /// The calls in the order in which they are executed, by their indices.
    order: Vec<usize>,
    evidence: Evidence,
    execution: PlanExecution,
    /// The place of the next call in the order.
    next: usize,
    /// Labels of calls that were denied.
    denied: Vec<String>,
    /// References without evidence: of the next call, and of all.
    unknown: Vec<String>,
    missing: Vec<String>,
    /// The bytes of evidence that the calls so far refer to.
    referred: usize,
}

impl Plan {
    pub(super) fn new(monitor: &Monitor, rules: EvidenceRules) -> Self {
        let labels = labels(monitor.calls().iter().map(|call| call.label.as_deref()));
        let as_text: Vec<&str> = labels.iter().map(String::as_str).collect();
        // A requirement about calls is read in the order in which they were written.
        let rules_of_order =
            if monitor.automaton().requires_of_calls() { EvidenceRules::Ours } else { rules };
        let order = execution_order(&as_text, rules_of_order);
        Self {
            evidence: Evidence::new(rules, as_text),
            execution: monitor.execution().in_order(&order),
            labels,
            order,
            next: 0,
            denied: Vec::new(),
            unknown: Vec::new(),
            missing: Vec::new(),
            referred: 0,
        }
    }

    pub(super) fn labels(&self) -> &[String] {
        &self.labels
    }

    /// The calls in the order in which they are executed, by their indices.
    pub(super) fn order(&self) -> Vec<usize> {
        self.order.clone()
    }

    /// The label of the next call.
    fn label(&self) -> Option<&String> {
        self.labels.get(*self.order.get(self.next)?)
    }

    /// Counts the evidence that the next call refers to, before any of it is put in. Returns whether it may be.
    pub(super) fn has_room(&mut self, call: &Call) -> bool {
        let mut bytes = self.evidence.bytes_for(&call.input);
        // The arguments of a call that was executed already are final.
        if call.is_waiting {
            bytes = bytes.saturating_add(self.evidence.bytes_for_arguments(&call.call.arguments));
        }
        self.referred = self.referred.saturating_add(bytes);
        self.referred <= EVIDENCE_BYTES_MAX
    }

    /// The written input of a call, with the known evidence put in.
    pub(super) fn input(&self, written: &str) -> String {
        self.evidence.text(written).value
    }

    /// The next call as it is to be executed.
    pub(super) fn next_call(&mut self, written: &ToolCall) -> ToolCall {
        let arguments = self.evidence.arguments(&written.arguments);
        self.missing.extend_from_slice(&arguments.unknown);
        self.unknown = arguments.unknown;
        ToolCall { arguments: arguments.value, ..written.clone() }
    }

    /// Checks the next call with its final arguments.
    ///
    /// # Errors
    /// The call must not be executed.
    pub(super) fn check(&self, monitor: &Monitor, call: &ToolCall) -> Result<(), Denial> {
        match self.unknown.iter().find(|label| self.denied.contains(label)) {
            // The evidence it refers to does not exist.
            Some(label) => Err(self.execution.denial(Fault::NoEvidence { label: label.clone() })),
            None => self.execution.check(monitor, call),
        }
    }

    /// Records the answer of the next call, which was executed now.
    pub(super) fn execute(&mut self, call: ToolCall, answer: &str) {
        self.execution.decide(Some(call));
        self.note(answer);
    }

    /// Records the answer of the next call, which had been executed before.
    pub(super) fn note(&mut self, answer: &str) {
        if let Some(label) = self.label().cloned() {
            self.evidence.add(&label, answer);
        }
        self.next += 1;
    }

    /// The next call was denied.
    pub(super) fn deny(&mut self) {
        self.execution.decide(None);
        self.denied.extend(self.label().cloned());
        self.next += 1;
    }

    /// The note for the trace, and the results of the calls.
    pub(super) fn end(mut self) -> (String, PlanExecution) {
        let mut notes = Vec::new();
        self.missing.sort_unstable();
        self.missing.dedup();
        self.missing.retain(|label| !self.denied.contains(label));
        if !self.missing.is_empty() {
            notes.push(format!("there was no evidence for {}", self.missing.join(", ")));
        }
        if !self.denied.is_empty() {
            notes.push(format!("not executed: {}", self.denied.join(", ")));
        }
        (notes.join("; "), self.execution)
    }
}
