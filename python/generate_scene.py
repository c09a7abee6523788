#!/usr/bin/env python3
"""Writes python/osier/scene.py, the scene language as classes, from its JSON Schema.

    python3 python/generate_scene.py docs/scene.schema.json > python/osier/scene.py
"""
import json
import keyword
import sys
import textwrap

HEAD = '''"""The scene language as classes. Written by python/generate_scene.py from the JSON Schema; do not edit.

A class is an object of the language, and its fields are the keys. None means that a key is left out. Values may be numpy arrays;
what is a quantity over time takes a number or {"keys": [[time, value], ...]}. Nothing is checked before a scene is compiled,
`Scene.check()`: then every problem is told at once, with the words and places of the command line.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Mapping, Sequence, Union

import numpy as np

from ._part import Part, Root

Number = Union[float, int]
Vector = Union[Sequence[float], np.ndarray]
Selection = Union[int, str, Mapping[str, Any], Sequence[Any]]
Track = Union[Number, Vector, Mapping[str, Any]]
'''


def class_name(kind):
    return "".join(word.capitalize() for word in kind.split("_"))


def field_name(key):
    return key + "_" if keyword.iskeyword(key) else key


def references(schema):
    """Kinds that a value may be, and how deep in lists or maps: [kinds], "" | "list" | "map"."""
    if "$ref" in schema:
        return [schema["$ref"].split("/")[-1]], ""
    if "anyOf" in schema:
        kinds = [k for part in schema["anyOf"] for k in references(part)[0]]
        return kinds, ""
    if schema.get("type") == "array" and isinstance(schema.get("items"), dict):
        kinds, _ = references(schema["items"])
        return kinds, "list" if kinds else ""
    if schema.get("type") == "object" and isinstance(schema.get("additionalProperties"), dict):
        kinds, _ = references(schema["additionalProperties"])
        return kinds, "map" if kinds else ""
    return [], ""


def is_keyed(schema):
    return "keys" in schema.get("properties", {})


def is_region(schema):
    return any(key in schema.get("properties", {}) for key in ("ball", "box", "nearest"))


def any_part(schema, test):
    return test(schema) or any(any_part(part, test) for part in schema.get("anyOf", []))


def annotation(schema):
    if any_part(schema, is_region):
        return "Selection"
    if any_part(schema, is_keyed):
        return "Track"
    kinds, container = references(schema)
    if kinds:
        plain = "str | " if any(p.get("type") == "string" or "enum" in p for p in schema.get("anyOf", [])) else ""
        items = schema.get("items") or schema.get("additionalProperties") or {}
        if any(p.get("type") == "string" for p in items.get("anyOf", [])):
            plain = "str | "
        union = plain + " | ".join(class_name(k) for k in kinds) + " | Mapping[str, Any]"
        return {"": union, "list": f"Sequence[{union}]", "map": f"Mapping[str, {union}]"}[container]
    if "enum" in schema:
        return f"Literal[{', '.join(repr(word) for word in schema['enum'])}]"
    if "anyOf" in schema:
        return " | ".join(dict.fromkeys(annotation(part) for part in schema["anyOf"]))
    kind = schema.get("type")
    if kind == "array":
        return "Vector" if schema["items"].get("type") == "number" else "Sequence[Any] | np.ndarray"
    return {"number": "Number", "integer": "int", "boolean": "bool", "string": "str"}.get(kind, "Any")


def write_class(kind, schema):
    tag = None
    required, optional, parts = [], [], {}
    for key, value in schema["properties"].items():
        if "const" in value:
            tag = (key, value["const"])
            continue
        if key.startswith("$"):
            continue
        entry = (field_name(key), annotation(value), value.get("description", ""), value.get("enum"))
        (required if key in schema.get("required", []) else optional).append(entry)
        kinds, container = references(value)
        if kinds:
            parts[key] = (container, tuple(class_name(k) for k in kinds))
    wrap = textwrap.TextWrapper(width=126, initial_indent="    ", subsequent_indent="        ")
    out = ["", "@dataclass(kw_only=True)", f"class {class_name(kind)}({'Root' if kind == 'scene' else 'Part'}):"]
    out += textwrap.wrap('"""' + schema["description"], 126, initial_indent="    ", subsequent_indent="    ") + [""]
    for name, _, help_text, words in required + optional:
        out += wrap.wrap(f"{name}: {help_text}" + (f" One of {', '.join(words)}." if words else ""))
    out += ['    """', ""]
    if tag:
        out.append(f"    _tag: ClassVar = {tag!r}")
    if parts:
        out.append(f"    _parts: ClassVar = {parts!r}")
    out += [f"    {name}: {kind_}" for name, kind_, _, _ in required]
    out += [f"    {name}: {kind_} | None = None" for name, kind_, _, _ in optional]
    if not (tag or parts or required or optional):
        out.append("    pass")
    return "\n".join(out)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        kinds = json.load(file)["$defs"]
    text = HEAD + "".join("\n" + write_class(kind, schema) for kind, schema in kinds.items()) + "\n"
    text += "\n\n__all__ = sorted(Part.classes)\n"
    sys.stdout.write(text)


if __name__ == "__main__":
    main()
