"""`windtunnel world import` (CT-2)."""

import os
from threading import Thread

from tests.commands.conftest import Line
from tests.kit import TestWorld


def test_an_export_comes_through_a_pipe(world: TestWorld, line: Line) -> None:
    """A pipe has no length that could be announced: what comes through it is the same world all the same."""
    world.capacity("ml.p5.48xlarge", 3)
    out, into = os.pipe()
    exported = world.export()
    with os.fdopen(into, "wb") as writing:
        sent = Thread(target=lambda: (writing.write(exported), writing.close()))
        sent.start()
        ran = line.run("world", "import", f"{world.name}-piped", f"/dev/fd/{out}", "--endpoint", world.base)
        sent.join()
    os.close(out)
    assert ran.exit_code == 0, ran.output
    again = TestWorld(world.base, f"{world.name}-piped")
    assert again.export() == exported
    again.close()
