//! Keys in what is given to every command: none prints one, or writes one to a file.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::completions::PAGES;
use crate::support::{Place, Run};
use crate::topics::write_server;
use crate::ways_out::files_below;

/// A key as most are.
const PLAIN: &str = "sk-canary-9f3abQ77zLmX0pW";
/// A password of characters that every format escapes in its own way.
const ODD: &str = "Canary/pw+ss=12ß34\"q<&'z";

/// What is left of either, however it is escaped.
const TRACES: [&str; 2] = ["canary-9f3abQ77zLm", "pw+ss=12"];

struct Scene {
    place: Place,
    /// Whether planproof can know that these are keys.
    is_known: bool,
    leaks: BTreeSet<String>,
}

impl Scene {
    fn new(is_known: bool) -> Self {
        let place = Place::new();
        let both = format!("{PLAIN} {ODD}");
        let tool = |name: &str| {
            let properties = json!({"id": {"type": "integer", "description": both}, ODD: {"type": "string"}});
            let schema = json!({"type": "object", "properties": properties, "required": ["id"]});
            json!({"name": name, "description": format!("Does it with {both}."), "inputSchema": schema})
        };
        let tools: Value = ["get_user", "list_users", "send_mail", "add_item"].map(tool).to_vec().into();
        write_server(&place, "told", &tools);
        place.write("tools.json", &tools.to_string());
        let rules = json!({"schema": "planproof/rules/v1", "rules": [
            {"id": "r", "never": {"call": "get_user"}, "why": both},
            {"id": "s", "never": {"call": "get_user", "where": {"/a": both}}},
        ]});
        place.write("rules.yaml", &rules.to_string());
        place.write("wrong.yaml", &rules.to_string().replace("never", ODD));
        let arguments = json!({"a": both, "b": PLAIN, ODD: "x"}).to_string();
        let function = json!({"name": "get_user", "arguments": arguments});
        let session = json!([
            {"role": "user", "content": format!("Do it with {both}.")},
            {"role": "assistant", "content": both, "tool_calls": [{"id": "1", "type": "function", "function": function}]},
            {"role": "tool", "tool_call_id": "1", "content": both},
        ]);
        place.write("session.json", &session.to_string());
        let scenario = json!({"schema": "planproof/scenario/v1",
            "tools": [{"name": "get_user", "description": both, "arguments": {"a": "string"}}],
            "cases": [{"id": PLAIN, "query": format!("Do it with {both}."), "expect": [{"do": ["get_user"]}]}],
        });
        place.write("scenario.yaml", &scenario.to_string());
        place.write("wrong-scenario.yaml", &scenario.to_string().replace("expect", PLAIN));
        let mut topics = place.run("topics --json").code(0).json();
        topics["topics"].as_array_mut().unwrap().truncate(1);
        let activities = topics["topics"][0]["activities"].as_array_mut().unwrap();
        activities
            .iter_mut()
            .enumerate()
            .for_each(|(place, it)| *it = format!("{PLAIN} audit {place}").into());
        place.write("topics.json", &topics.to_string());
        let spec = place.run("spec print react").code(0).out;
        let spec = spec.replacen("\"[Question]\"", &format!("\"{PLAIN} [Question]\""), 1);
        assert!(spec.contains(PLAIN), "{spec}");
        place.write("own.spec", &spec);
        place.write("answers.jsonl", &json!({"id": PLAIN, "prediction": both}).to_string());
        place.write("text.txt", &format!("Do the {PLAIN} before the {ODD}."));
        Self { place, is_known, leaks: BTreeSet::new() }
    }

    fn run(&mut self, words: &[&str], stdin: &str) -> Run {
        let run = self.unsearched(words, stdin);
        let name = words[..words.len().min(2)].join(" ");
        self.search(&name, run.out.as_bytes());
        self.search(&name, run.err.as_bytes());
        run
    }

    fn unsearched(&self, words: &[&str], stdin: &str) -> Run {
        let mut command = self.place.command(words);
        if self.is_known {
            command.env("CANARY_API_KEY", PLAIN).env("DB_PASSWORD", ODD);
        }
        Run::of(command, stdin)
    }

    fn search(&mut self, name: &str, bytes: &[u8]) {
        let text = String::from_utf8_lossy(bytes);
        let Some(place) = TRACES.iter().find_map(|trace| text.find(trace)) else { return };
        if self.is_known {
            let start = text.floor_char_boundary(place.saturating_sub(60));
            eprintln!("{name}: {}", &text[start..text.ceil_char_boundary(place + 60)]);
        }
        self.leaks.insert(name.to_owned());
    }

    /// The files that a command wrote.
    fn search_files(&mut self) {
        let given =
            |path: &Path| path.file_name().is_some_and(|name| GIVEN.iter().any(|given| name == *given));
        for path in files_below(&self.place.path(".")).into_iter().filter(|path| !given(path)) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            self.search(&name, &fs::read(&path).unwrap());
        }
    }
}

/// What the test itself writes.
const GIVEN: [&str; 12] = [
    "told.list",
    "told.sh",
    "tools.json",
    "rules.yaml",
    "wrong.yaml",
    "session.json",
    "scenario.yaml",
    "wrong-scenario.yaml",
    "topics.json",
    "own.spec",
    "answers.jsonl",
    "text.txt",
];

