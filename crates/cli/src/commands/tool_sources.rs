//! Sources of tools from the command line, opened and listed.

use std::io::Write as _;
use std::sync::Arc;

use planproof_output::failure::Failure;
use planproof_output::layout::short;
use planproof_output::terminal::inline;
use planproof_output::{progress, secrets, terminal};
use planproof_tools::{
    ClientLimits, CombinedTools, McpTools, OpenSource, ServerLog, ToolSource, ToolSourceError, Toolbox as _,
    offered_name,
};
use secrecy::SecretString;
use tokio::task::JoinSet;

use super::run::transcript::Colours;
use crate::arguments::Global;
use crate::own_tools::{self, MadeSource};

/// Most characters of a list of tools on stderr.
const TOOLS_SHOWN_CHARACTERS: usize = 300;

/// Most characters of a source's name before each line that its program writes to stderr.
const LABEL_CHARACTERS: usize = 40;

/// A source of tools.
#[derive(Clone)]
pub(crate) enum Source {
    /// One that has to be opened.
    Known(ToolSource),
    /// Tools of this program, which are ready.
    Own(OpenSource),
    /// Tools that agents made, which are ready when all others are open.
    Made(MadeSource),
}

impl Source {
    /// Whether its tools are not ours, so that nobody here knows what they do.
    pub(crate) fn is_foreign(&self) -> bool {
        match self {
            Self::Known(source) => source.is_foreign(),
            Self::Own(_) | Self::Made(_) => false,
        }
    }

    /// The prefix of its program's lines.
    fn label(&self) -> &str {
        match self {
            Self::Known(source) => source.name().unwrap_or(source.label()),
            Self::Own(source) => source.label(),
            Self::Made(source) => source.name.as_deref().unwrap_or(&source.label),
        }
    }
}

/// Reads the names of sources; tokens of named ones come from the environment.
pub(crate) fn parse(texts: &[String]) -> Result<Vec<Source>, Failure> {
    let variable = |name: &str| std::env::var(name).ok().map(SecretString::from);
    let parsed = texts.iter().map(|text| {
        if let Some(own) = own_tools::find(text)? {
            return Ok(own);
        }
        ToolSource::parse(text, variable).map(Source::Known).map_err(|error| failure(&error))
    });
    parsed.collect()
}

fn failure(error: &ToolSourceError) -> Failure {
    let mut text = error.to_string();
    if let ToolSourceError::Unknown { text: given } = error {
        if let Some(meant) = meant(given) {
            return Failure::usage(format!("unknown source of tools `{given}`: did you mean {meant}?"));
        }
        // The error names the sources of the crate `tools`. These are the ones of this program.
        text.push_str(", python, everyday, everyday:FILE, made:FILE");
    }
    if error.is_usage() { Failure::usage(text) } else { Failure::outside(text) }
}

/// The server that was probably meant by a URL or a program alone.
fn meant(text: &str) -> Option<String> {
    if text.starts_with("http://") || text.starts_with("https://") {
        return Some(format!("mcp+{text}"));
    }
    let program = text.split_whitespace().next()?;
    let interpreters = [(".py", "python"), (".js", "node"), (".mjs", "node")];
    let (_, interpreter) = interpreters.iter().find(|(end, _)| program.ends_with(end))?;
    Some(format!("\"mcp:{interpreter} {text}\""))
}

/// Opens all sources at once.
pub(crate) async fn open(
    asked: &[Source],
    limits: ClientLimits,
    global: &Global,
) -> Result<Vec<OpenSource>, Failure> {
    let colours = Colours::for_stderr();
    let mut opening = JoinSet::new();
    let mut made = Vec::new();
    for (place, source) in asked.iter().cloned().enumerate() {
        let held = secrets::held();
        let label = short(&held.redact(source.label()), LABEL_CHARACTERS);
        let log: Option<ServerLog> = (!global.quiet).then(|| {
            let log: ServerLog = Arc::new(move |line: &str| {
                let line = format!("[{label}] {}", inline(&held.redact(line)));
                // A closed stderr is no reason to stop.
                let _ = writeln!(terminal::errors(), "{}", colours.dim(&line));
            });
            log
        });
        match source {
            Source::Known(source) => {
                opening.spawn(async move { (place, source.open(limits, log.as_ref()).await) });
            }
            Source::Own(source) => {
                opening.spawn(async move { (place, Ok(source)) });
            }
            Source::Made(source) => made.push((place, source)),
        }
    }
    // They open in any order; the tools are offered in the order of the command line.
    let mut sources: Vec<Option<OpenSource>> = vec![None; asked.len()];
    // Dropping the set, at the first that fails, ends the servers that are being started.
    while let Some(opened) = opening.join_next().await {
        let (place, source) = opened.map_err(|error| Failure::outside(error.to_string()))?;
        sources[place] = Some(source.map_err(|error| failure(&error))?);
    }
    for (place, source) in made {
        let others = sources.iter().flatten();
        let names = others.flat_map(|other| {
            let tools = other.toolbox().tools().iter();
            tools.map(|tool| offered_name(other.name(), &tool.name)).collect::<Vec<_>>()
        });
        let names = names.collect();
        sources[place] = Some(source.open(names));
    }
    Ok(sources.into_iter().flatten().collect())
}

/// Says on stderr which tools there are, and which are not.
pub(crate) fn introduce(tools: &CombinedTools, global: &Global) {
    let mut offered = tools.tools().iter().map(|tool| tool.name.as_str());
    for source in tools.sources() {
        // The combined list has the tools of each source one after the other, under the names that they have here.
        let names: Vec<&str> = offered.by_ref().take(source.toolbox().tools().len()).collect();
        let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        let protocol = source.server().map(|server| format!(" (MCP {})", server.protocol_version()));
        let line = format!("tools of {}{}: {names}", source.label(), protocol.unwrap_or_default());
        progress::say(global.quiet, &short(&line, TOOLS_SHOWN_CHARACTERS));
        for reason in source.server().map(McpTools::left_out).unwrap_or_default() {
            progress::say(global.quiet, &inline(&format!("note: left out {reason}")));
        }
    }
}
