#!/bin/sh
# Codex CLI on one case: the query comes on standard input, in PLANPROOF_MCP_URL is where its tools are, in
# OPENAI_BASE_URL and OPENAI_API_KEY where its model is. What it answers is printed. CODEX_MODEL is the name by which
# Codex asks for the model: it chooses prompt and tools by it. The served model answers whatever the name is. By a name
# that it does not know, Codex offers the tools themselves; by its newest ones, such as gpt-5.6-sol, it has the model
# write programs that call them, which no simulated model does.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
codex=${CODEX:-$here/../../.venvs/codex/node_modules/.bin/codex}

# Runs at the same time share nothing, and leave nothing behind.
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
mkdir "$place/home" "$place/work"
cp "$here/config.toml" "$place/home"

CODEX_HOME=$place/home "$codex" exec --skip-git-repo-check --ephemeral --cd "$place/work" \
    -m "${CODEX_MODEL:-planproof}" \
    -c model_providers.planproof.base_url="$OPENAI_BASE_URL" \
    -c mcp_servers.planproof.url="$PLANPROOF_MCP_URL" -
