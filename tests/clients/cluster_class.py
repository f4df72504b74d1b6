"""sagemaker-core's Cluster class, as its users write it; told on standard input when to go on.

It runs in the environment that `make clients` makes, not in the tests' own. Each line that it prints is one JSON
value, among what the class draws; before a step that needs the clock to have moved, it reads a line. `get_node` is
left out: sagemaker-core 1.0.78 refuses its own answer, whichever service it asks.
"""

import json
import sys
from typing import Any

from botocore.exceptions import ClientError
from sagemaker_core.main import shapes
from sagemaker_core.main.resources import Cluster

ROLE = "arn:aws:iam::111122223333:role/iam-role-for-cluster"


def say(**facts: Any) -> None:
    print("\n" + json.dumps(facts), flush=True)  # what was drawn may have left its line open


def group(name: str, count: int, kind: str) -> shapes.ClusterInstanceGroupSpecification:
    scripts = {"source_s3_uri": "s3://amzn-s3-demo-bucket/lifecycle", "on_create": "on_create.sh"}
    return shapes.ClusterInstanceGroupSpecification(
        instance_count=count,
        instance_group_name=name,
        instance_type="ml.p5.48xlarge",
        life_cycle_config=shapes.ClusterLifeCycleConfig(**scripts),
        execution_role=ROLE,
        slurm_config=shapes.ClusterSlurmConfig(node_type=kind),
    )


def main() -> None:
    groups = [group("controller", 1, "Controller"), group("workers", 2, "Compute")]
    cluster = Cluster.create("demo", instance_groups=groups, node_provisioning_mode="Continuous")
    say(step="created", status=cluster.cluster_status, arn=cluster.cluster_arn)
    cluster.wait_for_status("InService", poll=0)
    say(step="in service", status=cluster.cluster_status)
    sys.stdin.readline()
    nodes = list(cluster.get_all_nodes(include_node_logical_ids=True))
    say(step="nodes", nodes=[[node.instance_group_name, node.instance_status.status] for node in nodes])
    one = next(node for node in nodes if node.instance_group_name == "workers")
    deleted = cluster.batch_delete_nodes(node_ids=[one.instance_id])
    say(step="deleted nodes", same=deleted.successful == [one.instance_id])
    sys.stdin.readline()
    cluster.update(instance_groups=[group("workers", 4, "Compute")])
    sys.stdin.readline()
    counts = {each.instance_group_name: each.current_count for each in cluster.refresh().instance_groups}
    say(step="updated", counts=counts)
    say(step="listed", names=[each.cluster_name for each in Cluster.get_all(name_contains="dem")])
    cluster.delete()
    say(step="deleting", status=cluster.refresh().cluster_status)
    cluster.wait_for_delete(poll=0)
    try:
        Cluster.get("demo")
    except ClientError as error:
        say(step="gone", code=error.response["Error"]["Code"])


main()
