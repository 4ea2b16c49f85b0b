#!/usr/bin/env bash
# Makes reports, looks at their pages in a browser without a network, and leaves the pages and their screenshots (light,
# dark, 390 pixels wide) in the folder given.
#
#   ci/pages.sh FOLDER [PLANPROOF]
#
# PLANPROOF is the program that makes them, by default that of the dev profile.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p "$1"
out=$(realpath "$1")
planproof=$(realpath "${2:-target/debug/planproof}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
root=$PWD
cd "$scratch"

# Tests an agent that fails, and checks its page against the verdicts, with the smallest failing queries where they are
# asked for. The exit status 1 says that failures were found.
page() {
    local name=$1
    shift
    local status=0
    "$planproof" test "$@" --quiet --html "$out/$name.html" >/dev/null || status=$?
    [ "$status" -eq 1 ] || { echo "pages: planproof test $* exited with $status"; exit 1; }
    "$planproof" runs export last --format verdicts >verdicts.jsonl
    "$planproof" runs export last --format cases >cases.jsonl
    local shrinking=()
    case " $* " in *" --shrink "*)
        "$planproof" report last --json >report.json
        local candidates
        candidates=$(python3 -c 'import json; print(json.load(open("report.json"))["shrinking"]["campaign"])')
        "$planproof" runs export "$candidates" --format verdicts >shrunk-verdicts.jsonl
        "$planproof" runs export "$candidates" --format cases >shrunk-cases.jsonl
        shrinking=(--shrinking report.json --shrunk-verdicts shrunk-verdicts.jsonl --shrunk-cases shrunk-cases.jsonl)
    esac
    python3 "$root/ci/page_check.py" "$out/$name.html" --verdicts verdicts.jsonl --cases cases.jsonl \
        "${shrinking[@]}" --screenshots "$out/$name"
}

page basic tools@sim/careless --cases 120 --actions 3..8
page clumsy tools@sim/clumsy --cases 60
page shrunk tools@sim/planted/constraint --cases 60 --actions 6 --shrink --shrink-max 6
"$planproof" demo --html "$out/demo.html" >/dev/null
# The pages that change are looked at while they do.
cd "$root"
axe=.venvs/checkers/node_modules/axe-core/axe.min.js
if [ -r "$axe" ]; then
    python3 ci/view_check.py "$planproof" --screenshots "$out/view" --axe "$axe"
else
    echo "pages: without axe-core, which examples/make_agents.sh checkers installs"
    python3 ci/view_check.py "$planproof" --screenshots "$out/view"
fi
ls "$out"
