//! `install.sh` on archives that `ci/package.sh` makes, from a folder instead of a server.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use crate::support::{Place, Run};

/// The repository.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// What stands in for the program in an archive: it is installed, and asked for its version.
const PROGRAM: &str = "#!/bin/sh\necho planproof 9.9.9 \"$@\"\n";

/// Makes a release in a folder, for whichever Linux or macOS this runs on.
fn release(place: &Place) {
    place.write("program", PROGRAM);
    fs::set_permissions(place.path("program"), fs::Permissions::from_mode(0o755)).unwrap();
    let machines = ["x86_64", "aarch64"];
    let systems = ["unknown-linux-gnu", "unknown-linux-musl", "apple-darwin"];
    for target in machines.iter().flat_map(|machine| systems.map(|system| format!("{machine}-{system}"))) {
        let mut command = Command::new("sh");
        command.arg(format!("{ROOT}/ci/package.sh")).arg(&target).arg(place.path("program"));
        command.arg(place.path("releases/download/v9.9.9"));
        Run::of(command, "").code(0);
    }
    let mut sums = Command::new("sh");
    sums.args([
        "-c",
        "sha256sum *.tar.gz > SHA256SUMS && mkdir ../../latest && cp -R . ../../latest/download",
    ]);
    sums.current_dir(place.path("releases/download/v9.9.9"));
    Run::of(sums, "").code(0);
}

/// The same files with checksums that are none of theirs.
fn with_other_sums(sums: &str) -> String {
    sums.lines().map(|line| format!("{:064}{}\n", 0, &line[64..])).collect()
}

fn install(place: &Place, repository: &Path, variables: &[(&str, &str)]) -> Run {
    let mut command = Command::new("sh");
    command.arg(format!("{ROOT}/install.sh")).env("HOME", place.path("home"));
    command.env("PLANPROOF_REPOSITORY", format!("file://{}", repository.display()));
    command.env_remove("PLANPROOF_VERSION").env_remove("PLANPROOF_INSTALL_DIR");
    command.envs(variables.iter().copied());
    Run::of(command, "")
}

#[test]
fn a_release_is_installed() {
    let place = Place::new();
    release(&place);
    let run = install(&place, &place.path("."), &[]).code(0);
    let program = place.path("home/.local/bin/planproof");
    let said = format!("installed planproof 9.9.9 --version as {}", program.display());
    assert!(run.err.contains(&said) && run.err.contains("is not on PATH"), "{run:?}");
    assert_eq!(fs::read_to_string(&program).unwrap(), PROGRAM);
    let folder = place.path("elsewhere");
    let chosen = [("PLANPROOF_VERSION", "9.9.9"), ("PLANPROOF_INSTALL_DIR", folder.to_str().unwrap())];
    install(&place, &place.path("."), &chosen).code(0);
    assert!(folder.join("planproof").is_file() && !folder.join("planproof-launch").exists());
    // A release has its launcher with it.
    let with_launcher = Place::new();
    with_launcher.write("planproof-launch", PROGRAM);
    release(&with_launcher);
    install(&with_launcher, &with_launcher.path("."), &[]).code(0);
    assert!(with_launcher.path("home/.local/bin/planproof-launch").is_file());
    // The launcher of another version does not stay beside a planproof that has none.
    install(&with_launcher, &place.path("."), &[]).code(0);
    assert_eq!(fs::read_dir(with_launcher.path("home/.local/bin")).unwrap().count(), 1);
    // A link in place of the program is replaced, and not written through.
    fs::remove_file(&program).unwrap();
    place.write("mine", "mine");
    std::os::unix::fs::symlink(place.path("mine"), &program).unwrap();
    install(&place, &place.path("."), &[]).code(0);
    assert!(fs::symlink_metadata(&program).unwrap().is_file());
    assert_eq!(fs::read_to_string(place.path("mine")).unwrap(), "mine");
    // Once more, over the one that is there.
    install(&place, &place.path("."), &[("PLANPROOF_VERSION", "v9.9.9")]).code(0);
    assert_eq!(fs::read_dir(program.parent().unwrap()).unwrap().count(), 1);
}

#[test]
fn what_is_not_as_it_should_be_is_not_installed() {
    let place = Place::new();
    release(&place);
    let run = install(&place, &place.path("."), &[("PLANPROOF_VERSION", "9.9.8")]).code(3);
    assert!(run.err.contains("there is no release at file://"), "{run:?}");
    let sums = place.path("releases/latest/download/SHA256SUMS");
    let right = fs::read_to_string(&sums).unwrap();
    fs::write(&sums, right.replace(".tar.gz", ".zip")).unwrap();
    let run = install(&place, &place.path("."), &[]).code(3);
    assert!(run.err.contains("has no archive for "), "{run:?}");
    fs::write(&sums, with_other_sums(&right)).unwrap();
    let run = install(&place, &place.path("."), &[]).code(1);
    assert!(run.err.contains("nothing is installed"), "{run:?}");
    assert!(!place.path("home").exists());
}

