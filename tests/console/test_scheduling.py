"""The scheduler's pages: who waits and why, what each workload and budget has, and what ran where (FS-13)."""

import html
import re
from collections.abc import Iterator

import pytest

from app.console.pages import logs
from tests.console.pages import Browser, text
from tests.fleets import PARENT, gpu_group, gpus, told
from tests.fleets import submit as job
from tests.kit import Running, TestWorld, eks
from tests.workloads import fleet, funded, statuses, submit


@pytest.fixture
def lab(world: TestWorld) -> TestWorld:
    """A laboratory of the test's own."""
    return _laboratory(world)


@pytest.fixture(scope="module")
def still(service: Running) -> Iterator[Browser]:
    """A laboratory that tests look at, and nobody changes."""
    opened = Browser(_laboratory(service.world()))
    yield opened
    opened.http.close()


def _laboratory(world: TestWorld) -> TestWorld:
    """Two nodes that research's gang holds, protected until 02:10; product waits since 01:10, a sweep without budget
    too."""
    fleet(world, 2, research=1, product=1)
    funded(world, "pretrain", "research", 2, replicas=2, runtime_seconds=12 * 3600, checkpoint_seconds=1800)
    world.advance(hours=1)
    funded(world, "launch", "product", 1, runtime_seconds=5400)
    submit(world, "sweep", 4, runtime_seconds=3 * 3600)
    return world


PAGES = ("queue", "workloads", "jobs", "decisions", "shares", "budgets", "node-times", "hosts", "fleets")


def test_an_empty_world_teaches(browser: Browser) -> None:
    """RL-24: each page says what it is for and the command that fills it."""
    for path in PAGES:
        page = browser.get(path)
        assert 'class="empty"' in page, path
        assert re.search(r"windtunnel \w+|aws sagemaker|curl -X POST", text(page)), path


def test_the_queue_tells_why_each_waits(still: Browser) -> None:
    page = text(still.get("queue"))
    assert "gpus-protected The end of protected work." in page
    assert "no-free-gpus Free GPUs: unfunded work evicts nobody." in page
    assert "2026-01-01 02:10:00 in 1 h" in page
    assert "ratio 0.9940" in page, "a week of half the claim, less an hour that the other used"
    assert re.search(r"pretrain demo research 16 2026-01-01 02:10:00 1 h", page), "what is protected until when"
    assert "0 of 16 GPUs free" in page
    of_product = text(still.get("queue", budget="product"))
    assert "launch" in of_product and "sweep" not in of_product


def test_a_workload_tells_why_it_stands_there(lab: TestWorld, browser: Browser) -> None:
    page = text(browser.get("workloads/launch", cluster="demo"))
    assert "gpus-protected" in page
    assert "Earliest start, as things are 2026-01-01 02:10:00" in page
    assert "product 0.9940 167/168" in page
    lab.advance(hours=1)
    held = text(browser.get("workloads/launch"))
    assert "starts-soon" in held and "held until others have gone" in held
    assert "pretrain must leave; it starts at 2026-01-01 02:11:00" in held
    assert re.search(r"product 0\.\d{4} \(\d+/\d+\) against research 1\.\d{4} \(\d+/\d+\)", held)
    victim = text(browser.get("workloads/pretrain"))
    assert "evicted for launch; it stops at 2026-01-01 02:11:00" in victim
    assert "Its grace ends 2026-01-01 02:11:00" in victim


def test_the_tree_spells_its_arithmetic_out(still: Browser) -> None:
    """FS-1, FS-2."""
    page = text(still.get("shares"))
    assert "weight 1 of 2 among its siblings = 1/2 = 1/2 = 50.00 %" in page
    assert "1/2 of 16 GPUs = 8 GPUs, rounded down" in page
    assert "(U + K) / E = (1,352.00 + 16.00) / 1,344.00 = 57/56 = 1.0179" in page
    assert "16 funded GPUs, 8 claimed: 8 are borrowed from siblings" in page
    assert "1 of 2 among its siblings: the lowest ratio goes first" in page
    assert "windtunnel budget list --cluster demo" in page


