//! Agents that try to cheat, or to harm what runs beside them, as real processes: without isolation they do, which is
//! what shows that the attacks are some; with it they do not, and the report says what held.
//!
//! They need Python 3, and a system that lets this user, and a common user where this one is the superuser, have
//! namespaces. Where that is missing a test is *ignored*, which the usual harness cannot say at run time.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use libtest_mimic::Trial;
use serde_json::Value;

use crate::support::{self, Place, Run};
use crate::venvs::timed;

/// Cases of a campaign: enough that no order by chance is right in all of them.
const CASES: &str = "8";

/// The time of two runs of a few seconds each, on a machine that does other things as well.
const LONG: Duration = Duration::from_secs(60);

/// How long what is to have ended is looked at.
const LOOK: Duration = Duration::from_millis(500);

/// Attacks that take seconds each: without `PLANPROOF_CI` they are ignored.
const SLOW: [&str; 7] = [
    "finished_runs_are_not_rewritten",
    "half_sent_requests_starve_nobody",
    "memory_is_that_of_all_processes",
    "memory_that_is_shared_or_reserved_counts_once_or_not",
    "memory_without_end_is_the_agents_failure",
    "nothing_outlives_its_run",
    "who_stops_everything_reaches_its_time",
];

/// Who runs planproof.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whom {
    /// Whoever runs the tests.
    Us,
    /// A common user, where the superuser runs the tests.
    Nobody,
}

/// Which isolation is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    Strict,
    Best,
    None,
}

/// Makes an attack on the ground that it is given, with isolation and without.
type Attack = fn(&Ground);

pub(crate) fn trials() -> Vec<Trial> {
    let attacks: [(&str, Attack); 16] = [
        ("the_answers_of_the_store_are_not_read", answers_are_not_read),
        ("cases_are_not_recomputed", cases_are_not_recomputed),
        ("memory_and_environment_are_closed", memory_is_closed),
        ("finished_runs_are_not_rewritten", runs_are_not_rewritten),
        ("a_sibling_is_not_found", a_sibling_is_not_found),
        ("half_sent_requests_starve_nobody", half_sent_requests_starve_nobody),
        ("nothing_outlives_its_run", nothing_outlives_its_run),
        ("nothing_outlives_planproof", nothing_outlives_planproof),
        ("nobody_else_is_killed", nobody_else_is_killed),
        ("the_kernel_is_not_controlled", the_kernel_is_not_controlled),
        ("nothing_is_put_beside_planproof", nothing_is_put_beside_planproof),
        ("who_stops_everything_reaches_its_time", who_stops_everything_reaches_its_time),
        ("memory_without_end_is_the_agents_failure", memory_has_an_end),
        ("memory_is_that_of_all_processes", memory_is_of_all_processes),
        ("memory_that_is_shared_or_reserved_counts_once_or_not", shared_memory_counts_once),
        ("a_worker_is_replaced_that_took_too_much_memory", greedy_worker_is_replaced),
    ];
    let is_ci = std::env::var_os("PLANPROOF_CI").is_some_and(|value| !value.is_empty());
    let mut trials = Vec::new();
    for whom in [Whom::Us, Whom::Nobody] {
        let works = whom.can_be_isolated();
        for (name, attack) in attacks {
            let test = move || {
                attack(&Ground { whom });
                Ok(())
            };
            let is_left_out = !works || SLOW.contains(&name) && !is_ci;
            trials.push(
                timed(format!("isolation::{name}{}", whom.suffix()), test).with_ignored_flag(is_left_out),
            );
        }
        let test = move || {
            ordinary_agents_notice_nothing(&Ground { whom });
            Ok(())
        };
        let name = format!("isolation::ordinary_agents_notice_nothing{}", whom.suffix());
        trials.push(timed(name, test).with_ignored_flag(!works));
    }
    let is_superuser = rustix::process::geteuid().is_root() && has("setpriv");
    for (name, test) in [
        ("where_namespaces_are_forbidden_landlock_hides_what_it_can", landlock_hides_what_it_can as fn()),
        ("where_namespaces_are_forbidden_strict_runs_nothing", strict_runs_nothing),
    ] {
        let trial = timed(format!("isolation::{name}"), move || {
            test();
            Ok(())
        });
        trials.push(trial.with_ignored_flag(!is_superuser || !Whom::Us.can_be_isolated()));
    }
    trials
}

