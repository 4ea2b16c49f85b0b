//! Programs that want out of the sandbox, or all of the machine (`tests/data/hostile`): none succeeds, each is
//! reported, and after each the same sandbox runs a good program.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use libtest_mimic::{Failed, Trial};
use planproof_sandbox::{Program, ProgramEnd, Returned, Sandbox, SandboxLimits};
use serde::Deserialize;
use serde_json::json;

use crate::support::{CANARY, Tools, in_short, sandbox, wait};

/// Longest that any attempt may take, on a busy machine.
const TIME_MAX: Duration = Duration::from_secs(60);

/// Time that an attempt is given which is to be ended for it, and others, so that a busy machine ends none of them.
const TIME: [Duration; 2] = [Duration::from_millis(500), Duration::from_secs(15)];

/// Attempts that there are at least, so that none gets lost with its file.
const ATTEMPTS_MIN: usize = 190;

/// The sandbox that all attempts share.
static SANDBOX: LazyLock<Sandbox> = LazyLock::new(|| sandbox(2));

#[derive(Deserialize)]
struct Attempts {
    attempt: Vec<Attempt>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Attempt {
    name: String,
    /// `FILE` stands for the path of a file with a secret, `REPEAT` for the next field.
    program: String,
    /// A text and how often it is repeated.
    repeat: Option<(String, usize)>,
    /// How it must end, in a few words; several where the machine decides which limit comes first.
    end: Vec<String>,
    /// What its printed text must be.
    printed: Option<String>,
}

/// One test for each attempt.
pub(crate) fn trials() -> Vec<Trial> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/hostile");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let read =
        |file: PathBuf| toml::from_str::<Attempts>(&fs::read_to_string(file).unwrap()).unwrap().attempt;
    let attempts: Vec<Attempt> = files.into_iter().flat_map(read).collect();
    assert!(attempts.len() >= ATTEMPTS_MIN, "only {} attempts", attempts.len());
    let secret = Arc::new(Secret::write());
    let trial = |attempt: Attempt| {
        let secret = Arc::clone(&secret);
        Trial::test(format!("hostile::{}", attempt.name), move || attempt.make(&secret))
    };
    attempts.into_iter().map(trial).collect()
}

impl Attempt {
    fn make(self, secret: &Secret) -> Result<(), Failed> {
        let repeated = self.repeat.map_or(String::new(), |(text, times)| text.repeat(times));
        let text = self.program.replace("FILE", &secret.path).replace("REPEAT", &repeated);
        let is_timed = self.end.iter().any(|end| end == "limit time");
        let limits = SandboxLimits {
            time: TIME[usize::from(!is_timed)],
            memory_bytes: 64 * 1024 * 1024,
            calls: 100,
            ..SandboxLimits::default()
        };
        let tools = Tools::default();
        let begun = Instant::now();
        let outcome = wait(SANDBOX.run(&Program::function(text, "solve"), &tools, &limits))?;
        let end = in_short(&outcome.end);
        if !self.end.contains(&end) {
            return Err(format!("expected {:?}, not {end}: {outcome:?}", self.end).into());
        }
        if self.printed.is_some_and(|printed| printed != outcome.printed) {
            return Err(format!("printed {:?}", outcome.printed).into());
        }
        let calls = tools.calls.into_inner().unwrap();
        if format!("{outcome:?}{calls:?}").contains(CANARY) {
            return Err(format!("the secret is out: {outcome:?}, {calls:?}").into());
        }
        if begun.elapsed() > TIME_MAX {
            return Err(format!("it took {:?}", begun.elapsed()).into());
        }
        // Nobody else is harmed.
        let good = Program::function("def solve():\n    return caption(image='x.png')['text']", "solve");
        let outcome = wait(SANDBOX.run(&good, &Tools::default(), &limits))?;
        let expected = ProgramEnd::Finished { value: Returned::Json(json!("a picture of \"x.png\"")) };
        if outcome.end == expected { Ok(()) } else { Err(format!("afterwards: {outcome:?}").into()) }
    }
}

/// A file with a secret, in a folder of its own.
struct Secret {
    path: String,
}

impl Secret {
    fn write() -> Self {
        let folder = std::env::temp_dir().join(format!("planproof-canary-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("key.txt");
        fs::write(&path, CANARY).unwrap();
        Self { path: path.to_str().unwrap().to_owned() }
    }
}

impl Drop for Secret {
    fn drop(&mut self) {
        if let Some(folder) = Path::new(&self.path).parent() {
            let _ = fs::remove_dir_all(folder);
        }
    }
}
