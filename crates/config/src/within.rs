//! Where files may be that nobody named, but a file that was found.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Component, Path, PathBuf};

/// The folder of planproof's own files, the only one with a dot in front into which is written.
const OWN: &str = ".planproof";

/// Whether a file in this folder may have that one read: it lies in the folder or below, wherever links lead.
pub(crate) fn may_read(folder: &Path, file: &Path) -> bool {
    match planproof_files::below(folder, file) {
        Ok(_) => true,
        // What is not there is said where it is read. All else, such as a folder that is not the user's, is elsewhere.
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

/// Whether a file in this folder may have that one written, which need not be there yet: it lies in the folder or
/// below, wherever links lead, and nothing on the way has a name that begins with a dot. With such names, version
/// control, shells and editors have files that they follow.
pub fn may_write(folder: &Path, file: &Path) -> bool {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let (Ok(folder), Some(whole)) = (fs::canonicalize(folder), whole(file)) else { return false };
    let Ok(within) = whole.strip_prefix(folder) else { return false };
    let is_dotted = |part: Component<'_>| part.as_os_str().as_encoded_bytes().starts_with(b".");
    let mut parts: Vec<Component<'_>> = within.components().collect();
    let last = parts.pop();
    !last.is_some_and(is_dotted) && parts.into_iter().all(|part| part.as_os_str() == OWN || !is_dotted(part))
}

/// The run store in a folder of planproof's own, which a file may name that says what is so by default.
const OWN_STORE: &str = "runs.db";

/// The most of a file that is read to see which report it is, in bytes.
const START_BYTES_MAX: u64 = 4096;

/// Whether the value of this key, from a file in a folder above the working folder, spares what belongs to others: it
/// replaces no file but a report of planproof's of the same form, and in folders of planproof's own, with histories and
/// stores of any folder below, it writes nothing but to the run store. What other keys than those of reports name is
/// looked at where it is opened, and is not replaced.
pub(crate) fn spares(key: &str, file: &Path) -> bool {
    let Some(whole) = whole(file) else { return false };
    let mut parts = whole.components().rev().map(Component::as_os_str);
    if key == "store"
        && parts.next().is_some_and(|name| name == OWN_STORE)
        && parts.next().is_some_and(|it| it == OWN)
    {
        return parts.all(|part| part != OWN);
    }
    if whole.components().any(|part| part.as_os_str() == OWN) {
        return false;
    }
    let is_such: fn(&str) -> bool = match key {
        "html" => |start| {
            start.starts_with("<!DOCTYPE html>") && start.contains("name=\"generator\" content=\"planproof ")
        },
        "junit" => |start| start.starts_with("<?xml") && start.contains("<testsuites name=\"planproof\""),
        "csv" => |start| start.starts_with("\"case\",\"repeat\","),
        "inspect" => |start| start.starts_with("{\"version\":") && start.contains("\"task\":\"planproof\""),
        "step-summary" => |start| start.starts_with("## planproof: "),
        _ => return true,
    };
    let start = || -> io::Result<Vec<u8>> {
        let mut start = Vec::new();
        planproof_files::open(&whole)?.take(START_BYTES_MAX).read_to_end(&mut start)?;
        Ok(start)
    };
    match start() {
        Ok(start) => is_such(&String::from_utf8_lossy(&start)),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

/// The path without links, as far as it is there; `None` if what is not there could be elsewhere.
fn whole(path: &Path) -> Option<PathBuf> {
    let path = std::path::absolute(path).ok()?;
    let (known, found) = path.ancestors().find_map(|known| Some((known, fs::canonicalize(known).ok()?)))?;
    let rest = path.strip_prefix(known).ok()?;
    let mut missing = rest.components().peekable();
    // A link to what is not there is followed when the file is created.
    let is_link = missing.peek().is_some_and(|next| fs::symlink_metadata(found.join(next)).is_ok());
    let is_plain = missing.all(|part| matches!(part, Component::Normal(_)));
    // What is joined to nothing would end as a folder does.
    let whole = if rest.as_os_str().is_empty() { found } else { found.join(rest) };
    (is_plain && !is_link).then_some(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn files_are_read_and_written_in_the_folder_alone() {
        use std::os::unix::fs::symlink;

        let place = std::env::temp_dir().join(format!("planproof-within-{}", std::process::id()));
        let (folder, outside) = (place.join("in"), place.join("out"));
        for made in [&folder.join("deep"), &folder.join(".git/hooks"), &folder.join(OWN), &outside] {
            fs::create_dir_all(made).expect("it can be made");
        }
        for file in ["in/a.csv", "in/.bashrc", "out/b.csv"] {
            fs::write(place.join(file), "").expect("it can be written");
        }
        for (to, link) in [
            ("../out", "in/away"),
            ("../out/b.csv", "in/b.csv"),
            ("../out/new.csv", "in/new.csv"),
            (".git", "in/git"),
            ("deep", "in/near"),
            ("in", "there"),
        ] {
            symlink(to, place.join(link)).expect("it can be linked");
        }
        for (file, is_written, is_read) in [
            ("a.csv", true, true),
            ("deep/a.csv", true, true),
            ("missing/deep/a.csv", true, true),
            ("near/a.csv", true, true),
            ("deep/../a.csv", true, true),
            (".planproof/runs.db", true, true),
            ("../in/a.csv", true, true),
            ("../there/a.csv", true, true),
            (".bashrc", false, true),
            (".envrc", false, true),
            (".git/hooks/post-commit", false, true),
            (".git/new/file", false, true),
            ("git/hooks/post-commit", false, true),
            ("deep/.vscode/tasks.json", false, true),
            (".planproof/.git/config", false, true),
            ("b.csv", false, false),
            ("new.csv", false, true),
            ("away/c.csv", false, true),
            ("away/b.csv", false, false),
            ("../out/b.csv", false, false),
            ("missing/../../out/b.csv", false, true),
            ("/", false, false),
        ] {
            for seen in [&folder, &place.join("there")] {
                assert_eq!(may_write(seen, &seen.join(file)), is_written, "write {file}");
                assert_eq!(may_read(seen, &seen.join(file)), is_read, "read {file}");
            }
        }
        fs::remove_dir_all(&place).expect("it can be removed");
    }
}
