//! What guards an agent, started as the agent would start it, and given the canary.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::header::{ACCEPT, CONTENT_TYPE};
use hyper::{Request, Uri};
use planproof_guard::{CANARY_TOOL, GuardMode, mode_of_canary};
use planproof_tools::connections::{Connections, innermost};
use planproof_tools::process::ProcessGroup;
use planproof_tools::{Line, LineReader};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

use super::found::{FoundHook, FoundServer};
use super::known::DENIED_STATUS;

/// How long a hook, or a server together with its guard, may take to answer the canary.
const ATTEMPT_MAX: Duration = Duration::from_secs(30);

/// How long a server may take to answer the greeting. The guard answers the canary also where it does not.
const GREETING_MAX: Duration = Duration::from_secs(15);

/// Longest answer that is read, in bytes.
const ANSWER_BYTES_MAX: usize = 1024 * 1024;

/// The name of the session that the canary is a call of.
const SESSION: &str = "planproof-doctor";

/// What the canary showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Sign {
    /// A guard rejected it.
    Guarded(GuardMode),
    /// It was denied for another reason, as every call would be.
    Denied(String),
    /// It was not rejected, for this reason.
    Passed(String),
}

/// Gives a hook the event of the canary.
pub(super) async fn hook(hook: &FoundHook, folder: &Path) -> Sign {
    let mut command = match (&hook.line, hook.words.split_first()) {
        (Some(line), _) => shell(line),
        (None, Some((program, arguments))) => {
            let mut command = Command::new(program);
            command.args(arguments);
            command
        }
        (None, None) => return Sign::Passed("it starts no program".to_owned()),
    };
    command.current_dir(folder);
    // Each agent reads its own keys, and passes over the others'.
    let payload = json!({
        "session_id": SESSION, "conversation_id": SESSION, "hook_event_name": hook.event, "tool_name": CANARY_TOOL,
        "tool_input": {}, "tool_use_id": SESSION, "cwd": folder.display().to_string(), "transcript_path": "",
        "permission_mode": "default",
    });
    let answered = timeout(ATTEMPT_MAX, say_and_hear(command, &payload.to_string())).await;
    let (said, status) = match answered {
        Err(_) => return Sign::Passed(format!("the hook did not answer within {ATTEMPT_MAX:?}")),
        Ok(Err(error)) => return Sign::Passed(format!("the hook cannot be started: {error}")),
        Ok(Ok(answered)) => answered,
    };
    let answer: Value = serde_json::from_str(said.trim()).unwrap_or_default();
    // Others are not read at all.
    let is_read = matches!(status, Some(0 | DENIED_STATUS));
    let is_denial = is_read && hook.known.reads_denial(&hook.event, &answer);
    match mode_of_canary(&said) {
        Some(mode) if is_denial && status == Some(0) => Sign::Guarded(mode),
        _ if is_denial => {
            let specific = answer.pointer("/hookSpecificOutput/permissionDecisionReason");
            let reasons = [specific, answer.get("reason"), answer.get("user_message")];
            let reason = reasons.into_iter().flatten().find_map(Value::as_str);
            Sign::Denied(reason.unwrap_or("it gives no reason").to_owned())
        }
        Some(_) if status == Some(0) => Sign::Passed(format!(
            "the hook rejected the canary, and {} does not read how it says so",
            hook.known.name
        )),
        _ => Sign::Passed(match status {
            Some(0) => "the hook let the canary pass".to_owned(),
            Some(status) => format!("the hook ended with status {status}, and did not deny the canary"),
            None => "the hook was killed, and did not deny the canary".to_owned(),
        }),
    }
}

fn shell(line: &str) -> Command {
    let (program, option) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
    let mut command = Command::new(program);
    command.args([option, line]);
    command
}

/// Stdout and the exit status of a program with this on its stdin.
async fn say_and_hear(mut command: Command, text: &str) -> std::io::Result<(String, Option<i32>)> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut group = ProcessGroup::start(&mut command)?;
    let (stdin, stdout, _) = group.take_streams();
    if let Some(mut stdin) = stdin {
        // A hook may end without having read it.
        let _ = stdin.write_all(text.as_bytes()).await;
    }
    let mut said = Vec::new();
    if let Some(stdout) = stdout {
        stdout.take(ANSWER_BYTES_MAX as u64).read_to_end(&mut said).await?;
    }
    let status = group.leader_exit().await?;
    group.terminate().await;
    Ok((String::from_utf8_lossy(&said).into_owned(), status.code()))
}

/// Starts a guard with the server behind it, and calls the canary over MCP.
pub(super) async fn server(server: &FoundServer, folder: &Path) -> Sign {
    let Some((program, arguments)) = server.words.split_first() else {
        return Sign::Passed("nothing is started".to_owned());
    };
    let mut command = Command::new(with_variables(program));
    command.args(arguments.iter().map(|word| with_variables(word)));
    command.envs(server.environment.iter().map(|(name, value)| (name, with_variables(value))));
    command.current_dir(server.folder.as_deref().map_or(folder.to_owned(), |own| folder.join(own)));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut group = match ProcessGroup::start(&mut command) {
        Ok(group) => group,
        Err(error) => return Sign::Passed(format!("the guard cannot be started: {error}")),
    };
    let (Some(stdin), Some(stdout), _) = group.take_streams() else {
        return Sign::Passed("the guard has no stdin and stdout".to_owned());
    };
    let sign = timeout(ATTEMPT_MAX, talk(stdin, stdout)).await;
    group.terminate().await;
    match sign {
        Err(_) => Sign::Passed(format!("the canary was not answered within {ATTEMPT_MAX:?}")),
        Ok(None) => Sign::Passed("the guard ended, and did not answer the canary".to_owned()),
        Ok(Some(answer)) => match mode_of_canary(&answer.to_string()) {
            Some(mode) => Sign::Guarded(mode),
            None => Sign::Passed("the canary reached the server".to_owned()),
        },
    }
}

