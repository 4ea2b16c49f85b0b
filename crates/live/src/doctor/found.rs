//! The agents that are configured here, with their hooks and MCP servers.

use std::collections::BTreeMap;
use std::fs;
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::CstRootNode;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::doubts::{doubt_of, doubt_of_group};
use super::known::{CLAUDE_CODE, CODEX, CURSOR, GEMINI, KnownAgent, OPENCODE, Owner, TYPE, VS_CODE};
use crate::coding_agents::{Folders, words_of};

/// Longest configuration that is read, in bytes.
const CONFIGURATION_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// What switches all hooks off where it is false, as a JSON Pointer and as a person writes it: for Codex, and for
/// versions of Gemini CLI.
const SWITCHES_OFF: [(&str, &str); 5] = [
    ("/features/hooks", "[features] hooks"),
    ("/features/codex_hooks", "[features] codex_hooks"),
    ("/hooksConfig/enabled", "hooksConfig.enabled"),
    ("/hooks/enabled", "hooks.enabled"),
    ("/tools/enableHooks", "tools.enableHooks"),
];

/// Most plugins of an agent that are looked at.
const PLUGINS_MAX: usize = 1000;

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
    /// The agent.
    pub(super) known: KnownAgent,
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
    pub(super) skipped: Option<Skipped>,
    /// Why it may not do what planproof says, if there is something.
    pub(super) doubt: Option<String>,
    /// It is a program of the agent's own kind that calls planproof.
    pub(super) is_plugin: bool,
}

/// Why an agent does not run a hook.
#[derive(Debug, Clone)]
pub(super) struct Skipped {
    pub(super) why: String,
    /// The hook is right, and waits for its user's trust.
    pub(super) is_untrusted: bool,
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
            match document(path, known.is_strict) {
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
        let switches = ["disableAllHooks", "allowManagedHooksOnly", "allow_managed_hooks_only"];
        if let Some(key) = switches.iter().find(|key| document.get(**key).is_some_and(|it| !it.is_boolean()))
        {
            self.fault(scope, path, format!("`{key}` is neither true nor false"));
        }
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
        for (place, name) in SWITCHES_OFF {
            if document.pointer(place) == Some(&Value::Bool(false)) {
                self.no_hooks = Some(format!("`{name}` in {}", path.display()));
            }
        }
        self.add_servers(scope, path, document.get(self.known.servers));
        // Those that a user has for one project only.
        let own = document.get("projects").and_then(|all| all.get(project.to_str()?));
        self.add_servers(scope, path, own.and_then(|own| own.get(self.known.servers)));
        let hooks = document.get("hooks").filter(|hooks| !hooks.is_null());
        let Some(hooks) = hooks.filter(|_| self.known.reads_hooks_in(path)) else { return };
        let Some(hooks) = hooks.as_object() else {
            return self.fault(scope, path, "`hooks` is not an object".to_owned());
        };
        for (event, groups) in hooks {
            let is_known = self.known.before == Some(event) || self.known.after.contains(&event.as_str());
            match groups.as_array() {
                Some(groups) => groups.iter().for_each(|group| self.add_group(scope, path, event, group)),
                None if is_known => self.fault(scope, path, format!("`hooks.{event}` is not a list")),
                None => {}
            }
        }
    }

    /// Notes what is wrong in a file: an agent may skip the whole.
    fn fault(&mut self, scope: Owner, path: &Path, what: String) {
        self.faults.push((scope, path.to_owned(), what));
    }

