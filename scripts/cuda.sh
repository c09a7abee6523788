# shellcheck shell=bash
# The CUDA compiler from pip, for `./test --cuda`: 300 MB into build/cuda-venv, where cmake/cuda.cmake finds it. Sourced, not run.

cuda_venv=build/cuda-venv
cuda_packages="cuda-toolkit[nvcc,cudart,cccl]==13.0.*"

# ensure_cuda LOG: installs nvcc unless there is one. Exits 2 where it cannot be installed.
ensure_cuda() {
  local log=$1 found
  if found=$(command -v nvcc) || found=$(compgen -G "$cuda_venv/lib/python3*/site-packages/nvidia/cu13/bin/nvcc"); then
    echo "      there: $found"
    return
  fi
  echo "      installing into $cuda_venv"
  mkdir -p "$(dirname "$log")"
  if ! { python3 -m venv "$cuda_venv" && "$cuda_venv/bin/pip" install --quiet "$cuda_packages"; } >"$log" 2>&1; then
    tail -n 5 "$log" >&2
    echo "error: nvcc could not be installed (it takes python3-venv and a connection); the whole log is in $log" >&2
    exit 2
  fi
}

# has_target FOLDER TARGET: whether a configured build knows that target.
has_target() { ninja -C "$1" -t query "$2" >/dev/null 2>&1; }

# report_cuda FOLDER: says in one line whether that build compiled the kernels for CUDA.
report_cuda() {
  local folder=$1
  if [[ -x $folder/tests/cuda/parity_device ]]; then
    echo "      CUDA kernels compiled: $folder/tests/cuda/parity_device"
  else
    echo "      CUDA kernels not compiled: there is no nvcc (./test --cuda installs one)"
  fi
}
