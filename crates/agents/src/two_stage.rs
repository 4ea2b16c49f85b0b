//! The two-stage agent of TravelPlanner as published: it searches in steps of a thought and an action, each a request
//! of its own, keeps what it finds in a notebook, and has a planner write the plan from the notebook alone. (Xie et
//! al. 2024, sections 3 and 4; the rules are those of the benchmark's code, `agents/tool_agents.py`.)
//!
//! # The rules
//!
//! The result of a search stays in view until the next action: before that is executed, the result is replaced by a
//! note that it is masked. The run stops without an answer if the steps or the prompt become too long, at the third
//! consecutive repetition of an action, and at an action whose tool has failed three times since anything last
//! succeeded. The planner ends the run, whatever it writes; if the notebook is too long for it, there is no plan
//! either. The reason for a stop is a section of the trace.
//!
//! Three things differ. Tokens of a prompt are estimated at four bytes each. The planner gets the whole request
//! before its notes, not only the agent's excerpt. The published code masks the word `None` everywhere before the
//! first search; here it is left alone.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use planproof_model::{BoxFuture, Message, Model, Settings, run_time};
use planproof_plan::two_stage::{
    ACTIONS_HEADING, MARK, NOTEBOOK, PLANNER, REQUEST_HEADING, STEPS_HEADING, STOPPED, StepPart,
    WrittenAction,
};
use planproof_tools::execute_recorded;
use planproof_trace::{Arguments, Author, CallId, EndReason, EventKind, LimitKind, Recorder, Tool, ToolCall};
use serde_json::{Map, Value};

use crate::{Agent, Ran, RunContext, RunError, asking};

/// How to work, in our words.
const INSTRUCTIONS: &str = include_str!("../prompts/two_stage.txt");

/// Most steps of a run.
const STEPS_MAX: usize = 30;

/// How many times in a row the same action is too many.
const SAME_ACTIONS: usize = 3;

/// Failures of a tool after which it is not called again.
const FAILURES_MAX: u32 = 3;

/// Most tokens of a prompt, in general and for models of the older family.
const PROMPT_TOKENS_MAX: usize = 30_000;
const PROMPT_TOKENS_MAX_OLD: usize = 15_000;

/// Parts of names of models of the older family. They are asked at temperature 1, all others at 0.
const OLD_MODELS: &str = "gpt-3.5";

/// Bytes of a token, to count those of a prompt without a tokenizer. (English has some four.)
const BYTES_OF_TOKEN: usize = 4;

/// The key that counts failures of invalid actions.
const NO_ACTION: &str = "an action that there is not";

/// The search whose failures the published code counts under a key that it never reads, although its calls end with
/// the failures of nonexistent actions.
const NOT_COUNTED: &str = "AccommodationSearch";

/// The search whose result is never masked.
const NOT_MASKED: &str = "CitySearch";

/// What stands for a masked result.
const MASKED: &str = "Masked, because room is short. What the plan needs of it has to be in the notebook.";

/// The observation if no action was written.
const NOTHING_DONE: &str = "Nothing was done, because no action was written.";

/// The actor of the planner's turn in the trace.
const PLANNER_ACTOR: &str = "planner";

/// The states of sections beside [`STOPPED`].
const PROMPT: &str = "prompt";

#[derive(Clone)]
pub struct TwoStageAgent {
    model: Arc<dyn Model>,
    planner: Arc<dyn Model>,
}

impl TwoStageAgent {
    /// The name on the command line.
    pub const KIND: &'static str = "two-stage";

    /// An agent that asks `model` for its steps and `planner` for the plan. Neither need be able to call tools.
    pub fn new(model: Arc<dyn Model>, planner: Arc<dyn Model>) -> Self {
        Self { model, planner }
    }

