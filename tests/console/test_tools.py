"""The pages that change what a world is like: each action, what it says, and that the API sees it."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.console.pages import Browser, text
from tests.fleets import gpu_group
from tests.kit import Running, TestWorld, eks, slurm, workers
from tests.workloads import fleet, funded

TYPE = "ml.g5.2xlarge"
PAGES = (
    *("faults", "capacity", "capacity/prices", "capacity/quotas", "worlds", "snapshots", "what-if", "simulator"),
    "requests",
)


@contextmanager
def elsewhere(service: Running, name: str) -> Iterator[Browser]:
    """A tab on another world, closed with the block."""
    found = Browser(TestWorld(service.base, name))
    yield found
    found.http.close()
    found.world.close()


def test_every_page_reads_in_an_empty_world(browser: Browser) -> None:
    for path in PAGES:
        assert "<h1>" in browser.get(path), path


def test_every_effect_has_a_form_of_its_words(browser: Browser) -> None:
    """CT-3: only what the effect takes."""
    page = browser.get("faults", effect="boot-slow")
    assert {"seconds", "group", "probability"} <= set(re.findall(r'<input name="(\w+)"', page))
    assert "replica" not in re.findall(r'<input name="(\w+)"', page)
    assert '<option value="before">' in browser.get("faults", effect="api-drop")
    assert '<option value="CreateCluster">' in browser.get("faults", effect="api-error")


def test_a_fault_is_added_counted_and_removed(browser: Browser) -> None:
    """CT-3."""
    world = browser.world
    page = text(
        browser.post(
            *("fault/add", "faults"),
            **{"effect": "boot-slow", "group": "workers", "seconds": "90", "probability": "0.5", "times": "3"},
            **{"before": "2027-01-01T00:00", "cluster": ""},
        )
    )
    [rule] = world.control("GET", "faults")["rules"]
    assert (rule["effect"], rule["group"], rule["seconds"], rule["probability"]) == ("boot-slow", "workers", 90, 0.5)
    assert (rule["times"], rule["before"], rule["cluster"]) == (3, "2027-01-01T00:00:00.000Z", None)
    words = "windtunnel fault add boot-slow --group workers --seconds 90 --probability 0.5 --times 3 --before"
    assert words in page
    assert "50 %" in page
    assert "0 faults" in text(browser.post("fault/remove", "faults", rule=rule["id"]))


def test_what_a_fault_may_not_be_is_told(browser: Browser) -> None:
    """CT-3: as the API tells it."""
    for fields, told in (
        ({"effect": "boot-slow", "operation": "CreateCluster"}, "boot-slow takes no 'operation'"),
        ({"effect": "api-error", "operation": "CreateClusta"}, "Did you mean CreateCluster?"),
        ({"effect": "api-latency"}, "api-latency needs 'seconds'"),
        ({"effect": "boot-slow", "probability": "2"}, "'probability' must be from 0 to 1"),
        ({"effect": "boot-slow", "after": "soon"}, "'after' must be an instant"),
        ({"effect": "nothing"}, "Fault effect 'nothing' is not available"),
    ):
        page = browser.post("fault/add", "faults", **fields)
        assert told in text(page)
        assert "failed" in page
    assert browser.world.control("GET", "faults")["rules"] == []


def test_chaos_begins_and_ends(browser: Browser) -> None:
    """CT-3: what is no chaos stays."""
    browser.world.fault("launch-capacity", group="workers")
    assert "chaos of seed 9" in text(browser.post("fault/chaos", "faults", seed="9"))
    assert len(browser.world.control("GET", "faults")["rules"]) == 21
    assert "20 rules of chaos removed." in text(browser.post("fault/calm", "faults"))
    assert len(browser.world.control("GET", "faults")["rules"]) == 1
    assert "1 rule removed." in text(browser.post("fault/clear", "faults"))


def test_hits_are_told(browser: Browser) -> None:
    """CT-3: of one rule or of all."""
    world = browser.world
    rule = world.fault("launch-transient", group="workers", times=2)
    world.sagemaker.create_cluster(**slurm(workers(1, InstanceType=TYPE)))
    world.advance(minutes=5)
    page = text(browser.get("faults"))
    assert "2 of 2" in page
    assert "launch-transient demo · workers" in page
    assert "No rule has struck anything." in text(browser.get("faults", rule="f-99"))
    assert "Hits of f-1" in text(browser.get("faults", rule=rule))


def test_machines_prices_and_quotas_are_set(browser: Browser) -> None:
    """CT-4, CT-5."""
    world = browser.world
    page = text(browser.post("capacity/set", "capacity", instance_type=TYPE, total="3"))
    assert f"windtunnel capacity set {TYPE} 3 --region us-west-2 --world {world.name}" in page
    assert [(one["instance_type"], one["total"]) for one in world.control("GET", "capacity")["pools"]] == [(TYPE, 3)]
    later = browser.post("capacity/set", "capacity", instance_type=TYPE, total="", at="2027-01-01T00:00:00Z")
    assert "Changes to come" in text(later)
    [change] = world.control("GET", "capacity")["changes"]
    assert (change["total"], change["at"]) == (None, "2027-01-01T00:00:00.000Z")

    page = text(browser.post("price/set", "capacity/prices", instance_type=TYPE, region="us-west-2", usd="1.25"))
    assert "Let ml.g5.2xlarge cost 1.250000 USD an hour in us-west-2" in page
    [price] = world.control("GET", "prices", params={"instance_type": TYPE})["prices"]
    assert (price["micro_usd_per_hour"], price["evidence"]) == (1_250_000, "user")

    name = f"{TYPE} for cluster usage"
    fields = {"name": name, "value": "2", "account": "111122223333", "region": "us-west-2"}
    assert "More than that is refused" in text(browser.post("quota/set", "capacity/quotas", **fields))
    told = {one["name"]: one["value"] for one in world.control("GET", "quotas")["quotas"]}
    assert told[name] == 2
    assert name in text(browser.get("capacity/quotas"))


@pytest.mark.parametrize(
    ("path", "fields", "told"),
    [
        ("capacity/set", {"instance_type": "ml.p9.huge", "total": "1"}, "No instance type 'ml.p9.huge'"),
        ("capacity/set", {"instance_type": TYPE, "total": "-1"}, "'total' must be from 0"),
        ("price/set", {"instance_type": TYPE, "region": "us-west-2", "usd": "1e9"}, "'usd' must be from 0"),
        ("price/set", {"instance_type": TYPE, "region": "us-west-2"}, "'usd' is missing"),
        ("quota/set", {"name": "x", "account": "1", "region": "us-west-2"}, "'account' must be twelve digits"),
        ("quota/set", {"name": "x", "account": "111122223333", "region": "us-west-2"}, "No quota is called 'x'"),
        ("snapshot/save", {"name": "No!"}, "cannot name a snapshot"),
        ("snapshot/restore", {"name": "none"}, "has no snapshot 'none'"),
        ("world/create", {"name": "main", "profile": "fast"}, "There is a world 'main' already"),
        ("what-if", {"kind": "weight", "budget": "nobody", "weight": "1", "hours": "1"}, "nobody"),
        ("simulate", {"gpus": "64", "days": "2"}, "Choose from one to 4 policies."),
        ("simulate", {"gpus": "8000", "days": "2", "policy-fifo": "yes"}, "'gpus' must be from 8 to 256."),
    ],
)
def test_what_is_wrong_is_told_where_it_was_said(
    browser: Browser, path: str, fields: dict[str, str], told: str
) -> None:
    assert told in text(browser.post(path, "worlds", **fields))


def test_worlds_are_made_forked_compared_and_dropped(browser: Browser, service: Running) -> None:
    """CT-0: each is shown as itself."""
    name = f"{browser.world.name}-made"
    facts = {"name": name, "seed": "5", "profile": "realistic", "start": "2026-02-01T00:00:00Z", "frozen": "yes"}
    page = text(browser.post("world/create", "worlds", **facts))
    assert "It is empty, and its clock is frozen." in page
    assert f"windtunnel world create {name} --seed 5 --profile realistic --start 2026-02-01T00:00:00.000Z" in page
    listed = service.http.get("/_windtunnel/worlds").json()["worlds"]
    [made] = [world for world in listed if world["name"] == name]
    assert (made["seed"], made["profile"], made["now"]) == (5, "realistic", "2026-02-01T00:00:00.000Z")

    fork = f"{browser.world.name}-fork"
    assert f"All that {browser.world.name} was" in text(browser.post("world/fork", "worlds", name=fork))
    assert "They are equal, to the byte." in text(browser.get("worlds", compare=fork))
    browser.world.advance(hours=1)
    assert "now 2026-01-01T01:00:00.000Z against 2026-01-01T00:00:00.000Z" in text(browser.get("worlds", compare=fork))

    with elsewhere(service, fork) as gone:
        assert "It is gone, with its snapshots." in text(gone.post("world/drop", "worlds"))
        gone.get(status=404)


def test_a_world_is_exported_and_reset(browser: Browser) -> None:
    """CT-2: the file is what the API exports."""
    world = browser.world
    world.capacity(TYPE, 3)
    answer = browser.http.get(f"/console/{world.name}/worlds/export")
    assert answer.headers["content-disposition"] == f'attachment; filename="{world.name}.json"'
    assert answer.content == world.export()
    assert "It is empty and begins again." in text(browser.post("world/reset", "worlds"))
    assert world.control("GET", "capacity")["pools"] == []


def test_the_default_world_cannot_be_dropped(service: Running) -> None:
    """CT-0."""
    with elsewhere(service, "main") as main:
        assert "cannot be dropped" in text(main.get("worlds"))
        assert "cannot be dropped" in text(main.post("world/drop", "worlds"))


def test_a_snapshot_is_saved_gone_back_to_and_forgotten(browser: Browser) -> None:
    """CT-2."""
    world = browser.world
    assert "It holds the world as it is at 2026-01-01T00:00:00.000Z." in text(
        browser.post("snapshot/save", "snapshots", name="before")
    )
    world.advance(hours=3)
    assert "3 h" in text(browser.get("snapshots"))
    page = text(browser.post("snapshot/restore", "snapshots", name="before"))
    assert "It is 2026-01-01T00:00:00.000Z again" in page
    assert world.now() == "2026-01-01T00:00:00.000Z"
    assert "No snapshots yet" in text(browser.post("snapshot/remove", "snapshots", name="before"))


def test_requests_are_listed_with_the_fault_that_struck_them(browser: Browser) -> None:
    """CT-3, CT-7."""
    world = browser.world
    rule = world.fault("api-throttle", operation="ListClusters", times=1)
    with pytest.raises(world.sagemaker.exceptions.ClientError):
        world.sagemaker.list_clusters()
    world.sagemaker.list_clusters()
    page = browser.get("requests", api="sagemaker")
    assert re.findall(r"400 ThrottlingException", text(page))
    assert f">{rule}</a>" in page
    failed = browser.get("requests?status=failed&operation=listclusters")
    [request_id] = re.findall(r"/requests/([0-9a-f-]+)", failed)
    one = text(browser.get(f"requests/{request_id}"))
    assert "Faults that struck it f-1" in one
    assert "No request fits" in text(browser.get("requests", operation="nothing"))
    browser.get("requests/none", status=404)


def test_what_if_plays_both_futures(browser: Browser, service: Running) -> None:
    """A budget's work waits for machines that there would be: side by side, and the world itself is as it was."""
    world = fleet(browser.world, 1, a=1, b=1)
    world.capacity("ml.p5.48xlarge", 1)
    funded(world, "first", "a", 2, runtime_seconds=7200)
    funded(world, "second", "b", 1, runtime_seconds=3600)
    before = world.export()
    page = browser.post(
        *("what-if", "what-if"), kind="setting", cluster="demo", setting="window", value="86400", hours="12"
    )
    answer = text(_answered(browser, page))
    assert "What if window of demo were 86400s?" in answer
    assert "Workloads that started 2 2" in answer
    assert "Longest wait 120 min 120 min" in answer
    assert "Delivered to a 16.0 GPU-hours" in answer
    assert "Delivered to b 8.0 GPU-hours" in answer
    assert world.export() == before
    worlds = [one["name"] for one in service.http.get("/_windtunnel/worlds").json()["worlds"]]
    assert not [name for name in worlds if name.startswith("what-if")]