/// Calls the canary at the address of a server, which a guard answers without asking the server.
pub(super) async fn listener(server: &FoundServer) -> Sign {
    match timeout(ATTEMPT_MAX, post(server)).await {
        Err(_) => Sign::Passed(format!("the canary was not answered within {ATTEMPT_MAX:?}")),
        Ok(Err(why)) => Sign::Passed(why),
        Ok(Ok(answer)) => match (mode_of_canary(&answer), answer.trim().strip_prefix("planproof guard: ")) {
            (Some(mode), _) => Sign::Guarded(mode),
            (None, Some(why)) => {
                Sign::Passed(format!("a guard listens there, and refuses this address: {why}"))
            }
            (None, None) => Sign::Passed("what listens at the server's address is not a guard".to_owned()),
        },
    }
}

/// What is answered to a request with the canary.
async fn post(server: &FoundServer) -> Result<String, String> {
    let uri: Uri = with_variables(server.url.as_deref().unwrap_or_default())
        .parse()
        .map_err(|error| format!("the server's address is not a URL: {error}"))?;
    let mut post = Request::post(&uri)
        .header(CONTENT_TYPE, "application/json")
        .header(ACCEPT, "application/json, text/event-stream")
        .header("Mcp-Method", "tools/call")
        .header("Mcp-Name", CANARY_TOOL);
    for (name, value) in &server.headers {
        post = post.header(name, with_variables(value));
    }
    let post = post
        .body(Full::new(Bytes::from(canary().to_string())))
        .map_err(|error| format!("the server's headers cannot be sent: {error}"))?;
    let connections = Connections::new(&uri).map_err(|error| error.to_string())?;
    let response = connections.request(post).await;
    let response = response
        .map_err(|error| format!("nothing answers at the server's address: {}", innermost(&error)))?;
    let answer = Limited::new(response.into_body(), ANSWER_BYTES_MAX).collect().await;
    Ok(answer.map(|it| String::from_utf8_lossy(&it.to_bytes()).into_owned()).unwrap_or_default())
}

/// The call that every guard rejects, as message 2.
fn canary() -> Value {
    json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": CANARY_TOOL, "arguments": {}}})
}

/// The answer to the canary.
async fn talk(mut to: ChildStdin, from: ChildStdout) -> Option<Value> {
    let mut lines = LineReader::new(from, ANSWER_BYTES_MAX);
    let greeting = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "planproof-doctor", "version": env!("CARGO_PKG_VERSION")},
    }});
    send(&mut to, &greeting).await;
    // The guard answers the canary whatever the server makes of the greeting.
    let _ = timeout(GREETING_MAX, answer_to(&mut lines, 1)).await;
    send(&mut to, &json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    send(&mut to, &canary()).await;
    answer_to(&mut lines, 2).await
}

async fn send(to: &mut ChildStdin, message: &Value) {
    // A guard that is gone is noticed at its stdout.
    let _ = to.write_all(format!("{message}\n").as_bytes()).await;
    let _ = to.flush().await;
}

async fn answer_to(lines: &mut LineReader<ChildStdout>, id: u64) -> Option<Value> {
    loop {
        match lines.next().await {
            Line::End => return None,
            Line::Piece(_) => {}
            Line::Whole(line) => match serde_json::from_slice::<Value>(&line) {
                Ok(message) if message.get("method").is_none() && message["id"] == id => {
                    return Some(message);
                }
                _ => {}
            },
        }
    }
}

/// A text with the variables in it that agents and shells replace: `${NAME}`, `${NAME:-default}`, `${env:NAME}`, and,
/// at its beginning, `$NAME` and `~`. One that is not set stays as it is.
pub(super) fn with_variables(text: &str) -> String {
    let set = |name: &str| std::env::var(name).ok();
    if let Some(rest) = text.strip_prefix("~/") {
        return set("HOME").map_or(text.to_owned(), |home| format!("{home}/{rest}"));
    }
    if let Some(rest) = text.strip_prefix('$').filter(|rest| !rest.starts_with('{')) {
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        return set(&rest[..end]).map_or(text.to_owned(), |value| value + &rest[end..]);
    }
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((name, behind)) = after.split_once('}') else { break };
        let (name, default) = name.split_once(":-").map_or((name, None), |(name, it)| (name, Some(it)));
        let value = set(name.strip_prefix("env:").unwrap_or(name));
        out += before;
        match value.as_deref().or(default) {
            Some(value) => out += value,
            None => out.push_str(&rest[before.len()..rest.len() - behind.len()]),
        }
        rest = behind;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_replaced_as_agents_do() {
        let path = std::env::var("PATH").expect("there is one");
        for (text, expected) in [
            ("a${PATH}b", format!("a{path}b")),
            ("${env:PATH}", path.clone()),
            ("${NO_SUCH_VARIABLE:-x}/y", "x/y".to_owned()),
            ("${NO_SUCH_VARIABLE}/y", "${NO_SUCH_VARIABLE}/y".to_owned()),
            ("$PATH/x", format!("{path}/x")),
            ("x $PATH ${", "x $PATH ${".to_owned()),
        ] {
            assert_eq!(with_variables(text), expected);
        }
    }
}
