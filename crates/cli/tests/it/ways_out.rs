//! One secret in every way into planproof, looked for in every way out.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::stand_in::{self, StandIn};
use crate::support::{Place, Run};

/// The value of a variable whose name suggests a key.
const BY_NAME: &str = "sk-canary-9f3abQ77zLmX0pW";
/// The value of a variable that only `--secret` tells from any other.
const BY_OPTION: &str = "Vq81-canary-zz40Lk27-tr";

/// Base64 of [`BY_NAME`], and the key without its first and without its last character.
const FORMS: [&str; 3] =
    ["c2stY2FuYXJ5LTlmM2FiUTc3ekxtWDBwVw", "k-canary-9f3abQ77zLmX0pW", "sk-canary-9f3abQ77zLmX0p"];

/// Where a secret was found: the name of a command or of a file.
type Leaks = BTreeSet<String>;

/// Bytes shown before and behind a secret that was found.
const AROUND: usize = 100;

/// What stands around a secret in these bytes, if one does.
fn found_in(bytes: &[u8]) -> Option<String> {
    // Their middles, so that a secret is found however it was cut.
    let parts = [&BY_NAME[3..20], &BY_OPTION[2..20], &FORMS[0][2..26]];
    let find = |part: &str| bytes.windows(part.len()).position(|window| window == part.as_bytes());
    let place = parts.into_iter().find_map(find)?;
    let shown = &bytes[place.saturating_sub(AROUND)..bytes.len().min(place + AROUND)];
    Some(String::from_utf8_lossy(shown).into_owned())
}

struct Scene {
    place: Place,
    model: StandIn,
    /// Whether planproof can know that these are secrets.
    is_known: bool,
    leaks: Leaks,
}

impl Scene {
    fn run(&mut self, words: &[&str]) -> Run {
        let mut words = words.to_vec();
        if self.is_known {
            words.extend(["--secret", "PLAIN_WORD"]);
        }
        let mut command = self.place.command(&words);
        command.env("OPENAI_BASE_URL", self.model.base_url()).env("OPENAI_API_KEY", "sk-9d0e11a2b3");
        // The server of tools writes them, whatever they are called.
        command.env("TOLD", format!("{BY_NAME} {BY_OPTION}"));
        if self.is_known {
            command.env("CANARY_API_KEY", BY_NAME).env("PLAIN_WORD", BY_OPTION);
        }
        let run = Run::of(command, "");
        self.search(&words[..2].join(" "), run.out.as_bytes());
        self.search(&words[..2].join(" "), run.err.as_bytes());
        run
    }

    fn search(&mut self, name: &str, bytes: &[u8]) {
        let Some(shown) = found_in(bytes) else { return };
        if self.is_known {
            eprintln!("{name}: {shown}");
        }
        self.leaks.insert(name.to_owned());
    }

    /// Also looks through all files, and ends.
    fn leaks(mut self) -> Leaks {
        for path in files_below(&self.place.path(".")).into_iter().filter(|path| !is_ours(path)) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            self.search(&name, &fs::read(&path).unwrap());
        }
        self.leaks
    }
}