fn leaks(is_known: bool) -> BTreeSet<String> {
    let mut scene = Scene::new(is_known);
    let source = "mcp:sh told.sh";
    for line in [
        &["topics", "from-mcp", source, "--as-is"][..],
        &["topics", "from-mcp", source],
        &["topics", "from-mcp", source, "--as-is", "--out", "made.json", "--json"],
        &["topics", "--topics", "topics.json"],
        &["topics", "--topics", "topics.json", "--json"],
        &["synth", "--topics", "topics.json", "--count", "3"],
        &["synth", "--topics", "topics.json", "--count", "3", "--text"],
        &["check", "--rules", "rules.yaml", "session.json"],
        &["check", "--rules", "rules.yaml", "session.json", "--json"],
        &["check", "--rules", "rules.yaml", "session.json", "--junit", "-"],
        &["check", "--rules", "rules.yaml", "session.json", "--junit", "j.xml", "--sarif", "s.sarif"],
        &["check", "--rules", "wrong.yaml", "session.json"],
        &["rules", "check", "rules.yaml"],
        &["rules", "check", "rules.yaml", "--json"],
        &["rules", "check", "wrong.yaml"],
        &["scenario", "check", "scenario.yaml"],
        &["scenario", "check", "scenario.yaml", "--json"],
        &["scenario", "check", "wrong-scenario.yaml"],
        &["scenario", "init", "--tools", source],
        &["scenario", "init", "--tools", source, "--out", "init.yaml"],
        &["scenario", "from-trace", "session.json"],
        &["scenario", "from-trace", "session.json", "--accept"],
        &["scenario", "from-rules", "--rules", "rules.yaml", "--tools", "tools.json"],
        &["test", "tools@sim/gold", "--scenarios", "scenario.yaml", "--csv", "c.csv"],
        &["spec", "print", "own.spec"],
        &["spec", "check", "own.spec"],
        &["spec", "check", "own.spec", "--json"],
        &["spec", "graph", "own.spec"],
        &["spec", "graph", "own.spec", "--format", "svg"],
        &["spec", "step", "own.spec"],
        &["spec", "step", "own.spec", "--json"],
        &["spec", "compile", "own.spec", "--to", "gbnf"],
        &["spec", "compile", "own.spec", "--to", "regex"],
        &["read", "text.txt"],
        &["read", "--text", &format!("{PLAIN} comes first."), "--task", PLAIN, "--task", "audit"],
        &["read", "--text", &format!("{PLAIN} comes first."), "--task", PLAIN, "--json"],
        &["score", "gsm8k", "answers.jsonl", "--json"],
    ] {
        scene.run(line, "");
    }
    // Stdout of a guard belongs to the protocol, and has what the server answers.
    let server = format!("echo '{PLAIN}' >&2; exec sh told.sh");
    let guard =
        ["guard", "--rules", "rules.yaml", "--enforce", "--log", "log.jsonl", "--", "sh", "-c", &server];
    let call = |id: u8, arguments: Value| json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "get_user", "arguments": arguments}});
    let messages = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}),
        call(2, json!({"id": 12, "a": PLAIN, ODD: ODD})),
    ];
    let stdin: String = messages.iter().map(|message| format!("{message}\n")).collect();
    let run = scene.unsearched(&guard, &stdin);
    scene.search("guard", run.err.as_bytes());
    assert!(run.out.contains(&json!(ODD).to_string()), "{run:?}");
    scene.run(&["guard", "replay", "--rules", "rules.yaml", "log.jsonl"], "");
    // A mistake with a key in it, for every command.
    for page in PAGES {
        let words = words_of(page);
        scene.run(&[&words[..], &[PLAIN]].concat(), ODD);
        scene.run(&[&words[..], &[&format!("--{PLAIN}"), ODD]].concat(), "");
    }
    // Last, because the others would read the file.
    scene.run(&["init", "--agent", &format!("command:echo {PLAIN}")], "");
    scene.search_files();
    scene.leaks
}

/// The words of a command, by the name of its page: those in which a hyphen belongs to a name are listed.
fn words_of(page: &str) -> Vec<&str> {
    let name = page.strip_prefix("planproof").unwrap().trim_start_matches('-');
    for (first, others) in [("topics", "from-mcp"), ("scenario", "from-")] {
        if let Some(rest) = name.strip_prefix(first).and_then(|rest| rest.strip_prefix('-'))
            && rest.starts_with(others)
        {
            return vec![first, rest];
        }
    }
    if let Some(rest) = name.strip_prefix("mnms-sheet-") {
        return vec!["mnms", "sheet", rest];
    }
    if name.starts_with("serve-") {
        return vec![name];
    }
    name.split('-').filter(|word| !word.is_empty()).collect()
}

#[cfg(unix)]
#[test]
#[ignore = "slow"]
fn no_command_prints_a_key_that_it_is_given() {
    assert_eq!(leaks(true), BTreeSet::new());
}

/// The canary: were they no keys, these would print them.
#[cfg(unix)]
#[test]
#[ignore = "slow"]
fn commands_print_what_is_not_a_key() {
    let found = leaks(false);
    for name in [
        "c.csv",
        "check --rules",
        "guard",
        "init --agent",
        "init.yaml",
        "j.xml",
        "log.jsonl",
        "made.json",
        "planproof.toml",
        "read --text",
        "rules check",
        "s.sarif",
        "scenario check",
        "scenario from-trace",
        "scenario init",
        "spec compile",
        "spec print",
        "synth --topics",
        "topics --topics",
        "topics from-mcp",
    ] {
        assert!(found.contains(name), "{name} is not in {found:?}");
    }
    // A mistake is quoted.
    let quoted = PAGES.iter().filter(|page| {
        let words = words_of(page).join(" ");
        found.iter().any(|name| words.starts_with(name.as_str()) || name.starts_with(words.as_str()))
    });
    assert_eq!(quoted.count(), PAGES.len());
}
