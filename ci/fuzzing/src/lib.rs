//! What must hold of any bytes that come in from outside: nothing panics, and what is read can be written and read
//! again.
//! Each body is a target of libFuzzer (`fuzz/`) and is tried in the gate with the corpus and with changes to it.

mod network;
mod texts;

use std::path::PathBuf;

/// A body: it panics where something does not hold.
pub type Body = fn(&[u8]);

/// All bodies, by the names of their targets and of the folders of their corpora.
pub const BODIES: [(&str, Body); 16] = [
    ("specification", texts::specification),
    ("rules", texts::rules),
    ("scenario", texts::scenario),
    ("marks", texts::marks),
    ("case", texts::case),
    ("reader", texts::reader),
    ("topics", texts::topics),
    ("trace", texts::trace),
    ("prices", texts::prices),
    ("recording", texts::recording),
    ("configuration", texts::configuration),
    ("plan_json", texts::plan_json),
    ("plan_python", texts::plan_python),
    ("mcp", network::mcp),
    ("served_model", network::served_model),
    ("sse", network::sse),
];

/// Runs the body of that name.
///
/// # Panics
/// Something does not hold, or there is no such body.
pub fn run(name: &str, bytes: &[u8]) {
    let (_, body) = BODIES.iter().find(|(known, _)| *known == name).expect("a body of that name");
    body(bytes);
}

/// Where the corpora are, a folder for each body.
pub fn corpora() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus"))
}
