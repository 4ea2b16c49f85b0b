//! Coding agents whose configurations planproof reads and writes: where their files are, and what hooks look like in
//! them.

pub(crate) mod settings;

use std::ffi::OsString;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use planproof_tools::process::split_command;
use serde_json::Value;

use crate::arguments::hook::HookAgent;

/// Whose configuration a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Scope {
    /// The user's, for all projects.
    User,
    /// A project's, for whoever works in its folder.
    Project,
}

/// Where an administrator configures Claude Code.
const MANAGED_CLAUDE: &str = if cfg!(target_os = "macos") {
    "/Library/Application Support/ClaudeCode"
} else if cfg!(windows) {
    "C:\\Program Files\\ClaudeCode"
} else {
    "/etc/claude-code"
};

/// Where an administrator configures Codex.
const MANAGED_CODEX: &str = if cfg!(windows) { "C:\\ProgramData\\OpenAI\\Codex" } else { "/etc/codex" };

/// The folders that configurations are in.
#[derive(Debug, Clone)]
pub(crate) struct Folders {
    /// The user's.
    pub(crate) home: PathBuf,
    /// That of Claude Code.
    pub(crate) claude: PathBuf,
    /// That of Codex.
    pub(crate) codex: PathBuf,
    /// That for the user's configurations, such as `~/.config`.
    pub(crate) config: PathBuf,
    /// The project's.
    pub(crate) project: PathBuf,
    /// That of an administrator, for Claude Code.
    pub(crate) managed_claude: PathBuf,
    /// The same for Codex.
    pub(crate) managed_codex: PathBuf,
}

impl Folders {
    /// The folders of this user and of the project at `project`, by the variables that the agents read themselves;
    /// `None` without a home.
    pub(crate) fn find(variable: impl Fn(&str) -> Option<OsString>, project: &Path) -> Option<Self> {
        let named = |name: &str| variable(name).filter(|it| !it.is_empty()).map(PathBuf::from);
        let home = named("HOME").or_else(|| named("USERPROFILE"))?;
        Some(Self {
            claude: named("CLAUDE_CONFIG_DIR").unwrap_or_else(|| home.join(".claude")),
            codex: named("CODEX_HOME").unwrap_or_else(|| home.join(".codex")),
            config: named("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config")),
            project: project.to_owned(),
            managed_claude: MANAGED_CLAUDE.into(),
            managed_codex: MANAGED_CODEX.into(),
            home,
        })
    }

    /// The file, or for OpenCode the folder, in which an agent looks for hooks.
    pub(crate) fn of_hooks(&self, agent: HookAgent, scope: Scope) -> PathBuf {
        match (agent, scope) {
            (HookAgent::ClaudeCode, Scope::User) => self.claude.join("settings.json"),
            (HookAgent::ClaudeCode, Scope::Project) => self.project.join(".claude").join("settings.json"),
            (HookAgent::Codex, Scope::User) => self.codex.join("hooks.json"),
            (HookAgent::Codex, Scope::Project) => self.project.join(".codex").join("hooks.json"),
            (HookAgent::GeminiCli, Scope::User) => self.home.join(".gemini").join("settings.json"),
            (HookAgent::GeminiCli, Scope::Project) => self.project.join(".gemini").join("settings.json"),
            (HookAgent::OpenCode, Scope::User) => self.config.join("opencode").join("plugin"),
            (HookAgent::OpenCode, Scope::Project) => self.project.join(".opencode").join("plugin"),
        }
    }
}

/// What the hooks of an agent look like in its configuration.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HookForm {
    /// The event before a call.
    pub(crate) before: &'static str,
    /// The events after one.
    pub(crate) after: &'static [&'static str],
    /// What matches all tools.
    pub(crate) matcher: &'static str,
    /// The key, and its value, with which the agent denies a call if the hook does not work.
    pub(crate) closed: Option<(&'static str, &'static str)>,
}

/// The hooks of Claude Code.
pub(crate) const CLAUDE_CODE: HookForm = HookForm {
    before: "PreToolUse",
    after: &["PostToolUse", "PostToolUseFailure"],
    matcher: "*",
    closed: Some(("onFailure", "block")),
};

