//! `planproof run`: an agent on a user's own tools, with its trace shown live.

mod live;
mod ruled;
mod system;
mod transcript;

use std::fs;
use std::path::Path;
use std::sync::Arc;

use planproof_agents::team::Reviewing;
use planproof_agents::{AgentForm, AgentKind, AgentSpec, RunContext, RunLimits, Surroundings, ToolLoop};
use planproof_assembly::arguments::{ModelArguments, Think};
use planproof_assembly::sources::{self, NamedSource};
use planproof_campaign::{KeyNeeded, ProgramOptions};
use planproof_engine::AgentUnderTest;
use planproof_live::rules::rules_of;
use planproof_model::Model;
use planproof_output::failure::{ExitCode, Failure};
use planproof_output::question::agrees;
use planproof_output::random::random_bytes;
use planproof_output::runtime::runtime;
use planproof_output::values::seconds;
use planproof_output::{secrets, signals, tell, terminal, text_files};
use planproof_spec::rules::RuleSet;
use planproof_tools::{ClientLimits, CombinedTools, Toolbox, WallClock};
use planproof_trace::{Clock as _, EndReason, EventKind, Header, Recorder};
use tokio::sync::oneshot;

use crate::arguments::{Global, ReviewChoice, RunArguments};
use crate::review;
use live::{LiveSink, LiveTrace};
use ruled::RuledTools;
use system::Instructed;

/// The text in place of the case's id in the header of a trace.
const CASE: &str = "run";

/// A run about to begin.
struct Prepared {
    name: AgentSpec,
    agent: AgentUnderTest,
    task: String,
    limits: RunLimits,
    sources: Vec<NamedSource>,
    /// With the name of their file.
    rules: Option<(String, Arc<RuleSet>)>,
    tool_limits: ClientLimits,
    trace: Option<fs::File>,
    seed: u64,
    reviewing: Option<Reviewing>,
    /// A person can be asked before foreign tools are used.
    asks: bool,
}

pub(crate) fn run(arguments: &RunArguments, global: &Global) -> Result<ExitCode, Failure> {
    let prepared = prepare(arguments, global)?;
    runtime()?.block_on(carry_out(prepared, global))
}

/// All possible mistakes of the user are checked here, before anything is started.
fn prepare(arguments: &RunArguments, global: &Global) -> Result<Prepared, Failure> {
    let name = planproof_assembly::with_options(&arguments.agent, &arguments.agent_options)?;
    if name.is_guarded() {
        return Err(Failure::usage(format!(
            "{} is for `test` and `limit`: the right calls of your own task are not known",
            planproof_engine::GUARD_PREFIX
        )));
    }
    let wall = planproof_assembly::run_time(name.model(), &arguments.model, arguments.timeout);
    let asking = ModelArguments { think: arguments.think.map(Think::is_on), ..arguments.model.within(wall)? };
    let find_model = |name: &str, form| -> Result<Arc<dyn Model>, Failure> {
        let model = planproof_assembly::model(name, form, &asking, KeyNeeded::AtOnce)?;
        Ok(match &arguments.system {
            Some(system) => Arc::new(Instructed::new(model, system.clone())),
            None => model,
        })
    };
    if name.of_suite().is_some() {
        let what =
            format!("{name} belongs to a suite and runs only on its cases: planproof bench SUITE {name}");
        return Err(Failure::usage(what));
    }
    if name.remembers() {
        let what = format!(
            "{name} has a memory of earlier runs, which campaigns keep and `planproof run` does not: leave out memory=on, or \
             use `planproof bench` or `planproof test`"
        );
        return Err(Failure::usage(what));
    }
    // Only after the checks of the name: here the model is looked for, whose key may be missing.
    let agent = planproof_assembly::agent(
        &name,
        &ProgramOptions::default(),
        &planproof_assembly::no_isolation,
        &find_model,
    )?;
    if arguments.system.is_some() {
        must_take_instructions(&name)?;
    }
    let limits = RunLimits {
        wall,
        iterations: arguments.iterations.get(),
        reply_tokens: Some(arguments.reply_tokens),
        ..RunLimits::default()
    };
    let call = seconds(arguments.tool_timeout);
    let tool_limits = ClientLimits { call, ..ClientLimits::default() };
    let sources = sources::parse(&arguments.tools)?;
    let rules = match &arguments.rules {
        Some(path) => Some(path.clone()),
        None => planproof_assembly::rules_named_by(&name)?,
    };
    let rules =
        rules.map(|path| Ok::<_, Failure>((path.display().to_string(), rules_of(&path)?))).transpose()?;
    let is_from_stdin = arguments.task == "-";
    let task = if is_from_stdin { text_files::read_text(Path::new("-"))? } else { arguments.task.clone() };
    let task = task.trim().to_owned();
    if task.is_empty() {
        return Err(Failure::usage("the task is empty: say what the agent is to do"));
    }
    let trace = arguments.trace.as_deref().map(trace_file).transpose()?;
    // A person could not answer on an input that holds the task.
    let is_watched = terminal::is_interactive() && !is_from_stdin;
    let asks = !arguments.yes && is_watched && sources.iter().any(NamedSource::is_foreign);
    if arguments.review != ReviewChoice::None && is_from_stdin {
        return Err(Failure::usage(
            "--review reads answers from standard input, which already holds the task: give the task as TASK",
        ));
    }
    let reviewing = review::reviewing(arguments.review, &name)?;
    let seed = global.seed;
    Ok(Prepared { name, agent, task, limits, sources, rules, tool_limits, trace, seed, reviewing, asks })
}

