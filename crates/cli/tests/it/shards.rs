//! A campaign cut into shards, and the shards merged: `--shard`, `runs merge`.

use std::fs;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Place, json_lines};

const LINE: &str = "test tools@sim/careless --cases 60 --repeat 2 --seed 7 -q";

/// Runs these shards, each into a store of its own.
fn shards(place: &Place, line: &str, numbers: &[u32], count: u32) {
    for number in numbers {
        let run = place.run(&format!("{line} --shard {number}/{count} --store s{number}.db"));
        assert!([0, 1].contains(&run.code), "{run:?}");
    }
}

fn export(place: &Place, store: &str, format: &str) -> String {
    place.run(&format!("runs export last --format {format} --store {store}")).code(0).out
}

#[test]
fn merged_shards_are_the_campaign_of_one_machine() {
    let place = Place::new();
    place.run(&format!("{LINE} --store one.db")).code(1);
    shards(&place, LINE, &[1, 2, 3], 3);
    let all = place.run("runs merge s3.db s1.db s2.db --into all.db --json").code(0).json();
    assert_eq!((&all["cases"], &all["runs"], &all["missing"]), (&json!(60), &json!(120), &json!([])));
    for format in ["traces", "verdicts", "cases"] {
        assert_eq!(export(&place, "one.db", format), export(&place, "all.db", format), "{format}");
    }
    let report = |store: &str| {
        let mut report = place.run(&format!("runs show last --json -q --store {store}")).code(0).json();
        let of_one = [
            "seal",
            "campaign",
            "synthesis_seconds",
            "agent_seconds",
            "run_seconds",
            "solver",
            "wall_seconds",
        ];
        of_one.iter().for_each(|key| drop(report.as_object_mut().unwrap().remove(*key)));
        report
    };
    assert_eq!(report("one.db"), report("all.db"));
    // Each case is in one shard, and no shard has more than one case too many.
    let cases = |store: &str| json_lines(&export(&place, store, "cases")).len();
    assert_eq!(["s1.db", "s2.db", "s3.db"].map(cases), [20; 3]);
    let verified = place.run("runs verify last --store all.db").code(0);
    assert!(verified.out.contains(all["seal"].as_str().unwrap()), "{verified:?}");
    // The same merge again, and the merged campaign as a baseline.
    place.run("runs merge s1.db s2.db s3.db --into all.db").code(0);
    assert_eq!(export(&place, "one.db", "traces"), export(&place, "all.db", "traces"));
    place.run("runs export last --baseline b.json --store all.db").code(0);
    place
        .run("test tools@sim/careless --cases 60 --repeat 2 --seed 7 -q --baseline b.json --margin 30%")
        .code(0);
}

/// What is asked about the campaign as a whole is asked after the merge, with the same documents.
#[test]
fn a_dissection_of_merged_shards_is_that_of_one_machine() {
    let place = Place::new();
    let line = "test tools@sim/careless --cases 40 --actions 4..6 --seed 7 -q";
    place.run(&format!("{line} --store one.db")).code(1);
    shards(&place, line, &[1, 2, 3], 3);
    place.run("runs merge s1.db s2.db s3.db --into all.db").code(0);
    let dissected = |store: &str| {
        let line = format!("test --resume last --dissect --dissect-max 4 --json -q --store {store}");
        let mut report = place.run(&line).code(1).json();
        let of_one = ["seal", "synthesis_seconds", "agent_seconds", "run_seconds", "solver"];
        of_one.iter().for_each(|key| drop(report.as_object_mut().unwrap().remove(*key)));
        // The id of its trials, which is made of that of the campaign.
        report["dissection"].as_object_mut().unwrap().remove("campaign").unwrap();
        report
    };
    let one = dissected("one.db");
    assert!(one["dissection"]["taken"].as_u64().is_some_and(|taken| taken > 0), "{one}");
    assert_eq!(one, dissected("all.db"));
}