/// An archive with the right checksum and something wrong in it.
#[test]
fn what_cannot_run_is_not_installed() {
    for (program, fault) in [
        ("#!/no/such/interpreter\n", "does not run on this machine"),
        ("#!/bin/sh\nexit 3\n", "does not run on this machine"),
        ("", "has no planproof in it"),
        ("broken", "cannot be unpacked"),
    ] {
        let place = Place::new();
        release(&place);
        let script = match fault {
            "has no planproof in it" => "for each in *.tar.gz; do tar -czf $each -C / etc/hostname; done",
            "cannot be unpacked" => "for each in *.tar.gz; do echo $PROGRAM > $each; done",
            _ => {
                "for each in *.tar.gz; do mkdir ${each%.tar.gz}; printf %s \"$PROGRAM\" > ${each%.tar.gz}/planproof;
                 tar -czf $each ${each%.tar.gz}; done"
            }
        };
        let mut change = Command::new("sh");
        change.args(["-c", &format!("{script}; sha256sum *.tar.gz > SHA256SUMS")]).env("PROGRAM", program);
        change.current_dir(place.path("releases/latest/download"));
        Run::of(change, "").code(0);
        let run = install(&place, &place.path("."), &[]).code(1);
        assert!(run.err.contains(fault) && run.err.contains("nothing is installed"), "{run:?}");
        let left = fs::read_dir(place.path("home/.local/bin")).map_or(0, Iterator::count);
        assert_eq!(left, 0, "{fault}");
    }
}

/// That there is no release is for the server to say.
#[test]
#[ignore = "slow"]
fn a_server_that_cannot_be_reached_is_not_one_without_a_release() {
    let place = Place::new();
    for repository in ["http://127.0.0.1:9/none", "-o/x"] {
        let run = install(&place, Path::new("."), &[("PLANPROOF_REPOSITORY", repository)]).code(1);
        assert!(run.err.contains("cannot be fetched"), "{run:?}");
    }
}

/// The script of a step of the action.
fn step(name: &str) -> Command {
    let yaml = fs::read_to_string(format!("{ROOT}/action.yml")).unwrap();
    let step = yaml.split(&format!("- name: {name}\n")).nth(1).unwrap();
    let script = step.split("run: |\n").nth(1).unwrap();
    let script = script.lines().take_while(|line| line.starts_with("        ")).map(|line| &line[8..]);
    let mut command = Command::new("bash");
    command.args(["-c", &script.collect::<Vec<_>>().join("\n")]);
    command
}

/// What comes of the action's step that downloads, for this version.
fn download(place: &Place, version: &str) -> (i32, String) {
    let output = place.path("output");
    fs::write(&output, "").unwrap();
    let mut command = step("Download planproof");
    command.env("GITHUB_ACTION_PATH", ROOT).env("GITHUB_OUTPUT", &output).env("ROOT", place.path("root"));
    command.env("VERSION", version).env("REPOSITORY", format!("file://{}", place.path(".").display()));
    let run = Run::of(command, "");
    (run.code, fs::read_to_string(&output).unwrap())
}

#[test]
fn the_action_downloads_a_release_and_builds_where_there_is_none() {
    let place = Place::new();
    release(&place);
    for version in ["v9.9.8", "main", "0123456789abcdef", ""] {
        assert_eq!(download(&place, version), (0, "found=false\n".to_owned()), "{version}");
    }
    assert_eq!(download(&place, "v9.9.9"), (0, "found=true\n".to_owned()));
    assert!(place.path("root/bin/planproof").is_file());
    let sums = place.path("releases/download/v9.9.9/SHA256SUMS");
    let right = fs::read_to_string(&sums).unwrap();
    fs::write(&sums, with_other_sums(&right)).unwrap();
    assert_eq!(download(&place, "v9.9.9"), (1, String::new()));
}