/// Opens the file for the trace. Its old content stays until the agent begins.
fn trace_file(path: &Path) -> Result<fs::File, Failure> {
    let mut options = fs::OpenOptions::new();
    let file = planproof_files::open_to_write(path, options.write(true).create(true).truncate(false));
    file.map_err(|error| {
        Failure::of_file(format!("cannot write --trace {}: {error}", path.display()), &error)
    })
}

/// Whether the agent of that name can be given standing instructions for its model.
fn must_take_instructions(name: &AgentSpec) -> Result<(), Failure> {
    match name.form() {
        AgentForm::Asking { kind: AgentKind::Tools(ToolLoop::WholeConversation, _), .. } => Ok(()),
        AgentForm::Asking { kind: AgentKind::Specified(..) | AgentKind::Pair(..), .. } => {
            Err(Failure::usage(
                "--system is for tools@MODEL. The instructions of a specification's model are in the specification, as \
             (:instructions \"TEXT\") before its (:states ...): for a shipped one such as react, `planproof spec print \
             react > my.spec`, add them there, and run spec:my.spec@MODEL",
            ))
        }
        _ => Err(Failure::usage("--system is for tools@MODEL: other agents have instructions of their own")),
    }
}

async fn carry_out(mut prepared: Prepared, global: &Global) -> Result<ExitCode, Failure> {
    let mut stop = Box::pin(signals::stop_requested());
    let interrupted = || Failure::outside("interrupted before the agent started");
    let sources = tokio::select! {
        // In this order: if the signal is there already, nothing is started any more.
        biased;
        () = &mut stop => return Err(interrupted()),
        opened = sources::open(&prepared.sources, prepared.tool_limits, global.quiet) => opened?,
    };
    let tools = CombinedTools::new(sources).map_err(|error| Failure::usage(error.to_string()))?;
    let tools = Arc::new(tools);
    sources::introduce(&tools, global.quiet);
    let ruled = match &prepared.rules {
        Some((file, rules)) => {
            let names: Vec<String> = tools.tools().iter().map(|tool| tool.name.clone()).collect();
            if let Some(fault) = rules.unknown_tools(&names).first() {
                tools.close().await;
                return Err(Failure::usage(format!("{file}:{fault}")));
            }
            let toolbox = Arc::clone(&tools) as Arc<dyn Toolbox>;
            Some(Arc::new(RuledTools::new(toolbox, rules)))
        }
        None => None,
    };
    planproof_assembly::warn_of_tools(&prepared.name, || Ok(tools.tools().to_vec()))?;
    if prepared.asks {
        let agreed = tokio::select! {
            biased;
            () = &mut stop => return Err(interrupted()),
            agreed = ask() => agreed,
        };
        if !agreed {
            tools.close().await;
            return Err(Failure::usage("nothing was run; --yes runs it without the question"));
        }
    }
    // The clock starts only here, so the time that a person took to agree does not count.
    let trace = prepared.trace.take();
    let is_kept = trace.is_some();
    let (live, recorder) = begin(&prepared, trace, &tools, global);
    let toolbox = match &ruled {
        Some(ruled) => Arc::clone(ruled) as Arc<dyn Toolbox>,
        None => Arc::clone(&tools) as Arc<dyn Toolbox>,
    };
    let finished = tokio::select! {
        biased;
        () = &mut stop => None,
        result = run_agent(&prepared, &toolbox, &recorder) => Some(result),
    };
    // Before any return, so that the servers of tools end with the run, whatever came of it.
    tools.close().await;
    let Some(result) = finished else {
        live.finish()?;
        let kept = if is_kept { "; the trace so far is in its file" } else { "" };
        return Err(Failure::outside(format!("interrupted{kept}")));
    };
    result?;
    let code = conclude(recorder.take_events().pop().map(|event| event.kind), &live, global)?;
    let (unsatisfied, is_demanded) = ruled.map(|ruled| ruled.unsatisfied()).unwrap_or_default();
    for rule in &unsatisfied {
        tell!("not satisfied when the run ended: {rule}");
    }
    Ok(if code == ExitCode::Passed && is_demanded { ExitCode::Failed } else { code })
}

