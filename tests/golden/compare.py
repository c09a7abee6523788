#!/usr/bin/env python3
"""Compares two outputs of golden_states: which scenes and methods have other bits, and how far apart their numbers are.

  compare.py BEFORE AFTER
  compare.py --self-test GOLDEN_STATES SCENE...   runs the program twice; fails where the two differ or a scene did not run
"""
import subprocess
import sys
import tempfile
from collections import defaultdict


def read(path):
    rows = {}
    with open(path, encoding="utf-8") as file:
        next(file)
        for line in file:
            fields = line.rstrip("\n").split("\t")
            rows[tuple(fields[:4])] = fields[4:]
    return rows


def self_test(program, scenes):
    outputs = [subprocess.run([program, "--work", "2000", *scenes], capture_output=True, text=True, check=True).stdout for _ in range(2)]
    rows = [line.split("\t") for line in outputs[0].splitlines()[1:]]
    ran = [row for row in rows if len(row) == 10]
    if outputs[0] != outputs[1]:
        sys.exit("two runs of one program differ")
    if len(ran) < 20 or any(row[4] == "failed" for row in rows):
        sys.exit("scenes did not run:\n" + outputs[0])
    # A changed hash has to be found.
    row = ran[0]
    changed = outputs[0].replace(row[4], "0" * 16, 1)
    with tempfile.NamedTemporaryFile("w") as before, tempfile.NamedTemporaryFile("w") as after:
        for file, text in ((before, outputs[0]), (after, changed)):
            file.write(text)
            file.flush()
        told = subprocess.run([sys.executable, __file__, before.name, after.name], capture_output=True, text=True, check=True).stdout
    if f"{row[0]} {row[1]} {row[2]}: 1 of" not in told:
        sys.exit("a changed hash was not told:\n" + told)
    print(f"{len(ran)} runs, the same twice")


def main():
    if sys.argv[1:2] == ["--self-test"]:
        self_test(sys.argv[2], sys.argv[3:])
        return
    before, after = read(sys.argv[1]), read(sys.argv[2])
    groups = defaultdict(lambda: [0, 0, 0.0, set()])
    for key in sorted(before.keys() & after.keys()):
        group = groups[key[0], key[1], key[2]]
        group[0] += 1
        a, b = before[key], after[key]
        if a[0] == b[0]:
            continue
        group[1] += 1
        if len(a) < 6 or len(b) < 6:
            group[3].add(f"{' '.join(a)} -> {' '.join(b)}")
            continue
        if a[1:3] != b[1:3]:
            group[3].add(f"{a[2]} -> {b[2]} iterations")
        for x, y in zip(map(float, a[3:]), map(float, b[3:])):
            group[2] = max(group[2], abs(x - y) / max(abs(x), abs(y), 1e-300))
    same = sum(1 for g in groups.values() if g[1] == 0)
    for name, (count, different, distance, notes) in groups.items():
        if different:
            print(f"{' '.join(name)}: {different} of {count} differ, by at most {distance:.1e}", *sorted(notes)[:3], sep="; ")
    print(f"{same} of {len(groups)} groups have the same bits")
    for name, only in (("before", before.keys() - after.keys()), ("after", after.keys() - before.keys())):
        if only:
            print(f"only {name}: {len(only)} rows")


if __name__ == "__main__":
    main()
