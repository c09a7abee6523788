# shellcheck shell=bash
# What ./demo, ./test and scripts/test-tools.sh share: the packages of Debian 12 that Osier needs, and building with the log in a file.
# Sourced, not run.

# shellcheck disable=SC2034  # the lists are for the scripts that source this file
core_packages=(
  g++                # the compiler (C++20)
  cmake              # configures the build
  ninja-build        # runs the build
  libeigen3-dev      # sparse factorisation in the Newton solver
  libspectra-dev     # eigenvalues for `osier modes`; headers only
  nlohmann-json3-dev # reads scenes
  libcli11-dev       # command line
  libfmt-dev         # messages
  libhdf5-dev        # writes trajectory.h5
  libmuparser-dev    # expressions in the cases of `osier validate`
  libembree-dev      # rays of `osier render`
  libstb-dev         # writes its PNG and JPEG files
  libboost-dev       # HTTP and WebSocket of `osier view` (Boost.Beast, headers only)
  zlib1g-dev         # compresses the frames in pages of `--html`
)
# Without these the program is built all the same, and says what its viewer lacks.
# shellcheck disable=SC2034
viewer_packages=(
  nodejs # builds the viewer's page
  npm    # fetches what that build needs
)
# A Node from elsewhere has its own npm, and Debian's cannot be installed beside it.
if command -v npm >/dev/null; then viewer_packages=(); fi
# shellcheck disable=SC2034
test_packages=(
  libgtest-dev       # test framework
  libbenchmark-dev   # micro-benchmarks in bench/
  python3            # reads results back from a user's side
  python3-h5py       # reads trajectory.h5 in those tests
  python3-jsonschema # checks scenes against the published schema
  python3-dev        # headers for the Python package
  python3-venv       # where that is built and tested
)
# shellcheck disable=SC2034
lint_packages=(
  clang-format # layout of the source
  clang-tidy   # static checks
)

# Programs that judge what Osier writes; only on request, by `./test --tools`.
# shellcheck disable=SC2034
tool_packages=(
  chromium     # the viewer's page in a real browser
  blender      # opens OBJ with PC2
  python3-vtk9 # reads VTP
  ffmpeg       # makes the films of `osier render --mp4`
  clang        # libFuzzer for `./test --long`
  python3-venv # holds usd-core
)

# Those of the given packages that are not installed, in one line.
missing_packages() {
  local package missing=()
  for package in "$@"; do
    # One line for each architecture; -x because "not-installed" is a status too.
    dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null | grep -x installed >/dev/null || missing+=("$package")
  done
  echo "${missing[*]-}"
}

# How to become root here: nothing when we are, "sudo" when it may be used; fails when neither.
root_command() {
  [[ $EUID -eq 0 ]] && return
  command -v sudo >/dev/null || return 1
  # Without a terminal sudo cannot ask for the password.
  sudo -n true 2>/dev/null || { [[ -t 0 ]] && sudo -v; } || return 1
  echo sudo
}

# ensure_packages LOG PACKAGE...: installs what is missing. Exits 2, with nothing changed, where that is not allowed.
ensure_packages() {
  local log=$1 missing become
  shift
  if ! command -v dpkg-query >/dev/null; then
    echo "      not a Debian: make sure that the counterparts of these are there: $*"
    return
  fi
  missing=$(missing_packages "$@")
  if [[ -z $missing ]]; then
    echo "      all there"
    return
  fi
  if ! become=$(root_command); then
    {
      echo "      missing: $missing"
      echo "      Installing them takes root or sudo. Please have this run, then start again:"
      echo "        apt-get install --no-install-recommends $missing"
    } >&2
    exit 2
  fi
  echo "      installing: $missing"
  mkdir -p "$(dirname "$log")"
  # Both variables are split on purpose: a list of words, and a command or nothing.
  # shellcheck disable=SC2086
  { $become env DEBIAN_FRONTEND=noninteractive apt-get update -q &&
    $become env DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends $missing; } </dev/null >"$log" 2>&1 ||
    fail_with_log "$log" "the packages could not be installed"
}

# fail_with_log LOG MESSAGE: shows where it went wrong and exits 1.
fail_with_log() {
  local log=$1 message=$2
  {
    echo
    # From the first failed command on, as what follows it is often only its echo; else the end.
    if grep -q '^FAILED:' "$log"; then sed -n '/^FAILED:/,$p' "$log" | head -n 60; else tail -n 30 "$log"; fi
    echo
    echo "error: $message; the whole log is in $log"
  } >&2
  exit 1
}

# Passes over the lines of a build. On a terminal it counts them on one line that is removed at the end; elsewhere, so that there is
# a sign of life in the log of whoever waits, it writes a line for every tenth of the steps.
count_steps() {
  local line tenths=-1
  while IFS= read -r line; do
    [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]] || continue
    ((BASH_REMATCH[2] > 2)) || continue # Ninja looks for new files first
    if [[ -t 1 ]]; then
      printf '\r      %s' "${BASH_REMATCH[0]}"
    elif ((10 * BASH_REMATCH[1] / BASH_REMATCH[2] > tenths)); then
      tenths=$((10 * BASH_REMATCH[1] / BASH_REMATCH[2]))
      echo "      $((10 * tenths)) %, ${BASH_REMATCH[1]} of ${BASH_REMATCH[2]} steps"
    fi
  done
  if [[ -t 1 ]]; then printf '\r\e[K'; fi
}

# build FOLDER LOG [TARGET...]: builds and says how it went in one line. JOBS sets how many compilers run at once.
build() {
  local folder=$1 log=$2 start=$SECONDS
  shift 2
  # Ninja writes its whole output to the log; what this build wrote is looked at alone.
  NINJA_STATUS='[%f/%t] ' ninja -C "$folder" -j "${JOBS:-$(nproc)}" "$@" 2>&1 | tee "$log.ninja" | count_steps ||
    { cat "$log.ninja" >>"$log"; rm -f "$log.ninja"; fail_with_log "$log" "the build failed"; }
  cat "$log.ninja" >>"$log"
  if grep -q '^ninja: no work to do' "$log.ninja"; then
    echo "      up to date"
  else
    echo "      built in $((SECONDS - start)) s"
  fi
  rm -f "$log.ninja"
}
