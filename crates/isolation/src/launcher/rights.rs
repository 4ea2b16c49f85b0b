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
use crate::spec::Landlock;
use crate::{FILES_MAX, PROCESSES_MAX};

/// What a program of the superuser can still do: what is usual in a container, without making devices. Not among it is
/// whatever leads to other processes, to mounts, to devices, or around the rights of files by their numbers.
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

/// Capabilities there can be.
const CAPABILITY_BITS: u32 = 64;

/// The newest rights on files that we know of.
const FILES: ABI = ABI::V5;

/// The first with scopes.
const SCOPES: ABI = ABI::V6;

/// Lets the first process inside mount, which is started by an exec: that takes capabilities from all but the
/// superuser unless they are ambient.
pub(super) fn keep_for_inside() -> Result<(), String> {
    let mount = CapabilitySet::SYS_ADMIN;
    let wrong = |error| failed("capabilities", error);
    let sets = capabilities(None).map_err(wrong)?;
    set_capabilities(None, CapabilitySets { inheritable: sets.inheritable | mount, ..sets })
        .map_err(wrong)?;
    configure_capability_in_ambient_set(mount, true).map_err(wrong)
}

/// Gives up what the program is not to have, and sets its limits.
pub(super) fn give_up(landlock: &Landlock) -> Result<(), String> {
    for (resource, most) in [
        (Resource::Core, 0),
        // In a namespace of users it counts those of this run alone. Does not bind the superuser.
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
    nix::sys::prctl::set_no_new_privs().map_err(|error| failed("privileges", error))?;
    restrict(landlock)
}

/// Leaves the superuser's programs [`KEPT`].
fn give_up_capabilities() -> Result<(), rustix::io::Errno> {
    let there = capabilities(None)?;
    // Without the right to do so there is nothing that is worth it.
    if there.effective.contains(CapabilitySet::SETPCAP) {
        let all = (0..CAPABILITY_BITS).map(|bit| CapabilitySet::from_bits_retain(1 << bit));
        for capability in all.filter(|capability| !KEPT.contains(*capability)) {
            // One that the kernel does not know.
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

/// Sets a limit for good, never above the one there is.
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

/// Names in folders may be listed anywhere: a rule for a folder holds for all below it.
fn only_paths(paths: &[PathBuf]) -> Result<(), RulesetError> {
    let access = AccessFs::from_all(FILES) & !landlock::BitFlags::from(AccessFs::ReadDir);
    let ruleset = Ruleset::default().set_compatibility(CompatLevel::BestEffort);
    let ruleset = ruleset.handle_access(access)?.scope(Scope::from_all(SCOPES))?.create()?;
    ruleset.add_rules(path_beneath_rules(paths, access))?.restrict_self().map(drop)
}
