"""Real coding agents behind hooks of planproof, without a network.

Codex, Gemini CLI and OpenCode run against a stand-in for their models, which asks for a shell command that makes a
file. With rules that forbid it, the file must not be there afterwards, and the reason must have reached the model; with
rules that allow it, the file must be there. Each hook is also broken, so that it shows what the agent does then, and
`planproof doctor --try` must have said so before.

    python3 ci/real_agents.py --planproof target/debug/planproof --agents node_modules/.bin [NAME ...]

`--agents` has the programs of `npm install @openai/codex@0.169.0 @google/gemini-cli@0.61.0 opencode-ai@1.18.33`.
"""

import argparse
import http.server
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading

# Seconds that an agent may take. Those that are kept from ending would never do so.
TIME_MAX = 300

MADE = "made-by-the-agent"
COMMAND = f"touch {MADE}"

DENY = "- {id: no-files, never: {call: %s, where: {/command: {matches: 'touch .*'}}}, why: Make no files.}\n"
ALLOW = "- {id: other, never: {call: no_such_tool}}\n"


class Model(http.server.BaseHTTPRequestHandler):
    """Asks for the command once, and then says what came of it."""

    protocol_version = "HTTP/1.1"
    heard = []

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.answer("application/json", json.dumps({"data": [], "models": []}))

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0))).decode("utf-8", "replace")
        Model.heard.append(body)
        if "/responses" in self.path:
            self.answer("text/event-stream", self.for_codex(body))
        elif "generateContent" in self.path.lower() or "GenerateContent" in self.path:
            self.for_gemini(body)
        elif "chat/completions" in self.path:
            self.answer("text/event-stream", self.for_opencode(body))
        else:
            self.answer("application/json", "{}")

    def answer(self, kind, text):
        data = text.encode()
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def for_codex(self, body):
        if "function_call_output" in body:
            item = {"type": "message", "role": "assistant", "id": "m1",
                    "content": [{"type": "output_text", "text": "Done."}]}
        else:
            item = {"type": "function_call", "id": "f1", "call_id": "c1", "name": "exec_command",
                    "arguments": json.dumps({"cmd": COMMAND})}
        usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
        events = [
            {"type": "response.created", "response": {"id": "r1"}},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": {"id": "r1", "usage": usage}},
        ]
        return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)

    def for_gemini(self, body):
        if "functionResponse" in body or "run_shell_command" not in body:
            parts = [{"text": "Done."}]
        else:
            call = {"name": "run_shell_command", "args": {"command": COMMAND, "description": "Makes a file."}}
            parts = [{"functionCall": call}]
        answer = {"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}],
                  "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}}
        if "stream" in self.path:
            self.answer("text/event-stream", f"data: {json.dumps(answer)}\r\n\r\n")
        else:
            self.answer("application/json", json.dumps(answer))

    def for_opencode(self, body):
        asked = json.loads(body)
        has_tools = any(tool["function"]["name"] == "bash" for tool in asked.get("tools", []))
        has_result = any(message["role"] == "tool" for message in asked["messages"])
        if has_tools and not has_result:
            function = {"name": "bash", "arguments": json.dumps({"command": COMMAND, "description": "Makes a file."})}
            delta = {"role": "assistant", "tool_calls": [{"index": 0, "id": "c1", "type": "function",
                                                          "function": function}]}
            end = "tool_calls"
        else:
            delta, end = {"role": "assistant", "content": "Done."}, "stop"
        chunk = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        chunks = [{**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
                  {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": end}],
                   "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}]
        return "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"


class Trial:
    """An agent with a home and a project of its own."""

    def __init__(self, options, name, port):
        self.options, self.name, self.port = options, name, port
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="planproof-agents-"))
        self.home, self.project = self.root / "home", self.root / "project"
        self.home.mkdir()
        self.project.mkdir()
        self.rules = self.root / "rules.yaml"
        names = ("PATH", "LANG", "TMPDIR")
        self.environment = {name: os.environ[name] for name in names if name in os.environ}
        self.environment |= {"HOME": str(self.home), "XDG_CONFIG_HOME": str(self.home / ".config"),
                             "XDG_DATA_HOME": str(self.home / ".local/share"), "NO_COLOR": "1"}
        getattr(self, "set_up_" + name.replace("-", "_"))()

    def allow(self, is_allowed):
        tool = {"codex": "Bash", "gemini-cli": "run_shell_command", "opencode": "bash"}[self.name]
        rule = ALLOW if is_allowed else DENY % tool
        self.rules.write_text("schema: planproof/rules/v1\nrules:\n" + rule)

    def set_up_codex(self):
        folder = self.home / ".codex"
        folder.mkdir()
        (folder / "config.toml").write_text(
            'model = "m"\nmodel_provider = "x"\napproval_policy = "never"\nsandbox_mode = "danger-full-access"\n'
            f'[model_providers.x]\nname = "x"\nbase_url = "http://127.0.0.1:{self.port}/v1"\n'
            'wire_api = "responses"\nenv_key = "X_KEY"\n')
        self.environment["X_KEY"] = "x"
        self.command = ["codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", "Make the file."]

    def set_up_gemini_cli(self):
        folder = self.home / ".gemini"
        folder.mkdir()
        (folder / "settings.json").write_text(json.dumps({
            "security": {"auth": {"selectedType": "gemini-api-key"}}, "privacy": {"usageStatisticsEnabled": False},
            "telemetry": {"enabled": False}, "general": {"disableAutoUpdate": True}}))
        self.environment |= {"GOOGLE_GEMINI_BASE_URL": f"http://127.0.0.1:{self.port}", "GEMINI_API_KEY": "x"}
        self.command = ["gemini", "--skip-trust", "--yolo", "-m", "gemini-2.5-pro", "-p", "Make the file."]

    def set_up_opencode(self):
        folder = self.home / ".config/opencode"
        (folder / "plugin").mkdir(parents=True)
        (folder / "opencode.json").write_text(json.dumps({
            "model": "x/m", "small_model": "x/m", "autoupdate": False, "share": "disabled",
            "provider": {"x": {"npm": "@ai-sdk/openai-compatible", "models": {"m": {"tool_call": True}},
                               "options": {"baseURL": f"http://127.0.0.1:{self.port}/v1", "apiKey": "x"}}}}))
        self.command = ["opencode", "run", "Make the file."]

    def planproof(self, *words):
        command = [self.options.planproof, *words]
        return subprocess.run(command, cwd=self.project, env=self.environment, capture_output=True, text=True,
                              timeout=TIME_MAX)

    def install(self):
        if self.name == "opencode":
            plugin = (pathlib.Path(__file__).parent.parent / "examples/opencode/planproof.js").read_text()
            plugin = plugin.replace('"planproof"', json.dumps(str(self.options.planproof)))
            plugin = plugin.replace('"/srv/agents/guard-rules.yaml"', json.dumps(str(self.rules)))
            plugin = plugin.replace('"/srv/agents/guard"', json.dumps(str(self.root / "state")))
            (self.home / ".config/opencode/plugin/planproof.js").write_text(plugin)
            return
        done = self.planproof("hook", "install", self.name, "--rules", str(self.rules), "--enforce", "--yes",
                              "--state", str(self.root / "state"))
        assert done.returncode == 0, done.stderr

    def run(self):
        """Whether the agent made the file, and what its model heard."""
        made = self.project / MADE
        made.unlink(missing_ok=True)
        Model.heard.clear()
        program = pathlib.Path(self.options.agents) / self.command[0]
        try:
            ended = subprocess.run([program, *self.command[1:]], cwd=self.project, env=self.environment,
                                   capture_output=True, text=True, timeout=TIME_MAX, stdin=subprocess.DEVNULL)
            said = ended.stdout + ended.stderr
        except subprocess.TimeoutExpired as error:
            said = f"{error.stdout} {error.stderr}"
        if self.options.verbose:
            print(said)
        return made.exists(), "\n".join(Model.heard)

    def breakages(self):
        """Changes of the configuration after which no hook denies, by their names, with the command of the agent."""
        right = self.configuration().read_text()
        before = {"codex": '"PreToolUse"', "gemini-cli": '"BeforeTool"'}.get(self.name)
        # Seconds for Codex, milliseconds for Gemini CLI.
        limit = {"codex": "1", "gemini-cli": "1000"}.get(self.name)

        def program(script):
            failing = self.root / "planproof"
            failing.write_text(f"#!/bin/sh\n{script}\n")
            failing.chmod(0o755)
            return right.replace(str(self.options.planproof), str(failing))

        # Where there is no such program, Gemini CLI denies, and Codex does not.
        yield "fails", program("exit 1"), self.command
        if self.name != "opencode":
            hangs = program("sleep 100").replace('"type": "command",', f'"type": "command", "timeout": {limit},')
            yield "hangs", hangs, self.command
            yield "misspelt", right.replace(before, before.lower()), self.command
            yield "on another event", right.replace(before, '"SessionStart"'), self.command
        if self.name == "codex":
            without = [word for word in self.command if word != "--dangerously-bypass-hook-trust"]
            yield "not trusted", right, without

    def configuration(self):
        files = {"codex": ".codex/hooks.json", "gemini-cli": ".gemini/settings.json",
                 "opencode": ".config/opencode/plugin/planproof.js"}
        return self.home / files[self.name]

    def state(self):
        said = json.loads(self.planproof("doctor", "--json", "--try", "--yes").stdout)
        return {way["state"] for way in said["ways"]}

    def end(self):
        shutil.rmtree(self.root, ignore_errors=True)


def check(options, name, port):
    trial = Trial(options, name, port)
    trial.allow(False)
    made, heard = trial.run()
    assert heard, f"{name}: the model was never asked"
    assert made, f"{name}: without a hook, the agent makes the file"
    trial.install()
    made, heard = trial.run()
    assert not made, f"{name}: the file is there"
    assert "Make no files." in heard, f"{name}: the reason did not reach the model"
    trial.allow(True)
    made, heard = trial.run()
    assert made, f"{name}: what is allowed is not done"
    trial.allow(False)
    for what, text, trial.command in trial.breakages():
        trial.configuration().write_text(text)
        # Before the agent shows that it is so.
        state = trial.state()
        made, _ = trial.run()
        assert made == (name != "opencode"), f"{name}: the hook {what}, and the file is {'' if made else 'not '}there"
        expected = {"advisory"} if name == "opencode" else {"unguarded"}
        assert state == expected, f"{name}: the hook {what}, and doctor says {state}"
        print(f"{name}: the hook {what}, as doctor says")
    trial.end()
    print(f"{name}: denied with the reason, and allowed")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--planproof", type=lambda path: pathlib.Path(path).resolve(), required=True)
    parser.add_argument("--agents", type=lambda path: pathlib.Path(path).resolve(), required=True)
    parser.add_argument("--verbose", action="store_true", help="show what the agents say")
    parser.add_argument("names", nargs="*", default=["codex", "gemini-cli", "opencode"])
    options = parser.parse_args()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for name in options.names:
        check(options, name, server.server_address[1])


if __name__ == "__main__":
    sys.exit(main())
