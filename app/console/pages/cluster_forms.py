"""What can be done to clusters and their nodes from the console: create, scale, delete, reboot, replace."""

import re
from typing import Any

from fastapi import APIRouter
from fastapi.responses import Response

from app import catalog
from app.console.deeds import Deed, aws_line, boto3_lines
from app.console.forms import Form, FormOf
from app.console.page import Page, PageOf
from app.core.errors import Invalid, NotFound
from app.store.db import Tx
from app.usecases import clusters, overviews, repair, updates
from app.usecases.requests import cluster_intent, group_intent
from app.usecases.updates import UpdateIntent

router = APIRouter()
NAME = re.compile(r"[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}")
MOST_NODES = 6758
"""The largest InstanceCount of the service model."""
ROLE = "arn:aws:iam::{}:role/iam-role-for-cluster"
SCRIPT = {"SourceS3Uri": "s3://amzn-s3-demo-bucket/lifecycle", "OnCreate": "on_create.sh"}


def demo_cluster(account: str, name: str, instance_type: str, workers: int, minimum: int | None) -> dict[str, Any]:
    """A CreateCluster request of a small Slurm cluster: a controller, a login node, and workers."""

    def group(title: str, kind: str, count: int, node_type: str, **facts: Any) -> dict[str, Any]:
        return {
            "InstanceGroupName": title,
            "InstanceType": kind,
            "InstanceCount": count,
            "LifeCycleConfig": SCRIPT,
            "ExecutionRole": ROLE.format(account),
            "SlurmConfig": {"NodeType": node_type},
        } | facts

    slurm = {"SlurmConfig": {"NodeType": "Compute", "PartitionNames": ["gpu"]}}
    least = {} if minimum is None else {"MinInstanceCount": minimum}
    groups = [
        group("controller", "ml.c5.xlarge", 1, "Controller"),
        group("login", "ml.c5.xlarge", 1, "Login"),
        group("workers", instance_type, workers, "Compute", **slurm, **least),
    ]
    return {"ClusterName": name, "NodeProvisioningMode": "Continuous", "InstanceGroups": groups}


@router.post("/do/cluster/create")
async def create(page: PageOf, form: FormOf) -> Response:
    """Create a demo cluster of the given size."""
    name = form.text("name", 63)
    if not NAME.fullmatch(name):
        raise Invalid("A cluster's name is up to 63 letters, digits and '-', and begins and ends with no '-'.")
    kind = _type(form)
    workers = form.whole("workers", 1, MOST_NODES)
    minimum = form.whole("minimum", 0, MOST_NODES, 0) or None
    request = demo_cluster(page.scope.account, name, kind, workers, minimum)
    deed = _deed(page, f"Create cluster {name}", "create_cluster", **request)
    work = clusters.create(page.db, page.scope, cluster_intent(request, page.settings))  # type: ignore[arg-type]
    said = "It is being created: advance the clock to let machines start."
    return await page.perform(deed, work, said, _cluster_url(page, name))


@router.post("/do/cluster/scale")
async def scale(page: PageOf, form: FormOf) -> Response:
    """Want another number of nodes in a group."""
    cluster, group = form.text("cluster"), form.text("group")
    count, minimum = form.whole("count", 0, MOST_NODES), form.whole("minimum", 0, MOST_NODES, 0)
    spec = await page.db.run(_group_request, page, cluster, group)
    given = spec | {"InstanceCount": count} | ({"MinInstanceCount": minimum} if minimum else {})
    deed = _deed(page, f"Scale {group} to {count:,}", "update_cluster", ClusterName=cluster, InstanceGroups=[given])
    intent = UpdateIntent([group_intent(given)], [], False, None, None, {})  # type: ignore[arg-type]
    work = page.db.run(updates.update, page.scope, cluster, intent, page.service.policy)
    return await page.perform(deed, work, f"{group} wants {count:,} nodes now.")


@router.post("/do/cluster/delete")
async def delete(page: PageOf, form: FormOf) -> Response:
    """Delete a cluster; its name must be typed."""
    cluster = form.text("cluster")
    if form.optional("sure") != cluster:
        raise Invalid(f"Type the name '{cluster}' to delete the cluster.")
    deed = _deed(page, f"Delete cluster {cluster}", "delete_cluster", ClusterName=cluster)
    work = page.db.run(clusters.delete, page.scope, cluster, page.service.policy)
    return await page.perform(deed, work, "Its nodes are shutting down; they cost nothing any more.")


@router.post("/do/node/reboot")
async def reboot(page: PageOf, form: FormOf) -> Response:
    """Reboot a node's instance."""
    cluster, node = form.text("cluster"), form.text("instance")
    deed = _deed(page, f"Reboot {node}", "batch_reboot_cluster_nodes", ClusterName=cluster, NodeIds=[node])
    work = page.db.run(repair.reboot, page.scope, cluster, [node], [], page.service.policy)
    return await page.perform(deed, work, _batched)


@router.post("/do/node/replace")
async def replace(page: PageOf, form: FormOf) -> Response:
    """Replace a node's instance by another."""
    cluster, node = form.text("cluster"), form.text("instance")
    deed = _deed(page, f"Replace {node}", "batch_replace_cluster_nodes", ClusterName=cluster, NodeIds=[node])
    work = page.db.run(repair.replace, page.scope, cluster, [node], [], page.service.policy)
    return await page.perform(deed, work, _batched)


async def _group_request(tx: Tx, page: Page, cluster: str, group: str) -> dict[str, Any]:
    """What was asked of the group, without its counts."""
    found = await overviews.group_request(tx, page.scope, cluster, group)
    if found is None:
        raise NotFound(f"Cluster '{cluster}' has no group '{group}'.")
    return dict(found)


def _batched(answer: dict[str, Any]) -> str:
    failed = answer.get("Failed") or []
    if failed:
        raise Invalid(str(failed[0].get("Message") or failed[0]))
    return "It is under way."


def _type(form: Form) -> str:
    kind = form.text("type", 64)
    if kind not in catalog.instance_types():
        raise Invalid(f"No instance type '{kind}'. Use a name such as ml.p5.48xlarge.")
    return kind


def _deed(page: Page, title: str, operation: str, **members: Any) -> Deed:
    """The operation as aws-cli and as boto3."""
    scope, where = page.scope, page.endpoint
    return Deed(
        title,
        aws_line(where, scope.region, operation.replace("_", "-"), **members),
        boto3_lines(where, scope.region, scope.account, operation, **members),
    )


def _cluster_url(page: Page, name: str) -> str:
    scope, settings = page.scope, page.settings
    is_default = (scope.account, scope.region) == (settings.default_account, settings.default_region)
    where = {} if is_default else {"account": scope.account, "region": scope.region}
    return page.url(f"clusters/{page.part(name)}", **where)
