//! What is written for schedulers: `shard plan`.

use std::fs;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use serde_json::json;

use crate::support::Place;

fn export(place: &Place, store: &str, format: &str) -> String {
    place.run(&format!("runs export last --format {format} --store {store}")).code(0).out
}

#[test]
#[ignore = "slow"]
fn plans_run_a_campaign_in_shards() {
    let place = Place::new();
    place.run("test tools@sim/careless --cases 40 --seed 7 -q --store one.db").code(1);
    let path = path();
    let plan = |scheduler: &str| {
        let line =
            format!("shard plan --for {scheduler} --shards 2 -- test tools@sim/careless --cases 40 --seed 7");
        let plan = place.run(&line).code(0);
        assert!(plan.err.contains("2 shards of up to 20 runs each"), "{plan:?}");
        plan.out
    };
    // The script of a scheduler with the variable that it sets, for each shard.
    let runs = |script: &str, variable: &str, values: [&str; 2]| {
        for value in values {
            let mut shell = std::process::Command::new("sh");
            shell.args(["-c", script]).current_dir(place.path("")).env("PATH", &path).env(variable, value);
            let ended = shell.output().unwrap();
            assert!(ended.status.success(), "{script}: {ended:?}");
        }
    };
    let is_whole = || {
        place.run_words(&["runs", "merge", "shards/1.db", "shards/2.db", "--into", "all.db"]).code(0);
        assert_eq!(export(&place, "one.db", "traces"), export(&place, "all.db", "traces"));
        fs::remove_dir_all(place.path("shards")).unwrap();
        fs::remove_file(place.path("all.db")).unwrap();
    };
    runs(&plan("slurm"), "SLURM_ARRAY_TASK_ID", ["1", "2"]);
    is_whole();
    let kubernetes = plan("kubernetes");
    let args = kubernetes.lines().skip_while(|line| !line.contains("SHARD=")).take(2);
    let args: Vec<&str> = args.map(str::trim).collect();
    fs::create_dir(place.path("shards")).unwrap();
    // The mounted volume is a folder here.
    runs(&args.join("\n").replace("/shards/", "shards/"), "JOB_COMPLETION_INDEX", ["0", "1"]);
    is_whole();
    let github = plan("github");
    let step: Vec<&str> =
        github.lines().skip_while(|line| !line.ends_with("mkdir -p shards")).take(2).map(str::trim).collect();
    runs(&step.join("\n").replace("${{ matrix.shard }}", "$SHARD"), "SHARD", ["1", "2"]);
    is_whole();
    runs(&with_parallel(&plan("parallel")), "UNUSED", ["", ""]);
    assert_eq!(export(&place, "one.db", "traces"), export(&place, "all.db", "traces"));
    for (line, error) in [
        ("--shards 3 -- test tools@sim/careless --cases 2", "there are 2 cases, and so at most 2 shards"),
        ("--shards 2 -- limit tools@sim/careless", "what it runs at a level follows from the levels before"),
        ("--shards 2 -- test command:true --cases 40", "name the --seed"),
        ("--shards 2 -- synth", "only `test` and `bench` are cut into shards"),
        ("--shards 2 -- test tools@sim/careless --cases auto --baseline x", "--cases auto is not for shards"),
        // What every shard would refuse.
        (
            "--shards 2 -- test tools@sim/careless --baseline b.json",
            "--baseline does not go with --shard 1/2",
        ),
        ("--shards 2 -- test tools@sim/careless --dissect", "--dissect does not go with --shard 1/2"),
        ("--shards 2 -- test tools@sim/careless --shrink", "--shrink does not go with --shard 1/2"),
        ("--shards 2 -- test tools@sim/careless --record r.jsonl", "--record does not go with --shard 1/2"),
        ("--shards 2 -- test tools@sim/nope", "there is no simulated model \"nope\""),
        ("--shards 2 -- test tools@nobody/x", "unknown model \"nobody/x\""),
        ("--shards 2 -- test tools@sim/gold/x", "`x` is no share of wrong answers"),
        (
            "--for kubernetes --shards 2 --folder x -- test tools@sim/careless",
            "--folder is not for --for kubernetes",
        ),
        ("--for github --shards 257 -- test tools@sim/careless --cases 600", "at most 256 jobs of a matrix"),
        ("--shards 40 -- bench gsm8k tools@sim/gold --limit 5", "there are 5 cases, and so at most 5 shards"),
        ("--shards 2 -- test tools@sim/careless --store x.db", "leave --shard and --store out"),
        ("--shards 2 -- test tools@sim/careless --casse 2", "unexpected argument '--casse'"),
        ("--shards 0 -- test tools@sim/careless", "it must be a whole number from 1"),
        ("--shards 2 --with cases.jsonl -- test tools@sim/careless", "--with is for --for kubernetes"),
    ] {
        let scheduler = if line.starts_with("--for") { "" } else { "--for slurm " };
        let run = place.run(&format!("shard plan {scheduler}{line}")).code(2);
        assert!(run.err.contains(error), "{run:?}");
    }
    let before =
        "--key-for https://h.example/v1=H_API_KEY shard plan --for slurm --shards 2 -- test tools@sim/gold";
    let lost = place.run(before).code(2);
    assert!(lost.err.contains("has no effect on `planproof shard plan`: name it behind `--`"), "{lost:?}");
}

