#!/bin/sh
# Builds the wheel from what is built already, installs it into an empty environment of each Python that is here, and runs
# what it brings: the program, the package, the plugin.
#
#   ci/wheel.sh [PROFILE [FOLDER]]
#
# PROFILE is that of the build that is there (release; dev for `cargo build`): maturin then compiles nothing. The wheel is
# left in FOLDER if there is one. Interpreters are looked for on PATH and in PLANPROOF_PYTHONS, a list of paths.
set -eu
cd "$(dirname "$0")/.."
root=$PWD
profile=${1:-release}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
wheels=${2:-$scratch/wheels}
mkdir -p "$wheels"
wheels=$(cd "$wheels" && pwd)

examples/make_venvs.sh wheel
# It takes the wheel's description from the folder that it is started in.
(cd python && ../.venvs/wheel/bin/python -m maturin build --profile "$profile" --compatibility linux --out "$wheels" --quiet)
wheel=$(find "$wheels" -name 'planproof-*.whl' | sort | tail -n 1)
[ -n "$wheel" ] || { echo "wheel.sh: maturin wrote no wheel" >&2; exit 1; }
echo "$(basename "$wheel"): $(wc -c < "$wheel") bytes"

cat > "$scratch/my_agent.py" <<'AGENT'
import planproof


@planproof.agent
def one_by_one(query: str, tools: planproof.Tools) -> str:
    for tool in tools.list():
        tools.call(tool.name, {})
    return "Done."
AGENT

# Runs the wheel in an environment of this interpreter.
try_with() {
    venv=$scratch/venv
    "$1" -m venv --clear --without-pip "$venv"
    "$1" -m pip --python "$venv/bin/python" install --quiet --no-input --disable-pip-version-check --no-index "$wheel"
    cd "$scratch"
    "$venv/bin/planproof" demo --quiet > demo.txt
    [ -s demo.txt ] || { echo "wheel.sh: the demo printed nothing" >&2; exit 1; }
    "$venv/bin/python" -m planproof --version
    # Every task done, in whatever order: two actions of which some cases state none.
    status=0
    "$venv/bin/planproof" test "worker:$venv/bin/python -m planproof.worker my_agent.py" --cases 10 --actions 2 --quiet \
        --json --store "$scratch/runs.db" > report.json || status=$?
    [ "$status" -le 1 ] || exit "$status"
    "$venv/bin/python" - <<'CHECK'
import importlib.metadata
import json
import sys

import planproof

report = json.load(open("report.json"))
assert report["passed"] > 0 and report["unscored"] == 0 and report["classes"]["act_error"] == 0, report
assert report["passed"] + report["classes"]["order_error"] == 10, report
names = [point.value for point in importlib.metadata.distribution("planproof").entry_points]
assert names == ["planproof.pytest_plugin"], names
assert importlib.metadata.version("planproof") and planproof.__file__.startswith(sys.prefix)
print(f"Python {sys.version.split()[0]}: wheel installed, demo run, {report['passed']} of 10 cases passed")
CHECK
    cd "$root"
}

tried=" "
for name in python3.9 python3.10 python3.11 python3.12 python3.13 python3.14 python3 ${PLANPROOF_PYTHONS:-}; do
    # Asked to run, not only looked up: a version manager may have one on the path that does not start.
    version=$("$name" -c 'import sys, venv; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) || continue
    case "$tried" in *" $version "*) continue ;; esac
    case "$version" in 2.* | 3.[0-8]) continue ;; esac
    tried="$tried$version "
    try_with "$name"
done
[ "$tried" != " " ] || { echo "wheel.sh: no Python of 3.9 or later was found" >&2; exit 1; }
