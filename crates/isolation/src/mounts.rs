//! The mounts of a mount namespace, as listed by the kernel.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;

use rustix::fs::{AtFlags, CWD, StatxFlags, statx};

pub(crate) struct Mount {
    id: u64,
    pub(crate) device: String,
    /// The mounted part of the file system.
    pub(crate) root: PathBuf,
    pub(crate) point: PathBuf,
    pub(crate) is_read_only: bool,
    /// The kind of file system.
    pub(crate) kind: String,
}

/// All mounts that this process could see.
pub(crate) fn own() -> io::Result<Vec<Mount>> {
    let text = fs::read("/proc/self/mountinfo")?;
    Ok(text.split(|byte| *byte == b'\n').filter_map(Mount::read).collect())
}

impl Mount {
    /// Parses a line of `/proc/self/mountinfo`.
    pub(crate) fn read(line: &[u8]) -> Option<Self> {
        let mut words = line.split(|byte| *byte == b' ');
        let text = |word: &[u8]| String::from_utf8_lossy(word).into_owned();
        let id = text(words.next()?).parse().ok()?;
        let device = text(words.nth(1)?);
        let (root, point) = (unescaped(words.next()?), unescaped(words.next()?));
        let is_read_only = words.next()?.split(|byte| *byte == b',').any(|option| option == b"ro");
        // Optional words stand in between.
        let kind = words.skip_while(|word| *word != b"-").nth(1).map(text)?;
        Some(Self { id, device, root, point, is_read_only, kind })
    }

    /// Whether something at its place is part of it. Another mount may cover it, or the place may be closed to us.
    pub(crate) fn is_reachable(&self) -> bool {
        let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
        let Ok(found) = statx(CWD, &self.point, flags, StatxFlags::MNT_ID) else { return false };
        // Before Linux 5.8 the answer does not say.
        let says = StatxFlags::from_bits_retain(found.stx_mask).contains(StatxFlags::MNT_ID);
        !says || found.stx_mnt_id == self.id
    }
}

/// The kernel writes blanks, line breaks and backslashes as a backslash and three octal digits.
fn unescaped(text: &[u8]) -> PathBuf {
    let mut path = Vec::new();
    let mut rest = text;
    while let [first, after @ ..] = rest {
        let digits = after.get(..3).filter(|_| *first == b'\\').and_then(|it| std::str::from_utf8(it).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                path.push(byte);
                rest = &after[3..];
            }
            None => {
                path.push(*first);
                rest = after;
            }
        }
    }
    std::ffi::OsString::from_vec(path).into()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn names_are_read_as_the_kernel_writes_them() {
        assert_eq!(unescaped(b"/a\\040b\\134c"), Path::new("/a b\\c"));
        assert_eq!(unescaped(b"/a\\9"), Path::new("/a\\9"));
    }

    #[test]
    fn a_line_is_read_with_and_without_optional_words() {
        for between in ["", " master:1 shared:2"] {
            let line = format!("36 35 98:0 /r /a\\040b ro,nosuid{between} - cgroup2 none rw");
            let mount = Mount::read(line.as_bytes()).unwrap();
            assert_eq!((mount.id, mount.device.as_str(), mount.kind.as_str()), (36, "98:0", "cgroup2"));
            assert_eq!((mount.root, mount.point), (PathBuf::from("/r"), PathBuf::from("/a b")));
            assert!(mount.is_read_only);
        }
        // The options of the file system are not those of the mount.
        assert!(!Mount::read(b"36 35 98:0 / /a rw - ext4 /dev/a ro").unwrap().is_read_only);
        assert!(Mount::read(b"").is_none());
    }

    #[test]
    fn the_root_is_reachable() {
        let mounts = own().unwrap();
        assert!(mounts.iter().any(|mount| mount.point == Path::new("/") && mount.is_reachable()));
    }
}
