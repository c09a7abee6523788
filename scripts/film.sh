#!/usr/bin/env bash
# Makes the film of the README, docs/pictures/film.webp, from scenes that come with Osier. Takes ffmpeg and a few minutes.
# usage: scripts/film.sh [OSIER]     (default: build/release/osier, which ./demo builds)
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/.."
osier=$(realpath "${1-build/release/osier}")
out=out/film
mkdir -p "$out"

# clip SCENE OPTION...: runs a scene and renders its frames
clip() {
  local scene=$1
  shift
  "$osier" run "scenes/$scene.json" -o "$out/$scene" --quiet
  "$osier" render "$out/$scene" --png "$out/$scene-frames" --size 560x315 --samples 10 --quiet "$@"
  printf "file '%s'\n" "$PWD/$out/$scene-frames"/*.png >>"$out/frames.txt"
}

: >"$out/frames.txt"
clip drape --style yarn --palette '#8f3f4f'
clip gripper --palette '#2f6690'
clip hair_ball --thickness 1.8 --palette '#b8803f' --ground none --camera "azimuth 15 elevation 10 zoom 1.3"
clip twirl --style yarn --palette '#2f6690' --camera "azimuth 20 elevation 25 zoom 2"
ffmpeg -loglevel error -y -r 24 -f concat -safe 0 -i "$out/frames.txt" -c:v libwebp -loop 0 -q:v 45 -compression_level 4 -an docs/pictures/film.webp
ls -l docs/pictures/film.webp
