"""Many cases at once: over the machines of a Ray cluster. The only module that knows Ray, an extra of its own."""

from collections.abc import Callable, Sequence
from importlib import import_module

from app.core.errors import Invalid
from app.simulate.cases import Case, Result, solve


def solve_all(cases: Sequence[Case], address: str, told: Callable[[int], None]) -> list[Result]:
    """The results in the order of the cases; the cluster's machines have this package installed, too.

    `address` is what `ray.init` takes; `local` starts Ray here. Invalid: Ray is not installed.
    """
    try:
        ray = import_module("ray")
    except ModuleNotFoundError:
        raise Invalid("Ray is not installed here. Install it with `pip install 'windtunnel[ray]'`.") from None
    ray.init(address=address, log_to_driver=False)
    try:
        task = ray.remote(solve)
        references = [task.remote(case) for case in cases]
        left = list(references)
        while left:
            done, left = ray.wait(left, num_returns=1)
            ray.get(done)
            told(len(references) - len(left))
        return list(ray.get(references))
    finally:
        ray.shutdown()
