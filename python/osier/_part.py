"""What all classes of the scene language share."""
from __future__ import annotations

import dataclasses
import json
import os
from typing import Any, ClassVar, Mapping

import numpy as np


def plain(value: Any) -> Any:
    """Lists, dicts, numbers and words, as JSON has them."""
    if isinstance(value, Part):
        return value.to_dict()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple, range)):
        return [plain(v) for v in value]
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    return value


def to_json(value: Any) -> str:
    """The text of a value. Numbers that JSON does not have are refused."""
    return json.dumps(plain(value), allow_nan=False)


@dataclasses.dataclass(kw_only=True)
class Part:
    """An object of the scene language."""

    #: all of them by name
    classes: ClassVar[dict[str, type]] = {}
    _tag: ClassVar[tuple[str, str] | None] = None
    _parts: ClassVar[Mapping[str, tuple[str, tuple[str, ...]]]] = {}

    def __init_subclass__(cls) -> None:
        Part.classes[cls.__name__] = cls

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        out: dict[str, Any] = {}
        if self._tag:
            out[self._tag[0]] = self._tag[1]
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if value is not None:
                out[field.name.removesuffix("_")] = plain(value)
        return out

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Part":
        """The object that a dict of the scene language describes, and those inside it. Unknown keys raise TypeError."""
        names = {field.name.removesuffix("_"): field.name for field in dataclasses.fields(cls)}
        given = {}
        for key, value in data.items():
            if (cls._tag and key == cls._tag[0]) or key == "$schema":
                continue
            if key not in names:
                raise TypeError(f"{cls.__name__} has no `{key}`; it has {', '.join(names)}")
            if key in cls._parts:
                container, kinds = cls._parts[key]
                value = _read(container, [Part.classes[k] for k in kinds], value)
            given[names[key]] = value
        return cls(**given)


def _read(container: str, kinds: list[type], value: Any) -> Any:
    if container == "list" and isinstance(value, (list, tuple)):
        return [_read("", kinds, item) for item in value]
    if container == "map" and isinstance(value, Mapping):
        return {key: _read("", kinds, item) for key, item in value.items()}
    if not isinstance(value, Mapping):
        return value  # a name, or another short spelling
    for kind in kinds:
        if kind._tag is None or value.get(kind._tag[0]) == kind._tag[1]:
            return kind.from_dict(value)
    return dict(value)  # told when the scene is compiled


class Root(Part):
    """What only a whole scene can do."""

    def check(self) -> list[str]:
        """Compiles the scene; raises InputError with every problem, and returns what is odd about it."""
        from ._scene import compile_scene

        return compile_scene(self).warnings

    def save(self, file: str | os.PathLike[str]) -> None:
        """Writes a scene file."""
        with open(file, "w", encoding="utf-8") as out:
            json.dump(self.to_dict(), out, indent=2, allow_nan=False)
            out.write("\n")

    @classmethod
    def load(cls, file: str | os.PathLike[str]) -> "Part":
        """Reads a scene file, which may have // comments."""
        from ._scene import plain_scene

        return cls.from_dict(plain_scene(file))


del Part.classes["Root"]
