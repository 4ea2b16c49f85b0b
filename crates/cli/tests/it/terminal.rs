//! Foreign text, hostile, through every command: what comes out must not make a terminal or a build log act.

use std::ffi::OsString;
use std::fs;
use std::process;

use serde_json::{Value, json};

use crate::stand_in::{StandIn, call, failure, say, tools};
use crate::support::{Place, Run};

/// Clears the screen, sets a title, turns the direction around, overwrites a line, and speaks to GitHub's runner.
const HOSTILE: &str =
    "x\n::error::y\u{1b}[2J\u{1b}]0;t\u{7}\u{9b}1m\u{202e}\u{2066}\r##[group]z\n  ::add-mask::w";

/// Commands that print nothing from outside: their own help, scripts and samples, and names of files they make.
const WITHOUT_FOREIGN_TEXT: [&str; 3] = ["demo", "completions", "man"];

/// What was run, so that no command is forgotten.
#[derive(Default)]
struct Tried(Vec<String>);

impl Tried {
    /// Looks at the bytes of a command whatever came of it, and gives what it was.
    #[track_caller]
    fn look(&mut self, command: process::Command) -> Run {
        let words: Vec<String> = command.get_args().map(|word| word.to_string_lossy().into_owned()).collect();
        let run = Run::of(command, "");
        for text in [&run.out, &run.err] {
            assert_harmless(text, &words);
        }
        self.0.push(words.into_iter().next().unwrap());
        run
    }

    #[track_caller]
    fn run(&mut self, place: &Place, words: &[&str]) -> Run {
        self.look(place.command(words))
    }
}

#[track_caller]
fn assert_harmless(text: &str, command: &[String]) {
    let acts = |c: char| {
        (c.is_control() && c != '\n' && c != '\t')
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    assert!(!text.contains(acts), "{command:?}: {text:?}");
    for line in text.lines() {
        assert!(!line.trim_start().starts_with("::") && !line.contains("##["), "{command:?}: {line:?}");
    }
}

/// No line that a foreign text began.
#[track_caller]
fn assert_lines_are_ours(run: &Run) {
    for line in run.out.lines().chain(run.err.lines()) {
        assert!(!line.trim_start().starts_with(":\\u{3a}"), "{line:?} in the lines of {run:#?}");
    }
}

/// The text with as many characters, most of which are hostile.
fn hostile_of(text: &str) -> String {
    HOSTILE.chars().cycle().take(text.chars().count()).collect()
}

/// A case whose texts are hostile, of the same lengths as they were.
fn hostile_case(place: &Place, options: &str) -> String {
    let mut case: Value =
        serde_json::from_str(&place.run(&format!("synth --count 1 {options}")).code(0).out).unwrap();
    let paragraph = case["paragraph"].as_str().unwrap().to_owned();
    let hostile = hostile_of(&paragraph);
    let query = case["query"].as_str().unwrap().replace(&paragraph, &hostile);
    case["id"] = json!(HOSTILE);
    case["paragraph"] = json!(hostile);
    case["query"] = json!(query);
    for action in case["actions"].as_array_mut().unwrap() {
        action["text"] = json!(format!("{HOSTILE} {}", action["id"]));
    }
    case.to_string()
}

#[test]
#[ignore = "slow"]
fn hostile_text_comes_out_of_no_command() {
    let mut tried = Tried::default();
    let place = Place::new();
    campaigns(&mut tried, &place);
    files(&mut tried, &place);
    ids(&mut tried);
    drafts(&mut tried, &place);
    usage(&mut tried, &place);
    let help = place.run("--help").code(0).out;
    // A command stands behind two spaces, in the groups between the usage and the options.
    let groups = help.split("\n\n").skip(2).take_while(|group| !group.starts_with("Options:"));
    let lines = groups.flat_map(|group| group.lines().skip(1));
    let names: Vec<&str> = lines
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next().filter(|name| !name.is_empty()))
        .collect();
    assert!(names.len() > 15 && names.contains(&"test"), "{help}");
    for name in names {
        let is_tried = tried.0.iter().any(|command| command == name);
        assert!(
            is_tried != WITHOUT_FOREIGN_TEXT.contains(&name),
            "`planproof {name}` is not tried with hostile text"
        );
    }
}

