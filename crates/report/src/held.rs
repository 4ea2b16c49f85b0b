//! Recorded sessions that were held against rules, as JUnit XML and as SARIF 2.1.0.
//!
//! In JUnit, a file is a test suite and a session a test case, which failed if it violates a rule. In SARIF, for code
//! scanning and editors, each call of a session that violates a rule is a result at its line.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use planproof_spec::rules::{CallRule, RuleSet};
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};

use crate::explanation::short;
use crate::junit::{BODY_CHARACTERS_MAX, attribute, escaped, message};

/// Most results of a SARIF file. GitHub refuses files with more; the number of the others stands in the file.
pub const SARIF_RESULTS_MAX: usize = 25_000;

/// Hexadecimal digits of a result's fingerprint.
const FINGERPRINT_DIGITS: usize = 32;

/// A session, and the rules that it violates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldSession {
    /// Its name: the file, and which of its sessions it is.
    pub name: String,
    /// The file, as it was named.
    pub file: String,
    /// The line of the file on which it begins, from 1.
    pub line: u64,
    /// What it violates, in the order of the rules.
    pub violations: Vec<SessionViolation>,
}

/// A violated rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionViolation {
    /// The number of the rule in its file, from 0.
    pub rule: usize,
    /// The call that did it; `None` if something was still due when the session ended.
    pub call: Option<ViolatingCall>,
    /// Later calls that violate it, too, each as if those before had not been made.
    pub more: Vec<ViolatingCall>,
}

/// A call that violates a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViolatingCall {
    /// Its number in the session, from 1.
    pub number: usize,
    /// The file in which it stands, if the session has several and it is not that of the session.
    pub file: Option<String>,
    /// The line of the file on which it stands, or its session begins.
    pub line: u64,
    /// The tool and the arguments.
    pub text: String,
}

impl SessionViolation {
    /// Each call that violates it, or that none does.
    fn each(&self) -> impl Iterator<Item = Option<&ViolatingCall>> + Clone {
        std::iter::once(self.call.as_ref()).chain(self.more.iter().map(Some))
    }
}

/// What happened, in a sentence without a full stop.
fn words(call: Option<&ViolatingCall>) -> String {
    match call {
        Some(call) => format!("violated at call {}: {}", call.number, call.text),
        None => "not fulfilled when the session ended".to_owned(),
    }
}

/// The sentences about a rule: what it demands, and why.
fn demand(rule: &CallRule) -> String {
    let why = rule.why.as_ref().map(|why| format!(" {why}")).unwrap_or_default();
    format!("{rule}.{why}")
}

/// Writes the sessions as JUnit XML. `checked` is when they were held against the rules.
///
/// # Errors
/// `out` cannot be written.
pub fn write_junit(
    rules: &RuleSet,
    sessions: &[HeldSession],
    checked: SystemTime,
    out: &mut impl io::Write,
) -> io::Result<()> {
    let mut files: Vec<(&str, Vec<&HeldSession>)> = Vec::new();
    for session in sessions {
        match files.last_mut() {
            Some((file, of_file)) if *file == session.file => of_file.push(session),
            _ => files.push((&session.file, vec![session])),
        }
    }
    let since = checked.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    let timestamp = humantime::format_rfc3339_seconds(UNIX_EPOCH + since).to_string();
    let timestamp = timestamp.trim_end_matches('Z');
    let totals = |sessions: &[&HeldSession]| {
        let failures = sessions.iter().filter(|session| !session.violations.is_empty()).count();
        format!(
            "tests=\"{}\" failures=\"{failures}\" errors=\"0\" skipped=\"0\" time=\"0.000\"",
            sessions.len()
        )
    };
    let all: Vec<&HeldSession> = sessions.iter().collect();
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    writeln!(out, "<testsuites name=\"planproof check\" {}>", totals(&all))?;
    // Readers expect a suite, also if there is nothing in it.
    if files.is_empty() {
        files.push(("no sessions", Vec::new()));
    }
    for (file, of_file) in files {
        let name = attribute(file);
        let counts = totals(&of_file);
        writeln!(out, "  <testsuite name=\"{name}\" timestamp=\"{timestamp}\" {counts}>")?;
        let mut names: HashMap<&str, usize> = HashMap::new();
        for session in of_file {
            let times = names.entry(&session.name).or_default();
            *times += 1;
            let again = if *times > 1 { format!(" ({times})") } else { String::new() };
            let case = attribute(&format!("{}{again}", session.name));
            let open = format!("    <testcase name=\"{case}\" classname=\"{name}\" time=\"0.000\"");
            if session.violations.is_empty() {
                writeln!(out, "{open}/>")?;
                continue;
            }
            let (mut ids, mut body) = (Vec::new(), String::new());
            for violation in &session.violations {
                let Some(rule) = rules.rules().get(violation.rule) else { continue };
                ids.push(rule.id.as_str());
                let _ = writeln!(body, "{}: {}", rule.id, demand(rule));
                for call in violation.each() {
                    let _ = writeln!(body, "  {}", words(call));
                }
            }
            let said = message(&format!("violated: {}", ids.join(", ")));
            let body = escaped(&short(&body, BODY_CHARACTERS_MAX));
            writeln!(out, "{open}>\n      <failure type=\"violated\" message=\"{said}\">{body}</failure>")?;
            writeln!(out, "    </testcase>")?;
        }
        writeln!(out, "  </testsuite>")?;
    }
    writeln!(out, "</testsuites>")
}

