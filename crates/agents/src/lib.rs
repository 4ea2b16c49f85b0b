//! Agents under test: in-process loops and external programs.
//!
//! # Module layout
//!
//! The trait that all of them implement (`agent.rs`), their surroundings (`surroundings.rs`), and the parser of
//! their names (`agent_spec.rs`, with suggestions by `similar.rs`; what an agent of a name uses outside:
//! `agent_spec/reaches.rs`). The function-calling loop, which sends the conversation with each request (`tools@`)
//! or stores it at the model's server (`responses@`), `command:` (`external/command.rs`), `worker:`
//! (`external/worker.rs`: its protocol in `external/worker/process.rs`, the free ones in
//! `external/worker/pool.rs`), `url:` (`external/url.rs`), the task as JSON (`external/question.rs`), the programs
//! of the user's that they start (`program.rs`, in process groups of `tools`; a missing script is found in
//! `program/script.rs`) without the keys of our environment (`external/environment.rs`), and the limits of a run
//! (`limits.rs`). The planning agent (`planning.rs`): its options (`planning/options.rs`), its prompts
//! (`planning/prompt.rs`), its feedback on a plan (`planning/feedback.rs`), and the execution of one
//! (`planning/carry_out.rs`). The agents that write sub-tasks with their tools, at once or one by one
//! (`subtasks.rs`, which lists its parts). The published two-stage agent of TravelPlanner (`two_stage.rs`). The
//! team of manager, executors, supervisor and deliverer (`team.rs`, which lists its parts). How these two ask a
//! model (`asking.rs`), and how such runs stop (`stop.rs`). Agents made from a specification (`behaviour.rs`): the
//! loop under the monitor (`behaviour/run_loop.rs`), the text that it writes (`behaviour/writing.rs`), runs
//! retraced from their traces (`behaviour/retrace.rs`) and how they could have continued
//! (`behaviour/retrace/way.rs`), the instructions of a model (`behaviour/instructions.rs`, requirements in words),
//! the request to continue (`behaviour/continuation.rs`), and the work of the environment
//! (`behaviour/handlers.rs`). A plan is executed in `behaviour/plan.rs`. Side texts, which they request outside of
//! their run (`behaviour/plain.rs`): evidence instead of labels (`behaviour/evidence.rs`), an answer from it
//! (`behaviour/solve.rs`), a summary and whether it is better than its input (`behaviour/summary.rs`), a judgement
//! (`behaviour/evaluator.rs`, by a program in `behaviour/evaluator/program.rs`), votes (`behaviour/votes.rs`) and
//! the agent that takes them over samples of another (`behaviour/voting.rs`). What agents recall of earlier runs
//! (`memory.rs`, which lists its parts). Prompts that users write for them (`template.rs`).

mod agent;
mod agent_spec;
mod asking;
pub mod behaviour;
mod external;
mod function_calling;
mod limits;
pub mod memory;
pub mod planning;
mod program;
mod similar;
mod stop;
pub mod subtasks;
mod surroundings;
pub mod team;
mod template;
mod two_stage;

pub use agent::{Agent, Contact, Ran, RunContext, RunError};
pub use agent_spec::{
    AGENT_OPTIONS, AgentForm, AgentKind, AgentOptions, AgentSpec, AgentSpecError, EvaluatorName,
    GUARD_PREFIX, PairedWith, Reach, SUITE_AGENTS, SpecName, ToolLoop, model_with_provider,
};
pub use behaviour::{BehaviourAgent, BehaviourError, BehaviourOptions, GrammarUse, instructions};
pub use external::{
    BodyName, CommandAgent, ExternalRun, FormError, ModelAccess, ProgramSetting, SERVED_VARIABLES,
    SERVICE_HEADERS_MAX, ServiceForm, UrlAgent, UrlError, WorkerAgent, holds_key, with_variables,
};
pub use function_calling::FunctionCallingAgent;
pub use limits::{REPLY_TOKENS, RunLimits};
pub use planning::PlanningAgent;
pub use program::{CommandError, is_interpreter};
pub use similar::most_similar;
pub use subtasks::SubTaskAgent;
pub use surroundings::{ServedModel, ServedWatch, Surroundings};
pub use team::TeamAgent;
pub use template::{Placeholder, PromptTemplate, TEMPLATE_BYTES_MAX, TemplateError};
pub use two_stage::TwoStageAgent;
