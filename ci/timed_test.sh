#!/bin/sh
# Runs a test program for cargo, and lets it print how long each test took: the harness of Rust does that on stable only
# when asked as its own developers ask it. The programs with another harness cannot, and run as they are.
if "$1" --help 2>/dev/null | grep -q -- '--report-time'; then
    program=$1
    shift
    RUSTC_BOOTSTRAP=1 exec "$program" "$@" -Z unstable-options --report-time
fi
exec "$@"
