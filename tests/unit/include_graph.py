"""The include graph of src/ and include/: which folder knows which, and who meets JSON.

usage: include_graph.py REPOSITORY

Fails on
  - a cycle between folders; src/solvers counts as its root, lanes, each of systems/* and each method; registry.cpp, which lists
    the methods, counts for itself
  - JSON within reach of a source of kernels (one that includes exec/simd_target.hpp), or of a folder of JSON_FREE
  - a method of src/solvers that includes another one's folder
  - an entry of ALLOWED that is not needed any more
"""

import pathlib
import re
import sys
import tempfile

# Includes between two folders that are wrong and still there, each with its reason. This list may only shrink.
ALLOWED = {}

JSON = {"nlohmann/json.hpp", "nlohmann/json_fwd.hpp", "core/fields.hpp", "core/json.hpp", "core/json_reader.hpp",
        "core/schema_builder.hpp"}
JSON_FREE = {"include", "math", "exec", "energies", "linalg"}  # and all of solvers but the registry
COMMON = {"lanes", "systems"}  # folders of src/solvers that are no methods


class Sources:
    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.includes = {}  # file -> what it includes: files of ours, or the text between <>
        for top in ("src", "include"):
            for path in sorted((self.root / top).rglob("*.[ch]pp")):
                self.includes[path.relative_to(self.root).as_posix()] = list(self.resolved(path))

    def resolved(self, path):
        for quote, name in re.findall(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', path.read_text(), re.M):
            for place in (self.root / "src", self.root / "include", path.parent):
                if quote == '"' and (place / name).is_file():
                    yield (place / name).resolve().relative_to(self.root.resolve()).as_posix()
                    break
            else:
                yield name

    def folder(self, file):
        parts = file.split("/")
        if parts[0] == "include":
            return "include"
        if parts[1] != "solvers":
            return parts[1]
        if parts[-1] == "registry.cpp":
            return "solvers/registry.cpp"
        return "/".join(parts[1:-1][:3 if "systems" in parts[2:3] else 2])

    def edges(self):
        """(folder, folder) -> the includes that make it"""
        found = {}
        for file, names in self.includes.items():
            for name in names:
                if name in self.includes and self.folder(file) != self.folder(name):
                    found.setdefault((self.folder(file), self.folder(name)), []).append(f"{file} includes {name}")
        return found

    def way_to(self, file, goal):
        """Files from `file` to the first one for which goal(name) is true, or nothing."""
        before, queue = {file: None}, [file]
        for at in queue:
            for name in self.includes.get(at, []):
                if name in before:
                    continue
                before[name] = at
                if goal(name):
                    way = [name]
                    while before[way[0]]:
                        way.insert(0, before[way[0]])
                    return way
                queue.append(name)
        return []


def reachable(edges, start):
    seen, queue = set(), [start]
    while queue:
        at = queue.pop()
        for a, b in edges:
            if a == at and b not in seen:
                seen.add(b)
                queue.append(b)
    return seen


def in_cycles(edges):
    return {(a, b) for a, b in edges if a in reachable(edges, b)}


def method(folder):
    parts = folder.split("/")
    is_method = len(parts) > 1 and parts[0] == "solvers" and parts[1] not in COMMON and not parts[1].endswith(".cpp")
    return parts[1] if is_method else None


def between_methods(a, b):
    return method(a) is not None and method(b) is not None


def check(sources, allowed):
    problems = []
    edges = sources.edges()
    kept = {e for e in edges if e not in allowed}
    for a, b in sorted(in_cycles(kept)):
        problems.append(f"{a} -> {b} is part of a cycle of folders: " + "; ".join(edges[a, b]))
    for a, b in sorted(kept):
        if between_methods(a, b):
            problems.append(f"the method {a} knows the method {b}: " + "; ".join(edges[a, b]))
    for a, b in sorted(allowed):
        if (a, b) not in edges:
            problems.append(f"ALLOWED has {a} -> {b}, which is gone: take it out")
        elif not between_methods(a, b) and (a, b) not in in_cycles(kept | {(a, b)}):
            problems.append(f"ALLOWED has {a} -> {b}, which makes no cycle any more: take it out")

    def is_json(name):
        return name.startswith("nlohmann/") or name.split("/", 1)[-1] in JSON

    for file, names in sources.includes.items():
        folder = sources.folder(file)
        free = folder in JSON_FREE or (folder.split("/")[0] == "solvers" and not folder.endswith("registry.cpp"))
        if free or "src/exec/simd_target.hpp" in names:
            way = sources.way_to(file, is_json)
            if way:
                problems.append("JSON within reach: " + " -> ".join(way))
    return problems


def test_itself():
    def problems_of(files, allowed):
        with tempfile.TemporaryDirectory() as root:
            for name, includes in files.items():
                path = pathlib.Path(root) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text("".join(f"#include {i}\n" for i in includes))
            return check(Sources(root), allowed)

    def expect(words, files, allowed=()):
        problems = problems_of(files, allowed)
        if len(problems) != len(words) or not all(w in p for w, p in zip(words, problems)):
            sys.exit(f"the test itself is wrong: it found {problems} where it should find {words}")

    cycle = {"src/a/x.hpp": ['"b/y.hpp"'], "src/b/y.hpp": ['"c/z.hpp"'], "src/c/z.hpp": ['"a/w.hpp"'], "src/a/w.hpp": []}
    expect(["a -> b", "b -> c", "c -> a"], cycle)
    expect([], cycle, {("c", "a")})
    expect(["gone"], {"src/a/x.hpp": []}, {("a", "b")})
    expect(["no cycle"], {"src/a/x.hpp": ['"b/y.hpp"'], "src/b/y.hpp": []}, {("a", "b")})
    expect([], {"src/a/x.hpp": ['"osier/y.hpp"'], "include/osier/y.hpp": ["<vector>"]})
    target = {"src/exec/simd_target.hpp": []}
    expect(["a/k.cpp -> src/a/x.hpp -> nlohmann/json.hpp"],
           target | {"src/a/k.cpp": ['"exec/simd_target.hpp"', '"a/x.hpp"'], "src/a/x.hpp": ["<nlohmann/json.hpp>"]})
    expect([], target | {"src/a/k.cpp": ['"a/x.hpp"'], "src/a/x.hpp": ["<nlohmann/json.hpp>"]})
    expect(["-> src/core/fields.hpp"], {"src/solvers/newton/n.cpp": ['"core/fields.hpp"'], "src/core/fields.hpp": []})
    methods = {"src/solvers/direct/d.hpp": [], "src/solvers/newton/n.cpp": ['"solvers/direct/d.hpp"']}
    expect(["method solvers/newton knows"], methods)
    expect([], methods, {("solvers/newton", "solvers/direct")})
    expect([], {"src/solvers/registry.cpp": ['"solvers/direct/d.hpp"'], "src/solvers/direct/d.hpp": ['"solvers/solver.hpp"'],
                "src/solvers/solver.hpp": [], "src/solvers/systems/tree/t.hpp": ['"solvers/solver.hpp"']})
    expect(["solvers -> solvers/systems/tree", "solvers/systems/tree -> solvers"],
           {"src/solvers/x.hpp": ['"solvers/systems/tree/t.hpp"'], "src/solvers/systems/tree/t.hpp": ['"solvers/y.hpp"'],
            "src/solvers/y.hpp": []})


test_itself()
found = check(Sources(sys.argv[1]), ALLOWED)
print("\n".join(found) or "no folder is in a cycle, and kernels and solvers see no JSON")
sys.exit(1 if found else 0)
