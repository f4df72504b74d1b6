"""What of a cluster's bill which job or budget has had, by GPU-time (VX-24). Nothing of it is added to any total."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal

from app import catalog
from app.core.shares import Key, Part, Stretch, Use, split
from app.core.times import WorldTime
from app.store import placements
from app.store.db import Tx
from app.store.ledger import Entry
from app.store.placements import UseRow

By = Literal["job", "budget"]
KEYS: Mapping[By, Callable[[UseRow], Key]] = {
    "job": lambda row: (row.project, row.location, row.job_id, row.job_name, row.budget or ""),
    "budget": lambda row: (row.budget or "",),
}
"""What a part is about: a job with its name and budget, or a budget; "" stands for none."""

_Stays = Mapping[tuple[str, str, str, str, int], Sequence[UseRow]]


async def parts(
    tx: Tx, world: str, lines: Iterable[Sequence[Entry]], by: By, since: WorldTime | None, until: WorldTime
) -> list[list[Part]]:
    """The parts of each line, given as its intervals of nodes, within [since, until); none of a line without any."""
    stays: dict[tuple[str, str, str, str, int], list[UseRow]] = {}
    for row in await placements.uses(tx, world, since, until):
        stays.setdefault((row.account, row.region, row.cluster_id, row.logical_id, row.billing), []).append(row)
    return [split([_stretch(entry, stays, by) for entry in line], since, until) if line else [] for line in lines]


def _stretch(entry: Entry, stays: _Stays, by: By) -> Stretch:
    rows = stays.get((entry.account, entry.region, entry.owner_id, entry.logical_id, entry.number), ())
    return Stretch(
        catalog.instance_type(entry.instance_type).accelerators,
        entry.micro_usd_per_hour,
        entry.started_at,
        entry.ended_at,
        [Use(KEYS[by](row), row.gpus, row.started_at, row.ended_at) for row in rows],
    )