    async fn work(&self, run: &RunContext<'_>) -> Result<EndReason, Stop> {
        let tools = run.toolbox.tools();
        for needed in [NOTEBOOK, PLANNER] {
            if tools.iter().all(|tool| tool.name != needed) {
                let reason = format!(
                    "the agent {} works with the tool {needed}, which there is not here: it is for `bench travelplanner` \
                     with --mode two-stage",
                    Self::KIND
                );
                return Err(Stop::Ended(EndReason::Unscored { reason }));
            }
        }
        // The trace has the query already, so its prompt has a placeholder there.
        let (head, prompt_head) = (head(tools, run.query), head(tools, "(the query)"));
        note(run.recorder, PROMPT, &prompt_head);
        let mut steps = Steps::default();
        let mut failures: BTreeMap<&str, u32> = BTreeMap::new();
        let mut actions: Vec<String> = Vec::new();
        let most = STEPS_MAX.min(usize::try_from(run.limits.iterations).unwrap_or(STEPS_MAX));
        for number in 1..=most {
            let thought = self.line(run, &head, &mut steps, StepPart::Thought, number).await?;
            steps.end_with(&thought);
            let written = self.line(run, &head, &mut steps, StepPart::Action, number).await?;
            steps.end_with(&written);
            actions.push(written.clone());
            // Checked before the action is executed: as published, the third repetition is not carried out.
            let last = &actions[actions.len().saturating_sub(SAME_ACTIONS)..];
            if !written.is_empty() && last.len() == SAME_ACTIONS && last.iter().all(|it| *it == written) {
                return Err(Stop::Stopped("the same action three times in a row".to_owned()));
            }
            if written.is_empty() {
                // As published, a missing action is not a failure of any tool.
                steps.observe(number, NOTHING_DONE, false);
                continue;
            }
            let found = WrittenAction::read(&written)
                .and_then(|action| Some((action, tools.iter().find(|tool| tool.name == action.name)?)));
            let counted = match &found {
                Some((_, tool)) if tool.name == NOT_COUNTED => NO_ACTION,
                Some((_, tool)) => tool.name.as_str(),
                None => NO_ACTION,
            };
            let has_failed = failures.get(counted).is_some_and(|count| *count >= FAILURES_MAX);
            if has_failed && counted != PLANNER {
                return Err(Stop::Stopped(format!("{counted} failed three times")));
            }
            let Some((action, tool)) = found else {
                *failures.entry(NO_ACTION).or_default() += 1;
                steps.observe(number, &unknown(tools), false);
                continue;
            };
            steps.mask();
            let call = call(number, tool, &action);
            let result = execute_recorded(&**run.toolbox, run.recorder, &call).await;
            if tool.name == PLANNER {
                if result.is_error {
                    // The notebook is too long for the planner. As published, these words are delivered, and they are
                    // no plan.
                    return Ok(EndReason::Answered { text: result.text });
                }
                return self.plan(run, &result.text).await;
            }
            match result.is_error {
                // As published, any success resets the counters of all tools.
                false => failures.clear(),
                true if tool.name == NOT_COUNTED => {}
                true => *failures.entry(counted).or_default() += 1,
            }
            let is_masked = !result.is_error && ![NOTEBOOK, NOT_MASKED].contains(&tool.name.as_str());
            steps.observe(number, &result.text, is_masked);
        }
        // The run's own limit came before the published one, which is reported as a stop and not as a limit.
        if most < STEPS_MAX {
            let value = u64::from(run.limits.iterations);
            return Err(Stop::Ended(EndReason::LimitReached { limit: LimitKind::Iterations, value }));
        }
        Err(Stop::Stopped(format!("more than {STEPS_MAX} steps")))
    }

    /// The next line of a step, which the model writes.
    async fn line(
        &self,
        run: &RunContext<'_>,
        head: &str,
        steps: &mut Steps,
        part: StepPart,
        number: usize,
    ) -> Result<String, Stop> {
        steps.begin(part, number);
        let prompt = format!("{head}\n\n{STEPS_HEADING}\n\n{}", steps.text());
        let is_old = self.model.name().contains(OLD_MODELS);
        let most = if is_old { PROMPT_TOKENS_MAX_OLD } else { PROMPT_TOKENS_MAX };
        if prompt.len() / BYTES_OF_TOKEN > most {
            return Err(Stop::Stopped(format!("a prompt of more than {most} tokens")));
        }
        // Later lines would be discarded; some servers refuse a line break as the only stop text.
        let stop = [StepPart::Thought, StepPart::Action, StepPart::Observation]
            .map(|part| format!("\n{}", part.word()));
        let reply = ask(&*self.model, run, run.recorder, prompt, stop.into()).await?;
        // A model may write the label again.
        let reply = reply.trim_start();
        let line = reply.lines().next().unwrap_or_default().trim();
        Ok(line.strip_prefix(&part.label(number)).unwrap_or(line).trim().to_owned())
    }

    /// The planner's answer to the notebook.
    async fn plan(&self, run: &RunContext<'_>, notes: &str) -> Result<EndReason, Stop> {
        // The name is ours and valid.
        let recorder = run.recorder.as_actor(PLANNER_ACTOR).unwrap_or_else(|_| run.recorder.clone());
        let prompt = format!("{}\n\n{}", run.query.trim(), notes.trim());
        let text = ask(&*self.planner, run, &recorder, prompt, Vec::new()).await?;
        Ok(EndReason::Answered { text })
    }
}

