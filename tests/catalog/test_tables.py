"""CT-5: the catalogue is data: read when asked for, with nothing but the standard library."""

import subprocess
import sys

from app.catalog.tables import table

TABLES = (
    "gpus",
    "images",
    "instance_types",
    "prices",
    "quotas",
    "regions",
    "vertex_accelerators",
    "vertex_machines",
    "vertex_prices",
    "vertex_quotas",
    "vertex_regions",
)


def test_importing_reads_nothing_and_needs_nothing() -> None:
    """CT-5: every process pays for imports, so this one parses no TOML and loads no package but ours."""
    code = (
        "import sys; before = set(sys.modules); import app.catalog;"
        "new = {name.split('.')[0] for name in set(sys.modules) - before};"
        "print(sorted(new - sys.stdlib_module_names), 'tomllib' in new)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "['app'] False"


def test_every_named_source_exists_and_is_dated() -> None:
    """CT-5: a source is a title, an address and a day."""
    for name in TABLES:
        for source in table(name)["sources"].values():
            assert source["title"]
            assert source["date"].year in (2025, 2026)
            assert set(source) == {"title", "url", "date"}
