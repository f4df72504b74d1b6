"""Fifty accounts in three regions do what they like: nobody sees anything of anybody else."""

import json
import random
from typing import Any

import httpx
from botocore.exceptions import ClientError

from tests.kit import TestWorld, eks, group

ACCOUNTS = [f"{number:012d}" for number in range(100_000_000_000, 100_000_000_050)]
REGIONS = ["us-west-2", "eu-west-1", "ap-northeast-1"]
STEPS = 900
Tenant = tuple[str, str]


class Caller:
    """Requests of any tenant over one connection: the access key is the account, the scope names the region."""

    def __init__(self, world: TestWorld) -> None:
        self.http = httpx.Client(base_url=world.endpoint, timeout=60)

    def __call__(self, tenant: Tenant, operation: str, **request: Any) -> Any:
        account, region = tenant
        credential = f"Credential={account}/20260101/{region}/sagemaker/aws4_request, SignedHeaders=host, Signature=00"
        answer = self.http.post(
            "/",
            headers={
                "x-amz-target": f"SageMaker.{operation}",
                "content-type": "application/x-amz-json-1.1",
                "authorization": f"AWS4-HMAC-SHA256 {credential}",
            },
            content=json.dumps(request),
        )
        assert answer.status_code in (200, 400), answer.text
        body = answer.json()
        if answer.status_code == 400:
            raise ClientError({"Error": {"Code": body["__type"], "Message": body["message"]}}, operation)
        return body


def mark(tenant: Tenant) -> str:
    """A word that only this tenant's requests contain."""
    return f"t{ACCOUNTS.index(tenant[0])}x{REGIONS.index(tenant[1])}z"


def step(call: Caller, draw: random.Random, tenant: Tenant, foreign: list[str], tokens: dict[Tenant, str]) -> str:
    """One random operation; everything that came back, as text."""
    name = f"{mark(tenant)}-{draw.randrange(2)}"
    eks_arn = f"arn:aws:eks:{tenant[1]}:{tenant[0]}:cluster/{name}"
    try:
        match draw.randrange(8):
            case 0 | 1 | 2:
                request = eks(group("g", draw.randint(0, 2)), name=name, Tags=[{"Key": mark(tenant), "Value": "v"}])
                request["Orchestrator"]["Eks"]["ClusterArn"] = eks_arn
                return str(call(tenant, "CreateCluster", **request))
            case 3:
                answer = call(tenant, "ListClusters", MaxResults=1)
                tokens[tenant] = answer.get("NextToken", tokens.get(tenant, ""))
                return str(answer["ClusterSummaries"])
            case 4:
                more = [{"InstanceGroupName": "g", "IncrementTargetCountBy": 1}]
                return str(call(tenant, "BatchAddClusterNodes", ClusterName=name, NodesToAdd=more, ClientToken="same"))
            case 5:
                return str(call(tenant, "DeleteCluster", ClusterName=name))
            case 6 if foreign:
                call(tenant, "DescribeCluster", ClusterName=draw.choice(foreign))
                raise AssertionError("a foreign ARN was found")
            case 7 if tokens and (token := draw.choice([t for o, t in tokens.items() if o != tenant] or [""])):
                call(tenant, "ListClusters", MaxResults=1, NextToken=token)
                raise AssertionError("a foreign token was taken")
    except ClientError as refused:
        error = refused.response["Error"]
        assert error["Code"] != "InternalFailure"
        return error["Message"].replace(next((arn for arn in foreign if arn in error["Message"]), "~"), "")
    return ""


def test_nobody_sees_anything_of_anybody_else(world: TestWorld) -> None:
    """RL-22, HP-W6: no foreign id, name, token or event in lists, descriptions, bills by account, or errors."""
    call, draw = Caller(world), random.Random(22)
    tenants = [(account, region) for account in ACCOUNTS for region in REGIONS]
    marks = {tenant: mark(tenant) for tenant in tenants}
    arns: dict[str, Tenant] = {}
    tokens: dict[Tenant, str] = {}
    for number in range(STEPS):
        tenant = draw.choice(tenants)
        foreign = [arn for arn, owner in arns.items() if owner != tenant]
        seen = step(call, draw, tenant, foreign, tokens)
        _clean(seen, tenant, marks)
        if "ClusterArn" in seen and "cluster/" in seen:
            arns |= dict.fromkeys(_arns(seen), tenant)
        if number % 100 == 99:
            world.advance(5)
    for tenant in tenants:
        _see_all(call, tenant, marks, arns)
    call.http.close()
    lines = world.bill(by="cluster")["lines"]
    assert {(line["account"], line["region"]) for line in lines} <= set(tenants)
    assert all(line["cluster_name"].startswith(marks[line["account"], line["region"]]) for line in lines)


def _arns(text: str) -> list[str]:
    return [part.split("'")[0] for part in text.split("'") if part.startswith("arn:aws:sagemaker:")]


def _clean(text: str, tenant: Tenant, marks: dict[Tenant, str]) -> None:
    others = [word for owner, word in marks.items() if owner != tenant and f"{word}-" in text]
    assert others == [], f"{tenant} sees {others}"
    for account in ACCOUNTS:
        assert account == tenant[0] or account not in text


def _see_all(call: Caller, tenant: Tenant, marks: dict[Tenant, str], arns: dict[str, Tenant]) -> None:
    listed = call(tenant, "ListClusters")["ClusterSummaries"]
    texts = [str(listed)]
    for cluster in listed:
        assert arns.get(cluster["ClusterArn"], tenant) == tenant
        for operation in ("DescribeCluster", "ListClusterNodes", "ListClusterEvents"):
            texts.append(str(call(tenant, operation, ClusterName=cluster["ClusterName"])))
        texts.append(str(call(tenant, "ListTags", ResourceArn=cluster["ClusterArn"])))
    _clean("".join(texts), tenant, marks)
