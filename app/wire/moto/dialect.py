"""moto's manners around SageMaker's operations, so that tests which ran against its server run here unchanged.

Behaviour as moto 5.2.5 shows it; what is not copied is listed in docs/moto.md.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from app.core.errors import DomainError, InUse, NotFound
from app.usecases.settling import SettledDatabase
from app.wire.aws.dialect import Dialect
from app.wire.aws.errors import INVALID, AwsError
from app.wire.aws.registry import Context

ACCOUNT = "123456789012"
"""Whose the state is when the access key is no account: all of moto's tests count on it."""
MOST_A_PAGE = 100
_CLUSTER_ARN = re.compile(r"arn:aws[a-z-]*:sagemaker:.*[:/]([^:/]+)", re.DOTALL)
_SORTS = {"Name": "NAME", "CreationTime": "CREATION_TIME"}
_BUCKETS = "s3://sagemaker-"
_NODE_IDS = frozenset(("nodeId", "nodeIds", "instanceIds"))
_NODE = ("InstanceGroupName", "InstanceId", "InstanceStatus", "InstanceType", "LaunchTime")
_NODE_DETAILS = (*_NODE, "LifeCycleConfig", "ThreadsPerCore")
_CLUSTER = ("ClusterArn", "ClusterName", "ClusterStatus", "CreationTime", "InstanceGroups", "VpcConfig")
_GROUP = (
    "CurrentCount",
    "TargetCount",
    "InstanceGroupName",
    "InstanceType",
    "LifeCycleConfig",
    "ExecutionRole",
    "ThreadsPerCore",
    "InstanceStorageConfigs",
    "OnStartDeepHealthChecks",
    "OverrideVpcConfig",
    "ScheduledUpdateConfig",
    "SlurmConfig",
    "TrainingPlanArn",
)
"""What was asked of a group, with counts for its InstanceCount."""
_WORDS = {
    (NotFound, "cluster"): (INVALID, "Could not find cluster '{}'."),
    (NotFound, "node"): (INVALID, "Could not find node '{}' in cluster '{}'."),
    (InUse, "cluster"): (
        "ResourceInUse",
        "Resource Already Exists: Cluster with name {} already exists. Choose a different name.",
    ),
}


def hear(operation: str, request: Any) -> Any:
    """The request as AWS's model has it: clusters by name, sorts and pages in its words. AwsError for a bucket of
    lifecycle scripts whose name does not begin as SageMaker's do."""
    if not isinstance(request, dict):
        return request
    heard = dict(request)
    if isinstance(name := heard.get("ClusterName"), str) and (arn := _CLUSTER_ARN.fullmatch(name)):
        heard["ClusterName"] = arn[1]
    if operation in ("ListClusters", "ListClusterNodes"):
        _hear_list(heard)
    if operation == "CreateCluster":
        _check_sources(heard.get("InstanceGroups"))
    return heard


def _hear_list(heard: dict[str, Any]) -> None:
    if isinstance(sort := heard.get("SortBy"), str):
        heard["SortBy"] = _SORTS.get(sort, sort)
    if isinstance(size := heard.get("MaxResults"), int) and not isinstance(size, bool):
        heard["MaxResults"] = min(size, MOST_A_PAGE)


def _check_sources(groups: Any) -> None:
    for group in groups if isinstance(groups, list) else ():
        life = group.get("LifeCycleConfig") if isinstance(group, dict) else None
        source = life.get("SourceS3Uri") if isinstance(life, dict) else None
        if isinstance(source, str) and not source.startswith(_BUCKETS):
            text = f"Validation Error: SourceS3Uri {source[:1024]} does not start with 's3://sagemaker'."
            raise AwsError(INVALID, text)


def tell(operation: str, answer: Any) -> Any:
    """The answer with the members that moto's has."""
    match operation:
        case "DescribeCluster":
            groups = [_only(group, _GROUP) for group in answer["InstanceGroups"]]
            failure = answer.get("FailureMessage") or ""
            return {**_only(answer, _CLUSTER), "InstanceGroups": groups, "FailureMessage": failure}
        case "DescribeClusterNode":
            return {"NodeDetails": _node(answer["NodeDetails"], _NODE_DETAILS)}
        case "ListClusterNodes":
            shown = [_node(one, (*_NODE, "NodeLogicalId")) for one in answer["ClusterNodeSummaries"]]
            return {**answer, "ClusterNodeSummaries": shown}
    return answer


def _node(node: Mapping[str, Any], members: tuple[str, ...]) -> dict[str, Any]:
    status = node["InstanceStatus"]
    return {**_only(node, members), "InstanceStatus": {**status, "Message": status["Message"] or "message"}}


def _only(value: Mapping[str, Any], members: tuple[str, ...]) -> dict[str, Any]:
    return {name: value[name] for name in members if name in value}


def refusal(error: DomainError) -> AwsError | None:
    """moto's code and text, where it has some for this."""
    kind, *names = error.about or ("",)
    words = _WORDS.get((type(error), kind))
    return None if words is None else AwsError(words[0], words[1].format(*names))


def context(given: Context) -> Context:
    """The context whose database leaves nothing undone."""
    service = given.service
    settled = SettledDatabase(service.db, given.scope.world, service.policy)
    return replace(given, service=replace(service, database=settled))


MOTO = Dialect(ACCOUNT, _NODE_IDS, hear, tell, refusal, context)
