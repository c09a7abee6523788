"""Parameter studies on one machine, on a Dask cluster or on Slurm: what ``osier sweep`` does, without the program.

    from osier.sweep import sweep
    table = sweep("beam.json", {"/materials/m/young": (1e6, 1e9, 20), "/solver/name": ["direct", "newton"]}, out="study")
    table["tip.y"]

A study is cut into parts, each a folder of its own. A part that is started again goes on with the runs that it does not have
yet, so that a worker that dies costs the run that it was at, and nothing else.
"""

import csv
import json
import math
import os
import pathlib
import shlex
import subprocess
import sys
import time

__all__ = ["Table", "merge", "read", "sweep", "write_slurm"]

BUSY = "another run is writing into this folder"  # of a part whose former worker is gone and whose process is not


class Table:
    """The runs of a study by column: ``table["tip.y"]`` is a list with one number for each run, NaN where it failed."""

    def __init__(self, columns):
        self.columns = columns

    def __getitem__(self, name):
        return self.columns[name]

    def __len__(self):
        return len(self.columns["run"])

    @property
    def failed(self):
        """{run: reason}"""
        return {run: why for run, why in zip(self["run"], self["error"]) if why}

    def to_pandas(self):
        import pandas

        return pandas.DataFrame(self.columns)


def _value(name, text):
    if name in ("status", "error"):
        return text
    if name == "run":
        return int(text)
    try:
        return float(text)
    except ValueError:
        return math.nan if text == "" else text


