"""A bar where tqdm is there."""
from __future__ import annotations

from typing import Any, Iterable


def bar(total: int, description: str) -> Any:
    """A tqdm bar. Raises ImportError that says how to get it."""
    try:
        from tqdm.auto import tqdm
    except ImportError as error:
        raise ImportError("a progress bar needs tqdm: pip install tqdm") from error
    return tqdm(total=total, desc=description, unit="frame")


def counted(items: range, shown: bool, description: str) -> Iterable[int]:
    """The items, with a bar that counts them."""
    if not shown:
        yield from items
        return
    with bar(len(items), description) as line:
        for item in items:
            yield item
            line.update()
