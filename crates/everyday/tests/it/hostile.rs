//! Programs that want out of the sandbox, handed to the tool `python` as an agent would: each leaves files, network and
//! the programs after it alone.

use std::fs;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::{Duration, Instant};

use libtest_mimic::{Failed, Trial};
use planproof_everyday::{CODE, PYTHON, PythonTool};
use planproof_sandbox::SandboxLimits;
use serde::Deserialize;
use serde_json::json;

use crate::support::{Folder, call, content, sandbox};

/// Attempts that there are at least.
const ATTEMPTS_MIN: usize = 30;

/// Longest that any attempt may take, on a busy machine.
const TIME_MAX: Duration = Duration::from_secs(60);

const SECRET: &str = "sk-canary-41c7";

#[derive(Deserialize)]
struct Attempts {
    attempt: Vec<Attempt>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Attempt {
    name: String,
    code: String,
    repeat: Option<(String, usize)>,
    #[serde(default)]
    harmless: bool,
}

/// What nobody may touch: a file with a secret, an empty folder, and a port.
struct World {
    folder: Folder,
    listener: TcpListener,
}

/// One test for each attempt.
pub(crate) fn trials() -> Vec<Trial> {
    let attempts: Attempts = toml::from_str(include_str!("../data/hostile_python.toml")).unwrap();
    assert!(attempts.attempt.len() >= ATTEMPTS_MIN);
    let folder = Folder::new("hostile");
    fs::write(folder.input().join("key.txt"), SECRET).unwrap();
    fs::create_dir_all(folder.0.join("empty")).unwrap();
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    listener.set_nonblocking(true).unwrap();
    let world = Arc::new(World { folder, listener });
    let trial = |attempt: Attempt| {
        let world = Arc::clone(&world);
        Trial::test(format!("hostile::{}", attempt.name.replace(' ', "_")), move || attempt.make(&world))
    };
    attempts.attempt.into_iter().map(trial).collect()
}

impl Attempt {
    fn make(self, world: &World) -> Result<(), Failed> {
        let file = world.folder.input().join("key.txt");
        let port = world.listener.local_addr()?.port();
        let repeated = self.repeat.map_or(String::new(), |(text, times)| text.repeat(times));
        let code = self.code.replace("FILE", &file.display().to_string());
        let code = code.replace("FOLDER", &world.folder.0.join("empty").display().to_string());
        let code = code.replace("PORT", &port.to_string()).replace("REPEAT", &repeated);
        let before = content(&world.folder.0);
        let limits = SandboxLimits {
            time: Duration::from_millis(500),
            memory_bytes: 64 << 20,
            ..SandboxLimits::default()
        };
        let tool = PythonTool::new(sandbox(), limits);
        let begun = Instant::now();
        let result = call(&tool, PYTHON, &json!({ CODE: code }));
        if begun.elapsed() > TIME_MAX {
            return Err(format!("it took {:?}", begun.elapsed()).into());
        }
        if !result.is_error && !self.harmless {
            return Err(format!("it came to its end: {}", result.text).into());
        }
        if result.text.contains(SECRET) {
            return Err("the secret is out".into());
        }
        if content(&world.folder.0) != before {
            return Err("a file was changed".into());
        }
        if world.listener.accept().is_ok() {
            return Err("somebody connected".into());
        }
        // Nobody after it is harmed.
        let good = PythonTool::new(sandbox(), SandboxLimits::default());
        let result = call(&good, PYTHON, &json!({ CODE: "import math\nmath.factorial(5)" }));
        if result.text == "120" { Ok(()) } else { Err(format!("afterwards: {}", result.text).into()) }
    }
}
