#!/usr/bin/env bash
# Puts the tools that judge our files, and that Debian does not package, into build/tools: usd-core (PyPI) and the Khronos glTF
# validator (npm). `./test` uses them where they are and skips those checks where they are not; it does not call this script by
# itself, as bare machines may have no network and the download is larger than Osier.
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/.."
mkdir -p build/tools
missing=0

if [[ ! -x build/tools/venv/bin/python ]] || ! build/tools/venv/bin/python -c 'import pxr' 2>/dev/null; then
  # --system-site-packages is left out on purpose: the tool must not depend on what else is installed.
  if python3 -m venv build/tools/venv && build/tools/venv/bin/pip install --quiet --disable-pip-version-check usd-core==25.5.1; then
    echo "usd-core: installed"
  else
    echo "usd-core: could not be installed; needs python3-venv and the network" >&2
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
