#!/bin/sh
# run.sh unit|page|live|playback|large|card [OSIER]: one group of the viewer's tests for ctest; exits 77 (skipped) with the reason where a tool is missing.
group=$1
OSIER_BIN=$2
cd "$(dirname "$0")/.." || exit 1
skip() {
  echo "skipped: $1"
  exit 77
}
node=$(command -v node || command -v nodejs) || skip "node is not installed (apt-get install nodejs npm)"
[ -d node_modules/playwright-core ] || skip "the viewer's packages are not installed (npm ci in viewer/)"
[ "$group" = unit ] && exec "$node" tests/run_unit.mjs
[ -s dist/viewer.html ] || skip "the viewer's page is not built (npm run build in viewer/)"
[ -n "$CHROMIUM" ] || command -v chromium >/dev/null || skip "chromium is not installed (apt-get install chromium)"
export OSIER_BIN
[ "$group" = card ] && exec "$node" tests/card.mjs # says itself when there is no card
exec "$node" --test "tests/$group.test.mjs"
