//! The agents that are configured here, with their hooks and MCP servers.

use std::collections::BTreeMap;
use std::fs;
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::CstRootNode;
use serde_json::Value;

use crate::coding_agents::{Folders, words_of};

/// Longest configuration that is read, in bytes.
const CONFIGURATION_BYTES_MAX: u64 = 16 * 1024 * 1024;

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

/// Most plugins of an agent that are looked at.
const PLUGINS_MAX: usize = 1000;

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
    /// The key of its servers.
    servers: &'static str,
}

const CLAUDE_CODE: KnownAgent = KnownAgent {
    name: "Claude Code",
    installed_as: Some("claude-code"),
    before: Some("PreToolUse"),
    after: &["PostToolUse", "PostToolUseFailure"],
    closed: Some(("onFailure", "\"block\"")),
    servers: "mcpServers",
};

const CODEX: KnownAgent = KnownAgent {
    name: "Codex",
    installed_as: Some("codex"),
    before: Some("PreToolUse"),
    after: &["PostToolUse"],
    closed: None,
    servers: "mcp_servers",
};

const GEMINI: KnownAgent = KnownAgent {
    name: "Gemini CLI",
    installed_as: Some("gemini-cli"),
    before: Some("BeforeTool"),
    after: &["AfterTool"],
    closed: None,
    servers: "mcpServers",
};

const OPENCODE: KnownAgent = KnownAgent {
    name: "OpenCode",
    installed_as: None,
    before: Some("tool.execute.before"),
    after: &[],
    closed: None,
    servers: "mcp",
};

const CURSOR: KnownAgent = KnownAgent {
    name: "Cursor",
    installed_as: None,
    before: Some("preToolUse"),
    after: &["postToolUse"],
    closed: Some(("failClosed", "true")),
    servers: "mcpServers",
};

const VS_CODE: KnownAgent = KnownAgent {
    name: "VS Code",
    installed_as: None,
    before: None,
    after: &[],
    closed: None,
    servers: "servers",
};

/// An agent that is configured here.
#[derive(Debug)]
pub(super) struct FoundAgent {
    pub(super) known: KnownAgent,
    /// Its files that are there.
    pub(super) files: Vec<(Owner, PathBuf)>,
    pub(super) hooks: Vec<FoundHook>,
    pub(super) servers: Vec<FoundServer>,
    /// The files that cannot be read, and why: what is in them is not known.
    pub(super) faults: Vec<(Owner, PathBuf, String)>,
    /// Why no hook runs, if a configuration says so.
    pub(super) no_hooks: Option<String>,
    /// The same for hooks that are not the administrator's.
    pub(super) only_managed: Option<String>,
}

/// A hook.
#[derive(Debug, Clone)]
pub(super) struct FoundHook {
    pub(super) scope: Owner,
    pub(super) file: PathBuf,
    pub(super) event: String,
    pub(super) matcher: Option<String>,
    /// What it starts, if that is a program.
    pub(super) words: Vec<String>,
    /// The same for a shell; `None` where no shell reads it.
    pub(super) line: Option<String>,
    /// The call is denied where the hook fails.
    pub(super) is_closed: bool,
    /// Why the agent does not run it, if that is known.
    pub(super) skipped: Option<String>,
}

/// An MCP server.
#[derive(Debug, Clone)]
pub(super) struct FoundServer {
    pub(super) scope: Owner,
    pub(super) file: PathBuf,
    pub(super) name: String,
    /// The program and its arguments; empty for a server that is not started.
    pub(super) words: Vec<String>,
    pub(super) environment: BTreeMap<String, String>,
    /// The folder that it is started in, if not the agent's.
    pub(super) folder: Option<PathBuf>,
    /// Where it is, if it is not started.
    pub(super) url: Option<String>,
    /// The headers of requests to that URL.
    pub(super) headers: BTreeMap<String, String>,
}