#[test]
fn a_merge_says_what_is_missing_and_what_runs_it() {
    let place = Place::new();
    place.run(&format!("{LINE} --store one.db")).code(1);
    shards(&place, LINE, &[1, 3], 3);
    let part = place.run("runs merge s1.db s3.db --into all.db").code(3);
    assert!(part.out.contains("80 runs of 40 cases from 2 of 3 shards"), "{part:?}");
    let missing = part.out.lines().find(|line| line.starts_with("shard 2/3 is missing: ")).unwrap();
    let command =
        missing.split(" is missing: planproof ").nth(1).or(missing.split("planproof ").nth(1)).unwrap();
    place.run(&command.replace("FILE", "s2.db")).code(1);
    // A process that is killed before it has begun leaves an empty file, or a store without a campaign.
    fs::write(place.path("empty.db"), "").unwrap();
    let empty = place.run("runs merge s1.db empty.db s3.db --into all.db").code(3);
    assert!(empty.out.contains("shard 2/3 is missing: "), "{empty:?}");
    let none = place.run("runs merge empty.db --into none.db").code(2);
    assert!(none.err.contains("none of these stores holds a shard"), "{none:?}");
    // What is named has to include what is there already.
    let less = place.run("runs merge s1.db --into all.db").code(2);
    assert!(less.err.contains("it has 80 finished runs, and the named stores 40"), "{less:?}");
    place.run("runs merge s1.db s2.db s3.db --into all.db").code(0);
    assert_eq!(export(&place, "one.db", "traces"), export(&place, "all.db", "traces"));
}

#[test]
fn a_shard_resumes_by_itself_and_waits_for_its_twin() {
    let place = Place::new();
    let line = "test tools@sim/careless --cases 3000 --seed 7 -q --shard 2/2 --store s2.db";
    let mut first = place
        .command(&line.split(' ').collect::<Vec<_>>())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // Until it has finished some runs.
    let finished = || {
        let list = place.run("runs list --json -q --store s2.db");
        let row: Value = serde_json::from_str(list.out.lines().next().unwrap_or("{}")).unwrap_or_default();
        row["finished"].as_u64().unwrap_or_default()
    };
    for _ in 0..600 {
        if place.path("s2.db").exists() && finished() > 0 {
            break;
        }
        sleep(Duration::from_millis(20));
    }
    let second = place
        .command(&line.split(' ').collect::<Vec<_>>())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    first.kill().unwrap();
    first.wait().unwrap();
    let ended = second.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(1), "{ended:?}");
    // Killed before the store has its tables, a process leaves an empty file, or a file without tables.
    fs::write(place.path("s1.db"), "").unwrap();
    // One campaign, and all of its runs.
    let list = place.run("runs list --json -q --store s2.db").code(0).out;
    let rows = json_lines(&list);
    assert_eq!((rows.len(), &rows[0]["finished"]), (1, &json!(1500)));
    shards(&place, "test tools@sim/careless --cases 3000 --seed 7 -q", &[1], 2);
    place.run("runs merge s1.db s2.db --into all.db").code(0);
    place.run("test tools@sim/careless --cases 3000 --seed 7 -q --store one.db").code(1);
    assert_eq!(export(&place, "one.db", "traces"), export(&place, "all.db", "traces"));
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let place = Place::new();
    shards(&place, LINE, &[1, 2], 3);
    let other = place.run(&format!("{LINE} --allow-repeats --shard 3/3 --store s3.db"));
    assert!([0, 1].contains(&other.code), "{other:?}");
    fs::copy(place.path("s1.db"), place.path("twin.db")).unwrap();
    fs::write(place.path("half.db"), &fs::read(place.path("s1.db")).unwrap()[..5000]).unwrap();
    place.run("test tools@sim/perfect --cases 2 --store whole.db -q").code(0);
    for (line, status, error) in [
        (
            "runs merge s1.db s2.db s3.db",
            2,
            "the option repeated_fails is true in the first, and false in the second",
        ),
        ("runs merge s1.db twin.db", 2, "shard 1/3 is in s1.db"),
        ("runs merge s1.db whole.db", 2, "whole.db holds no shard"),
        ("runs merge s1.db gone.db", 2, "there is no run store gone.db"),
        ("runs merge s1.db half.db", 3, "half.db"),
    ] {
        let run = place.run(&format!("{line} --into all.db")).code(status);
        assert!(run.err.contains(error), "{run:?}");
        assert!(!place.path("all.db").exists());
    }
    let own = place.run("runs merge s1.db s2.db --into s1.db").code(2);
    assert!(own.err.contains("is one of the stores to merge"), "{own:?}");
    let taken = place.run("runs merge s1.db s2.db --into whole.db").code(2);
    assert!(taken.err.contains("which is not one of these shards"), "{taken:?}");
    for (line, error) in [
        (
            "test tools@sim/careless --cases 60 --shard 0/3",
            "write which shard of how many, from 1, as in 3/40",
        ),
        ("test tools@sim/careless --cases 60 --shard 4/3", "write which shard of how many"),
        ("test tools@sim/careless --cases 2 --shard 1/3", "there are 2 cases, and so at most 2 shards"),
        (
            "test tools@sim/careless --cases 60 --shard 1/3 --dissect",
            "--dissect does not go with --shard 1/3",
        ),
        (
            "test tools@sim/careless --cases 60 --shard 1/3 --record r.jsonl",
            "keep the answers with --cache FILE",
        ),
        (
            "test tools@sim/careless --cases 90 --repeat 2 --shard 1/3 --store s1.db",
            "the number of all cases was 60, and is 90 now",
        ),
        (
            "test tools@sim/perfect --cases 60 --repeat 2 --shard 1/3 --store s1.db",
            "the agent was tools@sim/careless, and is tools@sim/perfect now",
        ),
        ("test command:true --cases 60 --shard 1/3 --store s9.db", "name the same --seed in all of them"),
    ] {
        let run = place.run(line).code(2);
        assert!(run.err.contains(error), "{run:?}");
    }
}

