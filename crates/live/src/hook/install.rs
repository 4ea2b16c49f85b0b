//! `planproof hook install` and `planproof hook uninstall`: our hooks in the configurations of coding agents.

use std::fs;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};

use planproof_guard::GuardMode;
use planproof_output::failure::{ExitCode, Failure};
use planproof_output::print::Printing;
use planproof_output::question::agrees;
use planproof_output::report_files::ReportFile;
use planproof_output::terminal::inline;
use planproof_output::{own, progress, tell, terminal};
use planproof_tools::process::shell_word;
use similar::TextDiff;

use crate::arguments::hook::{EditArguments, HeldArguments, HookAgent, InstallArguments, UninstallArguments};
use crate::coding_agents::{Folders, HookForm, Scope, settings};
use crate::rules::rules_of;

/// Longest configuration that is changed, in bytes.
const SETTINGS_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Most backups of one configuration. After that, nothing is changed until some are removed.
const BACKUPS_MAX: u32 = 100;

/// The folder for the logs of sessions within planproof's folder of the user's state.
const STATE: &str = "guard";

pub(super) fn install(arguments: &InstallArguments, printing: Printing) -> Result<ExitCode, Failure> {
    let InstallArguments { agent, held, edit } = arguments;
    let HeldArguments { rules, mode, state, history } = held;
    must_have_file(*agent)?;
    // The parser requires them.
    let rules = rules.as_deref().ok_or_else(|| Failure::usage("--rules is missing"))?;
    // A fault would deny every call, or none.
    if rules_of(rules)?.rules().is_empty() {
        tell!("warning: {} has no rules, so nothing will be denied", rules.display());
    }
    let rules = absolute("--rules", rules)?;
    let (option, state) = match (state, history) {
        (Some(state), _) => ("--state", absolute("--state", state)?),
        (None, Some(history)) => ("--history", absolute("--history", history)?),
        (None, None) => {
            let none = "the environment names no folder for the user's state: name one with --state";
            let folder = own::folder().ok_or_else(|| Failure::usage(none))?.join(STATE);
            ("--state", absolute("--state", &folder)?)
        }
    };
    let program = std::env::current_exe()
        .map_err(|error| Failure::outside(format!("it is not known where planproof is: {error}")))?;
    let mode = mode.asked().map(|mode| match mode {
        GuardMode::Enforce => "--enforce",
        GuardMode::Shadow => "--shadow",
    });
    let words = [text_of(&program)?, "hook", agent.seam(), "--rules", text_of(&rules)?];
    let words = words.into_iter().chain(mode).chain([option, text_of(&state)?]);
    let command = words.map(shell_word).collect::<Vec<_>>().join(" ");
    let folders = folders()?;
    for (what, path) in [("the rules", &rules), ("the logs", &state), ("planproof", &program)] {
        warn_of(what, path, &folders.project);
    }
    if edit.scope() == Scope::Project {
        tell!("warning: an agent that works in this folder can change its configuration; --user is safer");
    }
    let path = folders.of_hooks(*agent, edit.scope());
    let change = |text: &str| settings::with_hooks(text, *agent, &command);
    let outcome = carry_out(&path, change, edit, printing)?;
    if matches!(outcome, Outcome::Written | Outcome::Same) {
        say_what_is_left(*agent, edit.scope(), printing);
    }
    Ok(outcome.exit_code())
}

pub(super) fn uninstall(arguments: &UninstallArguments, printing: Printing) -> Result<ExitCode, Failure> {
    let UninstallArguments { agent, edit } = arguments;
    must_have_file(*agent)?;
    let path = folders()?.of_hooks(*agent, edit.scope());
    let outcome = carry_out(&path, |text| settings::without_hooks(text, *agent), edit, printing)?;
    Ok(outcome.exit_code())
}

/// Refuses an agent that has plugins in place of hooks in a file.
fn must_have_file(agent: HookAgent) -> Result<(), Failure> {
    if HookForm::of(agent).is_some() {
        return Ok(());
    }
    Err(Failure::usage(
        "OpenCode has plugins and no hooks in a file: copy examples/opencode/planproof.js into \
         ~/.config/opencode/plugin, and change the command in it (docs/guard.md)",
    ))
}