/// Agents, models and tools that mean harm, and all that shows what they did.
/// Configurations of agents.
fn configurations(tried: &mut Tried, place: &Place) {
    std::fs::create_dir_all(place.path(".claude")).unwrap();
    let hook =
        json!({"matcher": HOSTILE, "hooks": [{"type": "command", "command": "planproof hook x --shadow"}]});
    let settings = json!({HOSTILE: HOSTILE, "hooks": {"PreToolUse": [hook], HOSTILE: [{"hooks": []}]}});
    place.write(".claude/settings.json", &serde_json::to_string_pretty(&settings).unwrap());
    place.write(
        ".mcp.json",
        &json!({"mcpServers": {HOSTILE: {"command": HOSTILE, "args": [HOSTILE]}}}).to_string(),
    );
    let install =
        ["hook", "install", "claude-code", "--rules", "rules.yaml", "--shadow", "--project", "--yes"];
    tried.run(place, &install);
    tried.run(place, &["hook", "uninstall", "claude-code", "--project", "--yes"]);
    for json in [&[][..], &["--json"]] {
        let mut command = place.command(&[&["doctor"], json].concat());
        command.env("HOME", place.path(""));
        tried.look(command);
    }
}

fn campaigns(tried: &mut Tried, place: &Place) {
    let server = StandIn::start(|number, request| match number % 4 {
        0 => call(number, HOSTILE, &json!({ HOSTILE: HOSTILE }).to_string()),
        1 => call(number, tools(request)[0], HOSTILE),
        2 => call(number, tools(request)[0], "{}"),
        _ => say(HOSTILE),
    });
    let model = format!("tools@openai/{HOSTILE}");
    tried.look(server.command(place, &["test", &model, "--cases", "1"]));
    let model = "tools@openai/m";
    let test = ["test", model, "--cases", "3", "--repeat", "2", "--record", "r.jsonl"];
    for words in [&test[..], &["test", model, "--cases", "1", "--json"]] {
        let run = tried.look(server.command(place, words));
        assert_eq!(run.code, 1, "{run:?}");
        assert_lines_are_ours(&run);
    }
    let refusing = StandIn::start(|_, _| failure("401 Unauthorized", HOSTILE));
    let run = tried.look(refusing.command(place, &["test", "tools@openai/m", "--cases", "1"]));
    assert_lines_are_ours(&run.code(3));
    let run =
        tried.look(refusing.command(place, &["limit", "tools@openai/m", "--to", "2", "--cases-max", "2"]));
    assert_lines_are_ours(&run);
    // A program's streams, and its name.
    place.write("hostile.txt", HOSTILE);
    let script = format!("command:sh -c 'cat hostile.txt; cat hostile.txt >&2; exit 3' '{HOSTILE}'");
    tried.run(place, &["test", &script, "--cases", "2"]);
    let run = tried.run(
        place,
        &["test", "command:sh -c 'cat hostile.txt; cat hostile.txt >&2; exit 3'", "--cases", "2"],
    );
    assert_lines_are_ours(&run);
    let show = |words: &[&str], tried: &mut Tried| assert_lines_are_ours(&tried.run(place, words));
    show(&["runs", "list"], tried);
    for scheduler in ["slurm", "kubernetes", "github", "parallel"] {
        let plan =
            ["shard", "plan", "--for", scheduler, "--shards", "2", "--folder", HOSTILE, "--image", HOSTILE];
        show(&[&plan[..], &["--", "test", model, "--cases", "4", "--label", "x"]].concat(), tried);
    }
    show(&["runs", "list", "--json"], tried);
    let ids = place.run("runs list --json").out;
    let ids: Vec<String> = ids
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["run"].as_str().unwrap().to_owned())
        .collect();
    let (hostile, ids) = ids.split_last().unwrap();
    // The commands that say how to see more repeat the agent's name as a shell takes it, line breaks included.
    tried.run(place, &["runs", "show", hostile]);
    tried.run(place, &["runs", "show", hostile, "--case", "7-0"]);
    for id in ids {
        show(&["runs", "show", id], tried);
        show(&["runs", "show", id, "--json"], tried);
        show(&["runs", "show", id, "--case", "7-0", "--json"], tried);
        // The query of a case has lines of its own.
        tried.run(place, &["runs", "show", id, "--case", "7-0"]);
        show(&["report", id], tried);
        show(&["report", id, "--json"], tried);
        for format in ["traces", "cases", "verdicts", "chat-jsonl"] {
            show(&["runs", "export", id, "--format", format], tried);
        }
        show(&["tables", id], tried);
    }
    show(&["report", &ids[0], &ids[1]], tried);
    show(&["report", &ids[0], &ids[1], &ids[2]], tried);
    // A recording may come from anywhere.
    show(&["test", model, "--replay", "r.jsonl"], tried);
    let text = fs::read_to_string(place.path("r.jsonl")).unwrap();
    let inside = serde_json::to_string(HOSTILE).unwrap();
    place.write("r.jsonl", &text.replace("You ", &format!("{} ", inside.trim_matches('"'))));
    show(&["test", "--replay", "r.jsonl"], tried);
    place.write("r.jsonl", &format!("{{\"schema\":{inside}}}\n"));
    show(&["test", "--replay", "r.jsonl"], tried);
    let run = tried.look(server.command(place, &["run", model, HOSTILE, "--tools", "calculator"]));
    assert!(run.code == 0 || run.code == 1, "{run:?}");
    tried.look(server.command(place, &["run", "tools@openai/m", HOSTILE, "--tools", "calculator", "--json"]));
}

