//! The planning agent: a model writes a plan and gets feedback on it, and the plan that it settles on is executed.
//! (Ma et al. 2024, "m&m's", section 4; its code as the specification of m&m's has it in section 4. Executing a plan
//! at the end, if that was not done while it was written, is ours: there the paper runs a program of its own.)
//!
//! The tools and the types of their outputs come from [`Toolbox::catalogue`]. If a toolbox has no catalogue, one is
//! made from the schemas of the tools, and anything may follow anything.
//!
//! In the trace a plan is a section of the model, and the findings on it are sections of the environment, with the
//! states and notes of [`findings`].
//!
//! [`Toolbox::catalogue`]: planproof_tools::Toolbox::catalogue

mod carry_out;
mod feedback;
mod options;
mod original;
mod program;
mod prompt;

use std::fmt;
use std::sync::Arc;

use planproof_measure::echo::outside_of_echo;
use planproof_model::{BoxFuture, ChatRequest, Message, Model, Settings, run_time};
use planproof_plan::{
    Plan, findings, headings, read_json, read_python, read_step_json, to_json_text, to_python, verify,
    verify_next, verify_program,
};
use planproof_sandbox::{Sandbox, SandboxError};
use planproof_spec::Compat;
use planproof_tools::Toolbox;
use planproof_trace::{Author, Catalogue, EndReason, EventKind, LimitKind, Port, Signature};
use serde_json::Value;

use crate::asking::Conversation;
use crate::template::{Placeholder, PromptTemplate, TemplateError};
use crate::{Agent, Ran, RunContext, RunError};
use carry_out::Outputs;
pub use options::{Feedback, PlanFormat, PlanOptions, Strategy};
pub use program::carry_out_program;

/// The text of a reply without text in the conversation.
const EMPTY_REPLY: &str = "(no text)";

/// Longest text of a section with findings, in bytes.
const FINDING_BYTES_MAX: usize = 4 * 1024;

/// An agent that writes a plan and executes it.
#[derive(Clone)]
pub struct PlanningAgent {
    model: Arc<dyn Model>,
    options: PlanOptions,
    template: PromptTemplate,
    sandbox: Option<Arc<Sandbox>>,
    judge: Option<Arc<dyn Model>>,
}

impl PlanningAgent {
    /// The name on the command line.
    pub const KIND: &'static str = "plan";

    /// An agent that asks `model` and plans as `options` say. Without a sandbox only programs that are lists of calls
    /// are executed, step by step.
    pub fn new(model: Arc<dyn Model>, options: PlanOptions) -> Self {
        let template = PromptTemplate::shipped(prompt::template(options));
        Self { model, options, template, sandbox: None, judge: None }
    }

    /// The first message to the model of an agent with these options, with placeholders.
    pub fn template(options: PlanOptions) -> String {
        prompt::template(options)
    }

    /// The placeholders that it has, and those that it must have.
    pub fn placeholders() -> &'static [Placeholder] {
        &prompt::PLACEHOLDERS
    }

    /// The same agent, which sends this first message instead.
    ///
    /// # Errors
    /// A placeholder is missing or unknown, or the text is too long.
    pub fn with_prompt(self, text: &str) -> Result<Self, TemplateError> {
        Ok(Self { template: PromptTemplate::new(text, &prompt::PLACEHOLDERS)?, ..self })
    }

    /// The same agent, which runs its programs in this sandbox.
    #[must_use]
    pub fn with_sandbox(self, sandbox: Arc<Sandbox>) -> Self {
        Self { sandbox: Some(sandbox), ..self }
    }

    /// The same agent, with a model that answers what cases leave to a judge, such as whether a value says the same
    /// as the right one.
    #[must_use]
    pub fn with_judge(self, judge: Arc<dyn Model>) -> Self {
        Self { judge: Some(judge), ..self }
    }

    async fn turns(&self, run: &RunContext<'_>) -> EndReason {
        let catalogue = catalogue(&**run.toolbox);
        let mut request = ChatRequest {
            messages: vec![Message::User {
                text: prompt::first(&self.template, self.options, &catalogue, run.query),
            }],
            tools: [].into(),
            settings: Settings { temperature: Some(0.0), seed: Some(run.seed), ..Settings::default() },
            previous: None,
        };
        let sandbox = self.sandbox.as_deref().filter(|_| self.options.format == PlanFormat::Code);
        let mut work =
            Work { options: self.options, run, catalogue: &catalogue, sandbox, draft: Draft::default() };
        // What a model repeats of them is neither a plan nor the word that it gives up.
        let ending = match self.template.as_str() == prompt::template(self.options) {
            true => prompt::ending(self.options),
            false => self.template.ending(),
        };
        let instructions = [ending, &feedback::instructions(self.options)].join("\n");
        let mut conversation = Conversation::new(&*self.model, run);
        for asked_again in 0..run.limits.iterations {
            let reply = match conversation.ask(&mut request, run.recorder).await {
                Ok(reply) => reply,
                Err(end) => return end,
            };
            let feedback = match work.consider(&outside_of_echo(&reply.text, &instructions)).await {
                // As published, a request for the next step counts as a reply, too.
                Ok(Next::Ask(feedback)) if asked_again < self.options.replies_max.get() => feedback,
                // When no further reply is allowed, the last plan that could be read counts, whatever was found on it.
                Ok(Next::Ask(_) | Next::Stop) => {
                    return work.finish().await.unwrap_or_else(|error| unscored(&error));
                }
                Err(error) => return unscored(&error),
            };
            // Servers refuse a turn without content.
            let text = if reply.text.trim().is_empty() { EMPTY_REPLY.to_owned() } else { reply.text };
            request.messages.push(Message::assistant(text, Vec::new()));
            request.messages.push(Message::User { text: feedback });
        }
        EndReason::LimitReached { limit: LimitKind::Iterations, value: u64::from(run.limits.iterations) }
    }
}