def test_what_if_can_keep_its_forks(browser: Browser, service: Running) -> None:
    """Fewer machines: nodes that a cluster lacks."""
    world = browser.world
    world.capacity("ml.p5.48xlarge", 4)
    world.sagemaker.create_cluster(**eks(gpu_group(4)))
    page = browser.post(
        "what-if", "what-if", kind="capacity", instance_type="ml.p5.48xlarge", total="2", hours="1", keep="yes"
    )
    answer = _answered(browser, page)
    assert "Machines in use at the end 4 2 -2" in text(answer)
    as_is, changed = re.findall(r'href="/console/(what-if-[a-z0-9-]+)">what-if', answer)
    assert as_is.endswith("-as-is")
    with elsewhere(service, changed) as fork:
        assert [one["total"] for one in fork.world.control("GET", "capacity")["pools"]] == [2]


def test_what_if_with_a_fault(browser: Browser) -> None:
    """CT-3: in the fork alone."""
    world = browser.world
    world.sagemaker.create_cluster(**eks(gpu_group(2)))
    page = browser.post("what-if", "what-if", kind="fault", effect="launch-capacity", hours="1")
    assert "Machines in use at the end 2 0 -2" in text(_answered(browser, page))
    assert world.control("GET", "faults")["rules"] == []


def _answered(browser: Browser, page: str) -> str:
    """The page once the answer is there: it says itself where to look again."""
    while found := re.search(r'class="empty" hx-get="/console/[^/]+/(what-if/\d+|simulator/\d+)"', page):
        page = browser.get(found[1])
    return page


def test_a_simulation_is_run_beside(browser: Browser) -> None:
    """A small laboratory under two policies: figures, each leaf, and drawings."""
    fields = {"gpus": "16", "days": "1", "seed": "3", "policy-budget": "yes", "policy-fifo": "yes"}
    begun = browser.post("simulate", "simulator", **fields)
    assert "windtunnel simulate --generate --gpus 16 --days 1 --warmup 1d --seed 3" in text(begun)
    page = _answered(browser, begun)
    assert "Worst leaf" in page
    assert page.count("<polyline") == 4
    assert "pretraining/base/language" in page
    assert "done" in text(browser.get("simulator"))