/// Inputs, answers and sheets that mean harm, on the way to drafts.
fn drafts(tried: &mut Tried, place: &Place) {
    fs::create_dir(place.path("inputs")).unwrap();
    fs::write(place.path("inputs").join(format!("{}.mp4", HOSTILE.replace('/', ""))), "").unwrap();
    let input = json!({"kind": "text", "text": HOSTILE, "about": HOSTILE, "questions": [HOSTILE]});
    place.write("inputs/inputs.jsonl", &format!("{input}\n"));
    let generate = ["mnms", "generate", "--inputs", "inputs", "--sequences", "60"];
    let run = tried.run(place, &generate).code(0);
    assert!(run.out.contains("\\u001b[2J"), "the input is taken: {run:?}");
    tried.run(place, &[&generate[..], &["--show-prompt"]].concat()).code(0);
    let kind = json!({"kind": HOSTILE}).to_string();
    place.write("inputs/inputs.jsonl", &kind);
    assert_lines_are_ours(&tried.run(place, &generate).code(2));
    let answers = [HOSTILE.to_owned(), json!({"requests": [HOSTILE], "alternatives": [HOSTILE]}).to_string()];
    let server = StandIn::start(move |number, _| say(&answers[number % 2]));
    for words in
        [&["mnms", "generate", "--sequences", "4"][..], &["mnms", "sheet", "alternatives", "--out", "t.csv"]]
    {
        let run = tried.look(server.command(place, &[words, &["--model", "openai/m"]].concat()));
        assert_lines_are_ours(&run);
    }
    place.run("mnms generate --sequences 4 --out drafts.jsonl").code(0);
    let cell = format!("\"{}\"", HOSTILE.replace('"', ""));
    for sheet in [
        format!("id,rating {}\n0,1\n", cell.trim_matches('"').replace('\n', " ")),
        format!("id,rating A\n{cell},1\n"),
        format!("id,rating A\n0,{cell}\n"),
    ] {
        place.write("sheet.csv", &sheet);
        for words in [
            &["mnms", "agree", "sheet.csv"][..],
            &["mnms", "agree", "sheet.csv", "--json"],
            &["mnms", "rate", "sheet.csv"],
            &["mnms", "filter", "drafts.jsonl", "--sheet", "sheet.csv"],
            &["mnms", "filter", "drafts.jsonl", "--poor", "sheet.csv", "--frequent", HOSTILE],
            &["mnms", "alternatives", "drafts.jsonl", "--sheet", "sheet.csv"],
        ] {
            assert_lines_are_ours(&tried.run(place, words));
        }
    }
    place.write("results.jsonl", &json!({"id": 0, "msg": HOSTILE}).to_string());
    let setting = format!("{HOSTILE}=results.jsonl");
    tried.run(
        place,
        &[
            "mnms",
            "sheet",
            "results",
            "drafts.jsonl",
            "--out",
            "r.csv",
            "--result",
            &setting,
            "--result",
            HOSTILE,
        ],
    );
    tried.run(place, &["mnms", "sheet", "drafts", "drafts.jsonl", "--raters", HOSTILE]);
}