/// A script for GNU parallel, with a stand-in where that is not installed: the lines are commands as a whole.
fn with_parallel(script: &str) -> String {
    let has_parallel = std::process::Command::new("parallel").arg("--version").output().is_ok();
    assert!(script.contains("PARALLEL_SHELL=/bin/sh parallel --retries 3 <<'SHARDS'\n"), "{script}");
    match has_parallel {
        true => script.to_owned(),
        false => script.replace("PARALLEL_SHELL=/bin/sh parallel --retries 3", "sh"),
    }
}

/// The path on which a script finds planproof.
fn path() -> String {
    let binary = std::path::Path::new(env!("CARGO_BIN_EXE_planproof")).parent().unwrap();
    format!("{}:{}", binary.display(), std::env::var("PATH").unwrap_or_default())
}

/// Words of the user's that schedulers and shells make something else of, in the label and in the folder: the label
/// arrives as it is written, the stores lie in the folder, and nothing is run.
#[test]
#[ignore = "slow"]
fn a_plan_leaves_the_words_of_the_user_alone() {
    let words = [
        "a {= system(\"touch PWN\") =} b",
        "{} {#} {.} {/} {//} {%} {1} {-1} {+/} {2.}",
        "$(touch PWN) `touch PWN` $HOME $$ $$$(touch PWN)",
        "$(OPENAI_API_KEY) $$(OPENAI_API_KEY)",
        "${{ secrets.OPENAI_API_KEY }} ${{matrix.shard}} }} ${{",
        "it's 'quoted' \"twice\" \\ \\n",
        "a: b #c [d] {e} & *f !g |h >i %25 @j",
        "- é 漢字 🦀",
        "-rf",
    ];
    for word in words {
        for scheduler in ["slurm", "kubernetes", "github", "parallel"] {
            let place = Place::new();
            let label = format!("--label={word}");
            let folder = word.replace('/', "_");
            let mut line = vec!["shard", "plan", "--for", scheduler, "--shards", "2"];
            let option = format!("--folder={folder}");
            if scheduler != "kubernetes" {
                line.push(&option);
            }
            line.extend(["--", "test", "tools@sim/perfect", "--cases", "4", "--seed", "7", &label]);
            let plan = place.run_words(&line).code(0).out;
            let (script, folder) = match scheduler {
                "slurm" => (plan, folder.as_str()),
                "parallel" => (with_parallel(&plan), folder.as_str()),
                "kubernetes" => {
                    (of_the_kubelet(&step(&plan, "SHARD=$")).replace("/shards", "shards"), "shards")
                }
                _ => (step(&plan, "mkdir -p"), folder.as_str()),
            };
            fs::create_dir_all(place.path("shards")).unwrap();
            for number in ["1", "2"] {
                let script = match scheduler {
                    "github" => of_github(&script, number),
                    _ => script.clone(),
                };
                let index = number.parse::<u32>().unwrap() - 1;
                let mut shell = std::process::Command::new("sh");
                shell.args(["-c", &script]).current_dir(place.path("")).env("PATH", path());
                shell.env("SLURM_ARRAY_TASK_ID", number).env("JOB_COMPLETION_INDEX", index.to_string());
                let ended = shell.env("OPENAI_API_KEY", "sk-0123456789abcdef").output().unwrap();
                assert!(ended.status.success(), "{scheduler} {word}: {script}\n{ended:?}");
                if scheduler == "parallel" {
                    break;
                }
            }
            assert!(!place.path("PWN").exists(), "{scheduler} {word}");
            for number in [1, 2] {
                let store = place.path(folder).join(format!("{number}.db")).display().to_string();
                let list = place.run_words(&["runs", "list", "--json", "-q", "--store", &store]).code(0);
                assert_eq!(list.json()["label"], json!(word), "{scheduler}");
            }
        }
    }
}

