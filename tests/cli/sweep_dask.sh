#!/bin/sh
# The Dask half of sweep_test.py, in a virtual environment of its own, which is made where PyPI answers.
# usage: sweep_dask.sh VENV OSIER_BINARY SOURCE_FOLDER
set -eu
venv=$1 osier=$2 source=$3
if ! "$venv/bin/python" -c "import distributed, h5py" 2>/dev/null; then
  python3 -m venv "$venv" && "$venv/bin/pip" install -q --retries 1 --timeout 20 distributed h5py >"$venv/pip.log" 2>&1 || {
    echo "skipped: dask.distributed could not be installed; see $venv/pip.log"
    exit 77
  }
fi
exec "$venv/bin/python" -B "$source/tests/cli/sweep_test.py" "$osier" "$source" FromPython
