//! Covers over what is hidden, which only mount namespaces have that come from this one.

use std::env;
use std::fs;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::mount::{MsFlags, mount};

use super::failed;

/// What covers a folder: nothing, and nothing can be put there.
const EMPTY: Option<&str> = Some("mode=0555,size=4k");

/// What lies on no mount that only reads and holds no devices.
const PLAIN: MsFlags = MsFlags::MS_NOSUID.union(MsFlags::MS_NODEV).union(MsFlags::MS_NOEXEC);

const NOTHING: Option<&str> = None;

/// Covers these folders and files, where they are there. The superuser's programs could reach the same files by their
/// devices, and settings of the system, so that these are covered as well `from_superuser`.
pub(super) fn cover(paths: &[PathBuf], from_superuser: bool) -> Result<(), String> {
    // What is mounted here from now on shows nowhere else.
    let private = MsFlags::MS_REC | MsFlags::MS_PRIVATE;
    mount(NOTHING, "/", NOTHING, private, NOTHING).map_err(|error| failed("mounts of its own", error))?;
    for path in paths {
        let Ok(there) = fs::metadata(path) else { continue };
        let covered = if there.is_dir() { cover_folder(path) } else { cover_file(path) };
        covered.map_err(|error| failed(&format!("covering {}", path.display()), error))?;
    }
    if from_superuser {
        for device in block_devices() {
            cover_file(&device).map_err(|error| failed(&format!("covering {}", device.display()), error))?;
        }
        // It need not be there.
        let _ = read_only("/sys");
    }
    // A program that is started below a cover would keep hold of what is there.
    let folder = env::current_dir().map_err(|error| failed("the folder of the program", error))?;
    env::set_current_dir(&folder)
        .map_err(|error| failed(&format!("the folder {} of the program", folder.display()), error))
}

fn cover_folder(path: &Path) -> Result<(), Errno> {
    mount(Some("tmpfs"), path, Some("tmpfs"), PLAIN | MsFlags::MS_RDONLY, EMPTY)
}

fn cover_file(path: &Path) -> Result<(), Errno> {
    mount(Some("/dev/null"), path, NOTHING, MsFlags::MS_BIND, NOTHING)
}

/// A mount that is there, in this namespace alone.
fn read_only(point: &str) -> Result<(), Errno> {
    let flags = PLAIN | MsFlags::MS_REMOUNT | MsFlags::MS_BIND | MsFlags::MS_RDONLY;
    mount(NOTHING, point, NOTHING, flags, NOTHING)
}

/// The disks, as files.
fn block_devices() -> Vec<PathBuf> {
    let entries = fs::read_dir("/dev").into_iter().flatten().flatten();
    let is_block = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|it| it.is_block_device());
    entries.filter(is_block).map(|entry| entry.path()).collect()
}

/// A `/proc` that shows the processes of this namespace alone.
pub(super) fn own_proc() -> Result<(), String> {
    let mounted = mount(Some("proc"), "/proc", Some("proc"), PLAIN, NOTHING);
    mounted.map_err(|error| failed("a /proc of its own", error))
}

/// Lets nobody set anything of the system, which the superuser's programs could whatever their capabilities.
pub(super) fn close_settings() -> Result<(), String> {
    let settings = "/proc/sys";
    mount(Some(settings), settings, NOTHING, MsFlags::MS_BIND, NOTHING)
        .and_then(|()| read_only(settings))
        .map_err(|error| failed(settings, error))?;
    // It need not be there.
    let _ = cover_file(Path::new("/proc/sysrq-trigger"));
    Ok(())
}
