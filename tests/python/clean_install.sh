#!/usr/bin/env bash
# Usage: clean_install.sh SOURCE PYTHON WORK: `pip install .` from a copy of what git knows, as a user does it. Takes as long as a build; only
# with OSIER_LONG=1.
set -euo pipefail
source=$1 python=$2 work=$3
if [[ ${OSIER_LONG-} != 1 ]]; then
  echo "skipped: takes as long as a build (./test --long)"
  exit 77
fi
rm -rf "$work" && mkdir -p "$work/source"
git -C "$source" ls-files -z | tar -C "$source" --null -T - -c | tar -C "$work/source" -x
"$python" -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check "$work/source[test]" auditwheel
extension=$("$work/venv/bin/python" -c 'import osier._core as c; print(c.__file__)')
"$source/tests/python/check_libraries.sh" "$extension"
cd "$source"
exec "$work/venv/bin/python" -B -m pytest -q -p no:cacheprovider tests/python
