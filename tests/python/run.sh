#!/usr/bin/env bash
# Usage: run.sh BUILD SOURCE PYTHON WORK: makes the wheel from the library of a build, installs it into a fresh environment and runs
# the tests of the package there. Exits 77 where PyPI does not answer.
set -euo pipefail
build=$1 source=$2 python=$3 work=$4
mkdir -p "$work"

# What builds and tests the wheel; made once.
tools=$work/tools
requirements="scikit-build-core>=0.10 nanobind>=2.4 numpy h5py pytest matplotlib tqdm gymnasium nbclient ipykernel"
if [[ $(cat "$tools/complete" 2>/dev/null) != "$requirements" ]]; then
  rm -rf "$tools"
  "$python" -m venv "$tools" || { echo "skipped: python3-venv is not installed"; exit 77; }
  # shellcheck disable=SC2086
  if ! "$tools/bin/pip" install --quiet --disable-pip-version-check --retries 1 --timeout 20 $requirements >"$work/pip.log" 2>&1; then
    tail -n 3 "$work/pip.log"
    echo "skipped: PyPI does not answer, so the package cannot be built and tested here"
    exit 77
  fi
  echo "$requirements" >"$tools/complete"
fi

rm -rf "$work/prefix" "$work/wheel" "$work/fresh"
cmake --install "$build" --component development --prefix "$work/prefix" >/dev/null
PATH=$tools/bin:$PATH "$tools/bin/pip" wheel "$source" --quiet --disable-pip-version-check --no-deps --no-build-isolation \
  --wheel-dir "$work/wheel" --config-settings=build-dir="$work/build" \
  --config-settings=cmake.define.OSIER_INSTALLED="$work/prefix" 2>"$work/wheel.log" ||
  { cat "$work/wheel.log"; exit 1; }
ls "$work/wheel"

"$python" -m venv --without-pip "$work/fresh"
"$tools/bin/pip" --python "$work/fresh/bin/python" install --quiet --disable-pip-version-check --no-deps --no-index "$work/wheel"/*.whl
# numpy and the like, which take half a minute to install, from the other environment.
site=$("$work/fresh/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
"$tools/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))' >"$site/tools.pth"
"$source/tests/python/check_libraries.sh" "$("$work/fresh/bin/python" -c 'import osier._core as c; print(c.__file__)')"
cd "$source"
exec "$work/fresh/bin/python" -B -m pytest -q -p no:cacheprovider tests/python --durations 5
