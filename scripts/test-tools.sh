#!/usr/bin/env bash
# The programs that judge what Osier writes and nobody here wrote. `./test` uses them where they are and says what it skips where
# they are not; it never installs them by itself, as they are larger than Osier and bare machines may have no network.
set -euo pipefail
usage() {
  cat <<'TEXT'
usage: ./test --tools [--yes]     (or scripts/test-tools.sh [--yes])

Installs what the optional tests need:
  with apt, after asking (--yes: without asking; as root or through sudo)
    chromium, blender, python3-vtk9, ffmpeg, clang, python3-venv
  into build/tools, which can be deleted at any time
    usd-core (PyPI) and the glTF validator of Khronos (npm)
Exits 0 when all of them are there.
TEXT
}
yes=false
for option in "$@"; do
  case $option in
    --yes) yes=true ;;
    -h | --help) usage; exit ;;
    *) echo "error: unknown option $option" >&2; usage >&2; exit 2 ;;
  esac
done
cd "$(dirname "$(realpath "$0")")/.."
# shellcheck source=scripts/setup.sh
source scripts/setup.sh
mkdir -p build/tools
log=build/test-tools.log
missing=0

# Prints what apt would do and asks. Without a terminal nobody can answer, and the answer is no.
may_install() {
  local answer
  echo "apt-get would install: $1"
  # The line with the sizes, in whatever words apt has for it.
  # shellcheck disable=SC2086
  LC_ALL=C apt-get install --no-install-recommends --assume-no $1 2>/dev/null | grep -E '^(Need to get|After this operation)' || true
  $yes && return
  [[ -t 0 ]] || { echo "nobody is here to be asked; start again with --yes"; return 1; }
  read -r -p "Go on? [y/N] " answer
  [[ $answer == [yY]* ]]
}

if command -v dpkg-query >/dev/null; then
  wanted=$(missing_packages "${tool_packages[@]}")
  if [[ -z $wanted ]]; then
    echo "Debian's packages: there already"
  elif may_install "$wanted"; then
    # In a shell of its own: the rest does not need these.
    # shellcheck disable=SC2086
    (ensure_packages "$log" $wanted) || missing=1
  else
    echo "not installed: $wanted" >&2
    missing=1
  fi
else
  echo "not a Debian: make sure that the counterparts of these are there: ${tool_packages[*]}"
fi

if [[ ! -x build/tools/venv/bin/python ]] || ! build/tools/venv/bin/python -c 'import pxr' 2>/dev/null; then
  # --system-site-packages is left out on purpose: the tool must not depend on what else is installed.
  if python3 -m venv build/tools/venv >"$log" 2>&1 && build/tools/venv/bin/pip install --quiet --disable-pip-version-check usd-core==25.5.1 >>"$log" 2>&1; then
    echo "usd-core: installed"
  else
    echo "usd-core: could not be installed; needs python3-venv and the network, see $log" >&2
    missing=1
  fi
else
  echo "usd-core: there already"
fi

if [[ ! -d build/tools/node_modules/gltf-validator ]]; then
  if command -v npm >/dev/null && npm install --silent --no-audit --no-fund --prefix build/tools gltf-validator@2.0.0-dev.3.10; then
    echo "gltf-validator: installed"
  else
    echo "gltf-validator: could not be installed; needs node, npm and the network" >&2
    missing=1
  fi
else
  echo "gltf-validator: there already"
fi
exit $missing
