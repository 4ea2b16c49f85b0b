//! Sources of tools as a user names them, opened and listed: those of the crate `tools`, Python, the tools of everyday
//! work, and those that agents made.

use std::collections::HashSet;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use planproof_everyday::{Everyday, MadeTools, Player, ProgramLimits, PythonTool, ToolLibrary};
use planproof_media::{Endpoints, Media, MediaFolders};
use planproof_output::colours::Colours;
use planproof_output::failure::Failure;
use planproof_output::layout::short;
use planproof_output::runtime::runtime;
use planproof_output::terminal::inline;
use planproof_output::{progress, secrets, tell, terminal};
use planproof_sandbox::SandboxLimits;
use planproof_suite::Toolbox;
use planproof_tools::{
    ClientLimits, CombinedTools, McpTools, OpenSource, ServerLog, ToolSource, ToolSourceError, offered_name,
};
use planproof_trace::Tool;
use secrecy::SecretString;
use tokio::task::JoinSet;

use crate::python;
use crate::servers::{NamedServers, OUTPUT};

/// Most characters of a list of tools on stderr.
const TOOLS_SHOWN_CHARACTERS: usize = 300;

/// Most characters of a source's name before each line that its program writes to stderr.
const LABEL_CHARACTERS: usize = 40;

/// What the folder of a run is called after.
const RUN: &str = "run";

/// A source of tools.
#[derive(Clone)]
pub enum NamedSource {
    /// One that has to be opened.
    Known(ToolSource),
    /// Tools of this program, which are ready.
    Own(OpenSource),
    /// Tools that agents made, which are ready when all others are open.
    Made(MadeSource),
}

