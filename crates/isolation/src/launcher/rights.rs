//! Rights that a program does not get, and limits that it does.

use std::path::PathBuf;

use landlock::{
    ABI, Access as _, AccessFs, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _,
    RulesetCreatedAttr as _, RulesetError, Scope, path_beneath_rules,
};
use rustix::process::{Resource, Rlimit, geteuid, getrlimit, setrlimit};
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set,
    configure_capability_in_ambient_set, remove_capability_from_bounding_set, set_capabilities,
};

use super::failed;
use crate::limits::{FILES_MAX, PROCESSES_MAX};
use crate::spec::Landlock;

/// The capabilities that a root program keeps: those usual in a container, without creating devices. Excluded is
/// everything that gives access to other processes, mounts or devices, or bypasses file permissions by opening
/// files by handle.
const KEPT: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID)
    .union(CapabilitySet::KILL)
    .union(CapabilitySet::SETGID)
    .union(CapabilitySet::SETUID)
    .union(CapabilitySet::SETPCAP)
    .union(CapabilitySet::SETFCAP)
    .union(CapabilitySet::NET_BIND_SERVICE)
    .union(CapabilitySet::SYS_CHROOT);

/// The maximum number of capabilities.
const CAPABILITY_BITS: u32 = 64;

/// The newest Landlock version whose file rights we use.
const FILES: ABI = ABI::V5;

/// The first Landlock version with scopes.
const SCOPES: ABI = ABI::V6;

/// Allows the first process inside to mount. It is started by an exec, which removes all capabilities that are not
/// ambient unless the user is root.
pub(super) fn keep_for_inside() -> Result<(), String> {
    let mount = CapabilitySet::SYS_ADMIN;
    let wrong = |error| failed("capabilities", error);
    let sets = capabilities(None).map_err(wrong)?;
    set_capabilities(None, CapabilitySets { inheritable: sets.inheritable | mount, ..sets })
        .map_err(wrong)?;
    configure_capability_in_ambient_set(mount, true).map_err(wrong)
}

/// Gives up the rights that the program must not have, and sets its limits.
pub(super) fn give_up(landlock: &Landlock) -> Result<(), String> {
    for (resource, most) in [
        (Resource::Core, 0),
        // In a user namespace this counts only the processes of this run. It does not apply to root.
        (Resource::Nproc, PROCESSES_MAX),
        (Resource::Nofile, FILES_MAX),
    ] {
        limit(resource, most).map_err(|error| failed("limits", error))?;
    }
    let wrong = |error| failed("capabilities", error);
    clear_ambient_capability_set().map_err(wrong)?;
    if geteuid().is_root() {
        give_up_capabilities().map_err(wrong)?;
    } else {
        let none = CapabilitySet::empty();
        set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })
            .map_err(wrong)?;
    }
    // Before Landlock, which requires this of a process without rights.
    nix::sys::prctl::set_no_new_privs().map_err(|error| failed("privileges", error))?;
    restrict(landlock)
}

/// Leaves a root program only [`KEPT`].
fn give_up_capabilities() -> Result<(), rustix::io::Errno> {
    let there = capabilities(None)?;
    // Without the right to do so, there is nothing worth removing.
    if there.effective.contains(CapabilitySet::SETPCAP) {
        let all = (0..CAPABILITY_BITS).map(|bit| CapabilitySet::from_bits_retain(1 << bit));
        for capability in all.filter(|capability| !KEPT.contains(*capability)) {
            // The kernel does not know this capability.
            if remove_capability_from_bounding_set(capability).is_err() {
                break;
            }
        }
    }
    set_capabilities(
        None,
        CapabilitySets {
            effective: there.effective & KEPT,
            permitted: there.permitted & KEPT,
            inheritable: CapabilitySet::empty(),
        },
    )
}

/// Sets a limit permanently, never above the existing one.
fn limit(resource: Resource, most: u64) -> Result<(), rustix::io::Errno> {
    let Rlimit { current, maximum } = getrlimit(resource);
    let least = |there: Option<u64>| Some(there.map_or(most, |there| there.min(most)));
    setrlimit(resource, Rlimit { current: least(current), maximum: least(maximum) })
}

fn restrict(landlock: &Landlock) -> Result<(), String> {
    let done = match landlock {
        Landlock::Nothing => return Ok(()),
        Landlock::Scopes => only_scopes(),
        Landlock::Paths(paths) => only_paths(paths),
    };
    done.map_err(|error| failed("Landlock", error))
}

fn only_scopes() -> Result<(), RulesetError> {
    let ruleset = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    ruleset.scope(Scope::from_all(SCOPES))?.create()?.restrict_self().map(drop)
}

/// Folders may be listed anywhere, because a rule for a folder applies to everything below it.
fn only_paths(paths: &[PathBuf]) -> Result<(), RulesetError> {
    let access = AccessFs::from_all(FILES) & !landlock::BitFlags::from(AccessFs::ReadDir);
    let ruleset = Ruleset::default().set_compatibility(CompatLevel::BestEffort);
    let ruleset = ruleset.handle_access(access)?.scope(Scope::from_all(SCOPES))?.create()?;
    ruleset.add_rules(path_beneath_rules(paths, access))?.restrict_self().map(drop)
}