/// Looks for all agents.
pub(super) fn agents(folders: &Folders) -> Vec<FoundAgent> {
    let Folders { home, claude, codex, config, project, managed_claude, managed_codex } = folders;
    let managed = |folder: &Path, name: &str| (Owner::Administrator, folder.join(name));
    let of_project = |path: &str| (Owner::Project, project.join(path));
    let (user, both) = (Owner::User, |path: &str| [(Owner::User, home.join(path)), of_project(path)]);
    let claude_files = [
        managed(managed_claude, "managed-settings.json"),
        managed(managed_claude, "managed-mcp.json"),
        (user, claude.join("settings.json")),
        (user, home.join(".claude.json")),
        of_project(".claude/settings.json"),
        of_project(".claude/settings.local.json"),
        of_project(".mcp.json"),
    ];
    let codex_files = [
        managed(managed_codex, "requirements.toml"),
        managed(managed_codex, "managed_config.toml"),
        managed(managed_codex, "config.toml"),
        managed(managed_codex, "hooks.json"),
        (user, codex.join("config.toml")),
        (user, codex.join("hooks.json")),
        of_project(".codex/config.toml"),
        of_project(".codex/hooks.json"),
    ];
    let opencode = config.join("opencode");
    let opencode_files = [
        (user, opencode.join("opencode.json")),
        (user, opencode.join("opencode.jsonc")),
        of_project("opencode.json"),
        of_project("opencode.jsonc"),
    ];
    let cursor_files = [both(".cursor/mcp.json"), both(".cursor/hooks.json")].concat();
    let code_files =
        [(user, config.join("Code").join("User").join("mcp.json")), of_project(".vscode/mcp.json")];
    let mut found = vec![
        FoundAgent::read(CLAUDE_CODE, &claude_files, project),
        FoundAgent::read(CODEX, &codex_files, project),
        FoundAgent::read(GEMINI, &both(".gemini/settings.json"), project),
        FoundAgent::read(OPENCODE, &opencode_files, project),
        FoundAgent::read(CURSOR, &cursor_files, project),
        FoundAgent::read(VS_CODE, &code_files, project),
    ];
    for agent in &mut found {
        if agent.known == OPENCODE {
            agent.add_plugins(user, &opencode);
            agent.add_plugins(Owner::Project, &project.join(".opencode"));
        }
        if agent.known == CODEX {
            agent.forget_untrusted(codex, project);
        }
    }
    // Two files of one project and user are one where the home is the project.
    found.retain(|agent| !agent.files.is_empty());
    found
}

impl FoundAgent {
    fn read(known: KnownAgent, files: &[(Owner, PathBuf)], project: &Path) -> Self {
        let mut agent = Self {
            known,
            files: Vec::new(),
            hooks: Vec::new(),
            servers: Vec::new(),
            faults: Vec::new(),
            no_hooks: None,
            only_managed: None,
        };
        for (scope, path) in files {
            if agent.files.iter().any(|(_, known)| known == path) {
                continue;
            }
            match document(path) {
                Ok(None) => {}
                Ok(Some(document)) => {
                    agent.files.push((*scope, path.clone()));
                    agent.add(*scope, path, &document, project);
                }
                Err(why) => {
                    agent.files.push((*scope, path.clone()));
                    agent.faults.push((*scope, path.clone(), why));
                }
            }
        }
        agent
    }