fn folders() -> Result<Folders, Failure> {
    let project = std::env::current_dir()
        .map_err(|error| Failure::outside(format!("the current folder cannot be used: {error}")))?;
    Folders::find(|name| std::env::var_os(name), &project)
        .ok_or_else(|| Failure::usage("the environment names no home: set HOME"))
}

fn absolute(option: &str, path: &Path) -> Result<PathBuf, Failure> {
    // Where there is something already, without links: they could lead elsewhere later.
    path.canonicalize()
        .or_else(|_| std::path::absolute(path))
        .map_err(|error| Failure::usage(format!("{option} {}: {error}", path.display())))
}

fn text_of(path: &Path) -> Result<&str, Failure> {
    path.to_str().ok_or_else(|| {
        Failure::usage(format!("{} is not UTF-8, and JSON cannot name it: use another path", path.display()))
    })
}

/// Warns if the agent, or another user, can change what guards it.
fn warn_of(what: &str, path: &Path, project: &Path) {
    let project = project.canonicalize();
    if project.is_ok_and(|project| path.starts_with(project)) {
        tell!(
            "warning: {what} ({}) will be where an agent that is started here can write; put it elsewhere",
            path.display()
        );
    } else if let Some(found) = writable_by_others(path) {
        tell!("warning: others than you can write to {}, and so change {what}", found.display());
    }
}

/// The path or a folder above it, if others than its owner can write there.
#[cfg(unix)]
fn writable_by_others(path: &Path) -> Option<&Path> {
    use std::os::unix::fs::PermissionsExt as _;

    /// Bits of a mode that let others write.
    const WRITE_OF_OTHERS: u32 = 0o002;
    /// The bit with which others cannot replace what is in a folder.
    const STICKY: u32 = 0o1000;
    path.ancestors().find(|path| {
        let mode = path.metadata().map_or(0, |found| found.permissions().mode());
        mode & WRITE_OF_OTHERS != 0 && mode & STICKY == 0
    })
}

#[cfg(not(unix))]
fn writable_by_others(_: &Path) -> Option<&Path> {
    None
}

/// What came of a change.
#[derive(Clone, Copy)]
enum Outcome {
    Written,
    /// There was nothing to change.
    Same,
    OnlyShown,
    Declined,
}

impl Outcome {
    fn exit_code(self) -> ExitCode {
        match self {
            Self::Written | Self::Same | Self::OnlyShown => ExitCode::Passed,
            Self::Declined => ExitCode::Failed,
        }
    }
}

/// Shows a change of a configuration and, if it is wanted, makes it.
fn carry_out(
    path: &Path,
    change: impl Fn(&str) -> Result<String, String>,
    edit: &EditArguments,
    printing: Printing,
) -> Result<Outcome, Failure> {
    let name = path.display().to_string();
    let cannot_use = |why: String| Failure::usage(format!("{name}: {why}"));
    let is_link = path.symlink_metadata().is_ok_and(|found| found.file_type().is_symlink());
    let before = read(path).map_err(|error| cannot_use(error.to_string()))?;
    let after = change(before.as_deref().unwrap_or_default()).map_err(cannot_use)?;
    if before.as_deref().unwrap_or_default() == after {
        progress::say(printing.quiet, &format!("{name} is as it should be"));
        return Ok(Outcome::Same);
    }
    let is_removed = holds_nothing(&after) && was_made_here(path, &change);
    show(&name, before.as_deref().unwrap_or_default(), if is_removed { "" } else { &after })?;
    if edit.dry_run {
        return Ok(Outcome::OnlyShown);
    }
    if is_link {
        return Err(cannot_use(
            "it is a link, which the agent or another program may lead elsewhere: change the file that it names by \
             hand, as --dry-run shows"
                .to_owned(),
        ));
    }
    if !edit.yes {
        if !terminal::is_interactive() {
            return Err(cannot_use(
                "nothing was changed, because nobody can be asked: pass --yes".to_owned(),
            ));
        }
        if !agrees("Write this? [y/N] ") {
            tell!("nothing was changed");
            return Ok(Outcome::Declined);
        }
    }
    if path.metadata().is_ok_and(|found| found.permissions().readonly()) {
        return Err(cannot_use("the file is read-only: allow yourself to write to it first".to_owned()));
    }
    let has_changed = || Failure::outside(format!("{name} has changed in the meantime: try again"));
    let cannot_write = |error: io::Error| Failure::outside(format!("cannot write {name}: {error}"));
    if is_removed {
        if read(path).map_err(cannot_write)? != before {
            return Err(has_changed());
        }
        fs::remove_file(path).map_err(cannot_write)?;
        progress::say(printing.quiet, &format!("removed {name}, in which nothing else was"));
        return Ok(Outcome::Written);
    }
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(cannot_write)?;
    let backup = match &before {
        Some(text) => Some(back_up(path, text).map_err(cannot_write)?),
        None => None,
    };
    let file = ReportFile::open("the configuration", path)?.unsearched();
    // The agent writes to it, too.
    if read(path).map_err(cannot_write)? != before {
        return Err(has_changed());
    }
    file.write_silently(|out| out.write_all(after.as_bytes()))?;
    let kept = backup.map(|backup| format!("; the former one is {}", backup.display())).unwrap_or_default();
    progress::say(printing.quiet, &format!("wrote {name}{kept}"));
    Ok(Outcome::Written)
}

