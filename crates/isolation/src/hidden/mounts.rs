//! Where in the file system hidden paths are visible.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::Hidden;

impl Hidden {
    /// All paths.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.store.iter().chain(&self.others)
    }
}

/// A mount, as listed by the kernel.
struct Mount {
    device: String,
    /// The mounted part of the file system.
    root: PathBuf,
    point: PathBuf,
}

/// All places where these paths are visible: the paths themselves, and the same files through other mounts of their
/// file systems.
pub(crate) fn everywhere<'a>(paths: impl Iterator<Item = &'a PathBuf>, mounts: &str) -> Vec<PathBuf> {
    let mounts: Vec<Mount> = mounts.lines().filter_map(Mount::read).collect();
    let mut all = Vec::new();
    for path in paths {
        for place in std::iter::once(path.clone()).chain(elsewhere(path, &mounts)) {
            if !all.contains(&place) {
                all.push(place);
            }
        }
    }
    all
}

fn elsewhere(path: &Path, mounts: &[Mount]) -> Vec<PathBuf> {
    // The last of several mounts at the same place covers the others.
    let home = mounts.iter().filter(|mount| path.starts_with(&mount.point));
    let Some(home) = home.max_by_key(|mount| mount.point.components().count()) else { return Vec::new() };
    let Ok(below) = path.strip_prefix(&home.point) else { return Vec::new() };
    let inside = home.root.join(below);
    let same = mounts.iter().filter(|mount| mount.device == home.device);
    let places = same.filter_map(|mount| {
        let rest = inside.strip_prefix(&mount.root).ok()?;
        Some(if rest.as_os_str().is_empty() { mount.point.clone() } else { mount.point.join(rest) })
    });
    // Yet another mount may cover such a place, so the files themselves are compared.
    places.filter(|place| place != path && is_same(place, path)).collect()
}

/// Whether both are the same file, or would be created in the same folder.
fn is_same(one: &Path, other: &Path) -> bool {
    let identity = |path: &Path| fs::metadata(path).ok().map(|it| (it.dev(), it.ino()));
    match (identity(one), identity(other)) {
        (Some(one), Some(other)) => one == other,
        (None, None) => match (one.parent(), other.parent()) {
            (Some(one), Some(other)) => is_same(one, other),
            _ => false,
        },
        _ => false,
    }
}

impl Mount {
    /// Parses a line of `/proc/self/mountinfo`.
    fn read(line: &str) -> Option<Self> {
        let mut words = line.split(' ').skip(2);
        let device = words.next()?.to_owned();
        let (root, point) = (unescaped(words.next()?), unescaped(words.next()?));
        Some(Self { device, root, point })
    }
}

/// The kernel writes blanks, line breaks and backslashes as a backslash and three octal digits.
fn unescaped(text: &str) -> PathBuf {
    let mut path = String::new();
    let mut rest = text;
    while let Some(place) = rest.find('\\') {
        let (before, at) = rest.split_at(place);
        path.push_str(before);
        match at.get(1..4).and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                path.push(char::from(byte));
                rest = &at[4..];
            }
            None => {
                path.push('\\');
                rest = &at[1..];
            }
        }
    }
    path.push_str(rest);
    path.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_file_is_found_at_other_mounts() {
        let place = std::env::temp_dir().join(format!("planproof-mounts-{}", std::process::id()));
        fs::create_dir_all(&place).unwrap();
        let place = fs::canonicalize(place).unwrap();
        let (store, shown) = (place.join("store"), place.join("again"));
        fs::write(&store, "").unwrap();
        fs::hard_link(&store, &shown).or_else(|_| fs::metadata(&shown).map(drop)).unwrap();
        // Two mounts of the same file, as the kernel would list them, and one of another file system.
        let (root, point) = (place.display(), shown.display());
        let mounts = format!(
            "1 0 8:1 / / rw - ext4 /dev/a rw\n2 1 8:1 {root}/store {point} rw - ext4 /dev/a rw\n\
             3 1 0:5 / /proc rw - proc proc rw\n"
        );
        assert_eq!(everywhere([store.clone()].iter(), &mounts), [store, shown]);
        fs::remove_dir_all(place).unwrap();
    }

    #[test]
    fn names_are_read_as_the_kernel_writes_them() {
        assert_eq!(unescaped("/a\\040b\\134c"), Path::new("/a b\\c"));
        assert_eq!(unescaped("/a\\9"), Path::new("/a\\9"));
    }
}