/// Writes the violated rules as SARIF 2.1.0.
///
/// # Errors
/// `out` cannot be written.
pub fn write_sarif(rules: &RuleSet, sessions: &[HeldSession], out: &mut impl io::Write) -> io::Result<()> {
    let listed: Vec<Value> = rules.rules().iter().map(described).collect();
    let found = sessions.iter().flat_map(|session| {
        let violations = session.violations.iter();
        violations.flat_map(move |it| it.each().map(move |call| (session, it.rule, call)))
    });
    let results: Vec<Value> = found
        .clone()
        .take(SARIF_RESULTS_MAX)
        .filter_map(|(session, rule, call)| result(rules, session, rule, call))
        .collect();
    let left_out = found.count().saturating_sub(results.len());
    let mut invocation = json!({ "executionSuccessful": true });
    if left_out > 0 {
        let text = format!("{left_out} further violations are left out; without --sarif, all are listed.");
        invocation["toolExecutionNotifications"] =
            json!([{ "level": "warning", "message": { "text": text } }]);
    }
    let document = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "planproof",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": listed,
            } },
            "columnKind": "unicodeCodePoints",
            "invocations": [invocation],
            "results": results,
        }],
    });
    serde_json::to_writer_pretty(&mut *out, &document)?;
    out.write_all(b"\n")
}

/// A rule as SARIF describes it.
fn described(rule: &CallRule) -> Value {
    let mut described = json!({
        "id": rule.id,
        "shortDescription": { "text": format!("{rule}.") },
        "defaultConfiguration": { "level": "error" },
    });
    if let Some(why) = &rule.why {
        described["help"] = json!({ "text": why });
    }
    described
}

fn result(
    rules: &RuleSet,
    session: &HeldSession,
    number: usize,
    call: Option<&ViolatingCall>,
) -> Option<Value> {
    let rule = rules.rules().get(number)?;
    let line = call.map_or(session.line, |call| call.line);
    let file = call.and_then(|call| call.file.as_ref()).unwrap_or(&session.file);
    let text = format!("{} {}: {}.", demand(rule), session.name, words(call));
    // The line is not part of it: a log grows, and what is in it moves.
    let place = call.map_or(0, |call| call.number);
    let identity = format!("{}\n{}\n{place}", rule.id, session.name);
    let fingerprint: String =
        digest(&SHA256, identity.as_bytes()).as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    Some(json!({
        "ruleId": rule.id,
        "ruleIndex": number,
        "level": "error",
        "message": { "text": text },
        "locations": [{
            "physicalLocation": {
                "artifactLocation": { "uri": uri(file) },
                "region": { "startLine": line.max(1) },
            },
            "logicalLocations": [{ "fullyQualifiedName": session.name }],
        }],
        "partialFingerprints": { "planproof/v1": fingerprint[..FINGERPRINT_DIGITS] },
    }))
}

/// A file as a URI: relative to where the command ran, or absolute.
fn uri(file: &str) -> String {
    let path = file.replace('\\', "/");
    let mut uri = match path.strip_prefix('/') {
        Some(_) => String::from("file://"),
        // A drive of Windows.
        None if path.get(1..3) == Some(":/") => String::from("file:///"),
        None => String::new(),
    };
    // A relative path whose first part has a colon would be read as a scheme.
    let may_have_colon = !uri.is_empty();
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
                uri.push(char::from(byte));
            }
            b':' if may_have_colon => uri.push(':'),
            _ => {
                let _ = write!(uri, "%{byte:02X}");
            }
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_uris() {
        for (file, expected) in [
            ("logs/a b.jsonl", "logs/a%20b.jsonl"),
            ("/var/log/ä.jsonl", "file:///var/log/%C3%A4.jsonl"),
            ("C:\\logs\\a.jsonl", "file:///C:/logs/a.jsonl"),
            ("a:b.jsonl", "a%3Ab.jsonl"),
            ("-", "-"),
        ] {
            assert_eq!(uri(file), expected);
        }
    }
}
