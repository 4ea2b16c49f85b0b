//! What the tests have in common.

use std::fs;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use libtest_mimic::Trial;
use planproof_everyday::{Everyday, EverydayTools, Player, ProgramLimits, SandboxSource};
use planproof_media::{Endpoints, Media, MediaFolders};
use planproof_sandbox::{Sandbox, WorkerCommand};
use planproof_suite::Toolbox;
use planproof_trace::{Arguments, CallId, ToolCall, ToolResult};
use serde_json::Value;
use tokio::runtime::Runtime;

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().unwrap());

/// The sandbox that all tests share; its workers are this test binary.
static SANDBOX: LazyLock<Arc<Sandbox>> =
    LazyLock::new(|| Arc::new(Sandbox::new(WorkerCommand::this_program().unwrap(), 2)));

/// Waits for a future on the one runtime of all tests.
pub(crate) fn wait<F: Future>(future: F) -> F::Output {
    RUNTIME.block_on(future)
}

pub(crate) fn sandbox() -> SandboxSource {
    Arc::new(|| Ok(Arc::clone(&SANDBOX)))
}

pub(crate) fn trial(name: &str, test: fn()) -> Trial {
    Trial::test(name.to_owned(), move || {
        test();
        Ok(())
    })
}

/// A folder that is removed at the end of its test.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("planproof-everyday-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(path.join("in")).unwrap();
        Self(path)
    }

    pub(crate) fn input(&self) -> PathBuf {
        self.0.join("in")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The ten tools of a run.
pub(crate) fn tools(folder: &Folder, endpoints: Endpoints, player: Option<Player>) -> EverydayTools {
    tools_with(
        folder,
        endpoints,
        player,
        ProgramLimits::default(),
        &std::env::var("PATH").unwrap_or_default(),
    )
}

pub(crate) fn tools_with(
    folder: &Folder,
    endpoints: Endpoints,
    player: Option<Player>,
    limits: ProgramLimits,
    path: &str,
) -> EverydayTools {
    let folders = MediaFolders::new(Some(&folder.input()), &folder.0.join("out")).unwrap();
    let media = Media::new(endpoints).unwrap();
    Everyday::new(media, player, limits, path).for_run(folders.for_run("case"))
}

/// A file that the run has written.
pub(crate) fn written(tools: &EverydayTools, name: &str) -> Vec<u8> {
    fs::read(tools.folder().output().unwrap().join(name)).unwrap()
}

pub(crate) fn call(tools: &dyn Toolbox, tool: &str, arguments: &Value) -> ToolResult {
    let arguments = Arguments::from_text(&arguments.to_string());
    wait(tools.execute(&ToolCall { id: CallId::new("c1"), name: tool.to_owned(), arguments }))
}

/// What a call answers, which has to be no error.
#[track_caller]
pub(crate) fn done(tools: &dyn Toolbox, tool: &str, arguments: &Value) -> String {
    let result = call(tools, tool, arguments);
    assert!(!result.is_error, "{tool}: {}", result.text);
    result.text
}

/// What a call is answered that is the agent's mistake.
#[track_caller]
pub(crate) fn refused(tools: &dyn Toolbox, tool: &str, arguments: &Value) -> String {
    let result = call(tools, tool, arguments);
    assert!(result.is_error, "{tool}: {}", result.text);
    assert_eq!(tools.outage(), None, "{tool}: {}", result.text);
    result.text
}

/// What a call is answered that is nobody's fault here.
#[track_caller]
pub(crate) fn outage(tools: &dyn Toolbox, tool: &str, arguments: &Value) -> String {
    let result = call(tools, tool, arguments);
    assert!(result.is_error, "{tool}: {}", result.text);
    assert!(tools.outage().is_some(), "{tool}: {}", result.text);
    result.text
}

/// All files below a folder with their bytes.
pub(crate) fn content(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(content(&path));
        } else {
            let bytes = fs::read(&path).unwrap();
            files.push((path, bytes));
        }
    }
    files.sort();
    files
}
