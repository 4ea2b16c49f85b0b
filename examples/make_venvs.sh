#!/bin/sh
# Makes .venvs/NAME in the repository root for each NAME given (all of them by default):
#   openai-agents, langgraph   the example agents
#   pydantic-ai                an agent behind a guard
#   ci                         the independent judge (Z3) and the MCP client of protocol 2025-11-25
#   clients                    the clients of Anthropic and Google
#   mcp2                       the MCP client of protocol 2026-07-28
#   pytest                     tests and types of the package for Python
#   reports                    readers of JUnit files, schemas of GitHub's workflows and actions
#   wheel                      maturin, which makes the wheel (only where it is named)
#   inspect                    Inspect (300 MB), which reads its logs
# A virtual environment whose requirements have not changed since it was made is left as it is.
set -eu
cd "$(dirname "$0")/.."

python=python3
# Asked to run, not only looked up: a version manager may have a python3.12 on the path that does not start.
if python3.12 -c "" 2>/dev/null; then python=python3.12; fi
version=$("$python" --version)

requirements_of() {
    case $1 in
        openai-agents | langgraph) echo "examples/$1/requirements.txt" ;;
        ci) echo ci/requirements.txt ;;
        clients | mcp2 | pydantic-ai | pytest | reports | inspect | wheel) echo "ci/requirements-$1.txt" ;;
        *) echo "make_venvs.sh: no virtual environment is called '$1'" >&2; return 2 ;;
    esac
}

make_venv() {
    requirements=$(requirements_of "$1")
    venv=.venvs/$1
    stamp="$version $(cksum < "$requirements")"
    if [ "$(cat "$venv/.made-from" 2>/dev/null)" = "$stamp" ]; then return; fi
    echo "making $venv" >&2
    "$python" -m venv --clear --without-pip "$venv"
    # The files pin every package, so there is nothing to resolve; `check` says whether the pins still agree.
    "$python" -m pip --python "$venv/bin/python" install --quiet --no-input --disable-pip-version-check \
        --no-deps --no-compile --requirement "$requirements"
    "$python" -m pip --python "$venv/bin/python" check >/dev/null
    echo "$stamp" > "$venv/.made-from"
}

if [ $# -eq 0 ]; then set -- openai-agents langgraph pydantic-ai ci clients mcp2 pytest reports inspect; fi
# All at once: an installation is mostly pip working on one processor.
pids=
for name in "$@"; do make_venv "$name" & pids="$pids $!"; done
status=0
for pid in $pids; do wait "$pid" || status=$?; done
exit "$status"
