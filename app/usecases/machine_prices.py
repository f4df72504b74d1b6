"""What the machine of a job's worker costs: its type and the accelerators attached to it (VX-23)."""

from collections.abc import Iterable, Mapping

from app.core.gang import Goods, label
from app.core.scope import Scope
from app.store.db import Tx
from app.store.ledger import Rate
from app.usecases.prices import rates, total


async def machine_rates(tx: Tx, scope: Scope, wanted: Iterable[Goods]) -> Mapping[str, Rate]:
    """The price by the hour of each, by what the bill calls it: the sum of its parts."""
    wanted = list(wanted)
    parts = await rates(tx, scope.world, scope.region, {name for goods in wanted for name, _ in goods})
    return {label(goods): total(parts, dict(goods)) for goods in wanted}