/// Asks a model for a text.
async fn ask(
    model: &dyn Model,
    run: &RunContext<'_>,
    recorder: &Recorder,
    prompt: String,
    stop: Vec<String>,
) -> Result<String, Stop> {
    let temperature = if model.name().contains(OLD_MODELS) { 1.0 } else { 0.0 };
    let settings =
        Settings { temperature: Some(temperature), seed: Some(run.seed), stop, ..Settings::default() };
    let messages = vec![Message::User { text: prompt }];
    asking::ask(model, messages, settings, run, recorder).await.map_err(Stop::Ended)
}

/// Why a run does not come to an answer.
enum Stop {
    Ended(EndReason),
    /// The words of a rule of the loop that stopped it.
    Stopped(String),
}

/// The steps so far, as text.
#[derive(Default)]
struct Steps {
    lines: Vec<String>,
    /// The line with the result of the last search, while it is in view.
    in_view: Option<usize>,
}

impl Steps {
    fn begin(&mut self, part: StepPart, number: usize) {
        self.lines.push(part.label(number));
    }

    /// Ends the line that was begun.
    fn end_with(&mut self, text: &str) {
        if let Some(line) = self.lines.last_mut() {
            line.push(' ');
            line.push_str(text);
        }
    }

    fn observe(&mut self, number: usize, text: &str, is_masked: bool) {
        self.begin(StepPart::Observation, number);
        self.end_with(text);
        if is_masked {
            self.in_view = Some(self.lines.len() - 1);
        }
    }

    /// Hides the result of the last search.
    fn mask(&mut self) {
        let Some(line) = self.in_view.take().and_then(|at| self.lines.get_mut(at)) else { return };
        let label = line.find(':').map_or(0, |at| at + 1);
        line.truncate(label);
        line.push(' ');
        line.push_str(MASKED);
    }

    fn text(&self) -> String {
        self.lines.join("\n")
    }
}

/// All that stands before the steps.
fn head(tools: &[Tool], query: &str) -> String {
    let action = |tool: &Tool| {
        let names = arguments(tool).collect::<Vec<_>>().join(", ");
        format!("- {}[{names}]: {}", tool.name, tool.description)
    };
    let actions: Vec<String> = tools.iter().map(action).collect();
    format!(
        "{MARK}\n\n{}\n\n{ACTIONS_HEADING}\n\n{}\n\n{REQUEST_HEADING}\n\nHow the plan is written is for the planner.\n\n{}",
        INSTRUCTIONS.trim_end(),
        actions.join("\n"),
        query.trim()
    )
}

/// The names of a tool's arguments in their order.
fn arguments(tool: &Tool) -> impl Iterator<Item = &str> {
    let required = tool.input_schema.get("required").and_then(Value::as_array);
    required.into_iter().flatten().filter_map(Value::as_str)
}

fn unknown(tools: &[Tool]) -> String {
    let names: Vec<String> = tools
        .iter()
        .map(|tool| format!("{}[{}]", tool.name, arguments(tool).collect::<Vec<_>>().join(", ")))
        .collect();
    format!("There is no such action. There are {}.", names.join(", "))
}

fn call(number: usize, tool: &Tool, action: &WrittenAction<'_>) -> ToolCall {
    let names: Vec<&str> = arguments(tool).collect();
    let values = action.arguments(names.len());
    let members: Map<String, Value> =
        names.iter().zip(values).map(|(name, value)| ((*name).to_owned(), value.into())).collect();
    ToolCall {
        id: CallId::new(format!("call_{number}")),
        name: tool.name.clone(),
        arguments: Arguments::Object(members),
    }
}

fn note(recorder: &Recorder, state: &str, text: &str) {
    recorder.record(EventKind::Section {
        state: state.to_owned(),
        author: Author::Environment,
        text: text.to_owned(),
        note: String::new(),
    });
}

impl Agent for TwoStageAgent {
    fn run<'a>(&'a self, run: RunContext<'a>) -> BoxFuture<'a, Result<Ran, RunError>> {
        Box::pin(async move {
            run.recorder.record(EventKind::Query { text: run.query.to_owned() });
            let end = match run_time::within(run.limits.wall, Box::pin(self.work(&run))).await {
                Ok(Ok(end) | Err(Stop::Ended(end))) => end,
                // A rule of the published loop is not a limit of ours: the run counts as answered, without a plan.
                Ok(Err(Stop::Stopped(why))) => {
                    note(run.recorder, STOPPED, &why);
                    EndReason::Answered { text: String::new() }
                }
                Err(over) => run.limits.out_of_time(&over),
            };
            Ok(Ran::in_process(end))
        })
    }
}

impl fmt::Debug for TwoStageAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TwoStageAgent")
            .field("model", &self.model.name())
            .field("planner", &self.planner.name())
            .finish()
    }
}
