#!/bin/bash
# Runs a test program for cargo with all its tests, slow ones as well, and lets it print how long each took: the harness of
# Rust does that on stable only when asked as its own developers ask it. The programs with another harness cannot, and
# run as they are: what these ignore cannot be run here.
#
# With a folder in TESTS_ASIDE, the programs called `python` run beside the others, one after the other: their tests
# mostly work while those of the command mostly wait. Each leaves NAME.log there, and NAME.status when it has ended.
# Whoever sets TESTS_ASIDE looks at both.
set -u
program=$1
shift

run() {
    if "$program" --help 2>/dev/null | grep -q -- '--report-time'; then
        RUSTC_BOOTSTRAP=1 "$program" "$@" --include-ignored -Z unstable-options --report-time
    else
        "$program" "$@"
    fi
}

name=${program##*/}
if [ -n "${TESTS_ASIDE:-}" ] && [[ $name == python-* ]]; then
    : >"$TESTS_ASIDE/$name.log"
    # With job control the job does not ignore signals, which the programs under test would inherit.
    set -m
    {
        flock 9
        run "$@" 9>&-
        echo $? >"$TESTS_ASIDE/$name.status"
    } 9>"$TESTS_ASIDE/lock" >"$TESTS_ASIDE/$name.log" 2>&1 </dev/null &
    echo "$name runs beside the others"
    exit 0
fi
run "$@"
