"""What the documents state as facts is what the code does."""

import re
import tomllib
from pathlib import Path

from app.core.effects import EFFECTS
from app.core.timings import PROFILES
from app.host.banner import banner
from app.settings import PREFIX, Settings, load
from app.wire import emulated
from scripts.reference import settable
from tests.docs.reading import ROOT, matches

README = (ROOT / "README.md").read_text()
FAULTS = (ROOT / "docs" / "howto" / "faults.md").read_text()
FIDELITY = (ROOT / "docs" / "fidelity.md").read_text()
_STAGES = {
    "The cluster's own set-up": "setup",
    "Launch, until an instance boots": "launch",
    "Boot, until the script starts": "boot",
    "Lifecycle script": "script",
    "Script that hangs, until it times out": "script_timeout",
    "Deep health check": "deep_check",
    "Termination": "shutdown",
    "A termination that failed is tried again": "stuck",
    "A hardware fault, until it is noticed": "detect",
    "Reboot": "reboot",
    "A slow boot takes longer by": "slow_boot",
    "Software update of a node, until the lifecycle script starts": "patch",
    "A node's failed software update is tried again": "patch_retry",
    "Create, update or delete a scheduler config or compute quota": "governance",
    "A volume is attached, or detached": "attach",
    "An extension is installed on a node, changed or removed": "extension",
    "A node that moves detaches": "move_out",
    "A node that moves attaches, until the lifecycle script starts": "move_in",
    "Payment of a training plan": "payment",
    "A machine of a Vertex AI job comes": "vm",
    "Machines of one job come this much apart at most": "worker_spread",
    "A worker's container starts": "container",
    "A worker's container starts again after its program failed": "container_restart",
    "A worker's machine stops": "vm_stop",
    "A simulated program runs, if the job does not say how long": "program",
    "A preempted job queues again": "requeue",
    "A tuning job, until it asks for its first trials": "study",
    "A trial, until its parameters are chosen": "suggest",
}


def _rows(text: str) -> dict[str, list[str]]:
    """The tables' rows by their first cell, without backquotes."""
    rows = (line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| "))
    return {cells[0].strip("`"): [cell.strip() for cell in cells[1:]] for cells in rows}


def test_the_banner_is_the_real_one() -> None:
    """CT-12."""
    shown = re.search(r"```text\n(Windtunnel .*?)```", README, re.S)
    assert shown
    settings = Settings(data=Path("/home/you/.local/share/windtunnel"), grpc_port=4601)
    clock = {"now": "2026-01-01T00:00:00.000Z", "frozen": False, "rate": 1.0}
    assert matches(shown[1], banner(settings, clock, ephemeral=False))


def test_the_operations_are_counted() -> None:
    """Each by name is in docs/coverage.md, which is generated."""
    count = len(next(s for s in emulated.services() if "CreateCluster" in s.operations).operations)
    assert f"{count} SageMaker operations" in README


def test_every_setting_has_a_meaning() -> None:
    """CT-13: those that a user may set and no others; the page itself is generated, and a check keeps it current."""
    told = tomllib.loads((ROOT / "scripts" / "settings.toml").read_text())
    assert set(told["meaning"]) == {field.name for field in settable()}
    rows = _rows((ROOT / "docs" / "reference" / "settings.md").read_text())
    for name, (default, *_) in rows.items():
        field = name.removeprefix(PREFIX).lower()
        if name.startswith(PREFIX) and field not in told["said"] and default != "none":
            assert getattr(load({}, {name: default.strip("`")}), field) == getattr(Settings(), field), name


def test_stages_take_what_is_told() -> None:
    """CT-16, HP-6."""
    rows = _rows(FIDELITY)
    for title, key in _STAGES.items():
        assert rows[title] == [str(round(PROFILES[name].delays[key].total_seconds())) for name in PROFILES], title
    assert {*_STAGES.values(), "detach", "none", "second"} == set(PROFILES["fast"].delays)
    retries = [", ".join(map(str, PROFILES[name].retries)) for name in PROFILES]
    assert rows["Retries after a failure (the last one repeats for a day)"] == retries


def test_the_effects_of_faults_are_told() -> None:
    """CT-3."""
    assert {name for name in _rows(FAULTS) if name in EFFECTS} == set(EFFECTS)
