//! Covers what is hidden with mounts, which exist only in this mount namespace and those derived from it.

use std::env;
use std::fs;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::mount::{MsFlags, mount};
use rustix::fs::StatVfsMountFlags;

use super::failed;
use crate::mounts;

/// Mount options for the empty, unwritable folder that covers a folder.
const EMPTY: Option<&str> = Some("mode=0555,size=4k");

/// Flags of a mount without devices, programs and set-user-ID files.
const PLAIN: MsFlags = MsFlags::MS_NOSUID.union(MsFlags::MS_NODEV).union(MsFlags::MS_NOEXEC);

/// Below it, and in file systems of the kinds of [`CONTROLS`] elsewhere, the kernel and its groups of processes are
/// controlled.
const SYSTEM: &str = "/sys";

/// Kinds of file systems whose files are controls of the kernel.
const CONTROLS: [&str; 15] = [
    "binfmt_misc",
    "bpf",
    "cgroup",
    "cgroup2",
    "configfs",
    "debugfs",
    "efivarfs",
    "fusectl",
    "pstore",
    "resctrl",
    "securityfs",
    "selinuxfs",
    "smackfs",
    "sysfs",
    "tracefs",
];

/// Folders and files of `/proc` with system settings, as a container has them read-only.
const SETTINGS: [&str; 8] = [
    "/proc/acpi",
    "/proc/bus",
    "/proc/fs",
    "/proc/irq",
    "/proc/mtrr",
    "/proc/scsi",
    "/proc/sys",
    "/proc/sysrq-trigger",
];

const NOTHING: Option<&str> = None;

/// Covers these folders and files if they exist, after a folder was made read-only. With `from_superuser`, devices
/// and system settings are covered too, because a root program could reach the same files through them.
pub(super) fn cover(paths: &[PathBuf], kept: Option<&Path>, from_superuser: bool) -> Result<(), String> {
    // Mounts made from now on are not visible elsewhere.
    let private = MsFlags::MS_REC | MsFlags::MS_PRIVATE;
    mount(NOTHING, "/", NOTHING, private, NOTHING).map_err(|error| failed("mounts of its own", error))?;
    if let Some(folder) = kept {
        keep(folder).map_err(|error| failed(&format!("keeping {} as it is", folder.display()), error))?;
    }
    for path in paths {
        let Ok(there) = fs::metadata(path) else { continue };
        let covered = if there.is_dir() { cover_folder(path) } else { cover_file(path) };
        covered.map_err(|error| failed(&format!("covering {}", path.display()), error))?;
    }
    if from_superuser {
        for device in block_devices() {
            cover_file(&device).map_err(|error| failed(&format!("covering {}", device.display()), error))?;
        }
    }
    close_controls()?;
    // A program that is started in a folder below a cover would still have access to what the cover hides.
    let folder = env::current_dir().map_err(|error| failed("the folder of the program", error))?;
    env::set_current_dir(&folder)
        .map_err(|error| failed(&format!("the folder {} of the program", folder.display()), error))
}

/// Makes a folder read-only. What else holds for its file system, as that it has no devices, is not to be taken back.
fn keep(folder: &Path) -> Result<(), Errno> {
    mount(Some(folder), folder, NOTHING, MsFlags::MS_BIND | MsFlags::MS_REC, NOTHING)?;
    let held = rustix::fs::statvfs(folder).map_err(|error| Errno::from_raw(error.raw_os_error()))?.f_flag;
    let mut flags = MsFlags::MS_REMOUNT | MsFlags::MS_BIND | MsFlags::MS_RDONLY;
    flags.set(MsFlags::MS_NOSUID, held.contains(StatVfsMountFlags::NOSUID));
    flags.set(MsFlags::MS_NODEV, held.contains(StatVfsMountFlags::NODEV));
    flags.set(MsFlags::MS_NOEXEC, held.contains(StatVfsMountFlags::NOEXEC));
    mount(NOTHING, folder, NOTHING, flags, NOTHING)
}

fn cover_folder(path: &Path) -> Result<(), Errno> {
    mount(Some("tmpfs"), path, Some("tmpfs"), PLAIN | MsFlags::MS_RDONLY, EMPTY)
}

fn cover_file(path: &Path) -> Result<(), Errno> {
    mount(Some("/dev/null"), path, NOTHING, MsFlags::MS_BIND, NOTHING)
}

/// Makes the controls of the kernel read-only, all mounts of them. Otherwise a program could end or freeze planproof
/// through its control group, wherever its user may write to that.
fn close_controls() -> Result<(), String> {
    let all = mounts::own().map_err(|error| failed("the list of mounts", error))?;
    for mount in all {
        let is_control = mount.point.starts_with(SYSTEM) || CONTROLS.contains(&mount.kind.as_str());
        // What another mount covers cannot be uncovered by the program.
        if is_control && !mount.is_read_only && mount.is_reachable() {
            read_only(&mount.point)
                .map_err(|error| failed(&format!("closing {}", mount.point.display()), error))?;
        }
    }
    Ok(())
}

/// Makes an existing mount read-only, in this namespace only. What is mounted below it is a mount of its own.
fn read_only(point: &Path) -> Result<(), Errno> {
    let flags = PLAIN | MsFlags::MS_REMOUNT | MsFlags::MS_BIND | MsFlags::MS_RDONLY;
    mount(NOTHING, point, NOTHING, flags, NOTHING)
}

/// The device files of disks.
fn block_devices() -> Vec<PathBuf> {
    let entries = fs::read_dir("/dev").into_iter().flatten().flatten();
    let is_block = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|it| it.is_block_device());
    entries.filter(is_block).map(|entry| entry.path()).collect()
}

/// Mounts a `/proc` that shows only the processes of this namespace.
pub(super) fn own_proc() -> Result<(), String> {
    let mounted = mount(Some("proc"), "/proc", Some("proc"), PLAIN, NOTHING);
    mounted.map_err(|error| failed("a /proc of its own", error))
}

/// Makes system settings read-only, which a root program could otherwise change whatever its capabilities.
pub(super) fn close_settings() -> Result<(), String> {
    // A machine may lack any of these.
    for settings in SETTINGS.map(Path::new).into_iter().filter(|path| path.exists()) {
        mount(Some(settings), settings, NOTHING, MsFlags::MS_BIND, NOTHING)
            .and_then(|()| read_only(settings))
            .map_err(|error| failed(&settings.display().to_string(), error))?;
    }
    Ok(())
}
