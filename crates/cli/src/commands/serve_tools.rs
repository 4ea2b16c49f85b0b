//! `planproof serve-tools`: the mock tools of one case over MCP.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use planproof_doors::{orders, scenarios};
use planproof_output::failure::{ExitCode, Failure, unless_closed};
use planproof_output::random::random_bytes;
use planproof_output::report_files::must_differ;
use planproof_output::runtime::{runtime, runtime_in_order};
use planproof_output::{progress, secrets, signals, tell, terminal};
use planproof_suite::Case;
use planproof_tools::WallClock;
use planproof_tools::mcp::{AccessToken, McpServer, OVERLAP_HOLD, RunTools, serve_stdio};
use planproof_trace::{Clock as _, EndReason, EventKind, Header, Recorder, Trace, wire};
use serde_json::json;

use crate::arguments::{Global, ServeToolsArguments};

/// Most calls that are answered; a client that makes more is broken.
const CALLS_MAX: u32 = 10_000;

pub(crate) fn run(arguments: &ServeToolsArguments, global: &Global) -> Result<ExitCode, Failure> {
    let case = case(arguments)?;
    let tools = case.toolbox().map_err(|error| planproof_assembly::fault_of_case(&case.card().id, &error))?;
    // Created before any call: a trace that cannot be written should be reported now.
    let mut file = arguments.trace.as_deref().map(|path| create(path, arguments)).transpose()?;
    let clock = Arc::new(WallClock::start());
    let unit = clock.unit();
    let secrets = secrets::held_apart_from(std::slice::from_ref(&case))?;
    let recorder = Recorder::new(clock, secrets);
    recorder.record(EventKind::Query { text: case.prompt().to_owned() });
    let tools = RunTools {
        toolbox: tools,
        recorder: recorder.clone(),
        calls_max: CALLS_MAX,
        written: None,
        // Over stdio, calls are made one after the other.
        hold: if arguments.stdio { Duration::ZERO } else { OVERLAP_HOLD },
    };
    // A client on stdin may send the next call before the previous answer; they are executed in order.
    let runtime = if arguments.stdio { runtime_in_order() } else { runtime() }?;
    runtime.block_on(serve(arguments, global, tools))?;
    recorder.end(EndReason::Answered { text: String::new() });
    let trace = Trace {
        header: Header {
            // Who makes the calls is not known here.
            agent: "serve-tools".to_owned(),
            model: None,
            simulated: false,
            case: case.card().id.clone(),
            repeat: 0,
            seed: 0,
            clock: unit.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        },
        events: recorder.take_events(),
    };
    finish(arguments, &*case, &trace, file.as_mut())
}

/// The case whose tools are served.
fn case(arguments: &ServeToolsArguments) -> Result<Arc<dyn Case>, Failure> {
    let id = arguments.id.as_deref();
    let Some(path) = &arguments.scenarios else {
        let path = arguments.case.as_deref().unwrap_or(Path::new("-"));
        return orders::case_of(path, id);
    };
    scenarios::case_of(path, id)
}

/// The file for the trace, which must not be the one of the cases.
fn create(path: &Path, arguments: &ServeToolsArguments) -> Result<fs::File, Failure> {
    let cases = [("--case", &arguments.case), ("--scenarios", &arguments.scenarios)];
    let cases: Vec<(&str, &Path)> =
        cases.into_iter().filter_map(|(option, path)| Some((option, path.as_deref()?))).collect();
    must_differ(path, &cases)?;
    planproof_files::open_to_write(path, fs::OpenOptions::new().write(true).create(true).truncate(true))
        .map_err(|error| {
            Failure::of_file(format!("cannot write --trace {}: {error}", path.display()), &error)
        })
}

/// Serves until the client is gone (stdio), or until Ctrl-C (HTTP).
async fn serve(arguments: &ServeToolsArguments, global: &Global, tools: RunTools) -> Result<(), Failure> {
    if arguments.stdio {
        return serve_stdio(tools).await.map_err(|error| Failure::outside(error.to_string()));
    }
    let outside = |error: planproof_tools::mcp::McpError| Failure::outside(error.to_string());
    let server = McpServer::bind(arguments.port).await.map_err(outside)?;
    let token = AccessToken::from_random(random_bytes());
    let run = server.open_to(tools, token, &arguments.allow_host).map_err(outside)?;
    // Before the URL is shown: from here on, a signal ends the serving and not the process.
    let stop = signals::stop_requested();
    let mut out = terminal::results(global.json);
    if global.json {
        writeln!(out, "{}", json!({"mcp_url": run.url()}))?;
    } else {
        writeln!(out, "PLANPROOF_MCP_URL={}", run.url())?;
    }
    out.flush()?;
    // It would keep stdout locked for as long as the server runs.
    drop(out);
    progress::say(global.quiet, "serving the case's tools; Ctrl-C ends and judges");
    stop.await;
    Ok(())
}

fn finish(
    arguments: &ServeToolsArguments,
    case: &dyn Case,
    trace: &Trace,
    file: Option<&mut fs::File>,
) -> Result<ExitCode, Failure> {
    let written = match file {
        Some(file) => {
            let mut text = Vec::new();
            wire::v1::write_trace(trace, &mut text);
            file.write_all(&text)
        }
        None => Ok(()),
    };
    // The trace is written first: it is there even if the judge gives no verdict.
    let verdict = case.judge(&trace.events).map_err(|unscored| Failure::outside(unscored.to_string()))?;
    let line = &verdict.detail;
    let printed = match arguments.stdio {
        // Stdout belongs to the protocol.
        true => {
            tell!("{line}");
            Ok(())
        }
        false => writeln!(terminal::json(), "{line}").map_err(Failure::from),
    };
    // The verdict is shown, whatever happened to the file.
    written.map_err(|error| Failure::outside(format!("cannot write the trace: {error}")))?;
    unless_closed(printed)?;
    Ok(if verdict.passed() { ExitCode::Passed } else { ExitCode::Failed })
}