    fn add(&mut self, scope: Owner, path: &Path, document: &Value, project: &Path) {
        let is_on = |key: &str| document.get(key) == Some(&Value::Bool(true));
        let is_managed = scope == Owner::Administrator;
        if is_on("disableAllHooks") {
            // Users cannot switch off what an administrator has set up.
            let place = if is_managed { &mut self.no_hooks } else { &mut self.only_managed };
            *place = Some(format!("`disableAllHooks` in {}", path.display()));
        }
        for key in ["allowManagedHooksOnly", "allow_managed_hooks_only"] {
            if is_managed && is_on(key) {
                self.only_managed = Some(format!("`{key}` in {}", path.display()));
            }
        }
        let features = document.get("features");
        if ["hooks", "codex_hooks"]
            .iter()
            .any(|key| features.and_then(|it| it.get(*key)) == Some(&Value::Bool(false)))
        {
            self.no_hooks = Some(format!("`[features]` in {}", path.display()));
        }
        self.add_servers(scope, path, document.get(self.known.servers));
        // Those that a user has for one project only.
        let own = document.get("projects").and_then(|all| all.get(project.to_str()?));
        self.add_servers(scope, path, own.and_then(|own| own.get(self.known.servers)));
        for (event, groups) in document.get("hooks").and_then(Value::as_object).into_iter().flatten() {
            for group in groups.as_array().into_iter().flatten() {
                self.add_group(scope, path, event, group);
            }
        }
    }

    /// Adds the hooks of a group, which are in a list of their own or, for some agents, the group itself.
    fn add_group(&mut self, scope: Owner, path: &Path, event: &str, group: &Value) {
        let matcher = group.get("matcher").and_then(Value::as_str).map(str::to_owned);
        let handlers = match group.get("hooks").and_then(Value::as_array) {
            Some(handlers) => handlers.iter().collect(),
            None => vec![group],
        };
        for handler in handlers {
            let line =
                handler.get("command").and_then(Value::as_str).filter(|_| handler.get("args").is_none());
            let is_closed = self
                .known
                .closed
                .is_some_and(|(key, value)| handler.get(key).is_some_and(|found| is_json(found, value)));
            self.hooks.push(FoundHook {
                scope,
                file: path.to_owned(),
                event: event.to_owned(),
                matcher: matcher.clone(),
                words: words_of(handler).unwrap_or_default(),
                line: line.map(str::to_owned),
                is_closed,
                skipped: None,
            });
        }
    }

