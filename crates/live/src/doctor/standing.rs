//! What holds the calls of an agent to rules.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use clap::error::ErrorKind;
use hyper::Uri;
use planproof_output::secrets::holds_secret;
use planproof_output::text_files;
use planproof_spec::rules::RuleSet;
use planproof_tools::process::shell_word;
use planproof_trace::names_secret;

use super::attempt::with_variables;
use super::found::{FoundAgent, FoundHook, FoundServer};
use super::hooks::best_hook;
use super::known::{KnownAgent, Owner};
use crate::coding_agents::{is_planproof, is_this_machine, names_planproof};
use crate::line::{LiveCommand, ReadLine};

/// What stands for a word that may be a key.
const HIDDEN: &str = "(hidden)";

/// Whether calls are held to rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Standing {
    /// Nothing holds them.
    Unguarded,
    /// Something looks at them, and lets them pass if it only watches or fails.
    Advisory,
    /// A call that violates a rule is not made.
    Enforced,
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Unguarded => "unguarded",
            Self::Advisory => "advisory",
            Self::Enforced => "enforced",
        })
    }
}

/// A way for the calls of an agent.
#[derive(Debug)]
pub(super) struct Way {
    pub(super) agent: KnownAgent,
    /// The server whose tools they are; `None` for the agent's own.
    pub(super) server: Option<String>,
    /// Where it is configured.
    pub(super) file: PathBuf,
    pub(super) scope: Owner,
    pub(super) standing: Standing,
    pub(super) reason: String,
    /// The command, or the words, that mend it.
    pub(super) mend: Option<String>,
    /// What guards it, to be tried.
    pub(super) guard: Option<Guarding>,
    /// It was tried.
    pub(super) is_tried: bool,
}

/// What holds calls to rules.
#[derive(Debug, Clone)]
pub(super) enum Guarding {
    Hook(FoundHook),
    Server(FoundServer),
    /// What listens at the address of a server, on this machine. Only a trial shows whether that is a guard.
    Listener(FoundServer),
    /// A program that may start a guard. Only a trial shows whether it does.
    Starter(FoundServer),
}

impl Guarding {
    pub(super) fn scope(&self) -> Owner {
        match self {
            Self::Hook(hook) => hook.scope,
            Self::Server(server) | Self::Listener(server) | Self::Starter(server) => server.scope,
        }
    }

    /// The command line, without what may be a key.
    pub(super) fn line(&self) -> String {
        match self {
            Self::Hook(hook) => shown(&hook.words),
            Self::Server(server) | Self::Starter(server) => shown(&server.words),
            Self::Listener(server) => format!("(a request to {})", address(server).unwrap_or_default()),
        }
    }
}

/// What is known of something that guards.
pub(super) struct Judged {
    pub(super) standing: Standing,
    pub(super) reason: String,
    pub(super) mend: Option<String>,
}

/// All ways of an agent.
pub(super) fn ways(agent: &FoundAgent, folder: &Path, read: ReadLine) -> Vec<Way> {
    let (mut hook, mut judged) = best_hook(agent, folder, read);
    if let Some((_, _, why)) = agent.faults.first() {
        // It may switch the hooks off, and it may name servers.
        let more = match agent.faults.len() {
            1 => String::new(),
            count => format!(", and neither can {} more", count - 1),
        };
        let reason = format!("it is not known what is in the file: {why}{more}");
        let mend = Some("correct the file".to_owned());
        (hook, judged) = (None, Judged { standing: Standing::Unguarded, reason, mend });
    }
    let (scope, file) = match (&hook, agent.faults.first(), agent.files.first()) {
        (Some(hook), ..) => (hook.scope, hook.file.clone()),
        (None, Some((scope, file, _)), _) | (None, None, Some((scope, file))) => (*scope, file.clone()),
        (None, None, None) => (Owner::User, PathBuf::new()),
    };
    let guard = hook.clone().filter(|hook| !hook.words.is_empty()).map(Guarding::Hook);
    let mut ways = vec![Way {
        agent: agent.known,
        server: None,
        file,
        scope,
        standing: judged.standing,
        reason: judged.reason.clone(),
        mend: judged.mend.clone(),
        guard: guard.clone(),
        is_tried: false,
    }];
    for server in &agent.servers {
        let of_server = judge_server(server, folder, read);
        let is_by_hook = judged.standing > of_server.standing;
        let (of_server, guard) = match is_by_hook {
            true => {
                let reason = format!("by the hook: {}", judged.reason);
                (Judged { standing: judged.standing, reason, mend: judged.mend.clone() }, guard.clone())
            }
            false => {
                let guard = match of_server.standing {
                    Standing::Unguarded if !server.words.is_empty() => {
                        starts_another(server).then(|| Guarding::Starter(server.clone()))
                    }
                    Standing::Unguarded => address(server).map(|_| Guarding::Listener(server.clone())),
                    _ => Some(Guarding::Server(server.clone())),
                };
                (of_server, guard)
            }
        };
        ways.push(Way {
            agent: agent.known,
            server: Some(server.name.clone()),
            file: server.file.clone(),
            scope: server.scope,
            standing: of_server.standing,
            reason: of_server.reason,
            mend: of_server.mend,
            guard,
            is_tried: false,
        });
    }
    ways
}