def test_a_budget_burns_down(lab: TestWorld, browser: Browser) -> None:
    """FS-3: spent, reserved, left, and when the limit is met; as a table and, for scripts, as JSON."""
    said = text(
        browser.post("budget/limit", "budgets/research", name="research", amount=40, unit="gpu-hours", period="all")
    )
    assert f"windtunnel budget limit research 40:gpu-hours:all --world {lab.name}" in said
    page = browser.get("budgets/research")
    read = text(page)
    assert "40 GPU-hours in all" in read
    assert "Spent 16.00 GPU-h Reserved for protected time 16.00 GPU-h Left 8.00 GPU-h An hour takes 16.00 GPU-h" in read
    assert "2026-01-01 02:40:00" in read, "when it is met"
    [plot] = re.findall(r'data-plot="([^"]*)"', page)
    assert '"charged":[0.0,16.0,null' in html.unescape(plot) and '"limit":[40.0,40.0' in html.unescape(plot)
    assert "2026-01-01 (now) 16.00 GPU-h" in read
    assert "16.00 GPU-h" in text(browser.get("budgets")) and "02:40:00" in text(browser.get("budgets"))
    assert "no limit" in text(browser.get("budgets"))
    browser.post("budget/limit", "budgets/research", name="research")
    assert "Nothing limits it" in text(browser.get("budgets/research"))


def test_nodes_over_time_show_gangs_protection_and_now(lab: TestWorld, browser: Browser) -> None:
    page = browser.get("node-times")
    assert page.count('class="bar ') == 1, "a gang is one path"
    assert 'class="ahead ' in page and 'class="protected"' in page and 'class="now"' in page
    assert (
        "pretrain · research\n16 GPUs on 2 nodes\n2026-01-01 00:10:00 to now\nprotected until 2026-01-01 02:10:00"
        in page
    )
    lab.advance(hours=2)
    later = browser.get("node-times", span=21600)
    assert 'class="evicted"' in later
    assert "pretrain · research\n16 GPUs on 2 nodes\n2026-01-01 00:10:00 to 2026-01-01 02:11:00" in later
    assert "reserved for pretrain, T is " in later, "it waits for both nodes"
    assert 'class="due-label">' in later or 'class="due-label" ' in later
    assert "cluster=demo&amp;since=" in later, "a link to an earlier window"
    assert 'class="bar ' not in browser.get("node-times", since=4_000_000_000, span=3600)
    browser.get("node-times", status=404, cluster="nothing")
    browser.get("node-times", status=400, span="much")


def test_hosts_are_drained_and_restored(lab: TestWorld, browser: Browser) -> None:
    """FS-11."""
    node = lab.control("GET", "hosts")["hosts"][0]["node"]
    page = text(browser.get("hosts"))
    assert "pretrain 8 GPUs, protected until 2026-01-01 02:10:00 (1 h)" in page
    said = text(browser.post("host/drain", "hosts", node=node, reason="row 7", then="reboot"))
    assert f"windtunnel host drain {node} --reason 'row 7' --then reboot --world {lab.name}" in said
    assert "It takes no new work" in said
    assert "row 7 empty by 2026-01-01 02:10:00 , in 1 h; then reboot" in said
    assert lab.control("GET", f"hosts/{node}")["state"] == "draining"
    assert "It takes work again." in text(browser.post("host/resume", "hosts", node=node))
    assert "not marked for maintenance" in text(browser.post("host/resume", "hosts", node=node))
    assert "No host is drained" in text(browser.get("hosts", state="drained"))


