//! `shell` and `java`, where bubblewrap works, and the player.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use libtest_mimic::Trial;
use planproof_everyday::{Confinement, Player, ProcessEnd, ProgramLimits};
use planproof_media::Endpoints;
use serde_json::{Value, json};

use crate::support::{Folder, content, done, outage, refused, tools, tools_with, trial, wait};

/// Time for a program that is to be killed for it; others have far more, so that a busy machine ends none.
const SHORT: Duration = Duration::from_secs(2);
const LONG: Duration = Duration::from_secs(120);

fn long() -> ProgramLimits {
    ProgramLimits { time: LONG, ..ProgramLimits::default() }
}

fn path() -> String {
    std::env::var("PATH").unwrap_or_default()
}

pub(crate) fn trials() -> Vec<Trial> {
    let works = wait(Confinement::find(&path())).is_ok();
    let has_python = works && Path::new("/usr/bin/python3").exists();
    let has_java = works && Path::new("/usr/bin/java").exists();
    vec![
        trial("programs::without_a_sandbox_nothing_is_run", without_a_sandbox_nothing_is_run),
        trial("programs::films_are_given_to_the_player", films_are_given_to_the_player),
        trial("programs::commands_are_run", commands_are_run).with_ignored_flag(!works),
        trial("programs::hostile_commands_reach_nothing", hostile_commands_reach_nothing)
            .with_ignored_flag(!works),
        trial("programs::limits_end_a_program", limits_end_a_program).with_ignored_flag(!works),
        trial("programs::the_limit_of_time_counts_once", the_limit_of_time_counts_once)
            .with_ignored_flag(!works),
        trial("programs::limits_count_for_one_sandbox", limits_count_for_one_sandbox)
            .with_ignored_flag(!works),
        trial("programs::calls_do_not_disturb_each_other", calls_do_not_disturb_each_other)
            .with_ignored_flag(!works),
        trial("programs::no_room_is_an_outage", no_room_is_an_outage).with_ignored_flag(!works),
        trial("programs::memory_is_that_of_a_whole_call", memory_is_that_of_a_whole_call)
            .with_ignored_flag(!has_python),
        trial("programs::nothing_is_kept_that_no_process_holds", nothing_is_kept_that_no_process_holds)
            .with_ignored_flag(!has_python),
        trial("programs::a_stopped_program_ends_at_its_time", a_stopped_program_ends_at_its_time)
            .with_ignored_flag(!works),
        trial("programs::usual_programs_notice_nothing", usual_programs_notice_nothing)
            .with_ignored_flag(!has_python),
        trial("programs::java_is_run", java_is_run).with_ignored_flag(!has_java),
        trial("programs::a_status_of_a_program_is_no_outage", a_status_of_a_program_is_no_outage)
            .with_ignored_flag(!Path::new("/usr/bin/prlimit").exists()),
    ]
}

fn without_a_sandbox_nothing_is_run() {
    let folder = Folder::new("no-sandbox");
    let empty = folder.input().display().to_string();
    let tools = tools_with(&folder, Endpoints::none(), None, long(), &empty);
    let file = folder.0.join("x");
    let text = outage(&tools, "shell", &json!({ "command": format!("touch {}", file.display()) }));
    let missing = match cfg!(target_os = "linux") {
        true => "there is no `bwrap`; install bubblewrap",
        false => "there is no bubblewrap for this system",
    };
    assert!(text.contains(missing), "{text}");
    let text = outage(&tools, "java", &json!({ "code": "class A {}" }));
    assert!(text.contains(missing), "{text}");
    assert!(!file.exists());
}

fn commands_are_run() {
    let folder = Folder::new("shell");
    let tools = tools_with(&folder, Endpoints::none(), None, long(), &path());
    let shell = |command: &str| done(&tools, "shell", &json!({ "command": command }));
    assert_eq!(shell("echo $((6 * 7)); echo oops >&2; echo end"), "42\noops\nend\n");
    assert_eq!(shell("true"), "(no output)");
    assert_eq!(shell("echo kept > a && cat a && pwd && id -u"), "kept\n/work\n65534\n");
    // Nothing of a call is there for the next.
    assert_eq!(shell("ls"), "(no output)");
    assert_eq!(refused(&tools, "shell", &json!({ "command": "echo no; exit 3" })), "no\n(exit status 3)");
    assert!(refused(&tools, "shell", &json!({ "command": "no-such-program" })).contains("(exit status 127)"));
    assert_eq!(refused(&tools, "shell", &json!({ "command": " " })), "`command` is empty: say what is meant");
    assert_eq!(refused(&tools, "shell", &json!({})), "`command` is missing");
}