fn judge_server(server: &FoundServer, folder: &Path, read: ReadLine) -> Judged {
    let unguarded = |reason: &str, mend: Option<String>| Judged {
        standing: Standing::Unguarded,
        reason: reason.to_owned(),
        mend,
    };
    if server.words.is_empty() {
        let mend = Some("let a hook guard it, or start a guard before it (docs/guard.md)".to_owned());
        let reason = match (address(server), server.url.as_deref().map(read_url)) {
            (Some(address), _) => format!("a server at {address}; --try shows whether a guard listens there"),
            (None, Some(Some(uri))) if is_this_machine(uri.host().unwrap_or_default()) => {
                "a server at https on this machine, and guards speak http here".to_owned()
            }
            (None, Some(Some(_))) => {
                "a server at a URL of another machine, and guards listen on this one".to_owned()
            }
            (None, Some(None)) => "its URL is not one of http or https".to_owned(),
            (None, None) => "its entry names neither a program nor a URL".to_owned(),
        };
        return unguarded(&reason, mend);
    }
    let folder = server.folder.as_deref().unwrap_or(folder);
    if starts_another(server) {
        let reason = format!(
            "it is started by `{}`; --try shows whether that starts a guard",
            shown(&server.words[..1])
        );
        return unguarded(&reason, Some("start planproof guard itself".to_owned()));
    }
    if !is_planproof(&server.words, "guard") {
        let mend =
            format!("start it as planproof guard --rules RULES.yaml --enforce -- {}", shown(&server.words));
        return unguarded("it is started without a guard", Some(mend));
    }
    let words = Words::of(&server.words);
    if !program(&server.words, folder) {
        return unguarded("planproof is not where the configuration says", None);
    }
    if let Some(why) = no_guard(&server.words, read) {
        return unguarded(why, Some("correct its arguments (planproof guard --help)".to_owned()));
    }
    if let Some(how) = words.watches(folder) {
        let reason = format!("the guard only watches ({how})");
        let mend = Some("have --enforce in its arguments, and not --shadow".to_owned());
        return Judged { standing: Standing::Advisory, reason, mend };
    }
    enforced(&words, folder, "the guard rejects calls".to_owned())
}

/// Whether a server is started by another program, which may start a guard.
fn starts_another(server: &FoundServer) -> bool {
    !is_planproof(&server.words, "guard") && names_planproof(&server.words, "guard")
}

/// Why a command line of the guard starts none before a server.
fn no_guard(words: &[String], read: ReadLine) -> Option<&'static str> {
    match command_of(words, read) {
        Ok(LiveCommand::Guard(arguments)) if arguments.command.is_none() && arguments.to.is_none() => None,
        Ok(_) => Some("the guard is started for something else, and no server behind it"),
        Err(ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => {
            Some("its command line asks for help, so neither guard nor server is started")
        }
        Err(_) => Some("its command line is wrong, so neither guard nor server is started"),
    }
}

/// The command of planproof that these words are, as it reads them itself.
pub(super) fn command_of(words: &[String], read: ReadLine) -> Result<LiveCommand, ErrorKind> {
    // A variable that is not set here may be for the agent.
    let words: Vec<OsString> =
        words.iter().map(|word| with_variables(word).replace("${", "$").into()).collect();
    read(&words).map(|line| line.command).map_err(|error| error.kind())
}

/// Where a server on this machine listens, without what may be a key in the path.
fn address(server: &FoundServer) -> Option<String> {
    let uri = read_url(server.url.as_deref()?)?;
    let host = uri.host()?;
    let port = uri.port_u16().map_or(String::new(), |port| format!(":{port}"));
    let is_plain = uri.scheme_str().is_some_and(|scheme| scheme.eq_ignore_ascii_case("http"));
    (is_plain && is_this_machine(host)).then(|| format!("http://{host}{port}"))
}