impl How {
    fn as_str(self) -> &'static str {
        match self {
            Self::Strict => "strict",
            Self::Best => "best",
            Self::None => "none",
        }
    }
}

impl Whom {
    fn suffix(self) -> &'static str {
        match self {
            Self::Us => "",
            Self::Nobody => "_as_a_common_user",
        }
    }

    /// A command of this user's.
    fn command(self, program: &str) -> Command {
        match self {
            Self::Us => Command::new(program),
            Self::Nobody => {
                let mut command = Command::new("setpriv");
                command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "--", program]);
                command
            }
        }
    }

    /// Whether there is what the tests need, the namespaces among it.
    fn can_be_isolated(self) -> bool {
        if self == Self::Nobody && !(rustix::process::geteuid().is_root() && has("setpriv")) {
            return false;
        }
        let mut kinds = vec!["--mount", "--pid", "--fork"];
        if self == Self::Nobody || !rustix::process::geteuid().is_root() {
            kinds.insert(0, "--user");
        }
        let quiet = |mut command: Command| {
            command.stdout(Stdio::null()).stderr(Stdio::null());
            command.status().is_ok_and(|status| status.success())
        };
        let mut namespaces = self.command("unshare");
        namespaces.args(kinds).arg("true");
        // The folders above it may be closed to a common user.
        let mut planproof = self.command("test");
        planproof.args(["-x", env!("CARGO_BIN_EXE_planproof")]);
        has("unshare") && quiet(namespaces) && quiet(planproof) && python().is_file()
    }
}

