"""Hooks of MkDocs: the C++ reference is written from the headers, links to files outside docs/ lead to copies of those files, and formulas become MathML,
which browsers draw without a script."""

import html
import pathlib
import posixpath
import re

from latex2mathml.converter import convert
from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINK = re.compile(r"(\]\()([^)#\s]+)((?:#[^)\s]*)?\))")
FORMULA = re.compile(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', re.S)
PUBLIC = ROOT / "include" / "osier"


def declarations(header):
    """Pairs of a documentation comment (lines of ///) and the line of code that it stands above."""
    comment = []
    for line in header.read_text(encoding="utf-8").splitlines():
        text = line.strip()
        if text.startswith("///"):
            comment.append(text[3:].lstrip("<").strip())
        elif comment and text:
            yield " ".join(comment), text
            comment = []


def cpp_reference():
    page = ["# C++ reference", "", "The public headers, with the comments that stand in them. `#include <osier/osier.hpp>` includes all of them.", ""]
    for header in sorted(PUBLIC.glob("*.hpp")):
        page += ["## `osier/%s`" % header.name, ""]
        first = header.read_text(encoding="utf-8").splitlines()
        page += [line.lstrip("/ ") for line in first if line.startswith("// ")][:6] + [""]
        for comment, code in declarations(header):
            page += ["```cpp", re.sub(r"\s*\{\s*$", "", code), "```", "", comment, ""]
    return "\n".join(page)


def outside(folder, target):
    """The path, from the root, of a file outside docs/ that a page of docs/folder links to; None for any other link."""
    if re.match(r"[a-z]+:", target):
        return None
    path = posixpath.normpath(posixpath.join("docs", folder, target))
    return None if path.startswith("docs/") or not (ROOT / path).exists() else path


def on_files(files, config):
    files.append(File.generated(config, "reference_cpp.md", content=cpp_reference()))
    for page in list(files.documentation_pages()):
        folder = posixpath.dirname(page.src_uri)
        for match in LINK.finditer(page.content_string):
            path = outside(folder, match.group(2))
            if path and (ROOT / path).is_file() and files.get_file_from_path("files/" + path) is None:
                files.append(File.generated(config, "files/" + path, content=(ROOT / path).read_bytes()))
    return files


def on_page_markdown(markdown, page, config, files):
    folder = posixpath.dirname(page.file.src_uri)

    def lead(match):
        path = outside(folder, match.group(2))
        if path is None:
            return match.group(0)
        if (ROOT / path).is_dir():
            return "](#)"  # a folder of the repository has no page
        return match.group(1) + posixpath.relpath("files/" + path, folder or ".") + match.group(3)

    return LINK.sub(lead, markdown)


def on_page_content(content, page, config, files):
    def draw(match):
        return convert(html.unescape(match.group(3)).strip(), display="block" if match.group(2) == "[" else "inline")

    return FORMULA.sub(draw, content)
