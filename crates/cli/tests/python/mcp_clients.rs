//! The official clients of MCP, in both generations of the protocol: on our tools, behind a guard, and with us between
//! them and tools that are not ours.

use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::ci_program;
use crate::support::{Place, Run, json_lines, send};
use crate::venvs::{keep_compiled, python, root};

pub(crate) fn mcp_client_calls_all_tools(venv: &str, era: &str) {
    let place = Place::new();
    let case = place.run("synth --count 1 --actions 4 --distractors 1").code(0);
    place.write("c.jsonl", &case.out);
    let arguments = ["serve-tools", "--case", "c.jsonl", "--trace", "t.jsonl", "--json"];
    let mut server = place.command(&arguments).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut out = BufReader::new(server.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    let url: Value = serde_json::from_str(&line).unwrap();
    let visit = ci_program(&place, venv, "mcp_client.py", &[url["mcp_url"].as_str().unwrap(), "--era", era]);
    send(&server, "INT");
    let mut verdict = String::new();
    out.read_to_string(&mut verdict).unwrap();
    let code = server.wait().unwrap().code();

    let visit = visit.code(0).json();
    let case: Value = case.json();
    let names: Vec<&Value> = case["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names.len(), 5);
    assert_eq!(visit["tools"].as_array().unwrap().iter().collect::<Vec<_>>(), names);
    let actions = case["actions"].as_array().unwrap();
    for result in visit["results"].as_array().unwrap() {
        let action = actions.iter().find(|action| action["tool"] == result["tool"]);
        let text = result["text"].as_str().unwrap();
        assert!(action.is_none_or(|action| text.contains(action["text"].as_str().unwrap())), "{result}");
        assert_eq!(result["is_error"], false);
    }
    assert_eq!(code, Some(1), "a distractor was called");
    let verdict: Value = serde_json::from_str(&verdict).unwrap();
    assert_eq!(verdict["calls"].as_array().unwrap().len(), 4);
    let flags = verdict["flags"].as_array().unwrap();
    assert!(flags.contains(&json!("distractor")) && !flags.contains(&json!("action_lost")), "{verdict}");
    let check = place.run("check --case c.jsonl --trace t.jsonl --json").code(1);
    assert_eq!(check.json(), verdict);
}

/// The official client with a guard between it and a server over HTTP: one tool is denied, all else is as without.
pub(crate) fn mcp_client_is_guarded(venv: &str, era: &str) {
    let place = Place::new();
    let case = place.run("synth --count 1 --actions 3").code(0);
    place.write("c.jsonl", &case.out);
    let denied = case.json()["tools"][0]["name"].as_str().unwrap().to_owned();
    place.write(
        "rules.yaml",
        &format!("schema: planproof/rules/v1\nrules: [{{id: none, never: {{call: {denied}}}}}]\n"),
    );
    let start = |words: &[&str]| {
        let mut child = place.command(words).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        (child, line)
    };
    let (mut server, line) = start(&["serve-tools", "--case", "c.jsonl", "--json"]);
    let url: Value = serde_json::from_str(&line).unwrap();
    let to = url["mcp_url"].as_str().unwrap();
    let words = ["guard", "--rules", "rules.yaml", "--enforce", "--to", to, "--listen", "127.0.0.1:0"];
    let (mut guard, line) = start(&words);
    let visit = ci_program(&place, venv, "mcp_client.py", &[line.trim(), "--era", era]);
    for child in [&mut server, &mut guard] {
        let _ = child.kill();
        let _ = child.wait();
    }
    let visit: Value = serde_json::from_str(visit.out.lines().next().unwrap_or_default())
        .unwrap_or_else(|error| panic!("{error}: {visit:?}"));
    let results = visit["results"].as_array().unwrap();
    assert_eq!((visit["era"].as_str(), results.len()), (Some(era), 3), "{visit}");
    for result in results {
        let is_denied = result["tool"] == denied.as_str();
        assert_eq!(result["is_error"], is_denied, "{result}");
        let text = result["text"].as_str().unwrap();
        assert_eq!(text.starts_with("The call is denied by rule none"), is_denied, "{result}");
    }
}

/// Failures as real servers send them, as the official client passes them on. An earlier one waits on where a response
/// ends without an answer, as long as it is left to.
pub(crate) fn failures_reach_the_mcp_client(venv: &str, ends_without_answer: bool) {
    let temporary = "wash is unavailable at the moment (503). This is temporary: try again.";
    let gone = "unknown tool: wash. The server has removed this tool.";
    let unanswered = "SSE stream ended without a response";
    let done = ["result", "done"];
    let all = json!(["wash", "dry"]);
    let mut forms = vec![
        ("transient=1", json!([["error", temporary], ["error", temporary], done]), all.clone()),
        (
            "transient=1,as=rpc",
            json!([["exception", temporary], ["exception", temporary], done]),
            all.clone(),
        ),
        (
            "vanish=1,as=closed",
            json!([["exception", gone], ["exception", gone], ["exception", gone]]),
            json!(["dry"]),
        ),
    ];
    if ends_without_answer {
        let twice = json!([["exception", unanswered], ["exception", unanswered], done]);
        forms.push(("transient=1,as=closed", twice.clone(), all.clone()));
        forms.push(("transient=1,as=timeout:50ms", twice, all));
    }
    for (shares, calls, tools) in forms {
        let place = Place::new();
        place.write(
            "c.yaml",
            &format!(
                "schema: planproof/scenario/v1\ntools: [{{name: wash}}, {{name: dry}}]\n\
                 cases: [{{id: x, query: Wash., faults: {{wash: \"{shares}\"}}, expect: [{{with: {{call: wash}}}}]}}]\n"
            ),
        );
        let arguments = ["serve-tools", "--scenarios", "c.yaml", "--trace", "t.jsonl", "--json"];
        let mut server =
            place.command(&arguments).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut out = BufReader::new(server.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        let url: Value = serde_json::from_str(&line).unwrap();
        let url = url["mcp_url"].as_str().unwrap();
        let visit = ci_program(&place, venv, "mcp_failures.py", &[url, "wash"]);
        send(&server, "INT");
        server.wait().unwrap();
        let visit = visit.code(0).json();
        assert_eq!((&visit["calls"], &visit["tools"]), (&calls, &tools), "{shares}");
        // The newer protocol notifies only those who subscribe.
        let notified = match shares.starts_with("vanish") && !ends_without_answer {
            true => json!(["notifications/tools/list_changed"]),
            false => json!([]),
        };
        assert_eq!(visit["notified"], notified, "{shares}");
    }
}

/// What a user's agent would be: it is told where the tools are, and calls three of them.
const GATEWAY_AGENT: &str = r#"
import asyncio, os, sys
sys.path.insert(0, sys.argv[1])
from mcp_client import connect

async def main():
    async with connect(os.environ["PLANPROOF_MCP_URL"]) as (era, client):
        assert era == sys.argv[2], era
        tools = {tool.name for tool in (await client.list_tools()).tools}
        assert tools >= {"numbers_add", "numbers_refuse", "calculator"}, tools
        for tool, arguments in [
            ("numbers_add", {"a": 40, "b": 2}),
            ("numbers_refuse", {"reason": "out of paper"}),
            ("calculator", {"expression": "6 * 7"}),
        ]:
            result = await client.call_tool(tool, arguments)
            print(tool, result.content[0].text)

asyncio.run(main())
"#;

/// An agent on tools that are not ours, with us between the two: it need not know the protocol of the tool server, and
/// what it does is in the trace.
pub(crate) fn tools_pass_through_us(agent: &str, agent_era: &str, server: &str, server_era: &str) {
    let place = Place::new();
    place.write("agent.py", GATEWAY_AGENT);
    let ci = root().join("ci");
    let agent = format!("command:{} agent.py {} {agent_era}", python(agent).display(), ci.display());
    let tools = format!("numbers=mcp:{} {}", python(server).display(), ci.join("mcp_server.py").display());
    let words = ["run", &agent, "Add.", "--tools", &tools, "--tools", "calculator", "--trace", "t.jsonl"];
    let mut command = place.command(&words);
    keep_compiled(&mut command);
    let run = Run::of(command, "").code(0);
    assert!(run.err.contains(&format!(" (MCP {server_era}): numbers_add, numbers_mirror, ")), "{run:?}");
    let answer = run.out.rsplit_once("\n\n").unwrap().1;
    assert!(
        answer.starts_with("numbers_add 42\nnumbers_refuse ") && answer.ends_with("calculator 42\n"),
        "{run:?}"
    );
    let trace = json_lines(&std::fs::read_to_string(place.path("t.jsonl")).unwrap());
    let calls: Vec<_> =
        trace.iter().filter(|event| event["type"] == "call").map(|call| &call["name"]).collect();
    assert_eq!(calls, ["numbers_add", "numbers_refuse", "calculator"]);
    let errors: Vec<_> = trace.iter().filter(|event| event["is_error"] == true).collect();
    assert!(errors.len() == 1 && errors[0]["text"].as_str().unwrap().contains("out of paper"), "{errors:?}");
}
