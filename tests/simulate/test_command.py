"""`windtunnel simulate`, as somebody types it."""

import csv
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from app.cli import app
from app.commands import exits
from app.commands.variations import given, variations
from app.core.errors import Invalid
from app.core.scheduling.policy import DAY, SECOND, Policy

SMALL = Path(__file__).parents[2] / "examples" / "scheduler-study" / "small.csv"


def simulate(*words: str | Path, code: int = 0) -> str:
    done = CliRunner().invoke(app, ["simulate", *map(str, words)])
    assert done.exit_code == code, done.output
    return done.output


def test_policies_stand_side_by_side() -> None:
    said = simulate(SMALL, "--gpus", "16", "--policy", "fifo", "--policy", "budget", "--workers", "1")
    lines = [line.split() for line in said.splitlines()]
    assert ["measure", "fifo", "budget"] in lines
    assert said.startswith("small.csv: 16 GPUs, 13 jobs")
    [evictions] = [line for line in lines if line[:4] == ["evictions", "of", "funded", "work"]]
    assert evictions[6] == "0"


def test_json_has_every_measure_of_every_policy_and_seed() -> None:
    words = ("--generate", "--gpus", "64", "--days", "1", "--warmup", "6h", "--seeds", "2", "--workers", "1", "--json")
    answer = json.loads(simulate(*words, "--policy", "fifo"))
    assert answer["policies"]["fifo"]["seeds"] == 2
    assert [row["trace"] for row in answer["seeds"]] == ["generated-1", "generated-2"]
    assert answer["policies"]["fifo"]["submitted"] == sum(row["submitted"] for row in answer["seeds"])


def test_each_value_of_a_setting_is_a_column(tmp_path: Path) -> None:
    words = (SMALL, "--gpus", "16", "--workers", "1", "--out", tmp_path, "--plots", "none")
    said = simulate(*words, "--vary", "window=1d,14d", "--set", "tick=30s")
    assert "written to" in said
    with (tmp_path / "summary.csv").open() as file:
        assert [row["policy"] for row in csv.DictReader(file)] == ["budget window=1d", "budget window=14d"]


def test_settings_are_read_as_people_write_them() -> None:
    [one, other] = variations(given(["margin=0.02", "waive=no", "k=0.5"]), ["window=1d,2d"])
    assert one.settings.budget == Policy(margin=20_000, waive_at_t=False, window=DAY)
    assert (one.settings.k, one.label, other.label) == (500, "window=1d", "window=2d")
    assert given(["tick=1s"]).budget.tick == SECOND


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "name a trace, or say --generate"),
        ((SMALL, "--generate"), "one of the two"),
        (("--generate", "--policy", "lottery"), "there is no policy 'lottery'; there are budget"),
        (("--generate", "--set", "windows=3d"), "there is no setting 'windows'"),
        (("--generate", "--set", "window=long"), "window: 'long' is not a duration"),
        (("--generate", "--vary", "margin=1%"), "margin: '1%' is not a number"),
        (("--generate", "--set", "waive=perhaps"), "waive: 'perhaps' is neither yes nor no"),
    ],
)
def test_what_cannot_be_simulated_is_said_at_once(words: tuple[str, ...], says: str) -> None:
    said = " ".join(simulate(*words, code=2).replace("│", " ").split())
    assert says in said


def test_a_cell_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    """The file, the line, the column, and what was expected there."""
    broken = tmp_path / "broken.csv"
    broken.write_text(SMALL.read_text().replace(",300,1,300", ",soon,1,300"))
    error = CliRunner().invoke(app, ["simulate", str(broken)]).exception
    assert isinstance(error, Invalid)
    assert str(error) == f"{broken}: line 5, column duration: expected a number, found 'soon'."
    assert exits.exit_code(error) == exits.USAGE