    fn add_servers(&mut self, scope: Owner, path: &Path, servers: Option<&Value>) {
        for (name, server) in servers.and_then(Value::as_object).into_iter().flatten() {
            let is_off = server.get("enabled") == Some(&Value::Bool(false))
                || server.get("disabled") == Some(&Value::Bool(true));
            if is_off || !server.is_object() {
                continue;
            }
            let texts = |value: Option<&Value>| -> Vec<String> {
                let texts = value.and_then(Value::as_array).into_iter().flatten();
                texts.filter_map(|it| it.as_str().map(str::to_owned)).collect()
            };
            let mut words = match server.get("command") {
                Some(Value::String(program)) => vec![program.clone()],
                program => texts(program),
            };
            words.extend(texts(server.get("args")));
            let table = |keys: &[&str]| -> BTreeMap<String, String> {
                let table = keys.iter().find_map(|key| server.get(*key)?.as_object()).into_iter().flatten();
                table.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned()))).collect()
            };
            let url = ["url", "httpUrl", "serverUrl"].iter().find_map(|key| server.get(*key)?.as_str());
            self.servers.push(FoundServer {
                scope,
                file: path.to_owned(),
                name: name.clone(),
                url: url.filter(|_| words.is_empty()).map(str::to_owned),
                words,
                environment: table(&["env", "environment"]),
                folder: server.get("cwd").and_then(Value::as_str).map(PathBuf::from),
                headers: table(&["headers", "http_headers"]),
            });
        }
    }

    /// Adds plugins that call planproof before a tool. They are programs, so no more is known of them.
    fn add_plugins(&mut self, scope: Owner, folder: &Path) {
        for name in ["plugin", "plugins"] {
            let entries = fs::read_dir(folder.join(name)).into_iter().flatten().flatten().take(PLUGINS_MAX);
            for path in entries.map(|entry| entry.path()) {
                let is_script = path.extension().is_some_and(|it| it == "js" || it == "ts" || it == "mjs");
                let Ok(Some(text)) = text(&path) else { continue };
                let event = "tool.execute.before";
                if !is_script || !text.contains(event) || !text.contains("planproof") {
                    continue;
                }
                self.files.push((scope, path.clone()));
                self.hooks.push(FoundHook {
                    scope,
                    file: path,
                    event: event.to_owned(),
                    matcher: None,
                    words: Vec::new(),
                    line: None,
                    is_closed: false,
                    skipped: None,
                });
            }
        }
    }

    /// Marks the hooks that Codex does not run: those that its user has not trusted, by their places, and those of a
    /// project that is not trusted.
    fn forget_untrusted(&mut self, codex: &Path, project: &Path) {
        let path = codex.join("config.toml");
        let settings = document(&path).ok().flatten().unwrap_or_default();
        let states = settings.pointer("/hooks/state").and_then(Value::as_object);
        let trusted = settings.get("projects").and_then(|all| all.get(project.to_str()?)?.get("trust_level"));
        let is_trusted_project = trusted.is_some_and(|level| level == "trusted");
        let mut places: BTreeMap<(PathBuf, String), usize> = BTreeMap::new();
        for hook in &mut self.hooks {
            let place = places.entry((hook.file.clone(), hook.event.clone())).or_default();
            *place += 1;
            let begin = format!("{}:{}:", hook.file.display(), snake(&hook.event));
            let mut known = states.into_iter().flatten().filter(|(key, _)| key.starts_with(&begin));
            let is_trusted = known.any(|(_, state)| {
                state.get("trusted_hash").is_some() && state.get("enabled") != Some(&Value::Bool(false))
            });
            hook.skipped = match hook.scope {
                Owner::Administrator => None,
                Owner::Project if !is_trusted_project => {
                    Some("Codex does not trust this project, and reads no hooks of it".to_owned())
                }
                _ if !is_trusted => Some(
                    "Codex does not run it before you trust it: start `codex`, and enter /hooks".to_owned(),
                ),
                _ => None,
            };
        }
    }
}

/// Whether a value is what this text of JSON says.
fn is_json(value: &Value, text: &str) -> bool {
    serde_json::from_str::<Value>(text).is_ok_and(|wanted| wanted == *value)
}

/// The name of an event as Codex keeps it: `PreToolUse` is `pre_tool_use`.
fn snake(name: &str) -> String {
    let mut snake = String::new();
    for (place, c) in name.char_indices() {
        if c.is_ascii_uppercase() && place > 0 {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
}

fn text(path: &Path) -> Result<Option<String>, String> {
    let file = match planproof_files::open(path) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        file => file.map_err(|error| format!("it cannot be read: {error}"))?,
    };
    let mut bytes = Vec::new();
    let read = file.take(CONFIGURATION_BYTES_MAX + 1).read_to_end(&mut bytes);
    read.map_err(|error| format!("it cannot be read: {error}"))?;
    if bytes.len() as u64 > CONFIGURATION_BYTES_MAX {
        return Err(format!("it has more than {CONFIGURATION_BYTES_MAX} bytes"));
    }
    String::from_utf8(bytes).map(Some).map_err(|_| "it is not UTF-8".to_owned())
}

/// A configuration; `None` if there is none.
fn document(path: &Path) -> Result<Option<Value>, String> {
    let Some(text) = text(path)? else { return Ok(None) };
    if text.trim().is_empty() {
        return Ok(Some(Value::Null));
    }
    if path.extension().is_some_and(|extension| extension == "toml") {
        // The message would show the line, which may hold a key.
        return toml::from_str(&text).map(Some).map_err(|_| "it is not TOML".to_owned());
    }
    let root = CstRootNode::parse(&text, &ParseOptions::default());
    let value = root.ok().and_then(|root| root.to_serde_value());
    value.map(Some).ok_or_else(|| "it is not JSON".to_owned())
}
