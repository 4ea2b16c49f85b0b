#!/bin/sh
# Installs the coding agents of codex/, gemini-cli/ and opencode/, and the checkers of ci/checkers, from npm into
# .venvs/NAME in the repository root, for each NAME given (all of them by default: 900 MB). Needs Node 20 or later. What
# is installed already is left as it is.
set -eu
cd "$(dirname "$0")/.."

install_agent() {
    package=examples/$1/package.json
    if [ "$1" = checkers ]; then package=ci/checkers/package.json; fi
    if [ ! -r "$package" ]; then
        echo "make_agents.sh: no coding agent is called '$1'" >&2
        return 2
    fi
    place=.venvs/$1
    if cmp -s "$package" "$place/.made-from"; then return; fi
    echo "installing $1" >&2
    rm -rf "$place"
    mkdir -p "$place"
    cp "$package" "$place"
    # The packages come with their programs; OpenCode's puts the right one into its place by a script.
    npm install --prefix "$place" --ignore-scripts --silent --no-audit --no-fund --no-package-lock
    if [ "$1" = opencode ]; then (cd "$place/node_modules/opencode-ai" && node postinstall.mjs >/dev/null); fi
    cp "$package" "$place/.made-from"
}

if [ $# -eq 0 ]; then set -- codex gemini-cli opencode checkers; fi
for name in "$@"; do install_agent "$name"; done
