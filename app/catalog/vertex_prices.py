"""What a machine of Vertex AI custom training costs (`vertex_prices.toml`), by strategy (CT-5, VX-23)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from functools import cache
from types import MappingProxyType

from app.catalog.records import MachineType, Price
from app.catalog.tables import Row, origin, table
from app.catalog.vertex import accelerators, machine_types

_SUFFIX = {"STANDARD": "", "SPOT": "/spot", "FLEX_START": "/flex-start"}
_MIB_PER_GIB = 1024
_HOURS_OF_MONTH = 730


@dataclass(frozen=True, slots=True)
class Good:
    """A machine type with its built-in accelerators, or one attached accelerator, under a strategy."""

    of: str
    strategy: str

    @property
    def name(self) -> str:
        """`a3-highgpu-8g`, `a3-highgpu-8g/spot`, `NVIDIA_TESLA_T4/flex-start`."""
        return self.of + _SUFFIX[self.strategy]


@cache
def goods() -> Mapping[str, Good]:
    """All that has a price, by name."""
    kinds = accelerators()
    attached = {name for machine in machine_types().values() for name in machine.attachable}
    flexible = {name for name, one in machine_types().items() if one.accelerator and kinds[one.accelerator].flex_start}
    found = [
        Good(of, strategy)
        for of in (*machine_types(), *sorted(attached))
        for strategy in _SUFFIX
        if strategy != "FLEX_START" or of in flexible
    ]
    return MappingProxyType({good.name: good for good in found})


def vertex_price(name: str, region: str) -> Price:
    """The price of the good `name` (`a3-highgpu-8g/spot`); LookupError if there is no such good.

    In this order: Google's for the region, Google's for another region, the placeholder rule.
    """
    good = goods().get(name)
    if good is None:
        raise LookupError(f"{name!r} is no machine type or accelerator of Vertex AI custom training with a price.")
    rows = _published().get(good, {})
    if region in rows:
        return rows[region]
    for where, found in rows.items():
        source = f"Price of {where}, none being catalogued for the region asked for. {found.source}"
        return Price(found.micro_usd_per_hour, "published-other-region", source, found.date)
    return _placeholder(good)


def disk_price(kind: str, gigabytes: int, region: str) -> Price:
    """The price of a boot disk (`pd-ssd`); LookupError if training has no such disk."""
    document = table("vertex_prices")
    row = next((row for row in document["disks"] if row["type"] == kind), None)
    if row is None:
        raise LookupError(
            f"There is no boot disk {kind!r}. Known: {', '.join(one['type'] for one in document['disks'])}."
        )
    if "published" in row:
        known = origin(document, row)
        known["evidence"] = "published" if region == "us-central1" else "published-other-region"
        return Price(_micro(Decimal(row["published"]) * gigabytes / _HOURS_OF_MONTH), **known)
    rule = document["placeholder"]
    listed = Decimal(row["list"]) * (100 + rule["fee_percent"]) / 100
    return Price(_micro(listed * gigabytes / _HOURS_OF_MONTH), "placeholder", rule["source"], rule["date"])


@cache
def _published() -> Mapping[Good, Mapping[str, Price]]:
    """Google's prices of a good by region."""
    document = table("vertex_prices")
    found: dict[Good, dict[str, Price]] = {}
    for row in document["prices"]:
        price = Price(row["micro_usd_per_hour"], **origin(document, row))
        found.setdefault(Good(row["of"], row["strategy"]), {})[row["region"]] = price
    return found


@cache
def _placeholder(good: Good) -> Price:
    rule = table("vertex_prices")["placeholder"]
    machine = machine_types().get(good.of)
    parts = _parts(machine) if machine else [(Decimal(1), _rate(good.of))]
    amount = sum((times * _charge(rate, good.strategy, rule) for times, rate in parts), Decimal(0))
    return Price(_micro(amount), "placeholder", rule["source"], rule["date"])


def _parts(machine: MachineType) -> Iterator[tuple[Decimal, Row]]:
    """How much of which rate the machine is made of."""
    if machine.name in _rates():
        yield Decimal(1), _rate(machine.name)
        return
    yield Decimal(machine.vcpus), _rate(f"{machine.family} vcpu")
    yield Decimal(str(machine.memory_gb)), _rate(f"{machine.family} memory")
    if machine.accelerator:
        yield Decimal(machine.accelerators), _rate(machine.accelerator)


def _rate(of: str) -> Row:
    """The list price of a part; by the rule where none is known."""
    if of in _rates():
        return _rates()[of]
    rule = table("vertex_prices")["placeholder"]
    kind = accelerators().get(of)
    if kind is None:
        return {"usd": rule[of.rpartition(" ")[2]]}
    gib = Decimal(kind.gpu.memory_mib if kind.gpu else 0) / _MIB_PER_GIB
    return {"usd": str(Decimal(rule["accelerator_gib"]) * gib)}


def _charge(rate: Row, strategy: str, rule: Row) -> Decimal:
    """What one of a part costs an hour, with the fee."""
    listed = Decimal(rate["usd"])
    fee = listed * Decimal(rule["fee_percent"]) / 100
    if strategy == "STANDARD":
        return listed + fee
    word = strategy.lower()
    known = rate.get(word)
    return fee + (Decimal(known) if known else listed * Decimal(rule[f"{word}_percent"]) / 100)


@cache
def _rates() -> Mapping[str, Row]:
    return {row["of"]: row for row in table("vertex_prices")["rates"]}


def _micro(usd: Decimal) -> int:
    return int((usd * 1_000_000).quantize(Decimal(1), ROUND_HALF_UP))
