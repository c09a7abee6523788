"""Writes docs/reference_python.md from the docstrings of the installed package: `python scripts/python_reference.py`. A test compares."""
import inspect
import re
from pathlib import Path

import osier
import osier.sweep

PAGE = Path(__file__).resolve().parents[1] / "docs" / "reference_python.md"
# In the order in which one meets them.
CLASSES = ("Simulation", "Run", "ModelBuilder", "Scene", "CompiledScene", "StepReport", "Pose", "Wrench")
FUNCTIONS = ("compile", "run", "read", "scene_schema")
ERRORS = ("InputError", "RunError", "NonFiniteError", "CertificateError", "Problem")
ARGUMENT = re.compile(r"^([a-z_]+(?:, [a-z_]+)*): ")


def text(doc):
    """Docstrings are plain text: blocks that are indented become code."""
    lines, out, code, in_list = inspect.cleandoc(doc or "").splitlines(), [], False, False
    for i, line in enumerate(lines):
        indented = line.startswith("    ") and not in_list
        if indented and not code and (i == 0 or not lines[i - 1].strip()):
            out.append("```python")
            code = True
        elif code and line.strip() and not indented:
            while not out[-1]:
                out.pop()
            out += ["```", ""]
            code = False
        if not code and ARGUMENT.match(line):
            line = ARGUMENT.sub(r"- `\1`: ", line)
            if out and out[-1] and not out[-1].startswith("- ") and not in_list:
                out.append("")
            in_list = True
        elif not line.strip():
            in_list = False
        out.append(line[4:] if code else ("  " + line.strip()) if in_list and not line.startswith("- ") else line)
    return "\n".join(out + (["```"] if code else []))


def tidy(signature):
    signature = re.sub(r"osier\._\w+\.", "", signature)
    signature = re.sub(r"collections\.abc\.|typing\.|os\.", "", signature)
    signature = re.sub(r"(: |-> )'([^']*)'", r"\1\2", signature)  # annotations, which are kept as text
    return re.sub(r"(: |-> )\"([^\"]*)\"", r"\1\2", signature)


def wrapped(signature):
    """Long ones with an argument on each line."""
    start, depth, parts = signature.find("(") + 1, 0, [""]
    end = signature.rfind(")") if " -> " not in signature else signature.rfind(")", 0, signature.rfind(" -> "))
    if len(signature) <= 100 or end < start:
        return signature
    for c in signature[start:end]:
        depth += (c in "[({") - (c in "])}")
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return signature[:start] + "\n" + "".join(f"    {part.strip()},\n" for part in parts) + signature[end:]


def of_function(name, function):
    """Signature and docstring. Compiled functions begin their docstring with the signature."""
    doc = function.__doc__ or ""
    try:
        signature = name + str(inspect.signature(function))
    except (TypeError, ValueError):
        signature, _, doc = doc.partition("\n")
        signature = name + signature[signature.index("("):] if "(" in signature else name + "()"
    return [f"```python\n{wrapped(tidy(signature))}\n```", "", text(doc), ""]


def members(cls):
    """What the class and its compiled base have in public, in the order of their definition."""
    found = {}
    for base in cls.__mro__:
        if base.__module__.startswith("osier"):
            for name, value in vars(base).items():
                if not name.startswith("_"):
                    found.setdefault(name, value)
    return found


def of_class(name, cls):
    doc = cls.__doc__ or ""
    if issubclass(cls, tuple) and doc.startswith(name + "("):
        doc = ""
    page = [f"## `{name}`", "", text(doc), ""]
    if cls.__init__ is not object.__init__ and inspect.isfunction(cls.__init__):
        arguments = str(inspect.signature(cls.__init__)).replace("(self, ", "(").replace("(self)", "()").removesuffix(" -> None")
        page += [f"```python\n{wrapped(tidy(name + arguments))}\n```", ""]
    for member, value in members(cls).items():
        if isinstance(value, property) or type(value).__name__ in ("nb_property", "cached_property", "getset_descriptor", "_tuplegetter"):
            doc = text(value.__doc__ or getattr(getattr(value, "func", None), "__doc__", "") or "")
            page += [f"### `{name}.{member}`", "", doc, ""]
        elif callable(value) or isinstance(value, classmethod):
            function = getattr(cls, member)
            page += [f"### `{name}.{member}()`", "", *of_function(member, function)]
    return page


def page():
    out = ["# Python reference", "", "Written from the docstrings of the package by `scripts/python_reference.py`; [Python](python.md) tells how the parts go together.", ""]
    for name in FUNCTIONS:
        out += [f"## `osier.{name}()`", "", *of_function(name, getattr(osier, name))]
    for name in CLASSES:
        out += of_class(name, getattr(osier, name))
    out += ["## Errors", ""]
    for name in ERRORS:
        cls = getattr(osier, name)
        base = cls.__bases__[0].__name__
        out += [f"**`{name}`** ({base}): {' '.join(text(cls.__doc__).split())}", ""]
    out += ["## `osier.sweep`", "", text(osier.sweep.__doc__), ""]
    for name in ("sweep", "read", "merge", "write_slurm"):
        out += [f"### `osier.sweep.{name}()`", "", *of_function(name, getattr(osier.sweep, name))]
    out += ["### `osier.sweep.Table`", "", text(osier.sweep.Table.__doc__), ""]
    out += ["## `osier.scene`", "", text(osier.scene.__doc__), "",
            "A class for each kind of object of the [scene language](scene.md), with its keys as arguments and their meaning in the docstring:", ""]
    names = [n for n, c in vars(osier.scene).items() if inspect.isclass(c) and c.__module__ == "osier.scene" and not n.startswith("_")]
    out += [", ".join(f"`{n}`" for n in sorted(names)) + ".", ""]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(out)).rstrip() + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