/// Cases, specifications, topics and configurations that mean harm.
fn files(tried: &mut Tried, place: &Place) {
    // Rules, scenarios and sessions that mean harm.
    let text = serde_json::to_string(HOSTILE).unwrap();
    let rule = format!("{{id: {text}, why: {text}, never: {{call: {text}, where: {{/k: {text}}}}}}}");
    place.write("rules.yaml", &format!("schema: planproof/rules/v1\nrules: [{rule}]\n"));
    place.write(
        "bad.yaml",
        &format!("schema: planproof/rules/v1\n{text}: 1\nrules: [{{id: x, {text}: 1}}]\n"),
    );
    let call = json!({"type": "tool_use", "id": "1", "name": HOSTILE, "input": {"k": HOSTILE}});
    let session = json!({"messages": [{"role": "assistant", "content": [call]}]});
    place.write("session.jsonl", &format!("{session}\n"));
    tried.run(place, &["rules", "check", "rules.yaml", "bad.yaml"]).code(2);
    tried.run(place, &["check", "--rules", "rules.yaml", "session.jsonl"]).code(1);
    let line = |number: u32, action: &str| {
        let call = json!({"number": number, "tool": HOSTILE, "arguments": {"k": HOSTILE}});
        json!({"schema": "planproof/decision/v1", "kind": "decision", "session": HOSTILE, "seam": "mcp", "call": call,
            "rules": [], "action": action, "reason": HOSTILE, "mode": "shadow", "digest": "", "microseconds": 0})
    };
    place.write("guard.jsonl", &format!("{}\n{}\n", line(1, "passed"), line(2, "noted")));
    tried.run(place, &["guard", "replay", "guard.jsonl", "--rules", "rules.yaml"]);
    tried.run(place, &["guard", "replay", "session.jsonl", "--rules", "bad.yaml"]).code(2);
    tried.run(place, &["guard", "--rules", "bad.yaml", "--shadow", "--", HOSTILE]).code(2);
    tried.run(place, &["check", "--rules", "rules.yaml", "guard.jsonl"]).code(1);
    tried.run(place, &["hook", HOSTILE, "--rules", HOSTILE, "--enforce", "--state", HOSTILE]).code(0);
    configurations(tried, place);
    let case = format!(
        "{{id: {text}, query: {text}, expect: [{{do: [a], words: {text}}}, {{id: {text}, at-least: {{call: a, times: 1}}}}]}}"
    );
    place.write(
        "cases.yaml",
        &format!(
            "schema: planproof/scenario/v1\ntools: [{{name: a, description: {text}}}]\ncases: [{case}]\n"
        ),
    );
    tried.run(place, &["bench", "scenario", "command:echo nothing", "--data", "cases.yaml"]);
    tried.run(place, &["scenario", "check", "cases.yaml"]).code(0);
    // What cannot be satisfied, and what is not a file of scenarios.
    let never = format!("{{id: {text}, why: {text}, never: {{call: a}}, words: {text}}}");
    let case = format!("{{id: {text}, query: {text}, expect: [{{do: [a], words: {text}}}, {never}]}}");
    let head = "schema: planproof/scenario/v1\ntools: [{name: a}]";
    place.write("never.yaml", &format!("{head}\ncases: [{case}]\n"));
    place.write("worse.yaml", &format!("{head}\n{text}: 1\ncases: [{case}]\n"));
    tried.run(place, &["scenario", "check", "never.yaml"]).code(1);
    tried.run(place, &["scenario", "check", "worse.yaml"]).code(2);
    tried.run(place, &["scenario", "from-trace", "session.jsonl", "--accept"]).code(0);
    let tools = json!([{"name": HOSTILE, "description": HOSTILE, "input_schema": {"type": "object", HOSTILE: HOSTILE}}]);
    place.write("tools.json", &tools.to_string());
    tried.run(place, &["scenario", "init", "--tools", "tools.json"]).code(0);
    for (name, options) in [("case.jsonl", ""), ("time.jsonl", "--time"), ("both.jsonl", "--infeasible 1")] {
        place.write(name, &hostile_case(place, options));
        tried.run(place, &["check", "--case", name, "--calls", "a2,a1"]);
        tried.run(place, &["read", name]);
        tried.run(place, &["read", name, "--verify", "--json"]);
        tried.run(place, &["test", "tools@sim/in-order", "--from", name]);
    }
    let run = place.run("check --case case.jsonl --calls a2,a1");
    assert!(run.out.contains("\\u{1b}[2J"), "the case is taken: {run:?}");
    assert_lines_are_ours(&run);
    for text in [HOSTILE, &format!("{{\"schema\":{}}}", json!(HOSTILE)), &format!("{{\"{HOSTILE}")] {
        place.write("bad.jsonl", text);
        tried.run(place, &["check", "--case", "bad.jsonl", "--calls", "a1"]);
        tried.run(place, &["read", "bad.jsonl"]);
        tried.run(place, &["serve-tools", "--case", "bad.jsonl"]);
        tried.run(place, &["synth", "--topics", "bad.jsonl"]);
        tried.run(place, &["topics", "--topics", "bad.jsonl"]);
        tried.run(place, &["mnms", "sheet", "drafts", "bad.jsonl"]);
        tried.run(place, &["mnms", "agree", "bad.jsonl"]);
        tried.run(place, &["spec", "check", "bad.jsonl"]);
        tried.run(place, &["--config", "bad.jsonl", "test", "tools@sim/perfect"]);
    }
    tried.run(
        place,
        &["read", "--text", &format!("Do {HOSTILE} before b."), "--task", HOSTILE, "--task", "b"],
    );
    let spec = format!("(spec (:states (A \"{HOSTILE}\")) (:behaviour A)) ; {HOSTILE}");
    place.write("hostile.spec", &spec);
    for words in [
        &["spec", "check"][..],
        &["spec", "print"],
        &["spec", "step"],
        &["spec", "graph"],
        &["spec", "compile"],
    ] {
        tried.run(place, &[words, &["hostile.spec", "A"][..]].concat());
    }
    let problem = json!({ "question": HOSTILE, "answer": format!("{HOSTILE} 1+1=<<1+1=2>>2\n#### 2") });
    place.write("data.jsonl", &format!("{problem}\n"));
    place.write("p.jsonl", &format!("{}\n", json!({ "prediction": HOSTILE })));
    let run = tried.run(place, &["bench", "gsm8k", "cot@sim/gold/1", "--data", "data.jsonl"]);
    assert_lines_are_ours(&run);
    assert_lines_are_ours(&tried.run(place, &["score", "gsm8k", "p.jsonl", "--data", "data.jsonl"]));
    for name in ["data.jsonl", "p.jsonl"] {
        place.write("bad.jsonl", &format!("{{\"{HOSTILE}\": 1}}\n"));
        tried.run(place, &["score", "gsm8k", "bad.jsonl", "--data", name]);
    }
    let topics = place.run("topics --json").code(0).out;
    let job = serde_json::from_str::<Value>(&topics).unwrap()["topics"][0]["job"].clone();
    place.write("topics.json", &topics.replace(&job.to_string(), &json!(HOSTILE).to_string()));
    tried.run(place, &["topics", "--topics", "topics.json"]);
    tried.run(place, &["topics", "--topics", "topics.json", "--json"]);
    tried.run(place, &["synth", "--topics", "topics.json", "--text", "--topic", HOSTILE]);
}

