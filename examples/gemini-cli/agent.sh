#!/bin/sh
# Gemini CLI on one case: the query comes on standard input, in PLANPROOF_MCP_URL is where its tools are, in
# GOOGLE_GEMINI_BASE_URL, GEMINI_API_KEY and GEMINI_MODEL where its model is. What it answers is printed.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
gemini=${GEMINI:-$here/../../.venvs/gemini-cli/node_modules/.bin/gemini}

# Runs at the same time share nothing, and leave nothing behind.
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
mkdir -p "$place/home/.gemini" "$place/work"
cp "$here/settings.json" "$place/home/.gemini"

cd "$place/work"
# Tools that want to be confirmed are left out where nobody can be asked; those of the case are trusted.
HOME=$place/home "$gemini" --skip-trust --output-format text
