#!/bin/sh
# The Debian package: made from the build, unpacked into a folder, and run from there.
# usage: deb_test.sh BUILD_FOLDER
set -eu
build=$1
command -v dpkg-shlibdeps >/dev/null && command -v cpack >/dev/null || { echo "skipped: dpkg-dev is missing"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cpack --config "$build/CPackConfig.cmake" -G DEB -B "$work/package" >cpack.log 2>&1 || { cat cpack.log; exit 1; }
deb=$(echo "$work"/package/osier*.deb)
dpkg-deb --info "$deb"
dpkg-deb --field "$deb" Depends | grep -q libc6
dpkg-deb -x "$deb" root
root/usr/bin/osier --version
for file in usr/share/man/man1/osier.1 usr/share/bash-completion/completions/osier usr/share/zsh/vendor-completions/_osier \
  usr/share/fish/vendor_completions.d/osier.fish usr/share/osier/scenes/cantilever.json usr/share/doc/osier/copyright; do
  test -s "root/$file" || { echo "missing: $file"; exit 1; }
done
# It finds its own cases where it is installed, and not those of the source.
root/usr/bin/osier run root/usr/share/osier/scenes/cantilever.json --frames 3 -o out
test -s out/trajectory.h5
bash -n root/usr/share/bash-completion/completions/osier
bash -c '. root/usr/share/bash-completion/completions/osier; COMP_WORDS=(osier swe) COMP_CWORD=1; _osier; test "${COMPREPLY[*]}" = sweep
  COMP_WORDS=(osier completion "") COMP_CWORD=2; COMP_WORDS=(osier sweep --sample ""); COMP_CWORD=3; _osier; test "${COMPREPLY[*]}" = "grid lhs csv"
  COMP_WORDS=(osier run --resu); COMP_CWORD=2; _osier; test "${COMPREPLY[*]}" = --resume'
if command -v man >/dev/null; then man -l --warnings root/usr/share/man/man1/osier.1 2>&1 >/dev/null | tee man.log; test ! -s man.log; fi