def read(folder):
    """The table of a study that is done."""
    with open(pathlib.Path(folder) / "sweep.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    return Table({name: [_value(name, row[i]) for row in rows[1:]] for i, name in enumerate(rows[0])})


def _study(scene, vary, sample, samples, seed, sets):
    """What the runs are, as ``osier sweep`` is told."""
    study = {"scene": os.fspath(scene), "vary": [], "sample": sample, "from": "", "samples": samples or 0, "seed": seed}
    study["sets"] = [f"{pointer}={_text(value)}" for pointer, value in (sets or {}).items()]
    if sample == "csv":
        study["from"] = os.path.abspath(vary)
    else:
        for pointer, values in vary.items():
            between, values = (":", map(repr, values)) if isinstance(values, tuple) else (",", map(_text, values))
            study["vary"].append(f"{pointer}={between.join(values)}")
    return study


def _text(value):
    return value if isinstance(value, str) else json.dumps(value)


def _words(study):
    """The same as words of a command line."""
    words = [study["scene"], "--sample", study["sample"], *(w for axis in study["vary"] for w in ("--vary", axis))]
    if study["from"]:
        words += ["--from", study["from"]]
    if study["samples"]:
        words += ["--samples", str(study["samples"]), "--seed", str(study["seed"])]
    return words + [w for change in study["sets"] for w in ("--set", change)]


def _run(osier, study, out, jobs, part=0, parts=1, patience=3600.0):
    """Raises RuntimeError with what osier says. Waits for a folder that another process still writes into."""
    end = time.monotonic() + patience
    while True:
        if osier is None:
            from . import _core
            from ._errors import InputError

            try:
                _core._sweep(study["scene"], study["vary"], study["sample"], study["from"], study["samples"], study["seed"], out,
                             study["sets"], jobs or os.cpu_count() or 1, part, parts)
                return
            except InputError as error:
                if BUSY not in str(error) or time.monotonic() > end:
                    raise
        else:
            words = [osier, "sweep", *_words(study), "-o", os.fspath(out), "--quiet", "--part", f"{part}/{parts}"]
            done = subprocess.run(words + (["-j", str(jobs)] if jobs else []), capture_output=True, text=True)
            if done.returncode == 0:
                return
            if BUSY not in done.stderr or time.monotonic() > end:
                raise RuntimeError(f"{shlex.join(words)}: {done.stderr.strip()}")
        time.sleep(0.2)


def _run_part(osier, study, folder, part, parts, jobs):
    _run(osier, study, folder, jobs, part, parts)
    return part


def _folder_of_part(out, part):
    return pathlib.Path(out) / "parts" / f"{part:05d}"


def merge(out, osier=None):
    """Puts the parts of a study together, as far as they are done, and returns the table."""
    folders = sorted((pathlib.Path(out) / "parts").glob("[0-9]*[0-9]"))
    if osier is None:
        from . import _core

        _core._merge_sweeps(folders, out)
        return read(out)
    done = subprocess.run([osier, "sweep", "-o", os.fspath(out), "--quiet", *(word for f in folders for word in ("--merge", os.fspath(f)))],
                          capture_output=True, text=True)
    if done.returncode == 2 or not (pathlib.Path(out) / "sweep.csv").exists():
        raise RuntimeError(done.stderr.strip())
    return read(out)


def _file_of(scene, out):
    """The scene as a file: one that is no file is written into the folder of the study."""
    if isinstance(scene, (str, os.PathLike)):
        return scene
    file = pathlib.Path(out) / "scene.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(scene.to_dict() if hasattr(scene, "to_dict") else scene, indent=1)
    if not file.exists() or file.read_text(encoding="utf-8") != text:
        file.write_text(text, encoding="utf-8")
    return file


def sweep(scene, vary, *, out, sample="grid", samples=None, seed=1, sets=None, jobs=None, client=None, parts=None, osier=None):
    """Runs a study and returns its table.

    scene: a file, a dict of the scene language, or an `osier.Scene`.
    vary: {pointer: (from, to, count)} or {pointer: [values]}; (from, to) with sample="lhs"; the name of a table with sample="csv".
    out: the folder of the study; what is in it is not run again.
    jobs: runs at a time; as many as there are cores when left out (on a cluster: one for each task).
    client: a ``dask.distributed.Client``; without one the runs share the cores of this machine. The folders must then be the
        same on all workers.
    parts: into which the study is cut for a cluster; four for each thread of a worker when left out.
    osier: the program to run it with, by its path; this package runs it itself when left out.
    """
    study = _study(_file_of(scene, out), vary, sample, samples, seed, sets)
    if client is None:
        _run(osier, study, out, jobs)
        return read(out)
    study["scene"] = os.path.abspath(study["scene"])
    out = os.path.abspath(out)
    if parts is None:
        parts = 4 * max(1, sum(client.nthreads().values()))
    tasks = [client.submit(_run_part, osier, study, os.fspath(_folder_of_part(out, part)), part, parts, jobs or 1,
                           key=f"osier-sweep-{out}-{part}-{parts}", pure=False, retries=3) for part in range(parts)]
    client.gather(tasks)
    return merge(out, osier)


def write_slurm(scene, vary, *, out, parts, sample="grid", samples=None, seed=1, sets=None, osier=None, options=()):
    """Writes ``sweep.sbatch``, an array of jobs for ``sbatch``, into the folder, and returns its path. Afterwards: ``merge(out)``.

    options: further lines for Slurm, such as "--time=2:00:00". The others as for `sweep`.
    """
    out = pathlib.Path(out).resolve()
    study = _study(os.path.abspath(_file_of(scene, out)), vary, sample, samples, seed, sets)
    (out / "parts").mkdir(parents=True, exist_ok=True)
    program = [sys.executable, "-m", "osier.sweep"] if osier is None else [osier, "sweep"]
    lines = ["#!/bin/sh", "#SBATCH --job-name=osier-sweep", f"#SBATCH --array=0-{parts - 1}",
             f"#SBATCH --output={out}/parts/%a.log", *(f"#SBATCH {option}" for option in options),
             "# A part that is started again goes on with the runs that it does not have yet.",
             'part=$(printf %05d "$SLURM_ARRAY_TASK_ID")',
             f"exec {shlex.join([*program, *_words(study), '--quiet'])} \\",
             f'  --part "$SLURM_ARRAY_TASK_ID/{parts}" -j "${{SLURM_CPUS_PER_TASK:-1}}" -o {shlex.quote(os.fspath(out))}/parts/"$part"']
    script = out / "sweep.sbatch"
    script.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return script


def main(words=None):
    """``python -m osier.sweep SCENE --vary … -o DIR``: the words of ``osier sweep``, for machines that have the package only."""
    import argparse

    parser = argparse.ArgumentParser("python -m osier.sweep", description="Runs a scene many times with other values, into one table.")
    parser.add_argument("scene", help="scene file")
    parser.add_argument("--vary", action="append", default=[], metavar="/POINTER=VALUES", help="from:to:count, from:to, or a,b,c")
    parser.add_argument("--sample", choices=("grid", "lhs", "csv"), default="grid")
    parser.add_argument("--samples", type=int, default=0, help="number of runs of lhs")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--from", dest="table", default="", help="the table of csv")
    parser.add_argument("--set", action="append", default=[], metavar="/POINTER=VALUE", help="the same in all runs")
    parser.add_argument("--part", default="0/1", help="one part of the runs, such as 3/8")
    parser.add_argument("-j", "--jobs", type=int, help="runs at a time")
    parser.add_argument("-o", "--output", required=True, help="folder of the table")
    parser.add_argument("--quiet", action="store_true", help="only errors")
    o = parser.parse_args(words)
    part, parts = map(int, o.part.split("/"))
    study = {"scene": o.scene, "vary": o.vary, "sample": o.sample, "from": o.table, "samples": o.samples, "seed": o.seed, "sets": o.set}
    _run(None, study, o.output, o.jobs, part, parts)
    if not o.quiet:
        table = read(o.output)
        print(f"{len(table)} runs, {len(table.failed)} failed -> {o.output}")


if __name__ == "__main__":
    main()
