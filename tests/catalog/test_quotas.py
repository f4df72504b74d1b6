"""CT-4: account quotas by AWS's names; none limits until the user says so."""

from app import catalog


def test_no_quota_limits_by_default() -> None:
    """CT-4: unlimited by default; what a real account had is kept as a fact."""
    total = catalog.quotas()["instances"]
    assert (total.code, total.limit, total.recorded, total.applied) == ("L-3308CCC7", None, 30, "total")
    one = catalog.quotas()["instances-per-cluster"]
    assert (one.code, one.limit, one.recorded, one.applied) == ("L-2CE978FC", None, 20, "maximum")
    assert all(quota.limit is None and quota.source for quota in catalog.quotas().values())


def test_every_type_has_its_two_quotas() -> None:
    """CT-4: named as Service Quotas names them; a code only where it is known."""
    known = catalog.on_demand_quota("ml.p5.48xlarge")
    assert (known.name, known.code, known.recorded) == ("ml.p5.48xlarge for cluster usage", "L-8762A75F", 2)
    spot = catalog.spot_quota("ml.p5.48xlarge")
    assert (spot.name, spot.code) == ("ml.p5.48xlarge for cluster spot instance usage", "L-F742E2D7")
    unknown = catalog.on_demand_quota("ml.m5.large")
    assert (unknown.name, unknown.code, unknown.recorded) == ("ml.m5.large for cluster usage", None, None)
    assert unknown.evidence == "placeholder"
    names = {q(t).name for t in catalog.instance_types() for q in (catalog.on_demand_quota, catalog.spot_quota)}
    assert len(names) == 2 * len(catalog.instance_types())