/// The two lines of a script in YAML that begin with this.
fn step(plan: &str, begins: &str) -> String {
    let lines = plan.lines().skip_while(|line| !line.trim().starts_with(begins)).take(2).map(str::trim);
    lines.collect::<Vec<_>>().join("\n")
}

/// What the kubelet makes of arguments: `$$` is a `$`, and `$(NAME)` the variable of that name, if there is one.
fn of_the_kubelet(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(place) = rest.find('$') {
        out.push_str(&rest[..place]);
        rest = &rest[place + 1..];
        if let Some(after) = rest.strip_prefix('$') {
            (out, rest) = (out + "$", after);
        } else if let Some(after) = rest.strip_prefix("(OPENAI_API_KEY)") {
            (out, rest) = (out + "sk-0123456789abcdef", after);
        } else {
            out.push('$');
        }
    }
    out + rest
}

/// What GitHub makes of a script: expressions are texts in quotes, the shard, or secrets.
fn of_github(text: &str, shard: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(place) = rest.find("${{") {
        out.push_str(&rest[..place]);
        let inner = rest[place + 3..].trim_start();
        rest = match inner.strip_prefix('\'') {
            Some(quoted) => {
                let (text, after) = quoted.split_once('\'').unwrap();
                out.push_str(text);
                after.trim_start().strip_prefix("}}").unwrap()
            }
            None => {
                let (name, after) = inner.split_once("}}").unwrap();
                out.push_str(if name.trim() == "matrix.shard" { shard } else { "x'; touch PWN; '" });
                after
            }
        };
    }
    out + rest
}

