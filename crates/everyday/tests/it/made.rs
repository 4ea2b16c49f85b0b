//! Tools that agents make: what does as its examples say is kept, and nothing else.

use std::fs;
use std::sync::Arc;

use libtest_mimic::Trial;
use planproof_everyday::{LIBRARY_BYTES_MAX, LibraryError, MAKE_TOOL, MadeTools, ToolLibrary};
use planproof_sandbox::SandboxLimits;
use planproof_suite::Toolbox;
use planproof_tools::{CombinedTools, OpenSource};
use serde_json::{Value, json};

use crate::support::{Folder, call, done, outage, refused, sandbox, trial};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("made::a_tool_is_made_kept_and_used_again", a_tool_is_made_kept_and_used_again),
        trial("made::what_fails_its_examples_is_refused", what_fails_its_examples_is_refused),
        trial("made::hostile_tools_reach_nothing", hostile_tools_reach_nothing),
        trial("made::a_broken_library_is_named_with_its_line", a_broken_library_is_named_with_its_line),
        trial("made::processes_share_a_library", processes_share_a_library),
        trial("made::a_locked_library_is_not_waited_for_forever", a_locked_library_is_not_waited_for_forever),
        trial("made::a_full_library_stays_readable", a_full_library_stays_readable),
        trial("made::names_of_other_sources_are_not_taken", names_of_other_sources_are_not_taken),
    ]
}

fn rate() -> Value {
    json!({
        "name": "monthly_rate",
        "description": "The monthly payment for a loan.",
        "parameters": {
            "type": "object",
            "properties": {"sum": {"type": "number"}, "years": {"type": "integer", "minimum": 1}},
            "required": ["sum", "years"],
            "additionalProperties": false,
        },
        "code": "def monthly_rate(sum, years):\n    return round(sum / (years * 12), 2)",
        "examples": [
            {"arguments": {"sum": 1200, "years": 1}, "result": 100},
            {"arguments": {"sum": 1000.0, "years": 7}, "result": 11.9},
        ],
    })
}

fn tools(library: &Arc<ToolLibrary>) -> MadeTools {
    MadeTools::new(Arc::clone(library), sandbox(), SandboxLimits::default())
}

fn a_tool_is_made_kept_and_used_again() {
    let folder = Folder::new("made");
    let file = folder.0.join("tools.jsonl");
    let library = Arc::new(ToolLibrary::open(&file).unwrap());
    assert!(library.is_empty() && !file.exists());
    let run = tools(&library);
    assert_eq!(run.tools().len(), 1);
    let text = done(&run, MAKE_TOOL, &rate());
    assert!(text.starts_with("`monthly_rate` did as its 2 examples say and is kept"), "{text}");
    // It can be called in the same run, and in every later one, be it of another process.
    assert_eq!(done(&run, "monthly_rate", &json!({"sum": 2400, "years": 2})), "100.0");
    assert!(refused(&run, MAKE_TOOL, &rate()).contains("there is a tool named `monthly_rate` already"));
    // Also behind the door that joins all tools of a run.
    for (name, listed) in [(None, "yearly_rate"), (Some("made".to_owned()), "made_yearly_rate")] {
        let file = folder.0.join(listed);
        let own = tools(&Arc::new(ToolLibrary::open(&file).unwrap()));
        let joined = CombinedTools::new(vec![OpenSource::new("made:", name.clone(), Arc::new(own))]).unwrap();
        let make = name.map_or(MAKE_TOOL.to_owned(), |name| format!("{name}_{MAKE_TOOL}"));
        let yearly =
            serde_json::from_str(&rate().to_string().replace("monthly_rate", "yearly_rate")).unwrap();
        assert!(refused(&joined, listed, &json!({})).contains("there is no tool named"));
        done(&joined, &make, &yearly);
        for name in ["yearly_rate", listed] {
            assert_eq!(done(&joined, name, &json!({"sum": 2400, "years": 2})), "100.0", "{name}");
        }
        assert_eq!(joined.made().iter().map(|tool| &*tool.name).collect::<Vec<_>>(), [listed]);
    }
    let later = run.for_run().unwrap();
    assert_eq!(later.tools()[1].name, "monthly_rate");
    let again = Arc::new(ToolLibrary::open(&file).unwrap());
    let other = tools(&again);
    assert_eq!(other.tools()[1].description, "The monthly payment for a loan.");
    assert_eq!(done(&other, "monthly_rate", &json!({"sum": 120, "years": 1})), "10.0");
    assert!(
        refused(&other, "monthly_rate", &json!({"sum": 120})).contains("\"years\" is a required property")
    );
    assert!(refused(&other, "monthly_rate", &json!({"sum": 120, "years": 0})).contains("do not fit"));
    assert!(refused(&other, "weekly_rate", &json!({})).contains("`make_tool` makes one"));
}

