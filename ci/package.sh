#!/bin/sh
# Makes the archive of a release: planproof-TARGET.tar.gz, or .zip for Windows, with the program, its launcher where that
# lies beside it, and the licences in a folder of the same name. Prints where it is.
#
#   ci/package.sh TARGET BINARY FOLDER
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
target=$1 binary=$2 folder=$3
name=planproof-$target
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$folder" "$scratch/$name"
folder=$(cd "$folder" && pwd)
case $target in
    *windows*) program=planproof.exe archive=$folder/$name.zip ;;
    *) program=planproof archive=$folder/$name.tar.gz ;;
esac
cp "$binary" "$scratch/$name/$program"
launcher=$(dirname "$binary")/planproof-launch
if [ -f "$launcher" ]; then cp "$launcher" "$scratch/$name/"; fi
cp "$root/LICENSE-APACHE" "$root/LICENSE-MIT" "$root/README.md" "$root/CHANGELOG.md" "$scratch/$name/"
cd "$scratch"
case $archive in
    *.zip) 7z a -bso0 "$archive" "$name" ;;
    *) tar -czf "$archive" "$name" ;;
esac
echo "$archive"
