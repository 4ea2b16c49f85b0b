//! Tools of this program that `--tools` names: Python, those of everyday work, and those that agents made.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use planproof_assembly::python;
use planproof_everyday::{Everyday, MadeTools, ProgramLimits, PythonTool, ToolLibrary};
use planproof_media::{Endpoints, Media, MediaFolders};
use planproof_output::failure::Failure;
use planproof_output::tell;
use planproof_sandbox::SandboxLimits;
use planproof_suite::Toolbox;
use planproof_tools::{OpenSource, ToolSource};

use crate::commands::tool_sources::Source;
use crate::suites::media;

/// What the folder of a run is called after.
const RUN: &str = "run";

/// The tools that a source names, `None` where it names none of this program: `python`, `everyday`, `everyday:FILE` or
/// `made:FILE`, with `NAME=` before it if need be.
///
/// # Errors
/// The name is none, or the file cannot be used.
pub(crate) fn find(source: &str) -> Result<Option<Source>, Failure> {
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
            return Ok(Some(Source::Made(source)));
        }
        // The caller parses these as sources of the crate `tools`, which also has the error for unknown ones.
        _ => return Ok(None),
    };
    Ok(Some(Source::Own(OpenSource::new(rest, name.map(str::to_owned), toolbox))))
}

/// The tools of a library, which must not have the names of tools of other sources.
#[derive(Clone)]
pub(crate) struct MadeSource {
    /// The source as written, without its name.
    pub(crate) label: String,
    pub(crate) name: Option<String>,
    library: Arc<ToolLibrary>,
}

impl MadeSource {
    /// Opens it beside the other sources, which have tools of these names, and reports what is left out.
    pub(crate) fn open(self, names: HashSet<String>) -> OpenSource {
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
pub(crate) fn everyday(file: Option<&Path>) -> Result<Arc<dyn Toolbox>, Failure> {
    let (shared, folders, player) = match file {
        Some(file) => media::everyday(file)?,
        None => {
            let usage = |error: &dyn std::fmt::Display| Failure::usage(error.to_string());
            let shared = Media::new(Endpoints::none()).map_err(|error| usage(&error))?;
            let folders = MediaFolders::new(None, Path::new(media::OUTPUT)).map_err(|error| usage(&error))?;
            (shared, folders, None)
        }
    };
    let path = std::env::var("PATH").unwrap_or_default();
    let tools = Everyday::new(shared, player, ProgramLimits::default(), path);
    Ok(Arc::new(tools.for_run(folders.for_run(RUN))))
}
