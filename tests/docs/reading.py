"""The documents as a reader follows them: commands with the output that is shown, programs, and files to write."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
DOCUMENTS = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "clients").rglob("*.md")),
    ROOT / "CONTRIBUTING.md",
]
_FENCE = re.compile(
    r"(?:<!-- (?P<note>(?:exit|file): [^>]+?) -->\n)?^```(?P<language>[a-z]*)\n(?P<body>.*?)^```$", re.M | re.S
)


LINKED = [*DOCUMENTS, *sorted((ROOT / "examples").rglob("*.md")), *sorted((ROOT / "clients").rglob("*.md"))]
"""Whose links are followed: also those of pages whose commands other tests run."""


@dataclass(frozen=True)
class Step:
    """Something to do. `shown` is the output in the document; None where the document shows none."""

    line: int
    command: str
    shown: str | None = None
    exit_code: int = 0
    file: str | None = None
    """The file to write `command` to, which is then no command but the file's text."""


def steps(document: Path) -> Iterator[Step]:
    """Every command of the `console` and `sh` blocks and every `python` block, in the document's order.

    `<!-- exit: N -->` before a block tells the exit code of its commands, `<!-- file: NAME -->` makes it a file.
    """
    text = document.read_text()
    for found in _FENCE.finditer(text):
        line = text.count("\n", 0, found.start("body")) + 1
        kind, _, value = (found["note"] or "").partition(": ")
        body = found["body"]
        if kind == "file":
            yield Step(line, body, file=value)
        elif found["language"] == "python":
            yield Step(line, f"python - <<'END_OF_PROGRAM'\n{body}END_OF_PROGRAM")
        elif found["language"] in ("console", "sh"):
            yield from _commands(body, line, int(value) if kind == "exit" else 0)


def _commands(body: str, line: int, exit_code: int) -> Iterator[Step]:
    """In a `console` block `$ ` marks a command and the rest is output; a `sh` block is commands alone."""
    if not body.startswith("$ "):
        body = "".join(f"$ {each}\n" for each in re.split(r"(?<!\\)\n", body.strip()) if each.strip())
    parts = re.split(r"^\$ ", body, flags=re.M)[1:]
    for part in parts:
        lines = part.splitlines()
        end = next(i for i, each in enumerate(lines) if not each.endswith("\\"))
        shown = "\n".join(lines[end + 1 :]).strip("\n")
        yield Step(line, "\n".join(lines[: end + 1]), shown or None, exit_code)
        line += len(lines)


def links(document: Path) -> Iterator[tuple[Path, str]]:
    """What a document's relative links name, and the heading in it or an empty text."""
    text = re.sub(r"^```.*?^```$", "", document.read_text(), flags=re.M | re.S)
    flat = re.sub(r"\s*\n\s*", " ", text).replace("]( ", "](")
    for target in re.findall(r"\]\(([^)\s]+)\)", flat) + re.findall(r'\bsrc(?:set)?="([^"]+)"', flat):
        if not re.match(r"[a-z]+:", target):
            name, _, fragment = target.partition("#")
            yield (document.parent / name).resolve() if name else document, fragment


_VARYING = (
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)"), "INSTANT"),
    (re.compile(r"\b1[0-9]{9}(\.[0-9]{1,3})?\b"), "EPOCH"),
    (re.compile(r"\b[0-9.]+ ?s(econds)?\b"), "SECONDS"),
    (re.compile(r"http://127\.0\.0\.1:\d+"), "ADDRESS"),
    (re.compile(r"[─-╿]+"), "-"),
    (re.compile(r"-{3,}"), "-"),
    (re.compile(r"[ \t]+"), " "),
)


def matches(shown: str, printed: str) -> bool:
    """True when they say the same: instants, addresses and widths may differ, `...` stands for anything."""
    wanted = re.escape(_plain(shown)).replace(r"\.\.\.", ".*")
    return re.fullmatch(wanted, _plain(printed), re.S) is not None


def _plain(text: str) -> str:
    for pattern, word in _VARYING:
        text = pattern.sub(word, text)
    return "\n".join(line.strip() for line in text.strip().splitlines())
