//! Where in the file system hidden paths are visible.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::Hidden;
use crate::mounts::Mount;

impl Hidden {
    pub(crate) fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.store.iter().chain(&self.others)
    }
}

/// All places where these paths are visible: the paths themselves, and the same files through other mounts of their
/// file systems.
pub(crate) fn everywhere<'a>(paths: impl Iterator<Item = &'a PathBuf>, mounts: &str) -> Vec<PathBuf> {
    let mounts: Vec<Mount> = mounts.lines().filter_map(|line| Mount::read(line.as_bytes())).collect();
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
}