/// The text of a configuration; `None` if there is none.
fn read(path: &Path) -> io::Result<Option<String>> {
    let file = match planproof_files::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    let mut bytes = Vec::new();
    file.take(SETTINGS_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > SETTINGS_BYTES_MAX {
        return Err(io::Error::other(format!("it has more than {SETTINGS_BYTES_MAX} bytes")));
    }
    String::from_utf8(bytes).map(Some).map_err(|_| io::Error::other("it is not UTF-8"))
}

/// The lines that change, without what may be a key.
fn show(name: &str, before: &str, after: &str) -> Result<(), Failure> {
    let (before, after) = (settings::shown(before), settings::shown(after));
    let diff = TextDiff::from_lines(&before, &after);
    let mut out = terminal::text();
    writeln!(out, "{}:", inline(name))?;
    for line in diff.unified_diff().missing_newline_hint(false).to_string().lines() {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// Whether a configuration is an object with nothing in it.
fn holds_nothing(text: &str) -> bool {
    text.chars().filter(|c| !c.is_whitespace()).eq("{}".chars())
}

/// Whether a configuration was made by an installation: there was none before, or the first that was kept holds what is
/// changed, and nothing else.
fn was_made_here(path: &Path, change: impl Fn(&str) -> Result<String, String>) -> bool {
    match read(&backup_of(path, 1)) {
        Ok(None) => true,
        Ok(Some(first)) => !holds_nothing(&first) && change(&first).is_ok_and(|rest| holds_nothing(&rest)),
        Err(_) => false,
    }
}

/// Where a configuration is kept beside it.
fn backup_of(path: &Path, number: u32) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".before-planproof-{number}"));
    path.with_file_name(name)
}

/// Keeps a configuration beside it, under a name that nobody has.
fn back_up(path: &Path, text: &str) -> io::Result<PathBuf> {
    let permissions = path.metadata()?.permissions();
    for number in 1..=BACKUPS_MAX {
        let backup = backup_of(path, number);
        // The permissions before the text: it may hold keys.
        let permissions = permissions.clone();
        match planproof_files::create(&backup, text.as_bytes(), |file| file.set_permissions(permissions)) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
            Ok(()) => return Ok(backup),
        }
    }
    Err(io::Error::other(format!("there are {BACKUPS_MAX} backups of it already: remove some")))
}

/// What the user has to do, or to know, before the hooks guard anything.
fn say_what_is_left(agent: HookAgent, scope: Scope, printing: Printing) {
    match agent {
        HookAgent::ClaudeCode => progress::say(
            printing.quiet,
            "Claude Code obeys `onFailure` from version 2.1.295 on; an older one lets a call pass where the hook \
             cannot be started.",
        ),
        HookAgent::GeminiCli => {
            progress::say(
                printing.quiet,
                "Gemini CLI lets a call pass where the hook takes too long or ends with status 1.",
            );
        }
        HookAgent::OpenCode => {}
        HookAgent::Codex => {
            let project = match scope {
                Scope::Project => " It reads hooks only in projects that it trusts.",
                Scope::User => "",
            };
            progress::say(
                printing.quiet,
                &format!(
                    "Codex skips a hook, without a word, until you trust it: start `codex`, enter /hooks, and trust \
                     the hooks of planproof. Do so again after each change.{project} A call passes where the hook \
                     cannot be started."
                ),
            );
        }
    }
    progress::say(printing.quiet, "`planproof doctor --try` shows whether the hooks work.");
}
