#!/usr/bin/env bash
# Usage: check_libraries.sh MODULE: it needs no library but that of C, and shows nothing to other modules but its entry.
set -euo pipefail
needed=$(readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\].*/\1/p' | grep -vE '^(libc|libm|libpthread|libdl|librt|ld-linux.*)\.so' || true)
if [[ -n $needed ]]; then
  echo "the module needs libraries of the system: $needed" >&2
  exit 1
fi
shown=$(nm -D --defined-only "$1" | awk '{print $3}' | grep -E '^(H5|SZ_|deflate|inflate)|5osier|3fmt' | head -n 3 || true)
if [[ -n $shown ]]; then
  echo "the module shows symbols that another HDF5 in the process may meet: $shown" >&2
  exit 1
fi
echo "the module needs only $(readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\].*/\1/p' | tr '\n' ' ')"
