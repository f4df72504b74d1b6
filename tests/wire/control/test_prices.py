"""Prices through the control API (CT-5)."""

from tests.kit import TestWorld, slurm, workers

P5 = "ml.p5.48xlarge"


def test_every_price_says_where_it_comes_from(world: TestWorld) -> None:
    """CT-5: source and date for each published price; types without one carry a clearly marked placeholder."""
    prices = world.control("GET", "prices")["prices"]
    assert len(prices) > 100
    for price in prices:
        assert price["evidence"] in ("published", "published-other-region", "placeholder")
        assert price["source"]
        assert price["date"]


def test_an_override_holds_in_every_region_unless_one_is_named(world: TestWorld) -> None:
    """CT-5: the user can override any of them."""
    world.control("POST", "prices", json={"instance_type": P5, "micro_usd_per_hour": 1})
    world.control("POST", "prices", json={"instance_type": P5, "region": "us-east-1", "micro_usd_per_hour": 2})
    for region, amount in (("us-west-2", 1), ("eu-north-1", 1), ("us-east-1", 2)):
        (price,) = world.control("GET", "prices", params={"instance_type": P5, "region": region})["prices"]
        assert (price["micro_usd_per_hour"], price["evidence"]) == (amount, "user")


def test_what_is_billed_keeps_its_price(world: TestWorld) -> None:
    """Reliability rule 5: the price is stored on the interval."""
    world.sagemaker.create_cluster(**slurm(workers(1)))
    world.advance(60)
    before = {line["instance_id"]: line["micro_usd_per_hour"] for line in world.bill()["lines"]}
    world.control("POST", "prices", json={"instance_type": P5, "micro_usd_per_hour": 1})
    assert {line["instance_id"]: line["micro_usd_per_hour"] for line in world.bill()["lines"]} == before


def test_refusals(world: TestWorld) -> None:
    for body in (
        {"instance_type": "ml.none", "micro_usd_per_hour": 1},
        {"instance_type": P5, "micro_usd_per_hour": -1},
        {"instance_type": P5, "micro_usd_per_hour": 1.5},
        {"instance_type": P5, "micro_usd_per_hour": 10**13},
        {"instance_type": P5, "region": "x", "micro_usd_per_hour": 1},
    ):
        assert world.http.post(f"{world.endpoint}/_windtunnel/prices", json=body).status_code == 400
    assert world.http.get(f"{world.endpoint}/_windtunnel/prices?instance_type=ml.none").status_code == 404


def test_machines_of_vertex_have_prices_where_they_are(world: TestWorld) -> None:
    """CT-5, VX-22: by strategy, with evidence; without a region it is us-central1's."""
    for name, amount, evidence in (
        ("a3-highgpu-8g", 101_007_352, "published"),
        ("a3-highgpu-8g/flex-start", 51_495_000, "published"),
        ("NVIDIA_TESLA_T4", 402_500, "placeholder"),
    ):
        (price,) = world.control("GET", "prices", params={"instance_type": name})["prices"]
        assert (price["region"], price["micro_usd_per_hour"], price["evidence"]) == ("us-central1", amount, evidence)
    there = world.control("GET", "prices", params={"region": "europe-west4"})["prices"]
    assert {"n1-standard-4", "n1-standard-4/spot", "a3-highgpu-8g/flex-start"} <= {
        one["instance_type"] for one in there
    }
    assert not any(one["instance_type"].startswith("ml.") for one in there)
    assert all(one["source"] and one["date"] for one in there)


def test_a_machines_price_can_be_overridden(world: TestWorld) -> None:
    """CT-5: each strategy is a good of its own; a region of the other cloud is refused with what to do."""
    world.control("POST", "prices", json={"instance_type": "a3-highgpu-8g/spot", "micro_usd_per_hour": 7})
    for name, amount in (("a3-highgpu-8g/spot", 7), ("a3-highgpu-8g", 101_007_352)):
        (price,) = world.control("GET", "prices", params={"instance_type": name, "region": "us-central1"})["prices"]
        assert price["micro_usd_per_hour"] == amount
    for name, region in ((P5, "us-central1"), ("n1-standard-4", "us-east-1")):
        body = {"instance_type": name, "region": region, "micro_usd_per_hour": 1}
        answer = world.http.post(f"{world.endpoint}/_windtunnel/prices", json=body)
        assert answer.status_code == 400
        assert f"which has no region '{region}'. Use one such as" in answer.json()["error"]["message"]
