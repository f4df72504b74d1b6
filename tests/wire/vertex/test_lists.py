"""Lists of jobs: filters, pages, read masks (VX-18)."""

from typing import Any

import pytest
from google.api_core import exceptions
from google.protobuf.field_mask_pb2 import FieldMask

from tests.kit import TestWorld, custom_job

PARENT = "projects/p1/locations/us-central1"


def create(world: TestWorld, *names: str, **facts: Any) -> list[str]:
    return [world.vertex.create_custom_job(parent=PARENT, custom_job=custom_job(name, **facts)).name for name in names]


def names(world: TestWorld, **request: Any) -> list[str]:
    found = world.vertex.list_custom_jobs(request={"parent": PARENT, **request})
    return [job.display_name for job in found]


def test_the_newest_is_first_and_pages_chain(world: TestWorld) -> None:
    """RL-11: every job once, whatever is made and deleted between pages; the last page has no token."""
    create(world, *(f"job-{number}" for number in range(7)))
    page = world.vertex.list_custom_jobs(request={"parent": PARENT, "page_size": 3})
    first = next(page.pages)
    assert [job.display_name for job in first.custom_jobs] == ["job-6", "job-5", "job-4"]
    create(world, "newer")
    again: dict[str, Any] = {"page_size": 3, "page_token": first.next_page_token}
    rest = list(world.vertex.list_custom_jobs(request={"parent": PARENT, **again}).pages)
    assert [[job.display_name for job in each.custom_jobs] for each in rest] == [["job-3", "job-2", "job-1"], ["job-0"]]
    assert not rest[-1].next_page_token


def test_a_full_last_page_has_no_token(world: TestWorld) -> None:
    """RL-11: also where only the filter leaves that many."""
    create(world, "a", "b", "a", "b")
    request = {"parent": PARENT, "filter": "display_name=a", "page_size": 2}
    [page] = world.vertex.list_custom_jobs(request=request).pages
    assert (len(page.custom_jobs), page.next_page_token) == (2, "")


def test_filters(world: TestWorld) -> None:
    """VX-18: by name, state, time and label, combined."""
    create(world, "old", labels={"team": "red"})
    world.advance(hours=1)
    middle = world.now()
    create(world, "new-1", labels={"team": "red"})
    create(world, "new-2", labels={"team": "blue"})
    assert names(world, filter='display_name:"new-*"') == ["new-2", "new-1"]
    assert names(world, filter="state=JOB_STATE_SUCCEEDED") == ["old"]
    assert names(world, filter='state="JOB_STATE_EXPIRED" OR state="JOB_STATE_PAUSED"') == []
    assert names(world, filter=f'create_time>="{middle}" AND labels.team=red') == ["new-1"]
    assert names(world, filter=f"NOT (createTime < {middle} OR displayName=new-2)") == ["new-1"]
    assert names(world, filter="labels.team:* labels.team!=red") == ["new-2"]
    with pytest.raises(exceptions.BadRequest, match="At character 1: 'owner' is no field"):
        names(world, filter="owner=me")


def test_a_read_mask(world: TestWorld) -> None:
    """VX-18: fields, and fields of fields, in either spelling."""
    create(world, "masked")
    [job] = world.vertex.list_custom_jobs(
        request={"parent": PARENT, "read_mask": FieldMask(paths=["display_name", "job_spec.worker_pool_specs"])}
    )
    assert (job.display_name, job.name, len(job.job_spec.worker_pool_specs)) == ("masked", "", 1)
    url = f"{world.endpoint}/v1/{PARENT}/customJobs"
    assert world.http.get(f"{url}?readMask=name,state").json()["customJobs"][0].keys() == {"name", "state"}
    assert world.http.get(f"{url}?readMask=*").json() == world.http.get(url).json()
    refused = world.http.get(f"{url}?readMask=owner")
    assert (refused.status_code, "no field of CustomJob" in refused.text) == (400, True)


@pytest.mark.parametrize("token", ["nonsense", "AAAA", "é", " "])
def test_a_token_of_no_list_is_refused(world: TestWorld, token: str) -> None:
    """RL-11."""
    with pytest.raises(exceptions.BadRequest, match="page token"):
        names(world, page_token=token)


def test_a_token_of_another_question_is_refused(world: TestWorld) -> None:
    """RL-11: another filter, project, location or world."""
    create(world, "a", "b")
    page = next(world.vertex.list_custom_jobs(request={"parent": PARENT, "page_size": 1}).pages)
    token = page.next_page_token
    assert token
    url = f"{world.endpoint}/v1/{PARENT}/customJobs?pageToken={token}"
    assert world.http.get(url).status_code == 200
    for other in (f"{url}&filter=display_name%3Da", url.replace("p1", "p2"), url.replace("central1", "east1")):
        assert world.http.get(other).status_code == 400


def test_sizes(world: TestWorld) -> None:
    """VX-18: zero is the default; negative is refused; too much is as much as there may be."""
    create(world, "a", "b")
    assert names(world, page_size=0) == names(world, page_size=2**31 - 1) == ["b", "a"]
    with pytest.raises(exceptions.BadRequest, match="page_size is -1"):
        names(world, page_size=-1)


def test_large_jobs_make_short_pages(world: TestWorld) -> None:
    """RL: an answer is bounded, and every job is seen all the same."""
    large = custom_job("large")
    large["job_spec"]["worker_pool_specs"][0]["container_spec"]["args"] = ["x" * 1_000_000]
    for _ in range(12):
        world.vertex.create_custom_job(parent=PARENT, custom_job=large)
    pages = list(world.vertex.list_custom_jobs(parent=PARENT).pages)
    assert [len(page.custom_jobs) for page in pages] == [9, 3]
    assert len({job.name for page in pages for job in page.custom_jobs}) == 12


def test_an_unknown_query_name_is_refused(world: TestWorld) -> None:
    """VX-18: `orderBy` among them; those of every Google API are not."""
    url = f"{world.endpoint}/v1/{PARENT}/customJobs"
    answer = world.http.get(f"{url}?orderBy=name&foo=1")
    assert answer.status_code == 400
    assert [each["description"] for each in answer.json()["error"]["details"][0]["fieldViolations"]] == [
        f'Invalid JSON payload received. Unknown name "{name}": Cannot bind query parameter. '
        f"Field '{name}' could not be found in request message."
        for name in ("orderBy", "foo")
    ]
    assert world.http.get(f"{url}?key=x&prettyPrint=false&quotaUser=me&$.xgafv=2&alt=json").status_code == 200


def test_lists_are_of_one_project_and_location(world: TestWorld) -> None:
    """VX-18: an id and its number are one project."""
    [name] = create(world, "here")
    number = name.split("/")[1]
    here, elsewhere = f"projects/{number}/locations/us-central1", "projects/p1/locations/us-east1"
    parents = (here, elsewhere, "projects/p2/locations/us-central1")
    assert [len(list(world.vertex.list_custom_jobs(parent=parent))) for parent in parents] == [1, 0, 0]
