//! Runs the commands in the documents as they are written.
//!
//! Everything external is replaced: models behind servers by a simulated model that the test serves, and Python and
//! its packages by a program that acts as an agent over MCP (`documents/bin`), or by a real Python if there is one.
//! `documents/commands.toml` specifies the exit code of a command and why it is not run, `documents/before.toml` what
//! runs before the first one.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde::Deserialize;

use crate::support::{Place, Run};

/// The key that the documents show.
const KEY: &str = "...";

/// The root of the repository.
fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// `documents/commands.toml` and `documents/before.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rules {
    /// What to run before the first command of a document, in its folder.
    pub(crate) before: BTreeMap<String, Vec<String>>,
    pub(crate) command: Vec<Rule>,
}

/// Special properties of one command.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rule {
    pub(crate) document: String,
    /// The command as it is written.
    pub(crate) line: String,
    /// Its exit code if not 0.
    #[serde(default)]
    pub(crate) status: i32,
    /// What to run instead, if the command has placeholders or would not end.
    #[serde(rename = "as")]
    pub(crate) run_as: Option<String>,
    /// Why it is not run, if it is not.
    pub(crate) not_run: Option<String>,
}

impl Rules {
    pub(crate) fn read() -> Self {
        let before = include_str!("../documents/before.toml");
        toml::from_str(&format!("{}\n{before}", include_str!("../documents/commands.toml"))).unwrap()
    }

    pub(crate) fn of(&self, document: &str, line: &str) -> Option<&Rule> {
        self.command.iter().find(|rule| rule.document == document && rule.line == line)
    }
}

/// A document with its commands, block by block.
pub(crate) struct Document {
    /// Relative to the repository.
    pub(crate) path: String,
    pub(crate) blocks: Vec<Vec<String>>,
}

/// All documents that show commands: the README, the manual, and those of the examples.
pub(crate) fn documents() -> Vec<Document> {
    let mut paths = vec![root().join("README.md")];
    paths.extend(
        files_in(&root().join("docs"))
            .into_iter()
            .filter(|path| path.extension().is_some_and(|it| it == "md")),
    );
    paths.extend(files_in(&root().join("examples")).into_iter().map(|folder| folder.join("README.md")));
    let documents = paths.into_iter().filter(|path| path.is_file()).map(|path| {
        let text = fs::read_to_string(&path).unwrap();
        let path = path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
        Document { path, blocks: blocks(&text) }
    });
    documents.filter(|document| !document.blocks.is_empty()).collect()
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

/// The commands in a text: its shell blocks, the workflow steps in its YAML blocks, and the first column of a table
/// of commands.
fn blocks(text: &str) -> Vec<Vec<String>> {
    let mut blocks = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let mut fenced = || -> String {
            lines.by_ref().take_while(|line| *line != "```").map(|line| format!("{line}\n")).collect()
        };
        match line {
            "```sh" => blocks.push(commands(&fenced())),
            "```console" => blocks.push(
                fenced().lines().filter_map(|line| line.strip_prefix("$ ")).map(str::to_owned).collect(),
            ),
            "```yaml" => blocks.push(workflow_commands(&fenced())),
            // Every block that shows a command names its language.
            _ if line.starts_with("```") => {
                let text = fenced();
                let shows = |line: &str| line.starts_with("$ ") || line.starts_with("planproof ");
                assert!(!text.lines().any(shows), "no block of `sh` or `console`: {text}");
            }
            _ if line.starts_with("| `planproof") => {
                let cell = line.split(" | ").next().unwrap();
                let spans = cell.split('`').skip(1).step_by(2).filter(|span| span.starts_with("planproof "));
                blocks.push(spans.map(str::to_owned).collect());
            }
            _ => {}
        }
    }
    blocks
}

/// The commands of a script: its lines, with continued lines joined.
pub(crate) fn commands(script: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut command = String::new();
    for line in script.lines() {
        if !command.is_empty() {
            command.push('\n');
        }
        command.push_str(line);
        let goes_on =
            ["\\", "|", "&&", "||"].iter().any(|end| line.trim_end().ends_with(end)) || !is_whole(&command);
        if !goes_on {
            let command = std::mem::take(&mut command);
            if !command.trim().is_empty() && !command.trim_start().starts_with('#') {
                all.push(without_comment(&command).to_owned());
            }
        }
    }
    assert_eq!(command, "", "a command without an end");
    all
}