/// Those of Codex.
pub(crate) const CODEX: HookForm =
    HookForm { before: "PreToolUse", after: &["PostToolUse"], matcher: ".*", closed: None };

/// Those of Gemini CLI.
pub(crate) const GEMINI_CLI: HookForm =
    HookForm { before: "BeforeTool", after: &["AfterTool"], matcher: ".*", closed: None };

impl HookForm {
    /// What they look like for an agent; `None` if its hooks are not JSON.
    pub(crate) fn of(agent: HookAgent) -> Option<Self> {
        match agent {
            HookAgent::ClaudeCode => Some(CLAUDE_CODE),
            HookAgent::Codex => Some(CODEX),
            HookAgent::GeminiCli => Some(GEMINI_CLI),
            HookAgent::OpenCode => None,
        }
    }

    /// All events, that before a call first.
    pub(crate) fn events(self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.before).chain(self.after.iter().copied())
    }

    /// Whether a matcher matches all tools. Agents take no matcher, and an empty one, for one that does.
    pub(crate) fn matches_all(matcher: Option<&str>) -> bool {
        matches!(matcher, None | Some("" | "*" | ".*" | "^.*$"))
    }
}

/// The words of the command that a hook runs: those of `command`, and of `args` where there are some. `None` for what
/// runs no command.
pub(crate) fn words_of(handler: &Value) -> Option<Vec<String>> {
    let command = handler.get("command")?.as_str()?;
    match handler.get("args").and_then(Value::as_array) {
        Some(arguments) => {
            let arguments = arguments.iter().map(|it| it.as_str().map(str::to_owned));
            std::iter::once(Some(command.to_owned())).chain(arguments).collect()
        }
        None => split_command(command),
    }
}

/// Whether the host of a URL is this machine, as its own programs reach it.
pub(crate) fn is_this_machine(host: &str) -> bool {
    let host = host.trim_matches(['[', ']']);
    let name = host.strip_suffix('.').unwrap_or(host);
    match host.parse::<IpAddr>() {
        Ok(address) => address.to_canonical().is_loopback() || address.is_unspecified(),
        // Readers of addresses take `127.1` for one, too.
        Err(_) => {
            let is_number = name
                .strip_prefix("127.")
                .is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'));
            name.eq_ignore_ascii_case("localhost")
                || name.to_ascii_lowercase().ends_with(".localhost")
                || is_number
        }
    }
}

/// Whether these words start planproof with this command.
pub(crate) fn is_planproof(words: &[String], command: &str) -> bool {
    words.first().is_some_and(|program| is_our_program(program))
        && words.get(1).is_some_and(|word| word == command)
}

/// Whether these words have another program start planproof with this command, to all appearance: `env`, or a shell
/// with its line. Only that program knows.
pub(crate) fn names_planproof(words: &[String], command: &str) -> bool {
    let mut words =
        words.iter().flat_map(|word| word.split_whitespace()).map(|word| word.trim_matches(['"', '\'']));
    words.any(is_our_program) && words.any(|word| word == command)
}

/// Whether a program is planproof: by its name, or because it is this one. A name may have more behind ours, such as
/// the version.
fn is_our_program(program: &str) -> bool {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    let name = name.strip_suffix(".exe").unwrap_or(name);
    let rest = name.strip_prefix("planproof");
    let is_named = rest.is_some_and(|rest| rest != LAUNCHER && !rest.starts_with(char::is_alphabetic));
    let is_this = || {
        let own = std::env::current_exe().and_then(|own| own.canonicalize());
        own.is_ok_and(|own| Path::new(program).canonicalize().is_ok_and(|found| found == own))
    };
    is_named || is_this()
}

/// What the name of the program that starts others in isolation has behind ours.
const LAUNCHER: &str = "-launch";

/// Whether these words are what `hook install` writes for this agent, whatever the program is called.
pub(crate) fn looks_installed(words: &[String], agent: &str) -> bool {
    let [_, command, name, rules, _, .., memory, _] = words else { return false };
    (command.as_str(), name.as_str(), rules.as_str()) == ("hook", agent, "--rules")
        && ["--state", "--history"].contains(&memory.as_str())
}