impl Agent for PlanningAgent {
    fn judge(&self) -> Option<&dyn Model> {
        self.judge.as_deref()
    }

    fn run<'a>(&'a self, run: RunContext<'a>) -> BoxFuture<'a, Result<Ran, RunError>> {
        Box::pin(async move {
            run.recorder.record(EventKind::Query { text: run.query.to_owned() });
            let end = run_time::within(run.limits.wall, Box::pin(self.turns(&run))).await;
            Ok(Ran::in_process(end.unwrap_or_else(|over| run.limits.out_of_time(&over))))
        })
    }
}

impl fmt::Debug for PlanningAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PlanningAgent")
            .field("options", &self.options)
            .field("model", &self.model.name())
            .finish()
    }
}

/// The end of a run for which no worker was available.
fn unscored(error: &SandboxError) -> EndReason {
    EndReason::Unscored { reason: error.to_string() }
}

/// What comes after a reply.
enum Next {
    /// The model is asked again, with these words.
    Ask(String),
    Stop,
}

impl Next {
    /// Asks for more, unless the model has said in its reply that it is done.
    fn unless_done(reply: &str, ask: String) -> Self {
        if reply.contains(headings::TERMINATE) { Self::Stop } else { Self::Ask(ask) }
    }
}

/// The plan as it is.
#[derive(Default)]
struct Draft {
    /// Its steps; `None` for a program that is more than a list of calls.
    plan: Option<Plan>,
    /// The nodes as the published parser reads them, where it does.
    nodes: Option<Value>,
    /// The program, where plans are written as such.
    program: String,
    /// The plan in its current form was executed to its end, or that failed.
    is_executed: bool,
    /// The results of steps that were executed one by one.
    outputs: Outputs,
    attempts: u32,
}

/// A run of the agent.
struct Work<'a> {
    options: PlanOptions,
    run: &'a RunContext<'a>,
    catalogue: &'a Catalogue,
    sandbox: Option<&'a Sandbox>,
    draft: Draft,
}