#[test]
fn plans_run_a_campaign_in_shards() {
    let place = Place::new();
    place.run("test tools@sim/careless --cases 40 --seed 7 -q --store one.db").code(1);
    let path = format!(
        "{}:{}",
        std::path::Path::new(env!("CARGO_BIN_EXE_planproof")).parent().unwrap().display(),
        std::env::var("PATH").unwrap_or_default()
    );
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
    // What xargs does with the one command, GNU parallel does several times at once.
    let parallel = plan("parallel").replace("parallel --retries 3", "xargs -I{} sh -c");
    runs(&parallel, "UNUSED", ["", ""]);
    assert_eq!(export(&place, "one.db", "traces"), export(&place, "all.db", "traces"));
    for (line, error) in [
        ("--shards 3 -- test tools@sim/careless --cases 2", "there are 2 cases, and so at most 2 shards"),
        ("--shards 2 -- limit tools@sim/careless", "what it runs at a level follows from the levels before"),
        ("--shards 2 -- test command:true --cases 40", "name the --seed"),
        ("--shards 2 -- synth", "only `test` and `bench` are cut into shards"),
        ("--shards 2 -- test tools@sim/careless --cases auto --baseline x", "--cases auto is not for shards"),
        ("--shards 40 -- bench gsm8k tools@sim/gold --limit 5", "there are 5 cases, and so at most 5 shards"),
        ("--shards 2 -- test tools@sim/careless --store x.db", "leave --shard and --store out"),
        ("--shards 2 -- test tools@sim/careless --casse 2", "unexpected argument '--casse'"),
        ("--shards 0 -- test tools@sim/careless", "it must be a whole number from 1"),
        ("--shards 2 --with cases.jsonl -- test tools@sim/careless", "--with is for --for kubernetes"),
    ] {
        let run = place.run(&format!("shard plan --for slurm {line}")).code(2);
        assert!(run.err.contains(error), "{run:?}");
    }
}

/// A stand-in that follows the rules of an Indexed Job: a pod for each index from 0, each in a container of its own
/// with the ConfigMap as its folder and the volume that all share; a pod that fails is replaced, at most so often as
/// `backoffLimitPerIndex` says for its index.
#[test]
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
    let path = format!(
        "{}:{}",
        std::path::Path::new(env!("CARGO_BIN_EXE_planproof")).parent().unwrap().display(),
        std::env::var("PATH").unwrap_or_default()
    );
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
