"""Parameter studies on one machine, on a Dask cluster or on Slurm, all by ``osier sweep``.

    from osier.sweep import sweep
    table = sweep("beam.json", {"/materials/m/young": (1e6, 1e9, 20), "/solver/name": ["direct", "newton"]}, out="study")
    table["tip.y"]

A study is cut into parts, each a folder of its own. A part that is started again goes on with the runs that it does not have
yet, so that a worker that dies costs the run that it was at, and nothing else.
"""

import csv
import math
import os
import pathlib
import shlex
import subprocess
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


def _arguments(scene, vary, sample, samples, seed, sets):
    """Those of ``osier sweep`` that say what the runs are."""
    words = [os.fspath(scene)]
    if sample == "csv":
        words += ["--sample", "csv", "--from", os.fspath(vary)]
    else:
        for pointer, values in vary.items():
            if isinstance(values, tuple):
                text = ":".join(repr(v) for v in values)
            else:
                text = ",".join(str(v) for v in values)
            words += ["--vary", f"{pointer}={text}"]
        words += ["--sample", sample]
        if samples is not None:
            words += ["--samples", str(samples), "--seed", str(seed)]
    for pointer, value in (sets or {}).items():
        words += ["--set", f"{pointer}={value}"]
    return words


def _run(words, patience=3600.0):
    """Raises RuntimeError with what osier says. Waits for a folder that another process still writes into."""
    end = time.monotonic() + patience
    while True:
        done = subprocess.run(words, capture_output=True, text=True)
        if done.returncode == 0:
            return
        if BUSY not in done.stderr or time.monotonic() > end:
            raise RuntimeError(f"{shlex.join(words)}: {done.stderr.strip()}")
        time.sleep(0.2)


def _run_part(osier, arguments, folder, part, parts, jobs):
    _run([osier, "sweep", *arguments, "--part", f"{part}/{parts}", "-j", str(jobs), "-o", folder, "--quiet"])
    return part


def _folder_of_part(out, part):
    return pathlib.Path(out) / "parts" / f"{part:05d}"


def merge(out, osier="osier"):
    """Puts the parts of a study together, as far as they are done, and returns the table."""
    folders = sorted((pathlib.Path(out) / "parts").iterdir())
    done = subprocess.run([osier, "sweep", "-o", os.fspath(out), "--quiet", *(word for f in folders for word in ("--merge", os.fspath(f)))],
                          capture_output=True, text=True)
    if done.returncode == 2 or not (pathlib.Path(out) / "sweep.csv").exists():
        raise RuntimeError(done.stderr.strip())
    return read(out)


def sweep(scene, vary, *, out, sample="grid", samples=None, seed=1, sets=None, jobs=None, client=None, parts=None, osier="osier"):
    """Runs a study and returns its table.

    vary: {pointer: (from, to, count)} or {pointer: [values]}; (from, to) with sample="lhs"; the name of a table with sample="csv".
    client: a ``dask.distributed.Client``; without one the runs share the cores of this machine. The folders must then be the
        same on all workers.
    parts: into which the study is cut for a cluster; four for each thread of a worker when left out.
    """
    arguments = _arguments(scene, vary, sample, samples, seed, sets)
    if client is None:
        words = [osier, "sweep", *arguments, "-o", os.fspath(out), "--quiet"]
        _run(words + (["-j", str(jobs)] if jobs else []))
        return read(out)
    arguments[0] = os.path.abspath(arguments[0])
    out = os.path.abspath(out)
    if parts is None:
        parts = 4 * max(1, sum(client.nthreads().values()))
    tasks = [client.submit(_run_part, osier, arguments, os.fspath(_folder_of_part(out, part)), part, parts, jobs or 1,
                           key=f"osier-sweep-{out}-{part}-{parts}", pure=False, retries=3) for part in range(parts)]
    client.gather(tasks)
    return merge(out, osier)


def write_slurm(scene, vary, *, out, parts, sample="grid", samples=None, seed=1, sets=None, osier="osier", options=()):
    """Writes ``sweep.sbatch``, an array of jobs for ``sbatch``, into the folder, and returns its path. Afterwards: ``merge(out)``.

    options: further lines for Slurm, such as "--time=2:00:00".
    """
    arguments = _arguments(os.path.abspath(scene), vary if not isinstance(vary, (str, os.PathLike)) else os.path.abspath(vary), sample,
                           samples, seed, sets)
    out = pathlib.Path(out).resolve()
    (out / "parts").mkdir(parents=True, exist_ok=True)
    lines = ["#!/bin/sh", "#SBATCH --job-name=osier-sweep", f"#SBATCH --array=0-{parts - 1}",
             f"#SBATCH --output={out}/parts/%a.log", *(f"#SBATCH {option}" for option in options),
             "# A part that is started again goes on with the runs that it does not have yet.",
             f'part=$(printf %05d "$SLURM_ARRAY_TASK_ID")',
             f"exec {shlex.join([osier, 'sweep', *arguments, '--quiet'])} \\",
             f'  --part "$SLURM_ARRAY_TASK_ID/{parts}" -j "${{SLURM_CPUS_PER_TASK:-1}}" -o {shlex.quote(os.fspath(out))}/parts/"$part"']
    script = out / "sweep.sbatch"
    script.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return script