/// Ids of cases that mean harm, wherever cases are named. Nothing else here is hostile, so all lines are ours.
fn ids(tried: &mut Tried) {
    let place = &Place::new();
    let mut show = |words: &[&str]| {
        let run = tried.run(place, words);
        assert_lines_are_ours(&run);
        run
    };
    let id = |number: usize| format!("{HOSTILE}{number}");
    let mut lines = Vec::new();
    for (number, line) in place.run("synth --count 60 --actions 8").code(0).out.lines().enumerate() {
        let mut case: Value = serde_json::from_str(line).unwrap();
        case["id"] = json!(id(number));
        lines.push(case.to_string());
    }
    place.write("ids.jsonl", &lines.join("\n"));
    let planted = ["test", "tools@sim/planted/word", "--from", "ids.jsonl"];
    let studied = ["--shrink", "--shrink-max", "2", "--dissect", "--dissect-k", "1", "--dissect-max", "2"];
    let run = show(&[&planted[..], &studied].concat()).code(1);
    for words in ["By case: x\\n", " of case x\\n", ", case x\\n", "See it:   planproof runs show "] {
        assert!(run.out.contains(words), "{words}: {run:?}");
    }
    show(&["runs", "show", "last"]).code(0);
    show(&["runs", "show", "last", "--case", &id(0)]).code(0);
    show(&["report", "last"]).code(0);
    show(&["test", "tools@sim/perfect", "--from", "ids.jsonl"]).code(0);
    let campaigns = place.run("runs list --json").code(0).out;
    let campaigns: Vec<Value> = campaigns.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let [one, other] = &campaigns[..] else { panic!("two campaigns: {campaigns:?}") };
    let compared = show(&["report", one["run"].as_str().unwrap(), other["run"].as_str().unwrap()]);
    assert!(compared.out.contains("x\\n"), "{compared:?}");
    show(&["read", "ids.jsonl"]).code(0);
    show(&["check", "--case", "ids.jsonl", "--id", &id(0), "--calls", "a1"]).code(1);
    show(&["check", "--case", "ids.jsonl", "--id", &id(0), "--calls", "nothing"]).code(2);
    place.write("twice.jsonl", &format!("{0}\n{0}\n", lines[0]));
    show(&["read", "twice.jsonl"]).code(2);
    place.write("bad.jsonl", &lines[0].replace("\"seed\":\"", "\"seed\":\"x"));
    show(&["read", "bad.jsonl"]).code(2);
}

/// What the command line itself says, and names of files.
fn usage(tried: &mut Tried, place: &Place) {
    let file = OsString::from(format!("{HOSTILE}.jsonl"));
    let file = file.to_str().unwrap();
    for words in [
        &["test", HOSTILE][..],
        &["test", "tools@sim/perfect", "--cases", HOSTILE],
        &["test", "tools@sim/perfect", "--from", file],
        &["test", "tools@sim/perfect", "--cases", "1", "--junit", file],
        &["test", "--replay", file],
        &["test", "tools@sim/perfect", "--set", HOSTILE],
        &["runs", "show", HOSTILE],
        &["report", HOSTILE],
        &["view", "--store", HOSTILE],
        &["init", HOSTILE],
        &["models", "check", HOSTILE],
        &["prompts", HOSTILE],
        &["serve-model", HOSTILE],
        &["serve-media", "--port", HOSTILE],
        &[HOSTILE],
    ] {
        tried.run(place, words);
    }
    place.write("planproof.toml", &format!("[test]\n\"{HOSTILE}\" = 3 # {HOSTILE}\n"));
    tried.run(place, &["test", "tools@sim/perfect"]);
}