fn hostile_commands_reach_nothing() {
    let folder = Folder::new("hostile-shell");
    fs::write(folder.input().join("key.txt"), "sk-canary").unwrap();
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let before = content(&folder.0);
    let tools = tools_with(&folder, Endpoints::none(), None, long(), &path());
    let file = folder.input().join("key.txt").display().to_string();
    for command in [
        format!("cat {file}"),
        format!("rm -f {file}; rm -rf {}; cat {file}", folder.0.display()),
        format!("echo x > {file}"),
        format!("exec 3<>/dev/tcp/127.0.0.1/{port}"),
        format!("bash -c 'echo x > /dev/tcp/127.0.0.1/{port}'"),
        "echo x > /usr/bin/x".to_owned(),
        "echo x > /etc/x".to_owned(),
        "mount -t tmpfs x /usr".to_owned(),
        "cat ~/.ssh/id_rsa".to_owned(),
        "kill -9 -- -1; ls /proc/1/root/home".to_owned(),
        "mknod /tmp/sda b 8 0".to_owned(),
        "chroot /".to_owned(),
        "unshare -r true".to_owned(),
    ] {
        let result = crate::support::call(&tools, "shell", &json!({ "command": command }));
        assert!(result.is_error || result.text == "(no output)", "{command}: {}", result.text);
        assert!(!result.text.contains("sk-canary"), "{command}: {}", result.text);
        assert_eq!(content(&folder.0), before, "{command}");
        assert!(listener.accept().is_err(), "{command}");
    }
    // Neither our variables nor other processes are there.
    let seen = done(&tools, "shell", &json!({ "command": "env | sort; ls /proc | grep -c '^[0-9]'" }));
    assert!(!seen.contains("CARGO") && seen.contains("HOME=/work"), "{seen}");
    let processes: u32 = seen.lines().last().unwrap().parse().unwrap();
    assert!(processes < 10, "{seen}");
    assert_eq!(planproof_suite::Toolbox::outage(&tools), None);
}

fn limits_end_a_program() {
    let folder = Folder::new("limits");
    let short = ProgramLimits { time: SHORT, output_bytes: 10_000, ..ProgramLimits::default() };
    let tools = tools_with(&folder, Endpoints::none(), None, short, &path());
    let begun = Instant::now();
    for (command, end) in [
        ("echo begun; sleep 1000", "begun\n(the program did not end within 2s and was killed)"),
        ("while true; do :; done", "(the program did not end within 2s and was killed)"),
        // It closes its output and stays.
        ("exec >/dev/null 2>&1; sleep 1000", "(the program did not end within 2s and was killed)"),
        ("yes", "(the program wrote more than 10000 bytes and was killed)"),
        ("head -c 100000000 /dev/zero > big", "(exit status 1)"),
    ] {
        let text = refused(&tools, "shell", &json!({ "command": command }));
        assert!(text.ends_with(end), "{command}: {text}");
        assert!(text.len() < 11_000, "{command}");
    }
    assert!(begun.elapsed() < LONG);
    // What a program leaves behind ends with it, and nobody waits for it.
    let left = done(&tools, "shell", &json!({ "command": "(sleep 1000 &); echo gone" }));
    assert_eq!(left, "gone\n");
    let tools = tools_with(&folder, Endpoints::none(), None, long(), &path());
    let text = refused(&tools, "shell", &json!({ "command": "x=xxxxxxxx; while :; do x=$x$x; done" }));
    assert!(text.contains("killed") || text.contains("exit status"), "{text}");
}

/// Processes of the user as whom programs run, which end with this.
struct Others(Vec<Child>);

impl Others {
    fn new(count: usize) -> Self {
        let is_root = rustix::process::geteuid().is_root();
        let start = |_| {
            let mut command = Command::new(if is_root { "setpriv" } else { "sleep" });
            if is_root {
                command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "--", "sleep"]);
            }
            command.arg("600").spawn().unwrap()
        };
        Self((0..count).map(start).collect())
    }
}

impl Drop for Others {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill().and_then(|()| child.wait());
        }
    }
}

/// Starts the given number of processes, which wait for each other.
fn many(count: u32) -> String {
    format!(
        "mkfifo p; exec 3<>p; i=0; while [ $i -lt {count} ]; do {{ read x <&3; }} & i=$((i+1)); done; sleep 1; echo $i"
    )
}

