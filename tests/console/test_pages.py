"""The pages about clusters, as they are read without a script."""

import csv
import html
import io
import re

import pytest

from app.console.pages import events
from tests.console.pages import Browser, text
from tests.kit import TestWorld, login, slurm, workers


@pytest.fixture
def built(browser: Browser) -> Browser:
    """A cluster of eight workers, of which there are machines for six, after an hour."""
    world = browser.world
    world.capacity("ml.p5.48xlarge", 6)
    world.sagemaker.create_cluster(**slurm(login(), workers(8)))
    world.advance(hours=1)
    return browser


def test_an_empty_world_teaches(browser: Browser) -> None:
    assert "No cluster in this world yet" in text(browser.get())
    assert "aws sagemaker create-cluster --endpoint-url" in text(browser.get("clusters"))
    assert "No cluster, so no nodes" in text(browser.get("nodes"))
    assert f"windtunnel clock advance --next --world {browser.world.name}" in text(browser.get("events"))
    assert "Nothing has been billed" in text(browser.get("bill"))


def test_the_way_in_names_the_world(browser: Browser) -> None:
    """CT-0: the world that the endpoint's path picks, else the default one."""
    name = browser.world.name
    assert browser.http.get(f"/w/{name}/console").url.path == f"/console/{name}"
    assert browser.http.get("/console/").url.path == "/console/main"
    assert "There is no world" in text(browser.http.get("/console/none").text)


def test_the_overview_adds_up(built: Browser) -> None:
    page = text(built.get())
    bill = built.world.bill(by="cluster")
    assert "GPUs running 48 64 wanted" in page
    assert f"${bill['total_micro_usd'] / 1e6:,.2f} so far" in page
    assert "Waiting 2 2 nodes for machines" in page
    assert "1 scarce" in page


def test_wanted_and_actual(built: Browser) -> None:
    """Each group with the difference, the last error verbatim, and what happens."""
    page = built.get("clusters/demo")
    message = next(node["InstanceStatus"]["Message"] for node in built.world.nodes(IncludeNodeLogicalIds=True)
                   if node["InstanceStatus"]["Status"] == "Failure")  # fmt: skip
    assert "Last error in workers " + message in text(page)
    assert "6 / 8" in text(page)
    assert "2 waiting for a machine" in text(page)
    assert 'aria-label="6 of 8 nodes run"' in page
    assert "demo" in text(built.get("clusters"))
    assert "ListClusters shows" in text(built.get("clusters/none", status=404))


def test_other_accounts_are_named(browser: Browser) -> None:
    """RL-22 is of APIs; the console shows the whole world, and its links say whose."""
    other = browser.world.client(account="222233334444", region="eu-west-1")
    other.create_cluster(**slurm(login(), workers(1), name="theirs"))
    assert "clusters/theirs?account=222233334444&amp;region=eu-west-1" in browser.get("clusters")
    assert "222233334444, eu-west-1" in text(browser.get("clusters/theirs", account="222233334444", region="eu-west-1"))
    browser.get("clusters/theirs", status=404)


def test_the_grid_has_every_node(built: Browser) -> None:
    """Colour, letter and shape, filters, and a link to each node."""
    page = built.get("nodes", cluster="demo")
    assert len(re.findall(r'<rect class="hit"', page)) == 10
    assert {"s-ok", "s-bad"} <= set(re.findall(r'<path class="(s-\w+)"', page))
    assert "RRRRRR" in re.sub(r"<[^>]+>", "", page)
    assert "2 of 10 nodes" in text(built.get("nodes", cluster="demo", state="Failed"))
    assert "8 of 10 nodes" in text(built.get("nodes", cluster="demo", group="workers"))
    assert "No node fits this filter" in text(built.get("nodes", cluster="demo", zone="nowhere"))
    fragment = built.fragment("nodes", cluster="demo")
    assert "<html" not in fragment
    assert "RRRRRR" in re.sub(r"<[^>]+>", "", fragment)


def test_a_node_and_what_happened_to_it(built: Browser) -> None:
    page = built.get("nodes", cluster="demo", group="workers")
    path = re.search(rf'href="/console/{built.world.name}/(nodes/demo/[^"?]+)"', page)
    assert path is not None
    node = text(built.get(path[1]))
    assert "successfully provisioned" in node
    assert "Launch attempts 1" in node
    assert "not found in cluster" in text(built.get("nodes/demo/none", status=404))


def test_the_timeline_is_filtered(built: Browser) -> None:
    assert text(built.get("events")).count("EC2 Instance") > 6
    assert "Failed to provision" in text(built.get("events", level="Error"))
    assert "successfully provisioned" not in text(built.get("events", level="Error"))
    assert "Failed to provision" not in text(built.get("events", group="login"))
    assert "No level" in text(built.get("events", status=400, level="Loud"))
    assert "as a link of this page gives it" in text(built.get("events", status=400, before="x"))