impl NamedSource {
    /// Whether its tools are not ours, so that nobody here knows what they do.
    pub fn is_foreign(&self) -> bool {
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
pub fn parse(texts: &[String]) -> Result<Vec<NamedSource>, Failure> {
    let variable = |name: &str| std::env::var(name).ok().map(SecretString::from);
    let parsed = texts.iter().map(|text| {
        if let Some(own) = find(text)? {
            return Ok(own);
        }
        ToolSource::parse(text, variable).map(NamedSource::Known).map_err(|error| failure(&error))
    });
    parsed.collect()
}

/// The tools that a source names, `None` where it names none of this program: `python`, `everyday`, `everyday:FILE` or
/// `made:FILE`, with `NAME=` before it if need be.
///
/// # Errors
/// The name is none, or the file cannot be used.
fn find(source: &str) -> Result<Option<NamedSource>, Failure> {
    let (name, rest) = ToolSource::split_name(source).map_err(|error| Failure::usage(error.to_string()))?;
    let toolbox: Arc<dyn Toolbox> = match rest.split_once(':') {
        None if rest == "python" => Arc::new(PythonTool::new(python::sandbox(), SandboxLimits::default())),
        None if rest == "everyday" => everyday(None)?,
        Some(("everyday", file)) => everyday(Some(Path::new(file)))?,
        Some(("made", "")) => return Err(Failure::usage("`made:` names no file: write made:FILE")),
        Some(("made", file)) => {
            let library = ToolLibrary::open(Path::new(file));
            let library = library.map_err(|error| Failure::usage(error.to_string()))?;
            let source = MadeSource {
                label: rest.to_owned(),
                name: name.map(str::to_owned),
                library: Arc::new(library),
            };
            return Ok(Some(NamedSource::Made(source)));
        }
        // The caller parses these as sources of the crate `tools`, which also has the error for unknown ones.
        _ => return Ok(None),
    };
    Ok(Some(NamedSource::Own(OpenSource::new(rest, name.map(str::to_owned), toolbox))))
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
pub async fn open(
    asked: &[NamedSource],
    limits: ClientLimits,
    quiet: bool,
) -> Result<Vec<OpenSource>, Failure> {
    let colours = Colours::for_stderr();
    let mut opening = JoinSet::new();
    let mut made = Vec::new();
    for (place, source) in asked.iter().cloned().enumerate() {
        let held = secrets::held();
        let label = short(&held.redact(source.label()), LABEL_CHARACTERS);
        let log: Option<ServerLog> = (!quiet).then(|| {
            let log: ServerLog = Arc::new(move |line: &str| {
                let line = format!("[{label}] {}", inline(&held.redact(line)));
                // A closed stderr is no reason to stop.
                let _ = writeln!(terminal::errors(), "{}", colours.dim(&line));
            });
            log
        });
        match source {
            NamedSource::Known(source) => {
                opening.spawn(async move { (place, source.open(limits, log.as_ref()).await) });
            }
            NamedSource::Own(source) => {
                opening.spawn(async move { (place, Ok(source)) });
            }
            NamedSource::Made(source) => made.push((place, source)),
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

/// The tools of these sources, which are opened for the list alone: no tool is called.
pub fn listed(sources: &[String], quiet: bool) -> Result<Vec<Tool>, Failure> {
    let sources = parse(sources)?;
    runtime()?.block_on(async {
        let opened = open(&sources, ClientLimits::default(), quiet).await?;
        let combined = CombinedTools::new(opened).map_err(|error| Failure::usage(error.to_string()))?;
        let tools = combined.tools().to_vec();
        combined.close().await;
        Ok(tools)
    })
}

/// Says on stderr which tools there are, and which are not.
pub fn introduce(tools: &CombinedTools, quiet: bool) {
    let mut offered = tools.tools().iter().map(|tool| tool.name.as_str());
    for source in tools.sources() {
        // The combined list has the tools of each source one after the other, under the names that they have here.
        let names: Vec<&str> = offered.by_ref().take(source.toolbox().tools().len()).collect();
        let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        let protocol = source.server().map(|server| format!(" (MCP {})", server.protocol_version()));
        let line = format!("tools of {}{}: {names}", source.label(), protocol.unwrap_or_default());
        progress::say(quiet, &short(&line, TOOLS_SHOWN_CHARACTERS));
        for reason in source.server().map(McpTools::left_out).unwrap_or_default() {
            progress::say(quiet, &inline(&format!("note: left out {reason}")));
        }
    }
}

/// The tools of a library, which must not have the names of tools of other sources.
#[derive(Clone)]
pub struct MadeSource {
    /// The source as written, without its name.
    label: String,
    name: Option<String>,
    library: Arc<ToolLibrary>,
}

impl MadeSource {
    /// Opens it beside the other sources, which have tools of these names, and reports what is left out.
    fn open(self, names: HashSet<String>) -> OpenSource {
        let tools = MadeTools::new(self.library, python::sandbox(), SandboxLimits::default());
        let tools = tools.beside(self.name.as_deref(), names);
        for name in tools.left_out() {
            tell!(
                "warning: {} has a tool `{name}`, as has another source: it is left out; write `--tools NAME={}`, and \
                 its name is `NAME_{name}`",
                self.label,
                self.label
            );
        }
        OpenSource::new(self.label, self.name, Arc::new(tools))
    }
}

/// The ten tools, over what a file names; without one nothing is configured.
pub fn everyday(file: Option<&Path>) -> Result<Arc<dyn Toolbox>, Failure> {
    let (shared, folders, player) = match file {
        Some(file) => {
            let NamedServers { media, folders, player, .. } = NamedServers::read(file)?;
            let variable = |name: &str| std::env::var(name).ok();
            (media, folders, player.map(|program| Player::new(program, variable)))
        }
        None => {
            let usage = |error: &dyn std::fmt::Display| Failure::usage(error.to_string());
            let shared = Media::new(Endpoints::none()).map_err(|error| usage(&error))?;
            let folders = MediaFolders::new(None, Path::new(OUTPUT)).map_err(|error| usage(&error))?;
            (shared, folders, None)
        }
    };
    let path = std::env::var("PATH").unwrap_or_default();
    let tools = Everyday::new(shared, player, ProgramLimits::default(), path);
    Ok(Arc::new(tools.for_run(folders.for_run(RUN))))
}