fn limits_count_for_one_sandbox() {
    let _others = Others::new(100);
    let folder = Folder::new("others");
    let tools = tools_with(&folder, Endpoints::none(), None, long(), &path());
    assert_eq!(done(&tools, "shell", &json!({ "command": many(50) })), "50\n");
    // It has a limit nevertheless.
    let text = refused(&tools, "shell", &json!({ "command": many(70) }));
    assert!(text.contains("Cannot fork") || text.contains("Resource temporarily unavailable"), "{text}");
}

fn calls_do_not_disturb_each_other() {
    let found = wait(Confinement::find(&path())).unwrap();
    let (program, limits) = (many(50), long());
    let all = wait(async {
        let words = ["sh", "-c", &program];
        let run = || found.run(&words, &limits);
        tokio::join!(run(), run(), run())
    });
    for finished in [all.0, all.1, all.2] {
        assert_eq!(finished.unwrap().output, "50\n");
    }
}

/// Bubblewrap is started with so small a limit on all processes of its user that a sandbox has no room.
fn no_room_is_an_outage() {
    let folder = Folder::new("no-room");
    let (script, full) = (folder.0.join("bwrap"), folder.0.join("full"));
    let real = std::env::split_paths(&path()).map(|it| it.join("bwrap")).find(|it| it.is_file()).unwrap();
    let real = real.display();
    let text = format!(
        "#!/bin/sh\n[ -e {} ] && exec prlimit --nproc=20: {real} \"$@\"\nexec {real} \"$@\"\n",
        full.display()
    );
    fs::write(&script, text).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(&folder.0, fs::Permissions::from_mode(0o755)).unwrap();
    let with = format!("{}:{}", folder.0.display(), path());
    let fails = json!({ "command": "exit 3" });
    let advice = "can have no further processes";
    let tools = tools_with(&folder, Endpoints::none(), None, long(), &with);
    assert_eq!(refused(&tools, "shell", &fails), "(exit status 3)");
    fs::write(&full, "").unwrap();
    // Whether the program failed for want of room cannot be known, so it is not blamed.
    let text = outage(&tools, "shell", &fails);
    assert!(text.contains(advice) && text.contains("ulimit -u"), "{text}");
    // The same if there was no room from the beginning, and no longer once there is some.
    let tools = tools_with(&folder, Endpoints::none(), None, long(), &with);
    let text = outage(&tools, "shell", &json!({ "command": "true" }));
    assert!(text.contains(advice), "{text}");
    fs::remove_file(&full).unwrap();
    assert_eq!(done(&tools, "shell", &json!({ "command": "true" })), "(no output)");
}

/// A command that runs this in Python.
fn python(code: &str) -> Value {
    json!({ "command": format!("python3 - <<'END'\n{code}\nEND") })
}

/// Each process, file or socket is within its own limit.
fn memory_is_that_of_a_whole_call() {
    let folder = Folder::new("memory");
    let tools = tools_with(&folder, Endpoints::none(), None, long(), &path());
    for code in [
        // Memory of many processes.
        "import os, time\nfor _ in range(3): os.fork()\nkept = bytearray(os.urandom(1)) * (150 << 20)\ntime.sleep(60)",
        // Many empty files, which the limit on their bytes does not bound.
        "n = 0\nwhile n < 3000000:\n    open(f'{n}', 'w').close()\n    n += 1",
        // What waits in sockets.
        "import os, socket, time\nfor _ in range(4): os.fork()\nkept = [socket.socketpair() for _ in range(110)]\n\
         time.sleep(60)",
    ] {
        let text = refused(&tools, "shell", &python(code));
        let end = "(the program took more than 512 MiB of memory, together with its files, and was killed)";
        assert!(text.ends_with(end), "{code}: {text}");
    }
}

