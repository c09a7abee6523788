"""The documentation holds together: every relative link of the README and of docs/ leads to a file, every anchor to a heading, and every page is in the site.

usage: doc_links.py REPOSITORY
"""

import pathlib
import re
import sys

LINK = re.compile(r"\]\(([^)\s]+)\)")
CODE = re.compile(r"^```.*?^```$", re.M | re.S)


def anchors(page):
    """The anchors of a page: those written as such, and its headings as code hosts turn them: lower case, no punctuation, hyphens for spaces."""
    text = CODE.sub("", page.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ (.+)$", text, re.M)
    return set(re.findall(r'<a id="([^"]+)">', text)) | {re.sub(r"[^\w\- ]", "", h.strip().lower()).replace(" ", "-") for h in headings}


def broken(root, page):
    for target in LINK.findall(CODE.sub("", page.read_text(encoding="utf-8"))):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        path = (page.parent / name).resolve() if name else page
        if path == root / "docs/reference_cpp.md":  # written by docs/site/hooks.py
            continue
        if not path.exists():
            yield "%s: %s leads nowhere" % (page.relative_to(root), target)
        elif anchor and path.suffix == ".md" and anchor not in anchors(path):
            yield "%s: %s has no such heading" % (page.relative_to(root), target)


def main(root):
    root = pathlib.Path(root).resolve()
    pages = sorted((root / "docs").rglob("*.md"))
    problems = [problem for page in [root / "README.md"] + pages for problem in broken(root, page)]
    site = (root / "mkdocs.yml").read_text(encoding="utf-8")
    problems += ["%s is not in the navigation of mkdocs.yml" % p.relative_to(root) for p in pages
                 if not re.search(r": %s$" % re.escape(p.relative_to(root / "docs").as_posix()), site, re.M)]
    problems += ["mkdocs.yml: docs/%s is not there" % p for p in re.findall(r": ([\w/.-]+\.md)$", site, re.M)
                 if p != "reference_cpp.md" and not (root / "docs" / p).exists()]
    print("\n".join(problems) or "%d pages, all links good" % (len(pages) + 1))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