def test_a_workload_is_submitted_and_cancelled(lab: TestWorld, browser: Browser) -> None:
    fields = {"name": "mine", "cluster": "demo", "budget": "product", "gpus": 4, "replicas": 2}
    said = text(browser.post("workload/submit", "workloads", **fields, min_runtime_minutes=60, runtime_minutes=90))
    command = "windtunnel workload submit mine --gpus 4 --replicas 2 --cluster demo --budget product --min-runtime 60m"
    assert f"{command} --runtime 90m --world {lab.name}" in said
    assert '"min_runtime_seconds": 3600' in said and '"runtime_seconds": 5400' in said
    lab.advance(1)
    assert statuses(lab)["mine"] == "waiting"
    assert "From the next pass on" in text(browser.post("workload/priority", "workloads", name="mine", priority=5))
    assert "ends in the next pass" in text(browser.post("workload/cancel", "workloads", name="mine", cluster="demo"))
    lab.advance(1)
    assert "cancelled" in text(browser.get("workloads?status=ended"))
    again = text(browser.post("workload/submit", "workloads", **fields))
    assert "There was a workload mine on this cluster" in again, "a refusal is told, too"


def test_budgets_are_made_reweighted_and_deleted(lab: TestWorld, browser: Browser) -> None:
    assert "windtunnel budget create infra --weight 2" in text(
        browser.post("budget/create", "budgets", name="infra", weight=2)
    )
    browser.post("budget/reweight", "budgets/infra", name="infra", weight=6)
    assert "weight 6 of 8 among its siblings = 3/4" in text(browser.get("budgets/infra"))
    page = text(browser.post("budget/delete", "budgets/infra", name="infra"))
    assert "Its use stays with its parent." in page and "Budgets" in page
    refused = text(browser.post("budget/delete", "budgets/research", name="research"))
    assert "Delete budget research" in refused and "!" in refused


def test_the_settings_of_a_fleet_are_told_and_changed(lab: TestWorld, browser: Browser) -> None:
    assert "fleets/arn" in browser.get("fleets")
    page = text(browser.get("fleets/demo"))
    assert "margin How much lower the ratio must be of who evicts funded work (FS-8). 0.01 0 to 10" in page
    said = text(browser.post("fleet/set", "fleets/demo", fleet="demo", setting="margin", value="0.02"))
    assert f"windtunnel fleet set demo margin=0.02 --world {lab.name}" in said
    assert "changed" in text(browser.get("fleets/demo"))
    browser.post("fleet/set", "fleets/demo", fleet="demo", setting="funded_grace", value="30")
    browser.post("fleet/set", "fleets/demo", fleet="demo", setting="sessions_only", value="yes")
    policy = lab.control("GET", "fleets/demo")["policy"]
    assert (policy["margin_millionths"], policy["funded_grace_seconds"], policy["sessions_only"]) == (20_000, 30, True)
    browser.post("fleet/set", "fleets/demo", fleet="demo", setting="margin", value="")
    assert lab.control("GET", "fleets/demo")["policy"]["margin_millionths"] == 10_000
    assert "it may be 0 to 3600 s" in text(
        browser.post("fleet/set", "fleets/demo", fleet="demo", setting="funded_grace", value="99999")
    )
    assert "part of a ratio" in text(
        browser.post("fleet/set", "fleets/demo", fleet="demo", setting="margin", value="x")
    )


def test_decisions_are_told_in_words_with_their_ratios(lab: TestWorld, browser: Browser) -> None:
    lab.advance(hours=1)
    page = text(browser.get("decisions"))
    assert "preempt fair-share launch pretrain must leave; it starts at 2026-01-01 02:11:00" in page
    assert re.search(r"admit free pretrain starts on …\w{6}, …\w{6}, protected until 2026-01-01 02:10:00", page)
    assert "admit free" not in text(browser.get("decisions", kind="preempt"))
    assert "sweep" not in text(browser.get("decisions", workload="launch"))
    browser.get("decisions", 404, workload="nobody")


def test_a_page_that_is_shown_asks_for_its_content_alone(still: Browser) -> None:
    for path in (*PAGES, "workloads/launch", "budgets/research", "fleets/demo"):
        assert "<html" not in still.fragment(path)