/// A URL of http or https.
fn read_url(url: &str) -> Option<Uri> {
    let uri: Uri = with_variables(url).parse().ok()?;
    let scheme = uri.scheme_str()?.to_ascii_lowercase();
    (uri.host().is_some() && ["http", "https"].contains(&scheme.as_str())).then_some(uri)
}

/// What enforces, with a word on rules that cannot be used.
pub(super) fn enforced(words: &Words<'_>, folder: &Path, reason: String) -> Judged {
    let read = words.rules.map(|rules| words.read(folder).ok_or(rules));
    let (reason, mend) = match read {
        Some(Err(rules)) => (
            "every call is denied, because the rules cannot be used".to_owned(),
            Some(format!("planproof rules check {}", shell_word(rules))),
        ),
        Some(Ok(rules)) if rules.rules().is_empty() => {
            let reason = "the file of rules has none, so nothing is denied".to_owned();
            return Judged {
                standing: Standing::Advisory,
                reason,
                mend: Some("write rules into it".to_owned()),
            };
        }
        Some(Ok(rules)) if !words.has("--enforce") => {
            let all = rules.rules();
            match all.iter().filter(|rule| rule.is_shadow).count() {
                0 => (reason, None),
                shadow => {
                    let watch = if shadow == 1 { "watches" } else { "watch" };
                    (format!("{reason}; of {} rules, {shadow} only {watch} (mode: shadow)", all.len()), None)
                }
            }
        }
        _ => (reason, None),
    };
    Judged { standing: Standing::Enforced, reason, mend }
}

/// The options of a command line of a guard or a hook.
pub(super) struct Words<'a> {
    words: &'a [String],
    pub(super) rules: Option<&'a str>,
}

impl<'a> Words<'a> {
    pub(super) fn of(words: &'a [String]) -> Self {
        let own = words.iter().position(|word| word == "--").map_or(words, |end| &words[..end]);
        let rules = own.iter().enumerate().find_map(|(place, word)| match word.strip_prefix("--rules") {
            Some("") => own.get(place + 1).map(String::as_str),
            Some(rest) => rest.strip_prefix('='),
            None => None,
        });
        Self { words: own, rules }
    }

    fn has(&self, option: &str) -> bool {
        self.words.iter().any(|word| word == option)
    }

    /// The rules, for whoever is in this folder; `None` if they cannot be used.
    fn read(&self, folder: &Path) -> Option<RuleSet> {
        let text = text_files::read_text(&folder.join(with_variables(self.rules?))).ok()?;
        RuleSet::read(&text).ok()
    }

    /// How all calls are only watched, if they are.
    pub(super) fn watches(&self, folder: &Path) -> Option<&'static str> {
        if self.has("--shadow") {
            return Some("--shadow");
        }
        let is_by_rule = !self.has("--enforce");
        let rules = self.read(folder).filter(|_| is_by_rule)?;
        rules.rules().iter().all(|rule| rule.is_shadow).then_some("mode: shadow in the rules")
    }
}

/// Whether the program of a command line is there, as an agent in this folder finds it.
pub(super) fn program(words: &[String], folder: &Path) -> bool {
    let Some(name) = words.first().map(|name| with_variables(name)) else { return false };
    if name.contains(['/', '\\']) {
        return folder.join(&name).is_file();
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).any(|folder| {
        folder.join(&name).is_file() || (cfg!(windows) && folder.join(format!("{name}.exe")).is_file())
    })
}

/// A command line without words that may be keys.
pub(super) fn shown(words: &[String]) -> String {
    let mut is_next_secret = false;
    let mut all = Vec::new();
    for word in words {
        let name = word.split(['=', ':']).next().unwrap_or_default();
        let is_secret = std::mem::take(&mut is_next_secret);
        let has_value = name.len() < word.len();
        let shown = match has_value {
            _ if is_secret || holds_secret(word) => HIDDEN.to_owned(),
            true if names_secret(name) => format!("{name}={HIDDEN}"),
            // What follows may be a ticket.
            true if word.contains("://") => word.split(['?', '#']).next().unwrap_or_default().to_owned(),
            _ => word.clone(),
        };
        is_next_secret = !has_value && word.starts_with('-') && names_secret(name);
        all.push(if shown.contains(HIDDEN) { shown } else { shell_word(&shown) });
    }
    all.join(" ")
}

#[cfg(test)]
mod tests {
    use super::super::found::agents;
    use super::*;
    use crate::coding_agents::Folders;
    use crate::line::read_alone;

