"""`--watch`: a verb that looks at something looks again, and shows what has changed (CT-11)."""

import asyncio
import functools
import inspect
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from app import clock
from app.commands.durations import seconds
from app.commands.output import captured, screen

Watch = Annotated[
    bool,
    typer.Option(
        "--watch", "-w", help="Look again and again, and show what changes, until Ctrl-C.", show_default=False
    ),
]
Every = Annotated[
    str, typer.Option("--every", metavar="DURATION", help="With --watch: how long between two looks, wall time.")
]
Looks = Annotated[int | None, typer.Option("--watch-count", min=1, hidden=True, help="End after so many looks.")]
_ADDED: tuple[tuple[str, Any, Any], ...] = (("watch", Watch, False), ("every", Every, "1s"), ("looks", Looks, None))


def watched(verb: Callable[..., None]) -> Callable[..., None]:
    """The verb with `--watch`. It prints the whole each time; with `--json` one document a line for each change."""

    @functools.wraps(verb)
    def run(*, watch: bool, every: str, looks: int | None, **given: Any) -> None:
        look = functools.partial(verb, **given)
        if watch:
            follow(look, as_json=given["as_json"], every=float(seconds(every)), looks=looks)
        else:
            look()

    own = list(inspect.signature(verb).parameters.values())
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        for name, annotation, default in _ADDED
    ]
    run.__signature__ = inspect.Signature([*own, *added])  # type: ignore[attr-defined]
    run.__annotations__ = {**verb.__annotations__, **{name: annotation for name, annotation, _ in _ADDED}}
    return run


def follow(look: Callable[[], None], *, as_json: bool, every: float, looks: int | None = None) -> None:
    """Look every so many seconds of wall time, for ever or so many times; Ctrl-C is a good end."""
    shown, left = None, looks
    try:
        with _stage(as_json=as_json) as tell:
            while True:
                found = captured(look)
                if found != shown:
                    tell(json.dumps(json.loads(found), ensure_ascii=False) if as_json else found)
                shown, left = found, None if left is None else left - 1
                if left == 0:
                    return
                asyncio.run(clock.sleep(every))
    except KeyboardInterrupt:
        return


@contextmanager
def _stage(*, as_json: bool) -> Iterator[Callable[[str], None]]:
    """What shows a text: in place of the one before for a person, below it for a program."""
    if as_json or not screen().is_terminal:
        yield lambda text: print(text.rstrip("\n"), flush=True)
        return
    from rich.live import Live
    from rich.text import Text

    with Live(auto_refresh=False, vertical_overflow="ellipsis") as live:
        yield lambda text: live.update(Text.from_ansi(text), refresh=True)
