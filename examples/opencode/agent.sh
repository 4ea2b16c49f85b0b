#!/bin/sh
# OpenCode on one case: the query comes on standard input, in PLANPROOF_MCP_URL is where its tools are, in
# ANTHROPIC_BASE_URL and ANTHROPIC_API_KEY where its model is. What it answers is printed.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
opencode=${OPENCODE:-$here/../../.venvs/opencode/node_modules/.bin/opencode}

# Runs at the same time share nothing, and leave nothing behind.
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
mkdir "$place/home" "$place/work"

cd "$place/work"
# A title of its own would be one more question to the model.
env -u XDG_CONFIG_HOME -u XDG_DATA_HOME -u XDG_CACHE_HOME -u XDG_STATE_HOME HOME="$place/home" \
    OPENCODE_CONFIG="$here/opencode.json" OPENCODE_DISABLE_AUTOUPDATE=1 OPENCODE_DISABLE_MODELS_FETCH=1 \
    "$opencode" run --title planproof
