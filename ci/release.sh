#!/bin/sh
# Makes a release for the machine that it runs on, with the commands of .github/workflows/release.yml, installs it with
# install.sh and with pip as its users do, and runs what was installed. Nothing is published.
#
#   ci/release.sh [FOLDER]
#
# The release is left in FOLDER if there is one. Takes the time of an optimised build.
set -eu
cd "$(dirname "$0")/.."
root=$PWD
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# In the layout in which install.sh finds the latest release of a repository.
release=$scratch/releases/latest/download
mkdir -p "$release"

target=$(rustc -vV | sed -n 's/^host: //p')
cargo build --quiet --profile dist --locked --package planproof
target/dist/planproof --version
target/dist/planproof test tools@sim/perfect --cases 20 --quiet --store "$scratch/runs.db" > /dev/null
ci/package.sh "$target" target/dist/planproof "$release"
ci/wheel.sh dist "$release"
cargo run --locked --quiet --package xtask -- sbom > "$release/planproof.cdx.json"
[ -s "$release/planproof.cdx.json" ] || { echo "release.sh: the bill of materials is empty" >&2; exit 1; }
cp install.sh "$release/"
(cd "$release" && sha256sum ./* | sed 's|\./||' > "$scratch/sums" && mv "$scratch/sums" SHA256SUMS)

HOME=$scratch PLANPROOF_REPOSITORY=file://$scratch PLANPROOF_INSTALL_DIR=$scratch/bin sh install.sh
(cd "$scratch" && bin/planproof demo --quiet > demo.txt)
[ -s "$scratch/demo.txt" ] || { echo "release.sh: the demo of the installed program printed nothing" >&2; exit 1; }
ls -l "$release"
if [ $# -gt 0 ]; then
    mkdir -p "$1"
    cp "$release"/* "$1/"
fi
cd "$root"