impl Work<'_> {
    /// Makes of a reply what it is worth.
    async fn consider(&mut self, reply: &str) -> Result<Next, SandboxError> {
        match (self.options.strategy, self.options.compat) {
            (Strategy::MultiStep, Compat::Ours) => self.consider_whole(reply).await,
            (Strategy::MultiStep, Compat::Original) => self.consider_whole_as_published(reply).await,
            (Strategy::StepByStep, Compat::Original) if self.options.format == PlanFormat::Json => {
                Ok(self.consider_step_as_published(reply).await)
            }
            (Strategy::StepByStep, _) => Ok(self.consider_step(reply).await),
        }
    }

    /// A reply that holds a whole plan. A plan that can be read counts from then on, whatever the findings on it.
    async fn consider_whole(&mut self, reply: &str) -> Result<Next, SandboxError> {
        // As published, a reply that can be read is a plan, even if it says TERMINATE as well.
        let read = match self.options.format {
            PlanFormat::Json => read_json(reply).map(|plan| (Some(plan), String::new())),
            PlanFormat::Code => {
                read_python(reply).map(|program| (program.plan, program.text.trim().to_owned()))
            }
        };
        let (plan, program) = match read {
            Ok(read) => read,
            Err(fault) => return Ok(self.not_read(reply, &fault.to_string())),
        };
        // The number of attempts survives, because it is part of the ids of calls.
        self.draft = Draft { plan, program, attempts: self.draft.attempts, ..Draft::default() };
        self.note_plan();
        if self.options.feedback.tells_verification() {
            let faults = match &self.draft.plan {
                Some(plan) => verify(plan, self.catalogue),
                None => match verify_program(&self.draft.program, self.catalogue) {
                    Ok(faults) => faults,
                    Err(fault) => return Ok(self.not_read(reply, &fault.to_string())),
                },
            };
            if !faults.is_empty() {
                return Ok(self.not_verified(&faults));
            }
            self.note(findings::VERIFICATION, findings::FINE, "");
        }
        if self.options.feedback.tells_execution()
            && let Err(what) = self.execute().await?
        {
            return Ok(Next::Ask(feedback::not_executed(self.options, &what)));
        }
        Ok(Next::Stop)
    }

    /// A reply that holds the next step, which belongs to the plan once there are no findings against it.
    async fn consider_step(&mut self, reply: &str) -> Next {
        let held = self.draft.plan.take().unwrap_or_default();
        let read = self.read_step(reply, &held);
        self.draft.plan = Some(held);
        let (step, program) = match read {
            Ok(Some(read)) => read,
            Ok(None) => return Next::Stop,
            Err(fault) => return self.not_read(reply, &fault),
        };
        if self.options.feedback.tells_verification() {
            let earlier = self.draft.plan.get_or_insert_default();
            // The published check looks at the new step alone. This one also sees the steps that it refers to.
            let faults = verify_next(earlier, &step, self.catalogue);
            if !faults.is_empty() {
                return self.not_verified(&faults);
            }
            self.note(findings::VERIFICATION, findings::FINE, "");
        }
        let mut output = None;
        if self.options.feedback.tells_execution() {
            match self.draft.outputs.take(self.run, self.catalogue, &step).await {
                Ok(value) => output = Some(value.to_string()),
                Err(what) => {
                    let ask = feedback::not_executed(self.options, &what);
                    return self.step_failed(reply, &what, ask);
                }
            }
        }
        let plan = self.draft.plan.get_or_insert_default();
        plan.steps.push(step);
        let taken = plan.steps.len();
        self.draft.program = program;
        self.note_plan();
        if let Some(output) = &output {
            self.note(findings::EXECUTION, findings::FINE, output);
            // Each step was executed as it came, so nothing is left to execute at the end.
            self.draft.is_executed = true;
        }
        Next::unless_done(reply, feedback::next_step(taken, output.as_deref()))
    }

    /// Notes that a step could not be executed, and what follows: `ask`, unless the model has said that it is done. As
    /// published, a failed execution looks for TERMINATE, and a failed verification does not.
    fn step_failed(&mut self, reply: &str, what: &str, ask: String) -> Next {
        self.note(findings::EXECUTION, findings::FAULTY, what);
        // The call of a rewritten step needs an id of its own.
        self.draft.outputs.begin_again();
        Next::unless_done(reply, ask)
    }

    /// The next step and the program up to it; `None` where the model says that it is done.
    fn read_step(&self, reply: &str, held: &Plan) -> Result<Option<(planproof_plan::Step, String)>, String> {
        let is_done = || reply.contains(headings::TERMINATE);
        match self.options.format {
            PlanFormat::Json => match read_step_json(reply) {
                Ok(step) => Ok(Some((step, String::new()))),
                Err(_) if is_done() => Ok(None),
                Err(fault) => Err(fault.to_string()),
            },
            PlanFormat::Code => {
                let lines = match read_python(reply) {
                    Ok(program) => program.text,
                    Err(_) if is_done() => return Ok(None),
                    Err(fault) => return Err(fault.to_string()),
                };
                if lines.trim().is_empty() && is_done() {
                    return Ok(None);
                }
                // Read together with the earlier lines, because a step may use their variables.
                let text = format!("{}{}\n", self.draft.program, lines.trim());
                let program = read_python(&text).map_err(|fault| fault.to_string())?;
                let Some(mut plan) = program.plan else {
                    return Err("a step has to be one assignment of one call of a tool".to_owned());
                };
                match (plan.steps.len().checked_sub(held.steps.len()), plan.steps.pop()) {
                    (Some(1), Some(step)) => Ok(Some((step, text))),
                    _ => Err("there has to be one new call of a tool, and nothing else".to_owned()),
                }
            }
        }
    }

    fn not_read(&self, reply: &str, fault: &str) -> Next {
        self.parsing_failed(reply, fault, || feedback::not_read(self.options, fault))
    }

    /// Notes that a reply could not be read, and what follows: what `ask` returns, unless the model has said that it is
    /// done, or gets no feedback of this kind.
    fn parsing_failed(&self, reply: &str, fault: &str, ask: impl FnOnce() -> String) -> Next {
        self.note(findings::PARSING, findings::FAULTY, fault);
        match self.options.feedback.tells_parsing() {
            true => Next::unless_done(reply, ask()),
            false => Next::Stop,
        }
    }

    fn not_verified(&self, faults: &[planproof_plan::VerificationFault]) -> Next {
        let texts: Vec<String> = faults.iter().map(ToString::to_string).collect();
        self.note(findings::VERIFICATION, findings::FAULTY, &texts.join("\n"));
        Next::Ask(feedback::not_verified(self.options, faults))
    }

    /// Executes the plan from its beginning. Returns what went wrong, in words for the model.
    async fn execute(&mut self) -> Result<Result<(), String>, SandboxError> {
        self.draft.is_executed = true;
        // Higher than the numbers of all earlier attempts, those of single steps included, so that no id of a call
        // occurs twice.
        self.draft.attempts = self.draft.attempts.max(self.draft.outputs.attempt()) + 1;
        let attempt = self.draft.attempts;
        let (note, text) = match (self.sandbox, &self.draft.plan) {
            (Some(sandbox), _) => {
                let (toolbox, recorder) = (&**self.run.toolbox, self.run.recorder);
                carry_out_program(sandbox, &self.answer(), toolbox, recorder, attempt).await?
            }
            (None, Some(plan)) => {
                match Outputs::of_attempt(attempt).take_all(self.run, self.catalogue, plan).await {
                    Ok(last) => (findings::FINE, last.to_string()),
                    Err(what) => (findings::FAULTY, what),
                }
            }
            (None, None) => {
                let lacking =
                    "the program is more than a list of calls, and there is no sandbox to run it in";
                (findings::UNSUPPORTED, lacking.to_owned())
            }
        };
        self.note(findings::EXECUTION, note, &text);
        // What the sandbox lacks is not the plan's fault, so the model is not asked to change the plan for it.
        Ok(if note == findings::FAULTY { Err(text) } else { Ok(()) })
    }

    /// Executes the plan if that was not done yet, and answers with it.
    async fn finish(mut self) -> Result<EndReason, SandboxError> {
        let has_plan = match &self.draft.plan {
            Some(plan) => !plan.steps.is_empty(),
            None => !self.draft.program.is_empty(),
        };
        if has_plan && !self.draft.is_executed {
            // The trace says how it went.
            let _ = self.execute().await?;
        }
        Ok(EndReason::Answered { text: self.answer() })
    }

    fn answer(&self) -> String {
        let Draft { plan, program, nodes, .. } = &self.draft;
        if let Some(nodes) = nodes {
            return serde_json::json!({ "nodes": nodes }).to_string();
        }
        match (self.options.format, plan) {
            // Steps that came one by one are lines without an enclosing function.
            (PlanFormat::Code, Some(plan)) if self.options.strategy == Strategy::StepByStep => {
                to_python(plan)
            }
            (PlanFormat::Code, _) if !program.is_empty() => program.clone(),
            (PlanFormat::Json, Some(plan)) => format!("{{\"nodes\": {}}}", to_json_text(plan)),
            // As published, a run without any readable plan answers with an empty one, also where plans are programs.
            _ => "{\"nodes\": []}".to_owned(),
        }
    }

    fn note_plan(&self) {
        let text = self.answer();
        self.record(findings::PLAN, Author::Model, text, "");
    }

    fn note(&self, state: &str, note: &str, text: &str) {
        let mut end = text.len().min(FINDING_BYTES_MAX);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        self.record(state, Author::Environment, text[..end].to_owned(), note);
    }

    fn record(&self, state: &str, author: Author, text: String, note: &str) {
        let (state, note) = (state.to_owned(), note.to_owned());
        self.run.recorder.record(EventKind::Section { state, author, text, note });
    }
}

/// What plans can be made of.
fn catalogue(toolbox: &dyn Toolbox) -> Arc<Catalogue> {
    if let Some(catalogue) = toolbox.catalogue() {
        return Arc::clone(catalogue);
    }
    let tools = toolbox.tools();
    let text = || Port { name: "text".to_owned(), kind: "text".to_owned() };
    let argument = |(name, schema): (&String, &Value)| {
        let kind = schema.get("type").and_then(Value::as_str).unwrap_or("value").to_owned();
        Port { name: name.clone(), kind }
    };
    let signature = |tool: &planproof_trace::Tool| Signature {
        name: tool.name.clone(),
        description: tool.description.clone(),
        arguments: match tool.input_schema.get("properties") {
            Some(Value::Object(properties)) => properties.iter().map(argument).collect(),
            _ => Vec::new(),
        },
        outputs: vec![text()],
        successors: (0..tools.len()).collect(),
    };
    Arc::new(Catalogue::new(tools.iter().map(signature).collect()))
}
