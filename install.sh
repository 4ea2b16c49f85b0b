#!/bin/sh
# Installs the program `planproof` from a release, for Linux and macOS:
#
#   curl -fsSL https://example.org/planproof/releases/latest/download/install.sh | sh
#
# What can be set in the environment:
#   PLANPROOF_VERSION       a version, such as 0.1.0; without it the latest one
#   PLANPROOF_INSTALL_DIR   where the program goes; without it ~/.local/bin
#   PLANPROOF_REPOSITORY    URL of the repository whose releases are asked
#
# The archive is compared with the checksum of the same release. Exits with 3 if there is no release, or none for this
# machine, and with 1 if anything else goes wrong; then nothing is installed.
set -eu

NO_RELEASE=3

say() { echo "install.sh: $*" >&2; }
fail() { say "$@"; exit 1; }

# All in a function, so that a script of which half arrived does nothing.
main() {
    repository=${PLANPROOF_REPOSITORY:-https://example.org/planproof}
    version=${PLANPROOF_VERSION:-}
    folder=${PLANPROOF_INSTALL_DIR:-${HOME:?set HOME or PLANPROOF_INSTALL_DIR}/.local/bin}
    releases=${repository%/}/releases
    if [ -n "$version" ]; then
        release=$releases/download/v${version#v}
    else
        release=$releases/latest/download
    fi
    target=$(target)
    name=planproof-$target
    scratch=$(mktemp -d)
    staged=
    trap 'rm -rf "$scratch" ${staged:+"$staged"}' EXIT

    status=0
    get "$release/SHA256SUMS" "$scratch/SHA256SUMS" || status=$?
    case $status in
        0) ;;
        "$NO_RELEASE") no_release "there is no release at $release" ;;
        *) fail "$release/SHA256SUMS cannot be fetched" ;;
    esac
    expected=$(awk -v name="$name.tar.gz" '$2 == name || $2 == "*" name { print $1 }' "$scratch/SHA256SUMS")
    [ -n "$expected" ] || no_release "the release at $release has no archive for $target"
    get "$release/$name.tar.gz" "$scratch/archive" || fail "$release/$name.tar.gz cannot be fetched"
    found=$(checksum "$scratch/archive")
    [ "$found" = "$expected" ] || fail "the checksum of $name.tar.gz is $found instead of $expected: nothing is installed"

    tar -xzf "$scratch/archive" -C "$scratch" 2>/dev/null || fail "$name.tar.gz cannot be unpacked: nothing is installed"
    [ -f "$scratch/$name/planproof" ] || fail "$name.tar.gz has no planproof in it: nothing is installed"
    mkdir -p "$folder" 2>/dev/null || fail "$folder cannot be made: set PLANPROOF_INSTALL_DIR to a folder that you may write to"
    # They take their names when they are whole: a planproof that runs keeps its file. Nobody else can write into a new
    # folder of an unknown name, or have put a link there.
    staged=$(mktemp -d "$folder/.planproof.XXXXXXXX" 2>/dev/null) ||
        fail "$folder cannot be written to: set PLANPROOF_INSTALL_DIR to another folder"
    for program in planproof planproof-launch; do
        # planproof can be its own launcher, which takes longer.
        [ -f "$scratch/$name/$program" ] || continue
        cp "$scratch/$name/$program" "$staged/$program" 2>/dev/null ||
            fail "$folder cannot be written to: set PLANPROOF_INSTALL_DIR to another folder"
        chmod 755 "$staged/$program"
    done
    # The launcher does nothing by itself.
    runs=$("$staged/planproof" --version 2>/dev/null </dev/null) ||
        fail "the planproof of $name.tar.gz does not run on this machine: nothing is installed"
    # The launcher of another version, which planproof would start if there is none in this release.
    rm -f "$folder/planproof-launch" || fail "$folder/planproof-launch cannot be replaced"
    for program in planproof planproof-launch; do
        [ -f "$staged/$program" ] || continue
        mv -f "$staged/$program" "$folder/$program" || fail "$folder/$program cannot be replaced"
    done
    say "installed $runs as $folder/planproof"
    case ":$PATH:" in
        *":$folder:"*) ;;
        *) say "$folder is not on PATH: add it, or call the program by its path" ;;
    esac
}

no_release() {
    say "$1"
    exit "$NO_RELEASE"
}

# The target whose archive this machine takes.
target() {
    machine=$(uname -m)
    case $machine in
        x86_64 | amd64) machine=x86_64 ;;
        aarch64 | arm64) machine=aarch64 ;;
    esac
    case $(uname -s) in
        Linux) echo "$machine-unknown-linux-$(libc)" ;;
        Darwin) echo "$machine-apple-darwin" ;;
        *) echo "$machine-$(uname -s)" ;;
    esac
}

# The program for musl is linked statically, and so runs everywhere; that for glibc needs 2.35.
libc() {
    found=$(getconf GNU_LIBC_VERSION 2>/dev/null || true)
    version=${found#glibc }
    major=${version%%.*}
    minor=${version#*.}
    if [ "${major:-0}" -eq 2 ] 2>/dev/null && [ "${minor%%.*}" -ge 35 ] 2>/dev/null; then
        echo gnu
    else
        echo musl
    fi
}

# Fetches a file. Gives NO_RELEASE if the server says that there is none; a server that cannot be reached is a failure.
get() {
    if command -v curl >/dev/null; then
        answer=$(curl -fsSL --retry 3 --proto '=https,http,file' --proto-redir '=https' -w '%{http_code}' -o "$2" -- "$1") &&
            return 0
        # 37: a file that cannot be read.
        case $?:$answer in
            22:404 | 22:410 | 37:*) return "$NO_RELEASE" ;;
        esac
    elif command -v wget >/dev/null; then
        answer=$(wget -O "$2" -- "$1" 2>&1) && return 0
        case $answer in
            *" 404"* | *" 410"*) return "$NO_RELEASE" ;;
        esac
    else
        fail "curl or wget is needed"
    fi
    return 1
}

checksum() {
    if command -v sha256sum >/dev/null; then
        sha256sum "$1"
    elif command -v shasum >/dev/null; then
        shasum -a 256 "$1"
    else
        fail "sha256sum or shasum is needed"
    fi | cut -d ' ' -f 1
}

main
