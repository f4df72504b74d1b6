"""The bill through the control API (CT-6, HP-22 to HP-25)."""

import csv
import io

import pytest

from tests.kit import TestWorld, login, slurm, workers


@pytest.fixture
def billed(world: TestWorld) -> TestWorld:
    """An hour of a cluster whose workers' price is a placeholder's."""
    world.sagemaker.create_cluster(**slurm(login(), workers(3)))
    world.advance(hours=1)
    return world


def rounded(milliseconds: int, price: int) -> int:
    return (2 * milliseconds * price + 3_600_000) // 7_200_000


def test_each_line_is_its_time_by_its_price(billed: TestWorld) -> None:
    """HP-22: milliseconds x micro-dollars per hour / 3,600,000, rounded half up once, on the line."""
    for by in ("instance", "group", "type"):
        bill = billed.bill(by=by)
        assert bill["lines"]
        for line in bill["lines"]:
            assert line["micro_usd"] == rounded(line["milliseconds"], line["micro_usd_per_hour"])
        assert bill["total_micro_usd"] == sum(line["micro_usd"] for line in bill["lines"])


def test_lines_by_every_grain(billed: TestWorld) -> None:
    """CT-6: by cluster ARN, group, instance, type, account."""
    count = {by: len(billed.bill(by=by)["lines"]) for by in ("instance", "group", "type", "account", "cluster")}
    assert count == {"instance": 5, "group": 3, "type": 2, "account": 1, "cluster": 1}
    (line,) = billed.bill(by="cluster")["lines"]
    assert line["cluster_arn"] == billed.describe()["ClusterArn"]
    assert line["instance_id"] is None


def test_by_name_or_arn_and_only_that(billed: TestWorld) -> None:
    """CT-6: `--cluster NAME|ARN`."""
    arn = billed.describe()["ClusterArn"]
    assert billed.bill(cluster=arn) == billed.bill(cluster="demo") == billed.bill()
    assert billed.bill(cluster=arn.rpartition("/")[2]) == billed.bill()
    assert billed.bill(cluster="demo", to="2025-01-01T00:00:00Z")["lines"] == []


def test_a_cluster_that_never_was_is_not_billed_nothing(billed: TestWorld) -> None:
    """CT-6: a typing error is told; a cluster that is gone is still known."""
    arn = billed.describe()["ClusterArn"]
    for name in ("demo2", "Demo", arn.replace("111122223333", "999988887777"), f"{arn}x"):
        answer = billed.http.get(f"{billed.endpoint}/_windtunnel/bills", params={"cluster": name})
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "NotFound")
        assert f"or ever had the name, id or ARN '{name}'" in answer.json()["error"]["message"]
    billed.sagemaker.delete_cluster(ClusterName="demo")
    billed.advance(hours=1)
    assert billed.bill(cluster="demo", **{"from": "2026-02-01T00:00:00Z"})["lines"] == []


def test_an_end_is_the_real_one_or_none(billed: TestWorld) -> None:
    """CT-6: what still ran at the period's end has no end, whether or not it ended later."""
    cut = "2026-01-01T00:30:00Z"
    billed.sagemaker.delete_cluster(ClusterName="demo")
    billed.advance(hours=1)
    early = billed.bill(to=cut, intervals="true")["lines"]
    whole = billed.bill(intervals="true")["lines"]
    assert {line["ended"] for line in early} == {one["ended"] for line in early for one in line["intervals"]} == {None}
    ends = [line["ended"] for line in whole]
    assert all(ends)
    assert ends == [line["intervals"][-1]["ended"] for line in whole]
    assert [line["ended"] for line in billed.bill(to=max(ends))["lines"]] == ends


def test_a_name_used_twice_gives_both_clusters(billed: TestWorld) -> None:
    """CT-6."""
    billed.sagemaker.delete_cluster(ClusterName="demo")
    billed.advance(hours=1)
    billed.sagemaker.create_cluster(**slurm(workers(1)))
    billed.advance(hours=1)
    first, second = billed.bill(by="cluster", cluster="demo")["lines"]
    assert first["cluster_arn"] != second["cluster_arn"]
    assert first["ended"] is not None
    assert second["ended"] is None


def test_a_period_and_its_complement_are_the_whole(billed: TestWorld) -> None:
    """CT-6: by period; here the cut lies on a second in which nothing is rounded away."""
    cut = "2026-01-01T00:30:00Z"
    early, late, whole = billed.bill(to=cut), billed.bill(**{"from": cut}), billed.bill()
    assert sum(line["milliseconds"] for bill in (early, late) for line in bill["lines"]) == sum(
        line["milliseconds"] for line in whole["lines"]
    )
    assert all(line["started"] == "2026-01-01T00:30:00.000Z" for line in late["lines"])


def test_lines_open_into_intervals_that_sum_to_them(billed: TestWorld) -> None:
    """CT-6: each line opens into the intervals it was made of."""
    for by in ("instance", "group", "cluster"):
        for line in billed.bill(by=by, intervals="true")["lines"]:
            assert sum(each["micro_usd"] for each in line["intervals"]) == line["micro_usd"]
            assert sum(each["milliseconds"] for each in line["intervals"]) == line["milliseconds"]
    assert "intervals" not in billed.bill()["lines"][0]


def test_csv_has_the_same_figures(billed: TestWorld) -> None:
    """CT-6: JSON and CSV."""
    url = f"{billed.endpoint}/_windtunnel/bills"
    for answer in (
        billed.http.get(url, params={"format": "csv"}),
        billed.http.get(url, headers={"accept": "text/csv"}),
    ):
        assert answer.headers["content-type"].startswith("text/csv")
        rows = list(csv.DictReader(io.StringIO(answer.text)))
        told = billed.bill()["lines"]
        assert [int(row["micro_usd"]) for row in rows] == [line["micro_usd"] for line in told]
        assert set(rows[0]) == set(told[0])


def test_every_line_says_where_its_price_comes_from(billed: TestWorld) -> None:
    """CT-5: no invented figure passes for a published price."""
    for line in billed.bill(by="account")["lines"]:
        assert line["price_evidence"]


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ({"by": "day"}, "by: "),
        ({"from": "yesterday"}, "from: must be an instant"),
        ({"from": "2026-01-02T00:00:00Z", "to": "2026-01-01T00:00:00Z"}, "than its 'to'. Swap them"),
        ({"cluster": "arn:aws:s3:::bucket"}, "is not a cluster's ARN"),
        ({"format": "xml"}, "format: must be 'json' or 'csv'"),
        ({"cluster": "a\0"}, "cluster: must not hold the character NUL"),
    ],
)
def test_refusals(world: TestWorld, query: dict[str, str], told: str) -> None:
    answer = world.http.get(f"{world.endpoint}/_windtunnel/bills", params=query)
    assert answer.status_code == 400
    assert "pattern" not in answer.text
    assert told in answer.json()["error"]["message"]