def test_a_job_shows_its_workers_and_its_error_verbatim(world: TestWorld, browser: Browser) -> None:
    """VX-7, VX-9: on a cluster, with its labels, restarts and exit codes; and what it wrote."""
    world.sagemaker.create_cluster(**eks(gpu_group(2)))
    world.advance(minutes=10)
    failed = job(world, gpus(1, 8, RUN_SECONDS="60", EXIT_CODE="3"), name="fails").rpartition("/")[2]
    runs = job(world, gpus(1, 8, RUN_SECONDS="86400"), name="runs").rpartition("/")[2]
    world.advance(minutes=30)
    listed = text(browser.get("jobs"))
    assert "fails" in listed and "runs" in listed and "demo" in listed
    assert "fails" not in text(browser.get("jobs", text="RUN")) and "runs" in text(browser.get("jobs", text="RUN"))
    assert "runs" not in text(browser.get("jobs?state=failed"))
    assert "No job fits" in text(browser.get("jobs?state=cancelled"))
    page = text(browser.get(f"jobs/{failed}"))
    error = told(world, f"{PARENT}/customJobs/{failed}").error.message
    assert "Error, verbatim" in page and error in page
    assert "workerpool0-0" in page and "windtunnel-cluster demo" in page
    assert "1 done" in page or "1 stopped" in page
    written = text(browser.get(f"jobs/{failed}/logs"))
    assert "workerpool0-0" in written and "no more lines will come" in written
    assert "No line fits" in text(browser.get(f"jobs/{failed}/logs", severity="EMERGENCY"))
    assert "service" in text(browser.get(f"jobs/{failed}/logs", task="service"))
    assert "There is no severity 'LOUD'" in text(browser.get(f"jobs/{failed}/logs", 400, severity="LOUD"))
    browser.get(f"jobs/{failed}/logs", 400, before="x")
    name = told(world, f"{PARENT}/customJobs/{runs}").name
    done = text(browser.post("job/cancel", f"jobs/{runs}", name=name))
    assert f"{browser.world.endpoint}/v1/{name}:cancel" in done and "cancelling" in done
    world.advance(minutes=10)
    assert "cancelled" in text(browser.get(f"jobs/{runs}"))
    browser.get("jobs/nothing", 404)


def test_older_lines_are_a_page_of_their_own(
    world: TestWorld, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The newest come first to be seen; the others stay reachable by links."""
    monkeypatch.setattr(logs, "LIMIT", 2)
    world.sagemaker.create_cluster(**eks(gpu_group(1)))
    world.advance(minutes=10)
    name = job(world, gpus(1, 8, RUN_SECONDS="60"), name="talks").rpartition("/")[2]
    world.advance(minutes=30)
    page, pages = browser.get(f"jobs/{name}/logs"), 1
    while found := re.findall(r'href="([^"]*before=[^"]*)" rel="prev"', page):
        page = browser.http.get(html.unescape(found[0])).text
        pages += 1
        assert "To the newest lines" in page
    assert pages > 1 and 'id="l-1"' in page


def test_teams_with_compute_quotas_stand_in_the_place_of_the_tree(world: TestWorld, browser: Browser) -> None:
    """FS-17: there budgets divide nothing."""
    world.sagemaker.create_cluster(**eks(gpu_group(2)))
    world.advance(minutes=10)
    world.sagemaker.create_compute_quota(
        Name="blue",
        ClusterArn=world.describe()["ClusterArn"],
        ComputeQuotaConfig={
            "ComputeQuotaResources": [{"InstanceType": "ml.p5.48xlarge", "Count": 1}],
            "ResourceSharingConfig": {"Strategy": "LendAndBorrow", "BorrowLimit": 100},
        },
        ComputeQuotaTarget={"TeamName": "blue", "FairShareWeight": 10},
    )
    world.advance(minutes=5)
    for name in ("one", "two", "three"):
        job(world, gpus(1, 8, RUN_SECONDS="6000"), name=name, budget="blue")
        world.advance(seconds=1)
    page = text(browser.get("shares"))
    assert "16 GPUs of demo, divided by compute quotas" in page
    assert "blue 8 0 16" in page, "nobody lends"
    assert "three" in text(browser.get("queue")) and "one" in text(browser.get("workloads"))