/// What an agent puts beside planproof, or in its place, is started neither by this step nor by a later one.
#[test]
fn the_action_starts_nothing_of_the_agents() {
    for (agent, changed) in [
        (":", false),
        ("cp \"$0\" \"${0%/*}/jq\"", true),
        ("echo >> \"$0\"", true),
        ("ln -s /bin/true \"${0%/*}/tee\"", true),
        // The same bytes, which it can change later.
        ("cp \"$0\" \"$FOLDER/own\" && ln -sf \"$FOLDER/own\" \"$0\"", true),
        ("mv \"${0%/*}\" \"$FOLDER/own\" && ln -s \"$FOLDER/own\" \"${0%/*}\"", true),
        ("echo evil >> \"${GITHUB_PATH:-/dev/null}\"", false),
        // Into the file of the report, or through it into another one.
        ("printf '%9000s{\"cases\": 50}' '' > \"$FOLDER/report.json\"", false),
        ("ln -s ../GITHUB_PATH \"$FOLDER/report.json\"", false),
    ] {
        let place = Place::new();
        fs::create_dir_all(place.path("root/bin")).unwrap();
        place.write("root/bin/planproof", &format!("#!/bin/sh\n{agent}\necho '{{\"cases\": 7}}'\nexit 1\n"));
        let program = place.path("root/bin/planproof");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let mut command = step("Test the agent's planning");
        for name in ["GITHUB_OUTPUT", "GITHUB_PATH"] {
            place.write(name, "");
            command.env(name, place.path(name));
        }
        for name in ["AGENT", "CASES", "SEED", "ARGUMENTS", "SUCCESS_MIN"] {
            command.env(name, "");
        }
        command.env("ROOT", place.path("root")).env("FOLDER", place.path("reports"));
        let run = Run::of(command, "");
        let path = fs::read_to_string(place.path("GITHUB_PATH")).unwrap();
        let output = fs::read_to_string(place.path("GITHUB_OUTPUT")).unwrap();
        if changed {
            assert!(
                run.code == 2 && path.is_empty() && output.is_empty(),
                "{agent}: {run:?} {path} {output}"
            );
            assert!(run.out.contains("the agent changed "), "{run:?}");
        } else {
            assert_eq!(
                (run.code, &*path),
                (1, &*format!("{}/bin\n", place.path("root").display())),
                "{run:?}"
            );
            assert!(output.starts_with("exit-code=1\ncases=7\n") && !output.contains("50"), "{output}");
            let report = fs::read_to_string(place.path("reports/report.json")).unwrap();
            assert_eq!(report, "{\"cases\": 7}\n", "{agent}");
        }
    }
    let mut command = step("Test the agent's planning");
    command.env("FOLDER", "");
    let run = Run::of(command, "").code(2);
    assert!(run.out.contains("folder is empty"), "{run:?}");
}

/// Where there is no sha256sum, as on older macOS, the program that replaces it is not the agent's either.
#[test]
fn the_action_looks_for_the_program_of_checksums_before_the_agent_runs() {
    let place = Place::new();
    for folder in ["root/bin", "early", "tools"] {
        fs::create_dir_all(place.path(folder)).unwrap();
    }
    let script = |name: &str, text: &str| {
        place.write(name, &format!("#!/bin/sh\n{text}\n"));
        fs::set_permissions(place.path(name), fs::Permissions::from_mode(0o755)).unwrap();
    };
    let mut link = Command::new("sh");
    let needed = "for each in jq rm tee find readlink mkdir date env cat chmod; do ln -s \"$(command -v $each)\"; done; \
                  command -v sha256sum > ../sum";
    link.args(["-c", needed]).current_dir(place.path("tools"));
    Run::of(link, "").code(0);
    let sum = fs::read_to_string(place.path("sum")).unwrap();
    script("tools/shasum", &format!("exec {} \"$@\"", sum.trim_end()));
    let early = place.path("early/shasum");
    let early = early.display();
    let planted = place.path("planted");
    script("evil", &format!("echo > {}", planted.display()));
    script(
        "root/bin/planproof",
        &format!("cat {} > {early}; chmod 755 {early}; echo >> \"$0\"", place.path("evil").display()),
    );
    let bash = ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"];
    let bash = bash.into_iter().find(|it| Path::new(it).exists()).expect("there is a bash");
    let of_step = step("Test the agent's planning");
    let mut command = Command::new(bash);
    command.args(of_step.get_args());
    for name in ["GITHUB_OUTPUT", "GITHUB_PATH"] {
        place.write(name, "");
        command.env(name, place.path(name));
    }
    for name in ["AGENT", "CASES", "SEED", "ARGUMENTS", "SUCCESS_MIN"] {
        command.env(name, "");
    }
    command.env("PATH", format!("{}:{}", place.path("early").display(), place.path("tools").display()));
    command.env("ROOT", place.path("root")).env("FOLDER", place.path("reports"));
    let run = Run::of(command, "").code(2);
    assert!(run.out.contains("the agent changed "), "{run:?}");
    assert!(place.path("early/shasum").exists() && !planted.exists());
}
