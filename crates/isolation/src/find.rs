//! Finds out which isolation this machine offers.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use landlock::{ABI, Access as _, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _, Scope};
use rustix::process::{geteuid, getuid};

use crate::account::{Account, Layer};
use crate::hidden::everywhere;
use crate::spec::{Landlock, Namespaces, Spec};
use crate::{AgentMemory, Hidden, LAUNCHER_ARGUMENT, Launcher, MachineIsolation};

/// The name of the standalone launcher program.
const LAUNCHER_FILE: &str = "planproof-launch";

/// The bits of a file that others than its owner may write to.
const OTHERS_WRITE: u32 = 0o022;

/// Maximum number of characters of a launcher's message that are repeated.
const REASON_CHARS_MAX: usize = 200;

/// Covered for every program: through the socket of the user's or the system's service manager, a program could
/// have any command run outside.
const SERVICE_MANAGERS: [&str; 2] = ["/run/systemd/private", "/run/user"];

/// The covered entries of the user's own folder in [`SERVICE_MANAGERS`].
const OF_USER: [&str; 2] = ["systemd", "bus"];

/// Finds out how programs can be kept from what is hidden on this machine, by trying it once, which takes a few
/// milliseconds. Programs are started in these folders or write to them, and may use this much memory.
pub fn find(hidden: &Hidden, folders: &[PathBuf], memory: AgentMemory) -> MachineIsolation {
    let mut account = Account::default();
    let memory_max = memory.bytes();
    let is_root = geteuid().is_root();
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let managers = service_managers();
    let covered = everywhere(hidden.paths().chain(&managers), &mounts);
    let scopes = offers_scopes();
    let landlock = if scopes.is_ok() { Landlock::Scopes } else { Landlock::Nothing };

    let mut refusals = Vec::new();
    // With a process namespace if possible. Some machines offer only the others.
    let mut try_all = |kept: Option<PathBuf>| {
        refusals.clear();
        [true, false].into_iter().find_map(|processes| {
            let namespaces = Some(Namespaces { user: !is_root, processes });
            let (covered, kept, landlock) = (covered.clone(), kept.clone(), landlock.clone());
            let spec =
                Spec { namespaces, covered, kept, landlock, memory_max, is_trial: true, ..Spec::default() };
            tried(&spec).map_err(|why| refusals.push(why)).ok()
        })
    };
    let kept = own_folder(folders);
    let found = kept.is_some().then(|| try_all(kept)).flatten().or_else(|| try_all(None));
    // The refusals are in the order of the trials: first with a process namespace, then without.
    let refused = |place: usize| refusals.get(place).cloned().unwrap_or_default();
    let spec = match found {
        Some(spec) => {
            let processes = spec.namespaces.is_some_and(|namespaces| namespaces.processes);
            if !is_root {
                account.note(Layer::UserNamespace, Ok(()));
            }
            account.note(Layer::MountNamespace, Ok(()));
            account.note(Layer::PidNamespace, if processes { Ok(()) } else { Err(refused(0)) });
            account.note(Layer::Landlock, scopes);
            account.store_hidden = true;
            Some(spec)
        }
        None => {
            account.note(Layer::MountNamespace, Err(refused(1)));
            account.note(Layer::PidNamespace, Err(refused(0)));
            by_landlock(hidden, folders, &mut account)
        }
    };
    if is_root {
        account.note(Layer::FewerCapabilities, Ok(()));
    }
    // Even if nothing else works, root can give up capabilities.
    let spec = spec.or_else(|| is_root.then(Spec::default));
    match spec {
        Some(spec) => found_by(Spec { memory_max, ..spec }, account),
        None => {
            let MachineIsolation { launcher, account: Account { memory_bytes, .. } } = find_memory(memory);
            MachineIsolation { launcher, account: Account { memory_bytes, ..account } }
        }
    }
}

/// Sets up only the memory limit.
pub fn find_memory(memory: AgentMemory) -> MachineIsolation {
    let Some(bytes) = memory.bytes() else { return MachineIsolation::default() };
    let spec = Spec { keeps_rights: true, memory_max: Some(bytes), is_trial: true, ..Spec::default() };
    tried(&spec).map(|spec| found_by(spec, Account::default())).unwrap_or_default()
}

/// A launcher for this specification, with the account of what it provides.
fn found_by(spec: Spec, mut account: Account) -> MachineIsolation {
    account.memory_bytes = spec.memory_max;
    match serde_json::to_string(&Spec { is_trial: false, ..spec }) {
        Ok(spec) => MachineIsolation { launcher: Some(Launcher { program: program(), spec }), account },
        // A specification is JSON, which cannot hold a path that is not UTF-8.
        Err(error) => {
            let mut nothing = Account::default();
            for layer in account.held {
                nothing.note(layer, Err(format!("a path that is to be hidden cannot be told: {error}")));
            }
            MachineIsolation { launcher: None, account: nothing }
        }
    }
}

/// Makes the memory, environment and open files of this process inaccessible to other programs of its user.
///
/// # Errors
/// The operating system's reason.
pub fn close_this_process() -> Result<(), String> {
    nix::sys::prctl::set_dumpable(false).map_err(|error| error.to_string())
}

