//! A planning agent as the published code has it: its parser, its verifier, and feedback of its kinds. (Specification
//! of m&m's, sections 4 and 5. The sentences are ours; plans are executed as always.)

use planproof_plan::original::{
    PlanRefusal, PlanningMode, PublishedVerdict, RefusalCode, read_json as read_published, read_python,
    verify, verify_program, verify_step,
};
use planproof_plan::{Plan, findings, headings, read_json, read_step_json};
use planproof_sandbox::SandboxError;
use planproof_trace::template::fill;
use serde_json::Value as Json;

use super::{Draft, Next, PlanFormat, PlanOptions, Strategy, Work};

const NOT_JSON: &str = include_str!("../../prompts/planning/original/not_json.txt").trim_ascii_end();

const RETRY: &str = include_str!("../../prompts/planning/original/retry.txt").trim_ascii_end();

const NOT_VERIFIED: &str = include_str!("../../prompts/planning/original/not_verified.txt").trim_ascii_end();

/// The feedback without its faults, to tell an echo of it from a plan.
pub(super) fn instructions(options: PlanOptions) -> String {
    [NOT_JSON, RETRY, NOT_VERIFIED].map(|template| filled(template, options, "", "")).join("\n")
}

/// What the model is to write again.
fn target(options: PlanOptions) -> String {
    match (options.strategy, options.format) {
        (Strategy::StepByStep, _) => headings::ACTION.to_owned(),
        (Strategy::MultiStep, PlanFormat::Json) => "the plan behind # RESULT #".to_owned(),
        (Strategy::MultiStep, PlanFormat::Code) => "the fenced program behind # RESULT #".to_owned(),
    }
}

fn filled(template: &str, options: PlanOptions, fault: &str, codes: &str) -> String {
    let target = target(options);
    let values =
        [("fault", fault), ("target", &*target), ("codes", codes), ("terminate", headings::TERMINATE)];
    fill(template, &values)
}

impl Work<'_> {
    /// A reply that holds a whole plan, which counts from then on, whatever is found on it.
    pub(super) async fn consider_whole_as_published(&mut self, reply: &str) -> Result<Next, SandboxError> {
        let read = match self.options.format {
            PlanFormat::Json => {
                read_published(reply, PlanningMode::MultiStep).map(|nodes| (Some(nodes), String::new()))
            }
            PlanFormat::Code => read_python(reply).map(|program| (None, program)),
        };
        let (nodes, program) = match read {
            Ok(read) => read,
            Err(refusal) => return Ok(self.refused(reply, &refusal)),
        };
        let plan = nodes.as_ref().and_then(executable);
        self.draft = Draft { plan, nodes, program, attempts: self.draft.attempts, ..Draft::default() };
        self.note_plan();
        if self.options.feedback.tells_verification() {
            let verdict = match &self.draft.nodes {
                Some(nodes) => verify(nodes, self.catalogue),
                None => verify_program(&self.draft.program, self.catalogue),
            };
            // As published, an exception ends the run with the plan that it has.
            if verdict.raised {
                self.note(findings::VERIFICATION, findings::FAULTY, "it cannot be verified");
                return Ok(Next::Stop);
            }
            if !verdict.status() {
                return Ok(self.not_verified_as_published(&verdict));
            }
            self.note(findings::VERIFICATION, findings::FINE, "");
        }
        if self.options.feedback.tells_execution()
            && let Err(what) = self.execute_as_published().await?
        {
            return Ok(Next::Ask(filled(RETRY, self.options, &what, "")));
        }
        Ok(Next::Stop)
    }

    /// A reply that holds the next step, which may be any JSON.
    pub(super) async fn consider_step_as_published(&mut self, reply: &str) -> Next {
        let node = match read_published(reply, PlanningMode::StepByStep) {
            Ok(node) => node,
            Err(refusal) => return self.refused(reply, &refusal),
        };
        if self.options.feedback.tells_verification() {
            let verdict = verify_step(&node, self.catalogue);
            if !verdict.status() {
                return self.not_verified_as_published(&verdict);
            }
            self.note(findings::VERIFICATION, findings::FINE, "");
        }
        let mut said = "The step is accepted.".to_owned();
        if self.options.feedback.tells_execution() {
            let taken = match read_step_json(&node.to_string()) {
                Ok(step) => self.draft.outputs.take(self.run, self.catalogue, &step).await,
                Err(fault) => Err(format!("the step cannot be carried out: {fault}.")),
            };
            match taken {
                Ok(output) => {
                    said = format!("The step gave {output}.");
                    self.note(findings::EXECUTION, findings::FINE, &output.to_string());
                }
                Err(what) => {
                    let ask = filled(RETRY, self.options, &what, "");
                    return self.step_failed(reply, &what, ask);
                }
            }
            // Each step is executed as it comes, so nothing is left to execute at the end.
            self.draft.is_executed = true;
        }
        let mut nodes = match self.draft.nodes.take() {
            Some(Json::Array(nodes)) => nodes,
            _ => Vec::new(),
        };
        nodes.push(node);
        let taken = nodes.len();
        let nodes = Json::Array(nodes);
        self.draft.plan = executable(&nodes);
        self.draft.nodes = Some(nodes);
        self.note_plan();
        Next::unless_done(reply, super::feedback::next_as_published(taken, &said))
    }

    /// Executes the plan, or says why it is none that can be executed.
    async fn execute_as_published(&mut self) -> Result<Result<(), String>, SandboxError> {
        if self.draft.plan.is_none() && self.draft.nodes.is_some() {
            let what =
                "The plan cannot be carried out: its steps are not numbered, or lack a name or arguments.";
            self.note(findings::EXECUTION, findings::FAULTY, what);
            return Ok(Err(what.to_owned()));
        }
        self.execute().await
    }

    fn refused(&self, reply: &str, refusal: &PlanRefusal) -> Next {
        self.parsing_failed(reply, &refusal.message, || {
            let template = if refusal.code == RefusalCode::Json { NOT_JSON } else { RETRY };
            let fault = format!("This cannot be read: {}.", refusal.message);
            filled(template, self.options, &fault, "")
        })
    }

    fn not_verified_as_published(&self, verdict: &PublishedVerdict) -> Next {
        let messages: Vec<&str> = verdict.failures.iter().map(|failure| failure.message.as_str()).collect();
        self.note(findings::VERIFICATION, findings::FAULTY, &messages.join("\n"));
        let codes = verdict.codes();
        let template = if codes.contains(&RefusalCode::Unknown) { RETRY } else { NOT_VERIFIED };
        let codes = codes.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let fault = format!("This does not fit the tools: {}.", messages.join("; "));
        Next::Ask(filled(template, self.options, &fault, &codes))
    }
}

/// The plan of these nodes, if they are one.
fn executable(nodes: &Json) -> Option<Plan> {
    read_json(&serde_json::json!({ "nodes": nodes }).to_string()).ok()
}
