//! The agents whose configurations `planproof doctor` reads, and what it knows of each.

use std::path::Path;

use serde_json::Value;

/// Whose configuration a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    /// The administrator's, for all users of the machine. Users cannot change it.
    Administrator,
    /// The user's, for all projects.
    User,
    /// A project's, for whoever works in its folder.
    Project,
}

impl Owner {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Administrator => "managed",
            Self::User => "user",
            Self::Project => "project",
        }
    }
}

/// An agent that planproof knows the configuration of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct KnownAgent {
    /// Its own name.
    pub(super) name: &'static str,
    /// What `hook install` calls it, if that can.
    pub(super) installed_as: Option<&'static str>,
    /// Its event before a call; none if it has no hooks that planproof knows.
    pub(super) before: Option<&'static str>,
    /// Its events after one, all of which a hook needs.
    pub(super) after: &'static [&'static str],
    /// The key with which it denies a call where a hook fails, and its value as JSON.
    pub(super) closed: Option<(&'static str, &'static str)>,
    /// The names of the files in which it looks for hooks.
    pub(super) hook_files: &'static [&'static str],
    /// Its hooks stand in groups, as lists, and each says that it is a command.
    pub(super) has_groups: bool,
    /// The keys of a hook with which it denies as without them.
    pub(super) hook_keys: &'static [&'static str],
    /// What it takes for a denial: where in the answer of a hook, and which word.
    pub(super) denials: &'static [(&'static str, &'static str)],
    /// The key of its servers.
    pub(super) servers: &'static str,
    /// Whether it reads JSON as it is defined, without comments.
    pub(super) is_strict: bool,
}

/// The key of the type of a hook, and its value for one that runs a command.
pub(super) const TYPE: (&str, &str) = ("type", "command");

/// The exit status that agents take for a denial, whatever stands on stdout.
pub(super) const DENIED_STATUS: i32 = 2;

const GROUPED_KEYS: &[&str] = &["type", "command", "timeout", "name", "description", "statusMessage"];

/// Denials of Claude Code and of Codex.
const BY_PERMISSION: &[(&str, &str)] =
    &[("/hookSpecificOutput/permissionDecision", "deny"), ("/decision", "block")];

impl KnownAgent {
    /// Whether it takes what a hook for this event has printed for a denial of the call, if it exits with 0.
    pub(super) fn reads_denial(self, event: &str, answer: &Value) -> bool {
        // An agent that reads this part passes over one for another event.
        let is_for_event =
            answer.pointer("/hookSpecificOutput/hookEventName").is_none_or(|name| name == event);
        self.denials.iter().any(|(place, word)| {
            answer.pointer(place).is_some_and(|said| said == word)
                && (is_for_event || !place.starts_with("/hookSpecificOutput"))
        })
    }

    /// Whether it looks for hooks in this file.
    pub(super) fn reads_hooks_in(self, path: &Path) -> bool {
        path.file_name().is_some_and(|name| self.hook_files.iter().any(|it| name == *it))
    }
}

pub(super) const CLAUDE_CODE: KnownAgent = KnownAgent {
    name: "Claude Code",
    installed_as: Some("claude-code"),
    before: Some("PreToolUse"),
    after: &["PostToolUse", "PostToolUseFailure"],
    closed: Some(("onFailure", "\"block\"")),
    hook_files: &["settings.json", "settings.local.json", "managed-settings.json"],
    has_groups: true,
    hook_keys: &["type", "command", "args", "timeout", "statusMessage"],
    denials: BY_PERMISSION,
    servers: "mcpServers",
    is_strict: true,
};

pub(super) const CODEX: KnownAgent = KnownAgent {
    name: "Codex",
    installed_as: Some("codex"),
    before: Some("PreToolUse"),
    after: &["PostToolUse"],
    closed: None,
    hook_files: &["hooks.json", "config.toml", "managed_config.toml", "requirements.toml"],
    has_groups: true,
    hook_keys: GROUPED_KEYS,
    denials: BY_PERMISSION,
    servers: "mcp_servers",
    is_strict: true,
};

pub(super) const GEMINI: KnownAgent = KnownAgent {
    name: "Gemini CLI",
    installed_as: Some("gemini-cli"),
    before: Some("BeforeTool"),
    after: &["AfterTool"],
    closed: None,
    hook_files: &["settings.json"],
    has_groups: true,
    hook_keys: GROUPED_KEYS,
    denials: &[("/decision", "deny"), ("/decision", "block")],
    servers: "mcpServers",
    is_strict: false,
};

pub(super) const OPENCODE: KnownAgent = KnownAgent {
    name: "OpenCode",
    installed_as: None,
    before: Some("tool.execute.before"),
    after: &[],
    closed: None,
    hook_files: &[],
    has_groups: false,
    hook_keys: &[],
    denials: &[],
    servers: "mcp",
    is_strict: false,
};

pub(super) const CURSOR: KnownAgent = KnownAgent {
    name: "Cursor",
    installed_as: None,
    before: Some("preToolUse"),
    after: &["postToolUse"],
    closed: Some(("failClosed", "true")),
    hook_files: &["hooks.json"],
    has_groups: false,
    hook_keys: &["type", "command", "timeout", "matcher"],
    denials: &[("/permission", "deny")],
    servers: "mcpServers",
    is_strict: true,
};

pub(super) const VS_CODE: KnownAgent = KnownAgent {
    name: "VS Code",
    installed_as: None,
    before: None,
    after: &[],
    closed: None,
    hook_files: &[],
    has_groups: false,
    hook_keys: &[],
    denials: &[],
    servers: "servers",
    is_strict: false,
};
