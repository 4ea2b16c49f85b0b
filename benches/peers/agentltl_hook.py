"""Decides on one call of a tool by the AGENTLTL.yaml of the current folder, as a hook of AgentLTL does: a peer of
`planproof hook` in benches/guard.py. Reads the event that Claude Code reports to hooks on standard input.

It needs `agentltl-coding`.
"""

import json
import os
import sys

from agentltl_coding import Harness, Session, configure

event = json.load(sys.stdin)
configure(Harness(name="claude-code", agent="Claude Code", user_dir=os.getcwd(), shell_tools={"Bash": "command"}))
session = Session(os.getcwd(), os.getcwd(), event["session_id"])
if not session.files:
    sys.exit("there is no AGENTLTL.yaml here")
verdict = session.pre(event["tool_name"], event["tool_input"])
if verdict.action not in ("none", None):
    print(json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny",
                                             "permissionDecisionReason": verdict.reason}}))  # fmt: skip