    /// A folder for a test, removed with it.
    struct Folder(PathBuf);

    impl Folder {
        fn write(&self, name: &str, text: &str) {
            let path = self.0.join(name);
            std::fs::create_dir_all(path.parent().unwrap_or(&self.0)).expect("a folder");
            std::fs::write(path, text).expect("a file");
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    /// What an administrator has configured counts, and users cannot switch it off.
    #[test]
    fn managed_settings_are_read() {
        let root = Folder(std::env::temp_dir().join(format!("planproof-managed-{}", std::process::id())));
        let at = |name: &str| root.0.join(name);
        let folders = Folders {
            home: at("home"),
            claude: at("home/.claude"),
            codex: at("home/.codex"),
            config: at("home/.config"),
            project: at("project"),
            managed_claude: at("etc/claude-code"),
            managed_codex: at("etc/codex"),
        };
        root.write("planproof", "");
        root.write("rules.yaml", "schema: planproof/rules/v1\nrules: [{id: x, never: {call: a}}]\n");
        let command = |agent: &str| {
            let (program, rules) = (at("planproof"), at("rules.yaml"));
            format!("{} hook {agent} --rules {} --enforce --state s", program.display(), rules.display())
        };
        let hooks = |agent: &str| {
            let handler =
                serde_json::json!({"type": "command", "command": command(agent), "onFailure": "block"});
            let group = serde_json::json!([{"hooks": [handler]}]);
            serde_json::json!({"PreToolUse": group, "PostToolUse": group, "PostToolUseFailure": group})
        };
        let own = |name: &str| -> (Standing, String, Owner) {
            let found = agents(&folders);
            let agent = found.iter().find(|agent| agent.known.name == name).expect("the agent");
            let way = ways(agent, &folders.project, read_alone).remove(0);
            (way.standing, way.reason, way.scope)
        };
        let managed = |more: &str| format!("{{{more}\"hooks\": {}}}", hooks("claude-code"));
        root.write("etc/claude-code/managed-settings.json", &managed(""));
        assert_eq!((own("Claude Code").0, own("Claude Code").2), (Standing::Enforced, Owner::Administrator));
        // A user's switch is none for the administrator's hooks, and the administrator's is.
        root.write("home/.claude/settings.json", "{\"disableAllHooks\": true}");
        assert_eq!(own("Claude Code").0, Standing::Enforced);
        root.write("etc/claude-code/managed-settings.json", &managed("\"disableAllHooks\": true, "));
        assert_eq!(own("Claude Code").0, Standing::Unguarded);
        // Where only managed hooks are allowed, the user's do not run.
        root.write("home/.claude/settings.json", &managed(""));
        root.write("etc/claude-code/managed-settings.json", "{\"allowManagedHooksOnly\": true}");
        let (standing, reason, _) = own("Claude Code");
        assert!(standing == Standing::Unguarded && reason.contains("allowManagedHooksOnly"), "{reason}");
        // Codex runs managed hooks without asking for trust.
        let handler = format!("[{{ hooks = [{{ type = \"command\", command = '{}' }}] }}]", command("codex"));
        root.write("etc/codex/requirements.toml", &format!("[hooks]\nmanaged_dir = \"/etc/codex/hooks\"\nPreToolUse = {handler}\nPostToolUse = {handler}\n"));
        let (standing, reason, scope) = own("Codex");
        assert!(standing == Standing::Advisory && scope == Owner::Administrator, "{reason}");
        root.write("etc/codex/requirements.toml", "allow_managed_hooks_only = true\n");
        root.write("home/.codex/hooks.json", &format!("{{\"hooks\": {}}}", hooks("codex")));
        let (standing, reason, _) = own("Codex");
        assert!(standing == Standing::Unguarded && reason.contains("allow_managed_hooks_only"), "{reason}");
    }

    #[test]
    fn no_word_that_may_be_a_key_is_shown() {
        for (words, expected) in [
            ("npx server --api-key abc --port 3", "npx server --api-key (hidden) --port 3"),
            ("npx server --token=abc", "npx server --token=(hidden)"),
            ("env SHOP_API_KEY=abc npx x", "env SHOP_API_KEY=(hidden) npx x"),
            ("curl -H Authorization:abc", "curl -H Authorization=(hidden)"),
            ("npx remote https://h.example/mcp?ticket=abc", "npx remote https://h.example/mcp"),
            ("x sk-0123456789abcdef012", "x (hidden)"),
            ("x http://a:abc@h", "x (hidden)"),
        ] {
            let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
            assert_eq!(shown(&words), expected);
        }
    }
}
