//! Files that a configuration file in a folder above has replaced: reports, and nothing else.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;

use crate::reaching::{repository, run};

/// The keys of reports, and a name for each.
const REPLACED: [(&str, &str); 5] = [
    ("html", "r.html"),
    ("junit", "r.xml"),
    ("csv", "r.csv"),
    ("inspect", "r.json"),
    ("step-summary", "r.md"),
];

#[test]
#[ignore = "slow"]
fn a_file_in_a_folder_above_replaces_only_reports() {
    let test = ["test", "tools@sim/perfect", "--cases", "1", "-q"];
    let place = repository();
    fs::create_dir_all(place.path("other")).unwrap();
    for folder in ["other", "sub"] {
        run(&place, folder, &test).code(0);
        place.write(&format!("{folder}/.planproof/guard.db"), "a history");
    }
    symlink("sub/.planproof/guard.db", place.path("linked.csv")).unwrap();
    symlink("other/.planproof", place.path("linked")).unwrap();
    place.write("sub/.planproof/own.key", "key");
    place.write("notes.txt", "mine");
    place.write("empty.txt", "");
    let kept = [
        "other/.planproof/runs.db",
        "other/.planproof/guard.db",
        "sub/.planproof/runs.db",
        "sub/.planproof/guard.db",
        "sub/.planproof/own.key",
        "notes.txt",
        "empty.txt",
    ];
    let all = || kept.map(|file| fs::read(place.path(file)).unwrap());
    let before = all();
    let missing =
        ["sub/.planproof/new.html", "sub/.planproof/runs.db-wal", "linked/new.db", ".planproof/new.db"];
    let named = ["linked.csv", "linked/runs.db", "linked/guard.db"].into_iter().chain(kept).chain(missing);
    let refused = |key: &str, file: &str| {
        place.write("planproof.toml", &format!("test.{key} = \"{file}\"\n"));
        let refused = run(&place, "sub", &test).code(2);
        assert!(refused.err.contains("is not in the working folder"), "{key}, {file}: {}", refused.err);
    };
    for file in named {
        for (key, _) in REPLACED {
            refused(key, file);
        }
        for key in ["cache", "store"] {
            // What is not such a file is refused where it is opened, and the run store may be that of any folder.
            if file.contains(".db") && !file.ends_with("/runs.db") {
                refused(key, file);
            }
        }
    }
    assert_eq!(all(), before);
    assert!(missing.iter().all(|file| !place.path(file).exists()));
    // A report is replaced by one of its form, and by no other.
    for (key, report) in REPLACED {
        place.write("planproof.toml", &format!("test.{key} = \"{report}\"\n"));
        for _ in 0..2 {
            run(&place, "sub", &test).code(0);
        }
    }
    for (key, own) in REPLACED {
        REPLACED.iter().filter(|(_, report)| *report != own).for_each(|(_, report)| refused(key, report));
    }
    place.write("planproof.toml", "test.store = \".planproof/runs.db\"\n");
    run(&place, "sub", &test).code(0);
    assert!(place.path(".planproof/runs.db").exists());
    // In the folder itself, and where it is named, such a file may replace what a command line may.
    place.write("planproof.toml", "test.csv = \"notes.txt\"\ntest.html = \"empty.txt\"\n");
    run(&place, "sub", &[&test[..], &["--config", "../planproof.toml"]].concat()).code(0);
    run(&place, "", &test).code(0);
    assert_ne!(all(), before);
}
