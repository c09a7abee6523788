"""Pages that play a run, inside of a notebook."""
from __future__ import annotations

import html

HEIGHT = 480


def inline_player(file: str) -> str:
    """The page in a frame of its own, so that its styles and scripts and those of the notebook do not meet."""
    with open(file, encoding="utf-8") as page:
        text = page.read()
    return (
        f'<iframe srcdoc="{html.escape(text, quote=True)}" sandbox="allow-scripts allow-downloads" '
        f'style="width: 100%; height: {HEIGHT}px; border: 0"></iframe>'
    )