    /// Adds the hooks of a group: those of its list or, for agents without groups, itself.
    fn add_group(&mut self, scope: Owner, path: &Path, event: &str, group: &Value) {
        let matcher = group.get("matcher").and_then(Value::as_str).map(str::to_owned);
        let handlers: Option<Vec<&Value>> = match self.known.has_groups {
            true => group.get("hooks").and_then(Value::as_array).map(|handlers| handlers.iter().collect()),
            false => Some(vec![group]),
        };
        let wrong = [
            (!group.is_object(), "an entry that is not an object"),
            (
                group.get("matcher").is_some_and(|it| !it.is_string() && !it.is_null()),
                "a matcher that is not a text",
            ),
            (handlers.is_none(), "an entry without a list `hooks`"),
        ];
        if let Some((_, what)) = wrong.iter().find(|(is_so, _)| *is_so) {
            return self.fault(scope, path, format!("`hooks.{event}` has {what}"));
        }
        for handler in handlers.unwrap_or_default() {
            let (type_key, command) = TYPE;
            let kind = handler.get(type_key);
            let wrong = [
                (
                    !handler.is_object() || handler.get("command").is_some_and(|it| !it.is_string()),
                    "a hook that is not an object with a command",
                ),
                // An agent may read nothing of such a file.
                (self.known.has_groups && !kind.is_some_and(Value::is_string), "a hook without a `type`"),
            ];
            if let Some((_, what)) = wrong.iter().find(|(is_so, _)| *is_so) {
                self.fault(scope, path, format!("`hooks.{event}` has {what}"));
                continue;
            }
            let skipped = kind.filter(|kind| *kind != command).map(|kind| Skipped {
                why: format!(
                    "the `{type_key}` of the hook is {kind}, and {} starts only hooks of the type \"{command}\"",
                    self.known.name
                ),
                is_untrusted: false,
            });
            let line =
                handler.get("command").and_then(Value::as_str).filter(|_| handler.get("args").is_none());
            let is_closed = self
                .known
                .closed
                .is_some_and(|(key, value)| handler.get(key).is_some_and(|found| is_json(found, value)));
            self.hooks.push(FoundHook {
                known: self.known,
                scope,
                file: path.to_owned(),
                event: event.to_owned(),
                matcher: matcher.clone(),
                words: words_of(handler).unwrap_or_default(),
                line: line.map(str::to_owned),
                is_closed,
                skipped,
                doubt: doubt_of(handler, self.known).or_else(|| doubt_of_group(group, self.known)),
                is_plugin: false,
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
            let url = ["url", "httpUrl", "serverUrl"].iter().find_map(|key| server.get(*key)?.as_str());
            // With both, an agent starts the program only where that is said.
            let is_started = server.get("type").is_some_and(|it| it == "stdio" || it == "local");
            if url.is_some() && !is_started {
                words.clear();
            }
            let table = |keys: &[&str]| -> BTreeMap<String, String> {
                let table = keys.iter().find_map(|key| server.get(*key)?.as_object()).into_iter().flatten();
                table.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned()))).collect()
            };
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
                    known: self.known,
                    scope,
                    file: path,
                    event: event.to_owned(),
                    matcher: None,
                    words: Vec::new(),
                    line: None,
                    is_closed: false,
                    skipped: None,
                    doubt: None,
                    is_plugin: true,
                });
            }
        }
    }

    /// Marks the hooks that Codex does not run: those that its user has not trusted, by their places, and those of a
    /// project that is not trusted.
    fn forget_untrusted(&mut self, codex: &Path, project: &Path) {
        let path = codex.join("config.toml");
        let settings = document(&path, true).ok().flatten().unwrap_or_default();
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
            let why = match hook.scope {
                Owner::Administrator => continue,
                Owner::Project if !is_trusted_project => {
                    "Codex does not trust this project, and reads no hooks of it"
                }
                _ if !is_trusted => {
                    "Codex does not run it before you trust it: start `codex`, and enter /hooks"
                }
                _ => continue,
            };
            hook.skipped.get_or_insert(Skipped { why: why.to_owned(), is_untrusted: true });
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
fn document(path: &Path, is_strict: bool) -> Result<Option<Value>, String> {
    let Some(text) = text(path)? else { return Ok(None) };
    if text.trim().is_empty() {
        return Ok(Some(Value::Null));
    }
    if path.extension().is_some_and(|extension| extension == "toml") {
        // The message would show the line, which may hold a key.
        return toml::from_str(&text).map(Some).map_err(|_| "it is not TOML".to_owned());
    }
    let root = CstRootNode::parse(&text, &ParseOptions::default());
    let value: Option<Value> = root.ok().and_then(|root| root.to_serde_value());
    match value {
        None => Err("it is not JSON".to_owned()),
        Some(value) if !value.is_object() => Err("it is not a JSON object".to_owned()),
        Some(_) if is_strict && serde_json::from_str::<IgnoredAny>(&text).is_err() => {
            Err("it has comments or trailing commas, which the agent may not read".to_owned())
        }
        value => Ok(value),
    }
}
