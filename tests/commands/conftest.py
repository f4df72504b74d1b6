"""The command line in this process, pointed at one world of a real service."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from app.cli import app
from app.settings import Settings
from tests.kit import Running, TestWorld, serving

COMMAND = typer.main.get_command(app)


@pytest.fixture(autouse=True)
def made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Typer's runner makes the whole command line anew for each line, which takes 0.1 s."""
    monkeypatch.setattr("typer.testing._get_command", lambda app: COMMAND)


@dataclass
class Line:
    """A command line; `say` and `ask` act in the world, and must end well."""

    world: TestWorld

    def run(self, *words: str, **environ: str) -> Result:
        return CliRunner().invoke(app, [*words], catch_exceptions=False, env=environ)

    def say(self, *words: str, **environ: str) -> str:
        ran = self.run(*words, "--world", self.world.name, "--endpoint", self.world.base, **environ)
        assert ran.exit_code == 0, ran.output
        return ran.stdout

    def ask(self, *words: str) -> Any:
        return json.loads(self.say(*words, "--json"))


@pytest.fixture(scope="module")
def service(dsn: str) -> Iterator[Running]:
    """A service whose log does not mix with what the verbs print in the same process."""
    with serving(Settings(database_url=dsn, frozen=True)) as running:
        yield running


@pytest.fixture
def line(world: TestWorld) -> Line:
    return Line(world)