/// The paths of a workflow are texts of YAML that mean the folder, in which GitHub finds no pattern and no expression.
#[test]
fn the_paths_of_a_workflow_are_whole() {
    let place = Place::new();
    for (folder, stores) in [
        ("shards", r#"path: "shards/${{ matrix.shard }}.db""#),
        ("my shards", r#"path: "my shards/${{ matrix.shard }}.db""#),
        ("it's", r#"path: "it's/${{ matrix.shard }}.db""#),
        ("a: b #c", r#"path: "a: b #c/${{ matrix.shard }}.db""#),
        ("[a]*?", r#"path: "[[]a][*][?]/${{ matrix.shard }}.db""#),
        ("!a", r#"path: "./!a/${{ matrix.shard }}.db""#),
        ("a\"\\b", r#"path: "a\"\\b/${{ matrix.shard }}.db""#),
        ("é%25", r#"path: "é%25/${{ matrix.shard }}.db""#),
        ("${{ x }}", r#"path: "${{ '${{' }} x }}/${{ matrix.shard }}.db""#),
    ] {
        let line = ["shard", "plan", "--for", "github", "--shards", "2", "--folder", folder];
        let line: Vec<&str> = line.into_iter().chain(["--", "test", "tools@sim/perfect"]).collect();
        let plan = place.run_words(&line).code(0).out;
        assert!(plan.lines().any(|line| line.trim() == stores), "{plan}");
        let merged = stores.replace("/${{ matrix.shard }}.db", "");
        assert!(plan.lines().any(|line| line.trim() == merged), "{plan}");
    }
}

/// A key of the environment stands in no plan, wherever somebody put it, and the refusal does not show it.
#[test]
fn a_plan_never_holds_a_key() {
    let place = Place::new();
    let key = "sk-topsecret123456";
    place.write("agent.py", &format!("key = \"{key}\"\n"));
    let label = ["--label", key];
    let url = format!("tools@mine=https://u:{key}@h.example/v1/m");
    let folder = format!("--folder=a/{key}");
    let image = format!("--image=planproof:{key}");
    for (options, campaign, place_of_key) in [
        (vec![], [&["tools@sim/perfect"], label.as_slice()].concat(), "argument 4 of the campaign"),
        (vec![], vec![url.as_str()], "argument 2 of the campaign"),
        (vec![folder.as_str()], vec!["tools@sim/perfect"], "--folder"),
        (vec![image.as_str()], vec!["tools@sim/perfect"], "--image"),
        (vec!["--with", "agent.py"], vec!["command:python agent.py", "--seed", "7"], "--with agent.py"),
    ] {
        let mut line = vec!["shard", "plan", "--for", "kubernetes", "--shards", "2"];
        line.extend(options);
        line.extend(["--", "test"]);
        line.extend(campaign);
        let ended = place.command(&line).env("OPENAI_API_KEY", key).output().unwrap();
        let (out, err) = (String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
        assert_eq!((ended.status.code(), &*out), (Some(2), ""), "{line:?}: {err}");
        assert!(err.contains(place_of_key) && err.contains("the key of OPENAI_API_KEY"), "{err}");
        assert!(!err.contains(key), "{err}");
    }
    // The variable that `--key-for` names is among the keys, and need not be set where the plan is written.
    let campaign =
        "test tools@mine=https://gpu.example/v1/qwen3 --key-for https://gpu.example/v1=GPU_API_KEY";
    for (scheduler, expected) in [
        ("slurm", "# Set GPU_API_KEY where you submit"),
        ("github", "env:\n          GPU_API_KEY: ${{ secrets.GPU_API_KEY }}\n"),
        ("kubernetes", "key: GPU_API_KEY\n"),
    ] {
        let plan = place.run(&format!("shard plan --for {scheduler} --shards 2 -- {campaign}")).code(0);
        assert!(plan.out.contains(expected), "{plan:?}");
    }
}

/// The pods have the files of the plan and no others, all in one folder.
#[test]
fn the_pods_have_what_the_campaign_names() {
    let place = Place::new();
    fs::create_dir(place.path("crm")).unwrap();
    place.write(
        "crm/tools.json",
        r#"[{"name": "pay", "description": "Pays.", "inputSchema": {"type": "object"}}]"#,
    );
    let case = "cases:\n  - {id: a, query: Pay., expect: [{do: [pay]}]}\n  - {id: b, query: Pay!, expect: [{do: [pay]}]}\n";
    place.write("crm/cases.yaml", &format!("schema: planproof/scenario/v1\ntools: tools.json\n{case}"));
    place.write("crm/agent.py", "pass");
    for (line, error) in [
        (
            "--with crm/cases.yaml -- test tools@sim/gold --scenarios crm/cases.yaml",
            "the pods have no file crm/cases.yaml",
        ),
        (
            "--with crm/cases.yaml -- test tools@sim/gold --scenarios cases.yaml",
            "the pods have no file tools.json",
        ),
        (
            "--with crm/cases.yaml -- test tools@sim/gold --scenarios=crm/cases.yaml",
            "the pods have no file crm/cases.yaml",
        ),
    ] {
        let run = place.run(&format!("shard plan --for kubernetes --shards 2 {line}")).code(2);
        assert!(run.err.contains(error), "{run:?}");
    }
    let program = ["--with", "crm/cases.yaml", "--", "test", "command:python crm/agent.py", "--seed", "7"];
    let line: Vec<&str> =
        ["shard", "plan", "--for", "kubernetes", "--shards", "2"].into_iter().chain(program).collect();
    let run = place.run_words(&line).code(2);
    assert!(run.err.contains("add `--with crm/agent.py`"), "{run:?}");
    let both = "--with crm/cases.yaml --with crm/tools.json -- test tools@sim/gold --scenarios cases.yaml";
    place.run(&format!("shard plan --for kubernetes --shards 2 {both}")).code(0);
}

/// A stand-in that follows the rules of an Indexed Job: a pod for each index from 0, each in a container of its own
/// with the ConfigMap as its folder and the volume that all share; a pod that fails is replaced, at most so often as
/// `backoffLimitPerIndex` says for its index.
#[test]
#[ignore = "slow"]
fn an_indexed_job_whose_pods_are_killed_makes_every_run_once() {
    let place = Place::new();
    place.write("topics.txt", "ours");
    let line = "test tools@sim/careless --cases 3000 --repeat 2 --seed 7";
    let job =
        place.run(&format!("shard plan --for kubernetes --shards 4 --with topics.txt -- {line}")).code(0);
    let field = |name: &str| {
        let line = job.out.lines().find_map(|line| line.trim().strip_prefix(&format!("{name}: ")));
        line.unwrap_or_else(|| panic!("{name}: {}", job.out)).parse::<u32>().unwrap()
    };
    let (completions, backoff) = (field("completions"), field("backoffLimitPerIndex"));
    assert_eq!((completions, field("parallelism")), (4, 4));
    let script: Vec<&str> =
        job.out.lines().skip_while(|line| !line.contains("SHARD=")).take(2).map(str::trim).collect();
    let volume = place.path("volume");
    fs::create_dir(&volume).unwrap();
    let script = script.join("\n").replace("/shards/", &format!("{}/", volume.display()));
    let path = path();
    let pod = |index: u32, attempt: u32| {
        let container = place.path(&format!("pod-{index}-{attempt}"));
        fs::create_dir(&container).unwrap();
        fs::copy(place.path("topics.txt"), container.join("topics.txt")).unwrap();
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", &format!("exec sh -c '{}'", script.replace('\'', "'\\''"))]);
        shell.current_dir(container).env("PATH", &path).env("JOB_COMPLETION_INDEX", index.to_string());
        shell.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    let mut killed = 0;
    std::thread::scope(|scope| {
        let run_index = |index: u32| {
            let mut killed = 0;
            for attempt in 0..=backoff {
                let mut process = pod(index, attempt);
                // The first two pods of an index are killed, unless they are done by then.
                if attempt < 2 {
                    sleep(Duration::from_millis(u64::from(150 + 130 * index + 70 * attempt)));
                    let _ = std::process::Command::new("pkill")
                        .args(["-KILL", "-P", &process.id().to_string()])
                        .status();
                    let _ = process.kill();
                }
                let status = process.wait().unwrap();
                killed += u32::from(attempt < 2 && !status.success());
                if status.success() {
                    return killed;
                }
            }
            panic!("index {index} failed more often than its backoff limit allows");
        };
        let indexes: Vec<_> = (0..completions).map(|index| scope.spawn(move || run_index(index))).collect();
        killed = indexes.into_iter().map(|index| index.join().unwrap()).sum();
    });
    assert!(killed >= 4, "only {killed} pods were killed in time");
    place.run("runs merge volume/1.db volume/2.db volume/3.db volume/4.db --into all.db").code(0);
    place.run(&format!("{line} --store one.db -q")).code(1);
    for format in ["traces", "verdicts"] {
        assert_eq!(export(&place, "one.db", format), export(&place, "all.db", format), "{format}");
    }
}

/// Keys come from where the scheduler keeps secrets, files of the campaign from a ConfigMap, and the plan says what a
/// shard is likely to cost. Nothing asks the model, and no run store is left behind.
#[test]
fn plans_name_keys_hold_files_and_foresee_costs() {
    let place = Place::new();
    place.write("agent.py", "print(\"a: b\")\n\t# end \n");
    let plan = |scheduler: &str| {
        let campaign = "test react@openai/gpt-5-mini --cases 400 --seed 7 --max-cost 1";
        place.run(&format!("shard plan --for {scheduler} --shards 4 -- {campaign}")).code(0)
    };
    let kubernetes = plan("kubernetes --with agent.py");
    insta::assert_snapshot!(format!("{}---- stderr\n{}", kubernetes.out, kubernetes.err));
    assert!(plan("github").out.contains("env:\n          OPENAI_API_KEY: ${{ secrets.OPENAI_API_KEY }}\n"));
    assert!(plan("slurm").out.contains("# Set OPENAI_API_KEY where you submit"));
    assert!(!place.path(".planproof").exists(), "nothing is stored");
    // Other cases are made here as well, and the model that stands in is handed their answers.
    let own = "schema: planproof/scenario/v1
tools:
  - {name: get_order, description: Looks up an order., arguments: {order_id: integer}}
  - {name: refund, description: Refunds an order., arguments: {order_id: integer}}
cases:
  - {id: a, query: Refund order 17. Check it first., expect: [{do: [get_order, refund]}]}
  - {id: b, query: Refund order 18. Check it first., expect: [{do: [get_order, refund]}]}
";
    place.write("own.yaml", own);
    for (line, runs) in [
        ("bench gsm8k react@openai/gpt-5-mini --limit 5 --repeat 3", "2 shards of up to 9 runs each"),
        ("test tools@openai/gpt-5-mini --scenarios own.yaml", "2 shards of up to 1 runs each"),
    ] {
        let plan = place.run(&format!("shard plan --for slurm --shards 2 -- {line}")).code(0);
        assert!(plan.err.contains(runs), "{plan:?}");
        assert!(plan.err.contains("expected of a run, with sim/gold in place of the model: "), "{plan:?}");
        assert!(plan.err.contains(" tokens read, ") && plan.err.contains("; of all: "), "{plan:?}");
    }
    for (line, why) in [
        ("bench gsm8k react@openai/gpt-5-mini --data nowhere.jsonl", "the cases cannot be made here: "),
        ("bench gsm8k react@sim/gold", "the agent asks no model behind a server"),
        ("test command:true --seed 7", "the agent is a program, and a plan starts none"),
    ] {
        let plan = place.run(&format!("shard plan --for slurm --shards 2 -- {line}")).code(0);
        assert!(plan.err.contains(&format!("no estimate of tokens: {why}")), "{plan:?}");
    }
    assert!(!place.path(".planproof").exists(), "nothing is stored");
    place.write("no text", "");
    for (files, error) in [
        ("--with agent.py --with ./agent.py", "another file has the same name"),
        ("--with nowhere.py", "--with nowhere.py: "),
        ("--with .", "--with .: "),
        ("--with /dev/zero", "it is a device"),
    ] {
        let run = place
            .run(&format!("shard plan --for kubernetes --shards 2 {files} -- test tools@sim/gold"))
            .code(2);
        assert!(run.err.contains(error), "{run:?}");
    }
    let run = [
        "shard",
        "plan",
        "--for",
        "kubernetes",
        "--shards",
        "2",
        "--with",
        "no text",
        "--",
        "test",
        "tools@sim/gold",
    ];
    assert!(place.run_words(&run).code(2).err.contains("rename it"));
}