fn has(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// That of the system, which every user can run.
fn python() -> PathBuf {
    PathBuf::from("/usr/bin/python3")
}

/// Where attacks are made.
struct Ground {
    whom: Whom,
}

/// What came of one.
struct Came {
    place: Place,
    whom: Whom,
    run: Run,
}

impl Ground {
    fn place(&self) -> Place {
        let place = Place::new();
        place.write("agent.py", include_str!("isolation/agent.py"));
        if self.whom == Whom::Nobody {
            fs::set_permissions(place.path(""), fs::Permissions::from_mode(0o777)).unwrap();
        }
        place
    }

    /// `planproof test` of the agent that makes this attack.
    fn command(&self, place: &Place, attack: &str, how: How, options: &str) -> Command {
        let agent = format!(
            "command:{} agent.py {attack} {} {}",
            python().display(),
            place.path(".planproof/runs.db").display(),
            env!("CARGO_BIN_EXE_planproof"),
        );
        let words = ["test", &agent, "--json", "-q", "--isolate", how.as_str()];
        let mut command = self.whom.command(env!("CARGO_BIN_EXE_planproof"));
        let asked = place.command(&[]);
        command.args(words).args(options.split_whitespace()).current_dir(place.path(""));
        for (name, value) in asked.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command
    }

    fn attack(&self, attack: &str, how: How, options: &str) -> Came {
        let place = self.place();
        let run = Run::of(self.command(&place, attack, how, options), "");
        Came { place, whom: self.whom, run }
    }
}

impl Came {
    /// What the runs found, one of all.
    fn found(&self) -> Vec<String> {
        let found = fs::read_to_string(self.place.path("found")).unwrap_or_default();
        let mut found: Vec<String> = found.lines().map(str::to_owned).collect();
        found.sort();
        found.dedup();
        found
    }

    #[track_caller]
    fn report(&self) -> Value {
        self.run.json()
    }

    /// The report for people.
    fn shown(&self) -> String {
        let mut command = self.whom.command(env!("CARGO_BIN_EXE_planproof"));
        command.args(["runs", "show", "last"]).current_dir(self.place.path(""));
        Run::of(command, "").out
    }

    /// That the report, in JSON and for people, says that these layers held.
    #[track_caller]
    fn assert_held(&self, layers: &[(&str, &str)]) {
        let report = self.report();
        let held: Vec<&str> =
            report["isolation"]["held"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
        let shown = self.shown();
        let line = shown.lines().find(|line| line.starts_with("isolation: ")).unwrap_or_default();
        for (key, words) in layers {
            assert!(held.contains(key) && line.contains(words), "{key}: {held:?}, {line}");
        }
        if layers.is_empty() {
            assert!(held.is_empty() && line.starts_with("isolation: none; "), "{held:?}, {line}");
        }
    }
}

const FILES: (&str, &str) = ("mount_namespace", "mount namespace");
const PROCESSES: (&str, &str) = ("pid_namespace", "process namespace");
const CLOSED: (&str, &str) = ("not_dumpable", "not dumpable");
const SEED: (&str, &str) = ("secret_seed", "secret seed");

/// All pass if the answers are known, and not all if not.
#[track_caller]
fn assert_passed_all(came: &Came, all: bool) {
    let report = came.report();
    assert_eq!(report["failed"] == 0 && report["passed"] == 8, all, "{report}");
}

fn answers_are_not_read(ground: &Ground) {
    let options = format!("--cases {CASES}");
    let came = ground.attack("answers", How::None, &options);
    assert_eq!(came.found(), ["answers"]);
    assert_passed_all(&came, true);
    came.assert_held(&[]);
    for how in [How::Best, How::Strict] {
        let came = ground.attack("answers", how, &options);
        assert_eq!(came.found(), ["nothing"]);
        assert_passed_all(&came, false);
        came.assert_held(&[FILES, SEED]);
    }
}

/// The seed stands on the command line, and is in the store.
fn cases_are_not_recomputed(ground: &Ground) {
    let options = format!("--cases {CASES} --seed 11");
    let came = ground.attack("recomputed", How::None, &options);
    assert_eq!(came.found(), ["recomputed"]);
    assert_passed_all(&came, true);
    let came = ground.attack("recomputed", How::Best, &options);
    assert_eq!(came.found(), ["nothing"]);
    assert_passed_all(&came, false);
    came.assert_held(&[FILES, PROCESSES]);
    // Without one it is another each time.
    let seeds: Vec<Value> = [0, 1]
        .map(|_| {
            let came = ground.attack(
                "recomputed",
                How::Best,
                "--cases 1 --record r.jsonl --serve-model sim/perfect",
            );
            let recorded = fs::read_to_string(came.place.path("r.jsonl")).unwrap();
            let notes = support::json_lines(&recorded);
            let note = notes.iter().find(|note| note["type"] == "campaign").unwrap();
            note["options"]["seed"].clone()
        })
        .to_vec();
    assert!(seeds[0].is_string() && seeds[0] != seeds[1], "{seeds:?}");
}

fn memory_is_closed(ground: &Ground) {
    let came = ground.attack("memory", How::None, "--cases 2");
    let found = came.found();
    assert!(found == ["memory"] || found == ["environment"], "{found:?}");
    let came = ground.attack("memory", How::Best, "--cases 2");
    assert_eq!(came.found(), ["nothing"]);
    came.assert_held(&[PROCESSES, CLOSED]);
}

fn runs_are_not_rewritten(ground: &Ground) {
    // The figures of the store, against those of the campaign when it ended, and whether the store is said to be
    // damaged.
    let figures = |came: &Came| {
        let mut command = ground.whom.command(env!("CARGO_BIN_EXE_planproof"));
        command.args(["runs", "list", "--json"]).current_dir(came.place.path(""));
        let listed = Run::of(command, "");
        let kept = support::json_lines(&listed.out);
        let is_damaged = listed.code == 3 && listed.err.contains("damaged: campaign ");
        (kept[0]["passed"].clone(), is_damaged)
    };
    let options = format!("--cases {CASES} --concurrency 1");
    let came = ground.attack("rewritten", How::None, &options);
    assert!(came.found().contains(&"rewritten".to_owned()), "{:?}", came.found());
    // The attack changes the file, but not unseen: the campaign's own process says so at its end, and whoever reads the
    // store after it.
    assert!(came.run.code == 3 && came.run.err.contains("finished runs were changed"), "{:?}", came.run);
    assert!(figures(&came).1, "the store is damaged");
    let came = ground.attack("rewritten", How::Best, &options);
    assert_eq!(came.found(), ["nothing"]);
    let (kept, is_damaged) = figures(&came);
    assert!(kept == came.report()["passed"] && !is_damaged, "{kept} {is_damaged}");
    came.assert_held(&[FILES]);
}

fn a_sibling_is_not_found(ground: &Ground) {
    let options = "--cases 4 --concurrency 2";
    let came = ground.attack("sibling", How::None, options);
    assert_eq!(came.found(), ["sibling"]);
    let came = ground.attack("sibling", How::Best, options);
    assert_eq!(came.found(), ["nothing"]);
    came.assert_held(&[PROCESSES]);
}

/// What holds here are limits of the servers, with isolation and without.
fn half_sent_requests_starve_nobody(ground: &Ground) {
    for how in [How::None, How::Best] {
        let place = ground.place();
        let mut command = ground.command(&place, "starving", how, "--cases 4 --concurrency 2");
        // With as many open files as one agent could use up alone.
        let words = command.get_args().map(std::ffi::OsStr::to_owned).collect::<Vec<_>>();
        let program = command.get_program().to_owned();
        let mut limited = Command::new("sh");
        limited.args(["-c", "ulimit -n 250; exec \"$@\"", "sh"]).arg(program).args(words);
        command = limited;
        command.current_dir(place.path(""));
        let run = Run::of(command, "");
        let came = Came { place, whom: ground.whom, run };
        assert_eq!(came.found(), ["served"], "{how:?}: {:?}", came.run);
        assert_eq!(came.report()["unscored"], 0);
    }
}

/// Whether what was left behind still lives a while from now.
fn beats(place: &Place) -> bool {
    let beat = || fs::read_to_string(place.path("beat")).unwrap_or_default();
    let before = beat();
    thread::sleep(LOOK);
    beat() != before
}

fn nothing_outlives_its_run(ground: &Ground) {
    let came = ground.attack("outliving", How::None, "--cases 1");
    assert!(beats(&came.place));
    let came = ground.attack("outliving", How::Best, "--cases 1");
    assert!(came.place.path("beat").exists() && !beats(&came.place));
    came.assert_held(&[PROCESSES]);
}

/// Neither where planproof can end nothing any more.
fn nothing_outlives_planproof(ground: &Ground) {
    for (how, outlives) in [(How::None, true), (How::Best, false)] {
        let place = ground.place();
        // The agent goes on for as long as its program does, which waits for what it has left behind.
        let agent = fs::read_to_string(place.path("agent.py")).unwrap();
        let agent = agent.replace("return found(\"left one behind\")", "time.sleep(600)");
        place.write("agent.py", &agent);
        let mut command = ground.command(&place, "outliving", how, "--cases 1");
        let mut running: Child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        until("it beats", || place.path("beat").exists());
        // What started planproof as another user has become it.
        support::send(&running, "KILL");
        running.wait().unwrap();
        thread::sleep(LOOK);
        assert_eq!(beats(&place), outlives, "{how:?}");
    }
}

fn nobody_else_is_killed(ground: &Ground) {
    let options = "--cases 3 --concurrency 1";
    // Who starts a program without a launcher is planproof itself.
    let came = ground.attack("killing", How::None, &format!("{options} --agent-memory none"));
    assert_eq!((came.run.code, came.found().len()), (-1, 0), "planproof was killed: {:?}", came.run);
    let came = ground.attack("killing", How::Best, options);
    assert_eq!(came.found(), ["alone"]);
    assert_eq!(came.report()["unscored"], 0);
    came.assert_held(&[PROCESSES]);
}

/// Whether this process sees such a file system that can be written to.
fn has_open_controls() -> bool {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    mounts.lines().any(|line| line.contains(" /sys") && line.split(' ').nth(5).unwrap().starts_with("rw"))
}

/// The next command would start what lies beside planproof under the name of its launcher.
fn nothing_is_put_beside_planproof(ground: &Ground) {
    let came = ground.attack("planting", How::None, "--cases 1");
    assert_eq!(came.found() == ["planted"], ground.whom == Whom::Us, "{:?}", came.found());
    for how in [How::Best, How::Strict] {
        let came = ground.attack("planting", how, "--cases 1");
        assert_eq!(came.found(), ["nothing"], "{how:?}: {:?}", came.run);
        came.assert_held(&[FILES]);
    }
}

fn the_kernel_is_not_controlled(ground: &Ground) {
    let came = ground.attack("controlling", How::None, "--cases 1");
    assert_eq!(came.found() != ["nothing"], has_open_controls(), "{:?}", came.found());
    for how in [How::Best, How::Strict] {
        let came = ground.attack("controlling", how, "--cases 1");
        assert_eq!(came.found(), ["nothing"], "{how:?}: {:?}", came.run);
        came.assert_held(&[FILES]);
    }
}

fn who_stops_everything_reaches_its_time(ground: &Ground) {
    let begun = Instant::now();
    let came = ground.attack("stopping", How::Strict, "--cases 2 --concurrency 1 --timeout 3");
    assert_eq!(came.found(), ["stopped"], "{:?}", came.run);
    let report = came.report();
    assert_eq!((&report["classes"]["timeout"], &report["unscored"]), (&2.into(), &0.into()), "{report}");
    assert!(begun.elapsed() < LONG, "{:?}", begun.elapsed());
}

/// Runs that use so many MiB and are allowed 160, with and without namespaces, and one that is allowed all it wants.
fn memory_is_limited(ground: &Ground, attack: &str, all: &str) {
    for how in [How::None, How::Best] {
        let came = ground.attack(attack, how, "--cases 2 --concurrency 1 --agent-memory 160MiB");
        assert_eq!(came.found(), ["nothing"], "{how:?}: {:?}", came.run);
        let report = came.report();
        assert_eq!((&report["failed"], &report["classes"]["act_error"]), (&2.into(), &2.into()), "{report}");
        assert_eq!(report["isolation"]["memory_bytes"], 160 << 20);
        let why = "the command used more than 160 MiB of memory, its limit (--agent-memory)";
        let shown = came.shown();
        let says =
            |line: &str| line.starts_with("isolation: ") && line.ends_with("; at most 160 MiB of memory");
        assert!(shown.lines().any(says) && shown.contains(why), "{shown}");
        assert!(!beats(&came.place), "{how:?}: something is left");
        let came = ground.attack(attack, how, "--cases 1 --agent-memory none");
        assert_eq!(came.found(), ["nothing", all], "{how:?}: {:?}", came.run);
        assert_eq!(came.report()["isolation"]["memory_bytes"], Value::Null);
    }
}

fn memory_has_an_end(ground: &Ground) {
    memory_is_limited(ground, "hoarding", "took 400 MiB");
}

/// Each is below the limit, and half of them have left the process group and their parent.
fn memory_is_of_all_processes(ground: &Ground) {
    memory_is_limited(ground, "hoarding_together", "took 4 times 60 MiB");
}

/// Nor is what a program starts counted twice while it shares the memory of its parent.
fn shared_memory_counts_once(ground: &Ground) {
    for how in [How::None, How::Best] {
        let came = ground.attack("sharing", how, "--cases 1 --agent-memory 160MiB");
        assert_eq!(came.found(), ["shared"], "{how:?}: {:?}", came.run);
        assert_eq!(came.report()["classes"]["act_error"], 0);
    }
}

fn greedy_worker_is_replaced(ground: &Ground) {
    for how in [How::None, How::Best] {
        let place = ground.place();
        place.write("worker.py", include_str!("isolation/worker.py"));
        let agent = format!("worker:{} worker.py", python().display());
        let mut command = ground.whom.command(env!("CARGO_BIN_EXE_planproof"));
        command.args([
            "test",
            &agent,
            "--json",
            "-q",
            "--cases",
            "4",
            "--concurrency",
            "1",
            "--agent-memory",
        ]);
        command.args(["160MiB", "--isolate", how.as_str()]).current_dir(place.path(""));
        command.env("PLANPROOF_CONFIG", "none");
        let run = Run::of(command, "");
        let came = Came { place, whom: ground.whom, run };
        let report = came.report();
        assert_eq!(
            (&report["classes"]["act_error"], &report["unscored"]),
            (&1.into(), &0.into()),
            "{report}"
        );
        let why =
            "the worker used more than 160 MiB of memory, its limit (--agent-memory), before it answered";
        let shown = came.shown();
        assert!(shown.contains(why), "{shown}");
        // The first worker had two tasks, and the second of them was its last.
        let tasks = fs::read_to_string(came.place.path("tasks")).unwrap();
        let tasks: Vec<&str> = tasks.lines().collect();
        assert!(tasks[0] == tasks[1] && tasks[1] != tasks[2] && tasks[2] == tasks[3], "{tasks:?}");
    }
}

/// What any agent may do still works: its folder, the system's programs, caches, temporary files, devices, its own
/// processes, and its end by a status or a signal.
fn ordinary_agents_notice_nothing(ground: &Ground) {
    let place = ground.place();
    fs::create_dir(place.path("elsewhere")).unwrap();
    fs::set_permissions(place.path("elsewhere"), fs::Permissions::from_mode(0o777)).unwrap();
    let script = "import os, subprocess, sys, tempfile, threading\n\
        assert os.getcwd().endswith('elsewhere'), os.getcwd()\n\
        open('made', 'w').write('x'); os.rename('made', 'kept'); assert open('kept').read() == 'x'\n\
        os.makedirs(os.path.expanduser('~/.cache/agent'), exist_ok=True)\n\
        open(os.path.expanduser('~/.cache/agent/x'), 'w').close()\n\
        with tempfile.NamedTemporaryFile() as file: file.write(b'x')\n\
        assert subprocess.run(['sh', '-c', 'echo $((6 * 7)) | cat'], capture_output=True).stdout == b'42\\n'\n\
        assert len(os.urandom(8)) == 8 and open('/dev/null', 'wb').write(b'x') == 1\n\
        open('/etc/passwd').read(); assert os.path.exists('/proc/self/status')\n\
        assert os.readlink('/proc/self') == str(os.getpid())\n\
        child = subprocess.Popen(['sleep', '600']); child.terminate(); assert child.wait() == -15\n\
        threading.Thread(target=print).start()\n\
        print('All is as usual.', sys.argv[1]); sys.stderr.write('a word\\n'); sys.exit(int(sys.argv[1]))\n";
    place.write("elsewhere/agent.py", script);
    let home = place.path("elsewhere");
    for (status, why) in [("0", "All is as usual. 0"), ("3", "exit status: 3; its stderr ends with:\na word")]
    {
        let agent = format!("command:{} agent.py {status}", python().display());
        let mut command = ground.command(&place, "answers", How::Strict, "--cases 1 --cwd elsewhere");
        let arguments: Vec<_> = command.get_args().map(std::ffi::OsStr::to_owned).collect();
        let mut again = Command::new(command.get_program());
        for argument in arguments {
            let is_agent = argument.to_string_lossy().starts_with("command:");
            again.arg(if is_agent { agent.clone().into() } else { argument });
        }
        again.current_dir(place.path("")).env("HOME", &home).env("NO_COLOR", "1");
        command = again;
        let run = Run::of(command, "");
        assert!(run.out.contains(&serde_json::to_string(why).unwrap()[1..20]), "{run:?}");
        assert!(run.err.contains(why.lines().next().unwrap()), "{run:?}");
    }
}

/// planproof without the right to have namespaces, which the superuser needs; `options` are words of its own.
fn without_namespaces(place: &Place, agent: &str, options: &[&str]) -> Run {
    let mut command = Command::new("setpriv");
    command.args(["--bounding-set=-sys_admin", "--", env!("CARGO_BIN_EXE_planproof"), "test", agent]);
    command.args(["--cases", CASES, "-q", "--json"]).args(options);
    // Programs make new files there, where Landlock could hide nothing.
    command.current_dir(place.path("work")).env("HOME", place.path("work")).env("TMPDIR", place.path("work"));
    Run::of(command, "")
}

fn landlock_hides_what_it_can() {
    let place = Place::new();
    for folder in ["work", "kept"] {
        fs::create_dir(place.path(folder)).unwrap();
    }
    place.write("work/agent.py", include_str!("isolation/agent.py"));
    for (store, is_hidden) in [("kept/runs.db", true), ("work/runs.db", false)] {
        let store = place.path(store);
        let agent = format!(
            "command:{} agent.py answers {} {}",
            python().display(),
            store.display(),
            env!("CARGO_BIN_EXE_planproof")
        );
        let run = without_namespaces(&place, &agent, &["--store", store.to_str().unwrap()]);
        let report = run.json();
        let isolation = &report["isolation"];
        let missing = &isolation["missing"];
        assert!(
            missing["mount_namespace"].is_string() && missing["pid_namespace"].is_string(),
            "{isolation}"
        );
        if missing["landlock"].is_string() {
            // This kernel has none.
            return;
        }
        assert_eq!(isolation["store_hidden"], is_hidden, "{isolation}");
        assert_eq!(report["passed"] == 8, !is_hidden, "{report}");
        assert_eq!(missing["secret_seed"].is_null(), is_hidden, "{isolation}");
    }
}

fn strict_runs_nothing() {
    let place = Place::new();
    fs::create_dir(place.path("work")).unwrap();
    let run = without_namespaces(&place, "command:touch begun", &["--isolate", "strict"]);
    assert_eq!(run.code, 3, "{run:?}");
    let says = "error: --isolate strict: this machine does not offer mount namespace (namespaces: EPERM";
    assert!(run.err.starts_with(says), "{run:?}");
    assert!(!place.path("work/begun").exists() && !Path::new(&place.path("work/.planproof")).exists());
}

#[track_caller]
fn until(what: &str, mut look: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !look() {
        assert!(begun.elapsed() < Duration::from_secs(60), "in a minute it did not come to this: {what}");
        thread::sleep(Duration::from_millis(10));
    }
}
