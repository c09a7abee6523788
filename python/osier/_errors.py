"""What can go wrong, and how it is told."""
from __future__ import annotations

from typing import NamedTuple


class Problem(NamedTuple):
    """One thing wrong with the input: where (a JSON pointer or a file), what, and what to do about it."""

    where: str
    what: str
    remedy: str


class InputError(ValueError):
    """Every problem of the input at once."""

    def __init__(self, message: str, problems: list[tuple[str, str, str]] = ()):  # type: ignore[assignment]
        super().__init__(message)
        #: one Problem after the other
        self.problems = [Problem(*p) for p in problems]


class RunError(RuntimeError):
    """The run itself failed: a static step that does not converge, a full disk."""


class NonFiniteError(RunError):
    """The state is no longer finite; what is kept is the last good one."""


class CertificateError(RunError):
    """A step did not hold what a certificate is about; the state before it is kept."""


for _class in (Problem, InputError, RunError, NonFiniteError, CertificateError):
    _class.__module__ = "osier"