/// The files of a folder and of those within it.
pub(crate) fn files_below(folder: &Path) -> Vec<PathBuf> {
    let (mut folders, mut files) = (vec![folder.to_owned()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    files
}

/// Files of the test itself, which is the way in.
fn is_ours(path: &Path) -> bool {
    ["notes.txt", "planproof.toml"].iter().any(|name| path.ends_with(name))
}

/// A model that says the secrets in every form, as a tool, in arguments, in a text and in an answer.
fn babbler() -> StandIn {
    let all = || [BY_NAME, BY_OPTION, FORMS[0], FORMS[1], FORMS[2]].join(" ");
    StandIn::start(move |number, request| match number % 5 {
        0 => stand_in::call(0, BY_NAME, "{}"),
        1 => stand_in::call(1, stand_in::tools(request)[0], &format!("{{\"query\": \"{}\"}}", all())),
        2 => stand_in::call(2, stand_in::tools(request)[0], &format!("my key is {}", all())),
        3 => stand_in::call(3, stand_in::tools(request)[0], "{\"query\": \"canary notes\"}"),
        _ => stand_in::say(&format!("All done with {}.", all())),
    })
}

fn leaks(is_known: bool) -> Leaks {
    let mut scene = Scene { place: Place::new(), model: babbler(), is_known, leaks: Leaks::new() };
    let label = format!("lab {BY_NAME} {BY_OPTION}");
    scene.place.write("notes.txt", "");
    fs::create_dir(scene.place.path("documents")).unwrap();
    fs::write(
        scene.place.path("documents/notes.txt"),
        format!("Title: canary notes\n\nThe canary notes say {BY_NAME} and {BY_OPTION}.\n"),
    )
    .unwrap();
    let agent = format!("command:/bin/sh -c 'echo {BY_NAME}; echo {BY_OPTION} >&2' x --api-key {BY_NAME}");
    let service = format!("url:{}/run?key={BY_NAME}", scene.model.base_url());
    let header = format!("X-Auth: {BY_OPTION}");
    let files =
        "--html h.html --junit j.xml --csv c.csv --inspect i.json --step-summary s.md --stream e.jsonl";
    let files: Vec<&str> = files.split(' ').collect();
    let small = ["--cases", "1", "--actions", "3", "--seed", "3"];

    // An agent whose command line, output, label and headers hold them, with all reports.
    let mut line = vec!["test", agent.as_str(), "--label", label.as_str()];
    line.extend(small);
    line.extend(&files);
    scene.run(&line);
    scene.run(&["test", "--resume", "last"]);
    for form in ["traces", "cases", "verdicts", "chat-jsonl", "preference-jsonl"] {
        scene.run(&["runs", "export", "last", "--format", form]);
    }
    let mut line = vec!["test", service.as_str(), "--header", header.as_str(), "--json"];
    line.extend(small);
    scene.run(&line);
    // A model that says them, dissected and shrunk, recorded and replayed.
    let mut line = vec!["test", "tools@openai/m", "--label", label.as_str(), "--dissect", "--shrink"];
    line.extend(["--dissect-k", "1", "--dissect-max", "1", "--record", "r.jsonl", "--json"]);
    line.extend(small);
    scene.run(&line);
    scene.run(&["test", "--replay", "r.jsonl", "--json"]);
    for line in [
        &["runs", "list"][..],
        &["runs", "list", "--json"],
        &["runs", "show", "last"],
        &["runs", "show", "last", "--json"],
        &["runs", "show", "last", "--judge-again"],
        &["runs", "export", "last"],
        &["report", "last"],
        &["report", "last", "--json"],
        &["report", "last", "--html", "again.html"],
        &["report", "last", "--junit", "again.xml"],
        &["report", "last", "--csv", "again.csv"],
        &["report", "last", "--inspect", "again.json"],
    ] {
        scene.run(line);
    }
    scene.run(&["runs", "label", "last", &label]);
    // A matrix, and a search for a limit.
    let judged = format!("react:evaluator=program:/bin/true {BY_NAME}@sim/gold");
    scene.run(&[
        "bench",
        "gsm8k",
        &judged,
        "direct@sim/gold",
        "--limit",
        "1",
        "--label",
        &label,
        "--html",
        "m.html",
    ]);
    scene.run(&["bench", "gsm8k", "--resume", "last"]);
    scene.run(&["runs", "show", "last"]);
    scene.run(&[
        "limit",
        &agent,
        "--from",
        "2",
        "--to",
        "2",
        "--cases-max",
        "1",
        "--label",
        &label,
        "--html",
        "l.html",
    ]);
    // Tools of the user's: their results, an error of a server, a query, and a trace.
    let query = format!("Look the canary notes up with {BY_NAME}.");
    let server = "mcp:/bin/sh -c 'echo $TOLD >&2; exit 1'";
    let run = ["run", "tools@openai/m", query.as_str(), "--yes"];
    scene.run(&[&run[..], &["--tools", "search:documents", "--trace", "t.jsonl"]].concat());
    scene.run(&[&run[..], &["--tools", "search:documents", "--json"]].concat());
    scene.run(&[&run[..], &["--tools", server]].concat());
    scene.run(&["run", &agent, &query, "--yes", "--tools", "calculator", "--trace", "u.jsonl"]);
    scene.place.write("planproof.toml", &format!("[test]\nlabel = \"{label}\"\n"));
    let mut line = vec!["test", "tools@sim/perfect"];
    line.extend(small);
    scene.run(&line);
    scene.run(&["runs", "show", "last"]);
    scene.leaks()
}

#[cfg(unix)]
#[test]
#[ignore = "slow"]
fn no_way_out_has_a_secret_that_came_in_anyhow() {
    assert_eq!(leaks(true), Leaks::new());
    // The canary: were they no secrets, they would be in all of this.
    let found = leaks(false);
    for name in [
        "again.html",
        "again.json",
        "again.xml",
        "bench gsm8k",
        "c.csv",
        "e.jsonl",
        "h.html",
        "i.json",
        "j.xml",
        "l.html",
        "m.html",
        "r.jsonl",
        "report last",
        "run tools@openai/m",
        "runs export",
        "runs list",
        "runs show",
        "runs.db",
        "t.jsonl",
        "test --resume",
        "u.jsonl",
    ] {
        assert!(found.contains(name), "{name} is not in {found:?}");
    }
}

/// A command line with a key is kept without it, so it has to be named again, and then works.
#[cfg(unix)]
#[test]
fn a_campaign_with_a_key_in_its_agent_goes_on_where_it_is_named() {
    let place = Place::new();
    let agent = format!("command:/bin/sh -c 'echo \"$2\" >> seen' x --api-key {BY_NAME}");
    let run = |words: &[&str]| {
        let mut command = place.command(words);
        command.env("CANARY_API_KEY", BY_NAME);
        Run::of(command, "")
    };
    let seen = || fs::read_to_string(place.path("seen")).unwrap_or_default().lines().count();
    run(&["test", &agent, "--cases", "1", "--seed", "3", "-q"]).code(3);
    let before = seen();
    let refused = run(&["test", "--resume", "last", "-q"]).code(2);
    assert!(refused.err.contains("the agent was given with a key, which is not stored"), "{refused:?}");
    assert_eq!(seen(), before);
    run(&["test", &agent, "--resume", "last", "-q"]).code(3);
    assert!(seen() > before);
    // It got the key itself.
    assert!(fs::read_to_string(place.path("seen")).unwrap().lines().all(|line| line == BY_NAME));
    let shown = run(&["runs", "list", "--json"]).code(0).out;
    assert!(shown.contains("--api-key [key]") && !shown.contains(BY_NAME), "{shown}");
}