/// Asks the person at the terminal.
async fn ask() -> bool {
    let (answer, answered) = oneshot::channel();
    // A separate thread: a read from the terminal cannot be cancelled, and must not keep us from ending.
    std::thread::spawn(move || {
        let question = "These tools can do whatever they were made for, with your permissions. Let the agent \
            call them? [y/N] ";
        let _ = answer.send(agrees(question));
    });
    answered.await.unwrap_or(false)
}

/// Starts the clock and the trace.
fn begin(
    prepared: &Prepared,
    trace: Option<fs::File>,
    tools: &CombinedTools,
    global: &Global,
) -> (Arc<LiveTrace>, Recorder) {
    let clock = WallClock::start();
    let AgentUnderTest { name, model, simulated, .. } = &prepared.agent;
    let header = Header {
        agent: name.clone(),
        model: model.clone(),
        simulated: *simulated,
        case: CASE.to_owned(),
        repeat: 0,
        seed: prepared.seed,
        clock: clock.unit().to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    if let Some(file) = &trace {
        // A pipe has no length, and no old content.
        let _ = file.set_len(0);
    }
    let live = Arc::new(LiveTrace::begin(&header, trace, global.json));
    // A placeholder may be a word of the task or of a tool, which would be another one without it.
    let offered = tools.tools();
    let words = offered.iter().flat_map(|tool| [tool.name.as_str(), tool.description.as_str()]);
    let secrets = secrets::held_but_words_of(words.chain([prepared.task.as_str()]));
    let recorder = Recorder::with_sink(Arc::new(clock), secrets, Box::new(LiveSink(Arc::clone(&live))));
    (live, recorder)
}

async fn run_agent(
    prepared: &Prepared,
    toolbox: &Arc<dyn Toolbox>,
    recorder: &Recorder,
) -> Result<(), Failure> {
    let surroundings = Surroundings::new(random_bytes);
    // No campaign: there is no earlier part of a run to resume from, and `prepare` has refused agents with a memory.
    let run = RunContext {
        later: &[],
        query: &prepared.task,
        toolbox,
        limits: &prepared.limits,
        seed: prepared.seed,
        recorder,
        earlier: &[],
        reviewing: prepared.reviewing.as_ref(),
        memory: None,
        surroundings: &surroundings,
    };
    let ran = prepared.agent.agent.run(run).await;
    recorder.end(ran.map_err(|error| Failure::outside(error.to_string()))?.end);
    Ok(())
}

/// Prints the answer, and the result.
fn conclude(end: Option<EventKind>, live: &LiveTrace, global: &Global) -> Result<ExitCode, Failure> {
    live.finish()?;
    let code = match end {
        Some(EventKind::End(EndReason::Answered { text })) => {
            if !global.json {
                live.answer(&text)?;
            }
            ExitCode::Passed
        }
        Some(EventKind::End(EndReason::LimitReached { .. } | EndReason::AgentFailed { .. })) => {
            ExitCode::Failed
        }
        // Unscored, or without an end: this says nothing about the agent.
        _ => ExitCode::Outside,
    };
    Ok(code)
}