fn is_whole(command: &str) -> bool {
    let read = Command::new("bash").args(["-n", "-c", command]).output().unwrap();
    // For an unterminated here-document it only prints a warning.
    read.status.success() && read.stderr.is_empty()
}

/// A comment after a command is preceded by white space.
fn without_comment(command: &str) -> &str {
    command.find("  # ").map_or(command, |place| &command[..place]).trim_end()
}

/// The steps of a workflow that run something, as commands: the scripts in `run` and `script`, and the action with
/// its inputs.
pub(crate) fn workflow_commands(yaml: &str) -> Vec<String> {
    let lines: Vec<&str> = yaml.lines().collect();
    let mut all = Vec::new();
    let mut place = 0;
    while place < lines.len() {
        let line = lines[place];
        let bare = line.trim_start().trim_start_matches("- ");
        let is_in_list = line.trim_start().starts_with("- ");
        let (key, value) = bare.split_once(": ").unwrap_or((bare.trim_end_matches(':'), ""));
        let value = value.split(" # ").next().unwrap().trim();
        place += 1;
        let mut below = || {
            let indent = |line: &str| line.len() - line.trim_start().len();
            // A key in a list is indented two characters more than its item.
            let own = indent(line);
            let begin = place;
            while place < lines.len() && (lines[place].trim().is_empty() || indent(lines[place]) > own) {
                place += 1;
            }
            lines[begin..place].iter().map(|line| line.trim().to_owned()).collect::<Vec<String>>()
        };
        match (key, value) {
            ("run", ">-") => all.push(below().join(" ")),
            ("run", value) if !value.is_empty() => all.push(value.to_owned()),
            (">-", _) if is_in_list => all.push(below().join(" ")),
            ("script", "") => {}
            ("with", _) => {
                let inputs = below();
                let is_planproof = inputs.iter().any(|line| line.starts_with("agent: "));
                if is_planproof {
                    all.push(format!("action\n{}", inputs.join("\n")));
                }
            }
            _ if is_in_list && value.is_empty() && bare.starts_with("pip ") => {
                all.push(bare.split(" # ").next().unwrap().to_owned());
            }
            _ => {}
        }
    }
    all
}

/// The script in the step of the action that runs the test, and the action's inputs with their defaults.
fn action() -> (String, BTreeMap<String, String>) {
    let yaml = fs::read_to_string(root().join("action.yml")).unwrap();
    let step = yaml.split("- name: Test the agent's planning").nth(1).unwrap();
    let script = step.split("run: |\n").nth(1).unwrap();
    let script = script.lines().take_while(|line| line.is_empty() || line.starts_with("        "));
    let script = script.map(|line| format!("{}\n", line.get(8..).unwrap_or_default())).collect();
    let inputs = yaml.split("\noutputs:").next().unwrap();
    let mut defaults = BTreeMap::new();
    let mut name = String::new();
    for line in inputs.lines() {
        match line.strip_prefix("    default: ") {
            Some(default) => drop(defaults.insert(name.clone(), default.trim_matches('"').to_owned())),
            None if line.starts_with("  ") && !line.starts_with("   ") => {
                name = line.trim().trim_end_matches(':').to_owned();
            }
            None => {}
        }
    }
    (script, defaults)
}

/// The environment of the action's script for these inputs (`name: value` lines, as in a workflow).
fn action_environment(lines: &[&str], defaults: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let mut inputs = defaults.clone();
    let mut name = String::new();
    for line in lines {
        let input = line
            .split_once(": ")
            .filter(|(name, _)| name.chars().all(|c| c.is_ascii_lowercase() || c == '-'));
        match input {
            Some((of, value)) => {
                of.clone_into(&mut name);
                let value = value.split(" # ").next().unwrap().trim();
                inputs.insert(name.clone(), if value == "|" { String::new() } else { value.to_owned() });
            }
            None => inputs.entry(name.clone()).or_default().push_str(&format!("{line}\n")),
        }
    }
    inputs.into_iter().map(|(name, value)| (name.to_uppercase().replace('-', "_"), value)).collect()
}