fn nothing_is_kept_that_no_process_holds() {
    let folder = Folder::new("unheld");
    let tools = tools_with(&folder, Endpoints::none(), None, long(), &path());
    for code in [
        "import os; os.memfd_create('x')",
        "import mmap; mmap.mmap(-1, 1 << 20)",
        "import mmap, os; mmap.mmap(os.open('/dev/zero', os.O_RDWR), 1 << 20)",
        "import socket; socket.socket(socket.AF_INET, socket.SOCK_STREAM)",
        "import socket; socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)",
        "open('/dev/x', 'w')",
        "open('/dev/shm/x', 'w').write('x' * (17 << 20))",
        "import ctypes; assert ctypes.CDLL(None).shmget(0, 1 << 20, 0o1777) >= 0",
        "import ctypes; assert ctypes.CDLL(None).msgget(0, 0o1777) >= 0",
        "import ctypes; assert ctypes.CDLL(None).semget(0, 1, 0o1777) >= 0",
        "import ctypes; assert ctypes.CDLL(None).inotify_init1(0) >= 0",
        // Namespaces: of users, and what one of those gives a right to.
        "import ctypes; assert ctypes.CDLL(None).unshare(0x10000000) == 0",
        "import ctypes; assert ctypes.CDLL(None).unshare(0x08000000) == 0",
        // A key in the keyring of the user, and a new session.
        "import ctypes, platform; n = {'x86_64': 248, 'aarch64': 217}[platform.machine()]\n\
         assert ctypes.CDLL(None).syscall(n, b'user', b'planproof', b'x', 1, -4) >= 0",
        "import ctypes, platform; n = {'x86_64': 250, 'aarch64': 219}[platform.machine()]\n\
         assert ctypes.CDLL(None).syscall(n, 0, -4, 1) >= 0",
    ] {
        let text = refused(&tools, "shell", &python(code));
        assert!(text.contains("Error") && text.ends_with("(exit status 1)"), "{code}: {text}");
    }
    // Neither descriptor of bubblewrap's is there.
    let text = done(&tools, "shell", &json!({ "command": "ls /proc/$$/fd" }));
    assert_eq!(
        text.split_whitespace().filter(|it| it.parse::<u32>().is_ok_and(|fd| fd > 2 && fd < 10)).count(),
        0,
        "{text}"
    );
}

fn a_stopped_program_ends_at_its_time() {
    let folder = Folder::new("stopped");
    let short = ProgramLimits { time: SHORT, ..ProgramLimits::default() };
    let tools = tools_with(&folder, Endpoints::none(), None, short, &path());
    let begun = Instant::now();
    for command in
        ["kill -STOP 1; kill -STOP -1; kill -STOP $$", "setsid sh -c 'kill -STOP $$' & kill -STOP $$"]
    {
        let text = refused(&tools, "shell", &json!({ "command": command }));
        assert!(text.ends_with("(the program did not end within 2s and was killed)"), "{text}");
    }
    assert!(begun.elapsed() < LONG);
}

fn usual_programs_notice_nothing() {
    let folder = Folder::new("usual");
    let tools = tools_with(&folder, Endpoints::none(), None, long(), &path());
    for (code, expected) in [
        ("import asyncio; asyncio.run(asyncio.sleep(0.01)); print(1)", "1\n"),
        ("import multiprocessing\nwith multiprocessing.Pool(3) as p: print(p.map(abs, [-1, 2]))", "[1, 2]\n"),
        ("import subprocess; print(subprocess.run(['echo', 'x'], capture_output=True).stdout)", "b'x\\n'\n"),
        (
            "import threading\nt = [threading.Thread(target=print) for _ in range(3)]\nfor it in t: it.start()",
            "\n\n\n",
        ),
        ("import sqlite3; print(sqlite3.connect('a').execute('select 7').fetchone())", "(7,)\n"),
        (
            "import tempfile, mmap\nf = tempfile.TemporaryFile(); f.write(b'abc'); f.flush()\n\
          print(mmap.mmap(f.fileno(), 0)[:])",
            "b'abc'\n",
        ),
    ] {
        assert_eq!(done(&tools, "shell", &python(code)), expected, "{code}");
    }
    let text = done(
        &tools,
        "shell",
        &json!({ "command": "seq 1000 | sort -rn | head -1; head -c 5000000 /dev/zero | wc -c" }),
    );
    assert_eq!(text, "1000\n5000000\n");
}

/// Writes a sandbox that is a script. It has room for any program, tells as bubblewrap does that it has run one, and
/// does what is given with the last word of its command.
fn fake(script: &Path, does: &str) {
    let text = format!(
        "#!/bin/sh\nfor word; do :; done\necho '{{ \"exit-code\": 0 }}' >&8\n\
         case $* in *mkfifo*) echo room; exit 0 ;; esac\n{does}\n"
    );
    fs::write(script, text).unwrap();
    fs::set_permissions(script, fs::Permissions::from_mode(0o755)).unwrap();
}