/// The launcher that starts fastest: the standalone one beside this program if it exists and has the same version,
/// otherwise this program.
fn program() -> PathBuf {
    static FOUND: OnceLock<PathBuf> = OnceLock::new();
    let beside = || {
        let own = std::env::current_exe().ok()?;
        let path = own.with_file_name(LAUNCHER_FILE);
        // Whoever else could have put it there must not have it run as us.
        let (own, found) = (own.metadata().ok()?, path.symlink_metadata().ok()?);
        if !found.is_file() || found.uid() != own.uid() || found.mode() & OTHERS_WRITE != 0 {
            return None;
        }
        // A launcher of another version refuses even an empty specification.
        let spec = serde_json::to_string(&Spec { is_trial: true, ..Spec::default() }).ok()?;
        let mut command = Command::new(&path);
        command.args([LAUNCHER_ARGUMENT, &spec]).stdin(Stdio::null()).stdout(Stdio::null());
        command.stderr(Stdio::null()).status().is_ok_and(|status| status.success()).then_some(path)
    };
    FOUND.get_or_init(|| beside().unwrap_or_else(|| PathBuf::from("/proc/self/exe"))).clone()
}

/// The folder of this program, which starts a launcher that lies there: a program under test must not put one there,
/// or replace planproof itself. `None` if programs work in that folder.
fn own_folder(folders: &[PathBuf]) -> Option<PathBuf> {
    let own = std::env::current_exe().ok()?.canonicalize().ok()?.parent()?.to_owned();
    let is_busy = |folder: &PathBuf| folder.canonicalize().is_ok_and(|folder| folder.starts_with(&own));
    let temporary = std::env::temp_dir();
    (!folders.iter().chain([&temporary]).any(is_busy)).then_some(own)
}

/// Has a launcher carry out everything except starting a program. Returns the specification if it works.
fn tried(spec: &Spec) -> Result<Spec, String> {
    let text = serde_json::to_string(spec).map_err(|error| error.to_string())?;
    let launcher = Launcher { program: program(), spec: text };
    let mut command = Command::new(launcher.program());
    command.args(launcher.arguments()).stdin(Stdio::null()).stdout(Stdio::null());
    let output = command.output().map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(spec.clone());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said: String = said.trim().chars().take(REASON_CHARS_MAX).collect();
    Err(if said.is_empty() { format!("the trial ended with {}", output.status) } else { said })
}

/// The sockets of service managers that exist.
fn service_managers() -> Vec<PathBuf> {
    let user = getuid().as_raw().to_string();
    let [system, users] = SERVICE_MANAGERS.map(PathBuf::from);
    let of_user = OF_USER.map(|name| users.join(&user).join(name));
    std::iter::once(system).chain(of_user).filter(|path| path.exists()).collect()
}

/// Whether Landlock can confine signals and abstract sockets, which needs no list of files.
fn offers_scopes() -> Result<(), String> {
    let ruleset = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    let made = ruleset.scope(Scope::from_all(ABI::V6)).and_then(Ruleset::create);
    made.map(drop).map_err(|_| "this kernel has none that keeps signals inside (Linux 6.12 does)".to_owned())
}

/// What Landlock alone can hide: only paths outside the folders in which programs create files, because Landlock
/// works with a list of what is allowed.
fn by_landlock(hidden: &Hidden, folders: &[PathBuf], account: &mut Account) -> Option<Spec> {
    let ruleset = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    let made =
        ruleset.handle_access(landlock::AccessFs::from_all(ABI::V1)).and_then(landlock::Ruleset::create);
    if made.is_err() {
        account.note(Layer::Landlock, Err("this kernel has none".to_owned()));
        return None;
    }
    let busy = busy(folders);
    let hides = |path: &&PathBuf| !busy.iter().any(|folder| path.starts_with(folder));
    let paths: BTreeSet<&Path> = hidden.paths().filter(hides).map(PathBuf::as_path).collect();
    account.store_hidden = !hidden.store.is_empty() && hidden.store.iter().all(|path| hides(&path));
    let landlock = match paths.is_empty() {
        true => offers_scopes().map(|()| Landlock::Scopes),
        false => Ok(Landlock::Paths(allowed(&paths))),
    };
    match landlock.and_then(|landlock| tried(&Spec { landlock, is_trial: true, ..Spec::default() })) {
        Ok(spec) => {
            account.note(Layer::Landlock, Ok(()));
            Some(spec)
        }
        Err(why) => {
            account.note(Layer::Landlock, Err(why));
            // What the trial could not set up hides nothing.
            account.store_hidden = false;
            None
        }
    }
}

/// Folders in which programs routinely create files.
fn busy(folders: &[PathBuf]) -> Vec<PathBuf> {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let all = folders.iter().cloned().chain(home).chain([std::env::temp_dir()]);
    all.filter_map(|folder| fs::canonicalize(folder).ok()).collect()
}

/// The siblings of these paths: all other entries of each of their ancestor folders.
fn allowed(hidden: &BTreeSet<&Path>) -> Vec<PathBuf> {
    let above: BTreeSet<&Path> = hidden.iter().flat_map(|path| path.ancestors().skip(1)).collect();
    let entries = above.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    paths.filter(|path| !hidden.contains(path.as_path()) && !above.contains(path.as_path())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_beside_the_hidden_is_allowed() {
        let place = std::env::temp_dir().join(format!("planproof-beside-{}", std::process::id()));
        for folder in ["a/store", "a/work", "b"] {
            fs::create_dir_all(place.join(folder)).unwrap();
        }
        let hidden = place.join("a/store");
        let allowed = allowed(&BTreeSet::from([hidden.as_path()]));
        assert!(allowed.contains(&place.join("a/work")) && allowed.contains(&place.join("b")), "{allowed:?}");
        assert!(allowed.contains(&PathBuf::from("/usr")));
        assert!(!allowed.iter().any(|path| hidden.starts_with(path)), "{allowed:?}");
        fs::remove_dir_all(place).unwrap();
    }
}