/// A folder in which the commands of a document run, with our own model server instead of the provider's.
pub(crate) struct Desk {
    pub(crate) place: Place,
    served: Child,
    base_url: String,
}

impl Drop for Desk {
    fn drop(&mut self) {
        let _ = self.served.kill();
        let _ = self.served.wait();
    }
}

impl Desk {
    /// Creates a desk with this simulated model, and with this Python instead of the stand-in.
    pub(crate) fn new(model: &str, python: Option<&Path>) -> Self {
        let place = Place::new();
        let bin = place.path("bin");
        fs::create_dir(&bin).unwrap();
        for file in files_in(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/documents/bin")) {
            let name = file.file_name().unwrap();
            fs::copy(&file, bin.join(name)).unwrap();
            fs::set_permissions(bin.join(name), fs::Permissions::from_mode(0o755)).unwrap();
        }
        if let Some(python) = python {
            let script =
                format!("#!/bin/sh\nPYTHON={} exec {}/venv \"$@\"\n", python.display(), bin.display());
            fs::write(bin.join("python"), script).unwrap();
        }
        symlink(env!("CARGO_BIN_EXE_planproof"), bin.join("planproof-under-test")).unwrap();
        fs::hard_link(env!("CARGO_BIN_EXE_planproof"), bin.join("planproof-stand-in")).unwrap();
        let mut command = place.command(&["serve-model", model, "--json", "-q"]);
        command.env("PLANPROOF_SERVE_KEY", KEY);
        let mut served = command.stdout(Stdio::piped()).stdin(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(served.stdout.take().unwrap()), &mut line)
            .unwrap();
        let announced: serde_json::Value = serde_json::from_str(&line).unwrap();
        let base_url = announced["base_url"].as_str().unwrap().to_owned();
        let desk = Self { place, served, base_url };
        fs::create_dir(desk.folder()).unwrap();
        desk
    }

    /// The folder in which the commands run.
    pub(crate) fn folder(&self) -> PathBuf {
        self.place.path("desk")
    }

    /// Runs commands in one shell, whose variables persist until the next call, and returns the exit code and
    /// output of each. Commands after one that ends the shell are not run.
    pub(crate) fn run(&self, commands: &[String]) -> Vec<(i32, String)> {
        let (statuses, log) = (self.place.path("statuses"), self.place.path("log"));
        let _ = fs::remove_file(&statuses);
        fs::write(&log, "").unwrap();
        let state = self.place.path("state");
        let mut script = format!(
            "[ ! -f {state} ] || . {state}\nat=\nsay() {{ echo \"$at $1 $(wc -c < {log})\" >> {statuses}; at=; }}\n\
             trap 'status=$?; [ -z \"$at\" ] || say $status; export -p > {state}' EXIT\nexec > {log} 2>&1 < /dev/null\n",
            state = state.display(),
            log = log.display(),
            statuses = statuses.display(),
        );
        for (number, command) in commands.iter().enumerate() {
            let file = self.place.path(&format!("command-{number}"));
            fs::write(&file, self.shell(command)).unwrap();
            let _ = writeln!(script, "at={number}; . {}; say $?", file.display());
        }
        let mut command = Command::new("bash");
        command.args(["--noprofile", "--norc", "-c", &script]).current_dir(self.folder()).env_clear();
        let path = std::env::var("PATH").unwrap_or_default();
        command
            .env("PATH", format!("{}:{path}", self.place.path("bin").display()))
            .env("HOME", self.place.path(""));
        command
            .env("OPENAI_BASE_URL", &self.base_url)
            .env("OPENAI_API_KEY", KEY)
            .env("ANTHROPIC_BASE_URL", self.base_url.trim_end_matches("/v1"))
            .env("ANTHROPIC_API_KEY", KEY)
            // Nobody listens there, whatever runs on this machine.
            .env("LLAMACPP_BASE_URL", "http://127.0.0.1:9/v1")
            .env("OLLAMA_BASE_URL", "http://127.0.0.1:9")
            .env("NO_COLOR", "1")
            .env("LANG", "C.UTF-8");
        command.env("GITHUB_STEP_SUMMARY", self.place.path("GITHUB_STEP_SUMMARY"));
        // Nothing is written beside the sources, and a framework is compiled once, not for each case.
        command.env("PYTHONPYCACHEPREFIX", concat!(env!("CARGO_TARGET_TMPDIR"), "/pycache"));
        command.env("REPOSITORY", root());
        Run::of(command, "");
        let log = fs::read_to_string(&log).unwrap();
        let statuses = fs::read_to_string(&statuses).unwrap_or_default();
        let mut begin = 0;
        let ran = statuses.lines().map(|line| {
            let numbers: Vec<usize> = line.split(' ').map(|number| number.trim().parse().unwrap()).collect();
            let text = log.get(begin..numbers[2]).unwrap_or_default().to_owned();
            begin = numbers[2];
            (numbers[1] as i32, text)
        });
        ran.collect()
    }