/// The sandbox is a script of the test, because bubblewrap keeps the output open until the program ends.
fn the_limit_of_time_counts_once() {
    let folder = Folder::new("once");
    let script = folder.0.join("bwrap");
    // Any program sleeps for as long as the last word says, with its output open, and once more with its output
    // closed.
    let text = r#"sleep "$word"; exec >/dev/null 2>&1; sleep "$word""#;
    fake(&script, text);
    let found = wait(Confinement::find(&format!("{}:{}", folder.0.display(), path()))).unwrap();
    let short = ProgramLimits { time: SHORT, ..ProgramLimits::default() };
    // Each of the two is within the limit.
    let finished = wait(found.run(&["program", "1.5"], &short)).unwrap();
    assert_eq!(finished.ended, ProcessEnd::Time);
}

fn java_is_run() {
    let folder = Folder::new("java");
    let tools = tools_with(&folder, Endpoints::none(), None, long(), &path());
    let main = |body: &str| {
        format!("public class Main {{ public static void main(String[] a) throws Exception {{ {body} }} }}")
    };
    let java = |body: &str| json!({ "code": main(body) });
    assert_eq!(done(&tools, "java", &java("System.out.println(6 * 7);")), "42\n");
    let text = refused(&tools, "java", &java("System.out.println(x);"));
    assert!(text.contains("cannot find symbol"), "{text}");
    let text = refused(&tools, "java", &java("System.out.println(\"java\"); System.exit(127);"));
    assert_eq!(text, "java\n(exit status 127)");
    let text = refused(&tools, "java", &java("new java.net.Socket(\"127.0.0.1\", 9);"));
    assert!(text.contains("Exception"), "{text}");
    let fill =
        "java.util.List<long[]> l = new java.util.ArrayList<>(); while (true) l.add(new long[1 << 20]);";
    let text = refused(&tools, "java", &java(fill));
    assert!(text.contains("OutOfMemoryError") || text.contains("killed"), "{text}");
}

/// The sandbox is a script of the test, in which a program prints what a shell would and exits with its status.
fn a_status_of_a_program_is_no_outage() {
    let code = json!({ "code": "class A {}" });
    for has_java in [true, false] {
        let folder = Folder::new(if has_java { "with-java" } else { "without-java" });
        let script = folder.0.join("bwrap");
        // The last program shows the version of Java.
        let text = format!(
            "case $word in\n-version) exit {} ;;\nesac\necho 'sh: 1: exec: java: not found'\nexit 127",
            if has_java { 0 } else { 1 }
        );
        fake(&script, &text);
        let path = format!("{}:{}", folder.0.display(), path());
        let tools = tools_with(&folder, Endpoints::none(), None, long(), &path);
        if has_java {
            let text = refused(&tools, "java", &code);
            assert_eq!(text, "sh: 1: exec: java: not found\n(exit status 127)");
        } else {
            let text = outage(&tools, "java", &code);
            assert!(text.contains("install a Java development kit"), "{text}");
        }
    }
}

/// The player is a script of the test, which writes down what it is given. No film is shown.
fn films_are_given_to_the_player() {
    let folder = Folder::new("player");
    fs::write(folder.input().join("Up.mp4"), "a film").unwrap();
    let (script, seen) = (folder.0.join("player.sh"), folder.0.join("seen"));
    fs::write(&script, format!("#!/bin/sh\nprintf %s \"$1\" > {0}.new && mv {0}.new {0}\n", seen.display()))
        .unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let display = |name: &str| (name == "DISPLAY").then(|| ":0".to_owned());
    let with = |player| tools(&folder, Endpoints::none(), player);
    let up = json!({ "title": "Up.mp4" });
    let text = outage(&with(None), "movie_player", &up);
    assert!(text.contains("there is no player"), "{text}");
    let text = outage(&with(Some(Player::new(&script, |_| None))), "movie_player", &up);
    assert!(text.contains("no display"), "{text}");
    let text = outage(&with(Some(Player::new("/no/such/player", display))), "movie_player", &up);
    assert!(text.contains("cannot be started"), "{text}");
    let tools = with(Some(Player::new(&script, display)));
    let text = refused(&tools, "movie_player", &json!({ "title": "../../etc/passwd" }));
    assert!(text.contains("not the name of a file"), "{text}");
    assert!(refused(&tools, "movie_player", &json!({ "title": "--help" })).contains("there is no file"));
    assert!(!seen.exists());
    assert_eq!(done(&tools, "movie_player", &up), "Up.mp4 is being played");
    let begun = Instant::now();
    while !seen.exists() {
        assert!(begun.elapsed() < LONG, "the player was not started");
        std::thread::sleep(Duration::from_millis(5));
    }
    let film = fs::canonicalize(folder.input().join("Up.mp4")).unwrap();
    assert_eq!(fs::read_to_string(&seen).unwrap(), film.display().to_string());
}
