"""No link is dead, and no page is out of reach."""

import re
from pathlib import Path

import pytest

from tests.docs.reading import LINKED, ROOT, links

INDEX = ROOT / "docs" / "README.md"


@pytest.mark.parametrize("document", LINKED, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(document: Path) -> None:
    """Every relative link is a file, and its fragment a heading of that file."""
    for path, fragment in links(document):
        assert path.exists(), path
        if fragment:
            headings = re.findall(r"^#+ (.+)$", path.read_text(), re.M)
            known = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
            assert fragment in known, f"{path}: {fragment}"


def test_every_page_is_reached_from_the_index() -> None:
    """By links from page to page; a link to a folder leads to all that is in it."""
    reached: set[Path] = set()
    ahead = {INDEX}
    while ahead:
        page = ahead.pop()
        reached.add(page)
        found = {path for path, _ in links(page)}
        found |= {path for folder in found if folder.is_dir() for path in folder.glob("*.md")}
        ahead |= {path for path in found if path.suffix == ".md" and ROOT / "docs" in path.parents} - reached
    assert sorted(set((ROOT / "docs").rglob("*.md")) - reached) == []


def test_the_readme_leads_to_the_index() -> None:
    assert INDEX in {path for path, _ in links(ROOT / "README.md")}