fn what_fails_its_examples_is_refused() {
    let folder = Folder::new("refused");
    let file = folder.0.join("tools.jsonl");
    let library = Arc::new(ToolLibrary::open(&file).unwrap());
    let run = tools(&library);
    let with = |key: &str, value: Value| {
        let mut tool = rate();
        tool[key] = value;
        tool
    };
    let example = |arguments: Value, result: Value| json!([{"arguments": arguments, "result": result}]);
    // Each part uses the next one twice, so that a number is checked 2^40 times.
    let both = |number: usize| {
        let next = json!({"$ref": format!("#/$defs/part{}", number + 1)});
        (format!("part{number}"), json!({"anyOf": [next, next]}))
    };
    let last = ("part40".to_owned(), json!({"type": "string"}));
    let parts: serde_json::Map<String, Value> = (0..40).map(both).chain([last]).collect();
    let properties = json!({"sum": {"$ref": "#/$defs/part0"}});
    let doubling = json!({"type": "object", "properties": properties, "$defs": parts});
    let good = json!({"sum": 1200, "years": 1});
    for (tool, part) in [
        (with("examples", example(good.clone(), json!(101))), "refused; example 1 returns 100.0, not 101"),
        (with("examples", example(good.clone(), json!("100.0"))), "returns 100.0, not \"100.0\""),
        (
            with("examples", example(json!({"sum": 1}), json!(1))),
            "example 1: the arguments of `monthly_rate`",
        ),
        (with("examples", json!([])), "write 1 to 20 examples, not 0"),
        (with("code", json!("def other():\n    pass")), "refused; example 1 fails: NameError"),
        (with("code", json!("def monthly_rate(sum, years):\n    return 1 / 0")), "ZeroDivisionError"),
        (with("code", json!("def monthly_rate(sum, years) return")), "SyntaxError"),
        (
            with("code", json!("def monthly_rate(sum, years):\n    while True:\n        pass")),
            "limit reached: time",
        ),
        (with("code", json!(" ")), "`code` has to have"),
        (with("name", json!("monthly rate")), "that of a Python function"),
        (with("name", json!("class")), "that of a Python function"),
        (with("name", json!("make_tool")), "there is a tool named `make_tool`"),
        (with("parameters", json!({"type": "text"})), "the type object"),
        (with("parameters", json!({"type": "object", "properties": 7})), "no JSON Schema"),
        (with("parameters", doubling), "`parameters` uses `$ref`: write each part of the schema where it is"),
        (json!({"name": "x"}), "this describes no tool"),
    ] {
        let run = MadeTools::new(
            Arc::clone(&library),
            sandbox(),
            SandboxLimits { time: std::time::Duration::from_millis(500), ..SandboxLimits::default() },
        );
        let text = refused(&run, MAKE_TOOL, &tool);
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(library.is_empty() && !file.exists() && run.outage().is_none());
}

fn hostile_tools_reach_nothing() {
    let folder = Folder::new("hostile-tool");
    fs::write(folder.input().join("key.txt"), "sk-canary").unwrap();
    let library = Arc::new(ToolLibrary::open(&folder.0.join("tools.jsonl")).unwrap());
    let mut tool = rate();
    let file = folder.input().join("key.txt").display().to_string();
    // The arguments are no way in: they are data, whatever they look like.
    tool["code"] = json!("def monthly_rate(sum, years):\n    return sum");
    tool["parameters"] = json!({"type": "object"});
    let inject = "\") + open(\"x\").read() #";
    tool["examples"] = json!([{"arguments": {"sum": inject, "years": 1}, "result": inject}]);
    done(&tools(&library), MAKE_TOOL, &tool);
    tool["name"] = json!("reads");
    tool["code"] = json!(format!("def reads(sum, years):\n    return open('{file}').read()"));
    tool["examples"] = json!([{"arguments": {"sum": 1, "years": 1}, "result": "sk-canary"}]);
    let text = outage(&tools(&library), MAKE_TOOL, &tool);
    assert!(!text.contains("sk-canary") && library.len() == 1, "{text}");
}

fn a_broken_library_is_named_with_its_line() {
    let folder = Folder::new("broken");
    let file = folder.0.join("tools.jsonl");
    let library = Arc::new(ToolLibrary::open(&file).unwrap());
    done(&tools(&library), MAKE_TOOL, &rate());
    let line = fs::read_to_string(&file).unwrap();
    let opened = |text: &str| {
        fs::write(&file, text).unwrap();
        ToolLibrary::open(&file).map_err(|error| error.to_string())
    };
    assert_eq!(opened(&format!("\n{line}\n")).unwrap().len(), 1);
    for (text, part) in [
        (line.replace("monthly_rate", MAKE_TOOL), "tools.jsonl:1: the name `make_tool` is taken"),
        (format!("{line}{{"), "tools.jsonl:2: no JSON"),
        ("{}".to_owned(), "tools.jsonl:1: the line has no `\"schema\": \"planproof/made-tool/v1\"`"),
        (line.replace("monthly_rate", "monthly rate"), "tools.jsonl:1: `name` has to be"),
    ] {
        let error = opened(&text).unwrap_err();
        assert!(error.contains(part), "{error}");
    }
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    assert!(matches!(ToolLibrary::open(&file), Err(LibraryError::Unreadable { .. })));
    // A library that cannot be written is nobody's mistake.
    let text = outage(&tools(&library_in(&folder)), MAKE_TOOL, &rate());
    assert!(text.contains("cannot be written"), "{text}");
    assert!(call(&tools(&library), "monthly_rate", &json!({"sum": 12, "years": 1})).text == "1.0");
}

/// Two libraries of one file are what two processes have.
fn processes_share_a_library() {
    let folder = Folder::new("shared");
    let file = folder.0.join("tools.jsonl");
    let [one, other] = [(); 2].map(|()| Arc::new(ToolLibrary::open(&file).unwrap()));
    done(&tools(&one), MAKE_TOOL, &rate());
    // The other one has not seen it, but the file would have its name twice.
    let text = refused(&tools(&other), MAKE_TOOL, &rate());
    assert!(text.contains("there is a tool named `monthly_rate` already"), "{text}");
    let mut yearly = rate();
    yearly["name"] = json!("yearly_rate");
    yearly["code"] = json!("def yearly_rate(sum, years):\n    return round(sum / (years * 12), 2)");
    // A line without its line break stays a line.
    let line = fs::read_to_string(&file).unwrap();
    fs::write(&file, line.trim_end()).unwrap();
    done(&tools(&other), MAKE_TOOL, &yearly);
    assert_eq!(ToolLibrary::open(&file).unwrap().len(), 2);
    // A file system without locks may let both write: the first of equal names counts.
    fs::write(&file, format!("{line}{}", line.replace("for a loan", "for a flat"))).unwrap();
    let twice = tools(&Arc::new(ToolLibrary::open(&file).unwrap()));
    assert_eq!(twice.tools().len(), 2);
    assert_eq!(twice.tools()[1].description, "The monthly payment for a loan.");
}

/// The canary: whoever holds the lock never releases it.
fn a_locked_library_is_not_waited_for_forever() {
    let folder = Folder::new("locked");
    let file = folder.0.join("tools.jsonl");
    fs::write(&file, "").unwrap();
    let library = Arc::new(ToolLibrary::open(&file).unwrap());
    let held = fs::File::options().write(true).open(&file).unwrap();
    held.lock().unwrap();
    let error = ToolLibrary::open(&file).unwrap_err().to_string();
    assert!(error.contains("another process has locked it for more than 5 s"), "{error}");
    let text = outage(&tools(&library), MAKE_TOOL, &rate());
    assert!(text.contains("another process has locked it"), "{text}");
    held.unlock().unwrap();
    done(&tools(&library), MAKE_TOOL, &rate());
}

fn a_full_library_stays_readable() {
    let folder = Folder::new("full");
    let file = folder.0.join("tools.jsonl");
    // A line of spaces is not a tool, but takes room.
    let blank = usize::try_from(LIBRARY_BYTES_MAX).unwrap() - 100;
    fs::write(&file, " ".repeat(blank)).unwrap();
    let library = Arc::new(ToolLibrary::open(&file).unwrap());
    let text = refused(&tools(&library), MAKE_TOOL, &rate());
    assert!(text.contains("the library is full: with this tool it would have more than"), "{text}");
    assert!(library.is_empty() && ToolLibrary::open(&file).unwrap().is_empty());
}

/// A tool of another source would be called instead, and the next run would have two tools of one name.
fn names_of_other_sources_are_not_taken() {
    let folder = Folder::new("names");
    let library = Arc::new(ToolLibrary::open(&folder.0.join("tools.jsonl")).unwrap());
    done(&tools(&library), MAKE_TOOL, &rate());
    let named = |name: &str| {
        let mut tool = rate();
        tool["name"] = json!(name);
        tool["code"] = json!(format!("def {name}(sum, years):\n    return round(sum / (years * 12), 2)"));
        tool
    };
    for (source, other, made, is_refused) in [
        (None, "calculator", "calculator", true),
        (None, "calculator", "calculator_2", false),
        (Some("x"), "x_sum", "sum", true),
        // It would be called by its own name in this run.
        (Some("x"), "average", "average", true),
        (Some("x"), "y_total", "total", false),
    ] {
        let run = tools(&library).beside(source, [other.to_owned()].into());
        assert!(run.left_out().is_empty());
        for run in [
            Arc::new(run) as Arc<dyn Toolbox>,
            tools(&library).beside(source, [other.to_owned()].into()).for_run().unwrap(),
        ] {
            if is_refused {
                let text = refused(&*run, MAKE_TOOL, &named(made));
                assert!(text.contains(&format!("there is another tool named `{made}` already")), "{text}");
            }
        }
        if !is_refused {
            let run = tools(&library).beside(source, [other.to_owned()].into());
            done(&run, MAKE_TOOL, &named(made));
        }
    }
    // What is in the library already is left out, and the run can begin.
    let run = tools(&library).beside(None, ["monthly_rate".to_owned()].into());
    assert_eq!(run.left_out(), ["monthly_rate"]);
    assert!(run.tools().iter().all(|tool| tool.name != "monthly_rate") && run.tools().len() == 3);
    let run = tools(&library).beside(Some("x"), ["monthly_rate".to_owned()].into());
    assert!(run.left_out().is_empty() && run.tools().len() == 4);
}

/// A library in a folder that is not there.
fn library_in(folder: &Folder) -> Arc<ToolLibrary> {
    Arc::new(ToolLibrary::open(&folder.0.join("none").join("tools.jsonl")).unwrap())
}
