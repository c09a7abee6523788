#!/usr/bin/env bash
# Usage: run.sh BUILD SOURCE WORK: installs the library of a build and compiles a program against it that knows nothing else.
set -euo pipefail
build=$1 source=$2 work=$3
rm -rf "$work"
cmake --install "$build" --component development --prefix "$work/prefix" >/dev/null
cmake -S "$source/tests/install" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$work/prefix" >/dev/null
cmake --build "$work/build" >"$work/build.log" || { cat "$work/build.log"; exit 1; }
"$work/build/consumer"

# The program of the tutorial, from its page: it prints what stands there.
page=$source/docs/tutorials/9-cpp-in-ten-lines.md
block() { awk -v from="$1" '$0 == "```" && on { exit } on { print } $0 == "```" from { on = 1 }' "$page"; }
mkdir "$work/tutorial"
block "cpp name=main.cpp" >"$work/tutorial/main.cpp"
block "cmake name=CMakeLists.txt" >"$work/tutorial/CMakeLists.txt"
cmake -S "$work/tutorial" -B "$work/tutorial/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$work/prefix" >/dev/null
cmake --build "$work/tutorial/build" >"$work/build.log" || { cat "$work/build.log"; exit 1; }
diff <(block text) <("$work/tutorial/build/cable")
