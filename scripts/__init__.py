"""What is made from the code: each module writes its files, and with `--check` says whether they are current."""

import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parent.parent


def settle(documents: Mapping[Path, str], module: str) -> int:
    """Write the documents, or with `--check` among the arguments compare them; the exit code, 1 when one is stale."""
    stale = [path for path, text in documents.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    if "--check" in sys.argv[1:]:
        for path in stale:
            print(f"{path.relative_to(ROOT)} is stale: run `python -m scripts.{module}`", file=sys.stderr)
        return 1 if stale else 0
    for path in stale:
        path.parent.mkdir(exist_ok=True)
        path.write_text(documents[path], encoding="utf-8")
    print(f"{len(stale)} files changed")
    return 0
