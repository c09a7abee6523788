#!/usr/bin/env bash
# Builds the documentation as a site (MkDocs with Material, from pip, in build/site-venv) into build/site; `--serve` shows it at 127.0.0.1:8000 instead.
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/.."
venv=build/site-venv
if [[ ! -x $venv/bin/mkdocs ]]; then
  mkdir -p build
  { python3 -m venv "$venv" && "$venv/bin/pip" install --quiet "mkdocs-material==9.*" latex2mathml; } >build/site.log 2>&1 || {
    tail -n 5 build/site.log >&2
    echo "error: MkDocs could not be installed (it takes python3-venv and a connection); the whole log is in build/site.log" >&2
    exit 2
  }
fi
if [[ ${1-} = --serve ]]; then exec "$venv/bin/mkdocs" serve; fi
NO_MKDOCS_2_WARNING=1 "$venv/bin/mkdocs" build --strict --quiet
echo "the site is in build/site; open build/site/index.html"