def test_the_pages_of_the_timeline_hold_each_event_once(built: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "SIZE", 20)
    every, page, times = built.world.events(), built.get("events"), []
    while True:
        rows = re.search(r'(?s)<table class="events">.*?</table>', page)
        assert rows is not None
        times += re.findall(r'<time datetime="([^"]+)"', rows[0])
        older = re.search(r'href="([^"]+)" rel="next"', page)
        if older is None:
            break
        page = built.http.get(html.unescape(older[1])).text
    assert len(times) == len(every) > 40
    assert times == sorted(times, reverse=True)


def test_the_bill_down_to_its_intervals(built: Browser) -> None:
    """CT-6: the page's figures are those of the API, and the arithmetic is spelled out."""
    page = built.get("bill", by="group")
    (line,) = [one for one in built.world.bill(by="group")["lines"] if one["group"] == "workers"]
    assert f"${line['micro_usd'] / 1e6:,.2f}" in text(page)
    opened = next(link for link in re.findall(r'href="[^"]*/bill\?([^"]*line=[^"]*)"', page) if "workers" in link)
    shown = text(built.http.get(f"/console/{built.world.name}/bill?{opened.replace('&amp;', '&')}").text)
    assert f"{line['milliseconds']:,} ms × {line['micro_usd_per_hour']:,} µ$/h" in shown
    assert f"{line['micro_usd']:,} µ$." in shown


@pytest.mark.parametrize("by", ["cluster", "group", "instance", "type", "account", "job", "budget"])
def test_the_csv_sums_to_the_bill(built: Browser, by: str) -> None:
    rows = list(csv.DictReader(io.StringIO(built.get("bill.csv", by=by))))
    assert sum(int(row["micro_usd"]) for row in rows) == built.world.bill(by=by)["total_micro_usd"]
    built.get("bill", by=by)


def test_what_names_hold_is_escaped(browser: Browser) -> None:
    """RL-20: what others typed is shown as they typed it."""
    evil = '"><script>alert(1)</script>'
    for page in (browser.get("events", cluster=evil), browser.get("clusters/<script>", status=404)):
        assert "<script>alert" not in page
        assert "<script>" not in re.sub(r"<script (?:defer )?src=", "", page)


def test_create_scale_and_delete(browser: Browser, world: TestWorld) -> None:
    page = text(browser.post("cluster/create", "clusters", name="demo", type="ml.p5.48xlarge", workers=2, minimum=""))
    assert 'sagemaker.create_cluster( ClusterName="demo"' in page
    assert "aws sagemaker create-cluster --endpoint-url" in page
    assert world.describe()["ClusterStatus"] == "Creating"
    world.advance(hours=1)
    scaled = text(browser.post("cluster/scale", "clusters/demo", cluster="demo", group="workers", count=3))
    assert "workers wants 3 nodes now" in scaled
    assert world.group("workers")["TargetCount"] == 3
    names = {one["InstanceGroupName"] for one in world.describe()["InstanceGroups"]}
    assert names == {"controller", "login", "workers"}
    assert "Type the name" in text(browser.post("cluster/delete", "clusters/demo", cluster="demo", sure="dem"))
    assert "shutting down" in text(browser.post("cluster/delete", "clusters/demo", cluster="demo", sure="demo"))
    assert world.describe()["ClusterStatus"] == "Deleting"


def test_reboot_and_replace(built: Browser) -> None:
    node = next(one for one in built.world.nodes() if one["InstanceGroupName"] == "workers" and one["InstanceId"])
    told = text(built.post("node/reboot", "nodes", cluster="demo", instance=node["InstanceId"]))
    assert "batch_reboot_cluster_nodes" in told
    assert "It is under way" in told
    again = text(built.post("node/replace", "nodes", cluster="demo", instance="i-0000000000000000f"))
    assert "not found" in again


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"name": "-", "type": "ml.p5.48xlarge", "workers": 1}, "begins and ends with no '-'"),
        ({"name": "a", "type": "ml.p9.huge", "workers": 1}, "No instance type 'ml.p9.huge'"),
        ({"name": "a", "type": "ml.p5.48xlarge", "workers": 0}, "'workers' must be from 1 to"),
        ({"name": "a", "type": "ml.p5.48xlarge", "workers": 2, "minimum": 3}, "must not be greater"),
    ],
)
def test_what_cannot_be_created(browser: Browser, fields: dict[str, str], told: str) -> None:
    assert told in text(browser.post("cluster/create", "clusters", **fields))
    assert browser.world.sagemaker.list_clusters()["ClusterSummaries"] == []