    /// The command for the shell: unchanged, unless it is the action.
    fn shell(&self, command: &str) -> String {
        let Some(inputs) = command.strip_prefix("action\n") else { return format!("{command}\n") };
        let (script, defaults) = action();
        let file = self.place.path("action.sh");
        fs::write(&file, script).unwrap();
        let mut text = String::from("(\n");
        for (name, value) in action_environment(&inputs.lines().collect::<Vec<_>>(), &defaults) {
            let _ = writeln!(text, "export {name}={}", planproof_tools::process::shell_word(&value));
        }
        for name in ["GITHUB_OUTPUT", "GITHUB_PATH", "GITHUB_STEP_SUMMARY"] {
            let _ = writeln!(text, "export {name}={}", self.place.path(name).display());
        }
        // This is how GitHub runs it.
        let _ = writeln!(
            text,
            "export ROOT={}\nmkdir -p \"$ROOT/bin\"\nln -sf {} \"$ROOT/bin/planproof\"\n\
             bash --noprofile --norc -e -o pipefail {}\n)",
            self.place.path("root").display(),
            env!("CARGO_BIN_EXE_planproof"),
            file.display()
        );
        text
    }
}

impl Document {
    /// Runs all commands of the document in order, and returns all results that differ from the documentation.
    /// Prints on stdout which commands are not run, and why.
    pub(crate) fn run(&self, rules: &Rules, python: Option<&Path>) -> Vec<String> {
        let desk = Desk::new("sim/perfect", python);
        let mut wrong = Vec::new();
        let before = rules.before.get(&self.path).map_or(&[][..], Vec::as_slice);
        for ((status, log), command) in desk.run(before).iter().zip(before) {
            assert_eq!(*status, 0, "{}: before its commands: {command}: {log}", self.path);
        }
        for block in &self.blocks {
            let mut commands = Vec::new();
            for line in block {
                let rule = rules.of(&self.path, line);
                if let Some(why) = rule.and_then(|rule| rule.not_run.as_ref()) {
                    println!("{}: not run: {line}: {why}", self.path);
                    continue;
                }
                let run_as = rule.and_then(|rule| rule.run_as.as_ref()).unwrap_or(line);
                commands.push((line, run_as.clone(), rule.map_or(0, |rule| rule.status)));
            }
            let lines: Vec<String> = commands.iter().map(|(_, run_as, _)| run_as.clone()).collect();
            let ran = desk.run(&lines);
            for (number, (line, _, documented)) in commands.iter().enumerate() {
                match ran.get(number) {
                    Some((status, _)) if status == documented => {}
                    Some((status, log)) => wrong.push(format!(
                        "{}: `{line}` exited with {status}, not with {documented}:\n{log}",
                        self.path
                    )),
                    None => wrong.push(format!("{}: `{line}` was not reached", self.path)),
                }
            }
        }
        wrong
    }
}
