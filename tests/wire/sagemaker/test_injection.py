"""Hostile strings in every string of every request: data at most, never SQL, markup, headers or paths."""

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from app.wire import emulated
from tests.kit import TestWorld, slurm, workers
from tests.wire.aws.samples import Site, sites

STRINGS = 500
SEEDS = (
    "'; DROP TABLE cluster; --",
    "' OR '1'='1",
    '" OR 1=1 --',
    "1; SELECT pg_sleep(5)",
    "') UNION SELECT * FROM world --",
    "$1",
    "%s%s%n",
    "%(name)s",
    "{0.__class__}",
    "{cluster}",
    "{{7*7}}",
    "${7*7}",
    "#{7*7}",
    "<%= 7*7 %>",
    "__import__('os')",
    "${jndi:ldap://127.0.0.1/x}",
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "javascript:alert(1)",
    "a\r\nX-Evil: 1",
    "a\nb",
    "a\tb",
    "a%0d%0aX-Evil:1",
    "../../../../etc/passwd",
    "..\\..\\boot.ini",
    "/etc/passwd\0.png",
    "file:///etc/passwd",
    "http://169.254.169.254/latest/meta-data/",
    "\\",
    "\\\\",
    "%",
    "_",
    "%%",
    "*",
    "?",
    "a||b",
    "`id`",
    "$(id)",
    "; ls",
    "|cat",
    "&&id",
    "\u202ereversed",
    "\ufeffbom",
    "ＡＢＣ",
    "é" * 63,
    "𝕏",
    "null",
    "None",
    "NaN",
    "true",
    "-1",
    "1e309",
    "0x10",
    "COPY t FROM PROGRAM 'id'",
    "\\x00",
    "E'\\''",
    "$$;DROP SCHEMA public CASCADE;$$",
    "/**/",
    "--",
)
FORBIDDEN = (b"syntax error", b"asyncpg", b"postgres", b"Traceback", b"relation ")


def strings(draw: random.Random) -> Iterator[str]:
    """500 strings: the seeds, and mixtures of two."""
    yield from SEEDS
    for _ in range(STRINGS - len(SEEDS)):
        one, other = draw.choice(SEEDS), draw.choice(SEEDS)
        yield (one[: draw.randint(1, len(one))] + other[draw.randrange(len(other)) :])[:200] or "'"


def places() -> list[tuple[str, Site]]:
    """Every string of every operation's input."""
    service = next(one for one in emulated.services() if one.name == "sagemaker")
    return [
        (name, site)
        for name, operation in sorted(service.operations.items())
        for site in sites(operation.model.input)
        if site.shape.kind == "string"
    ]


@pytest.fixture
def bystander(world: TestWorld) -> TestWorld:
    """What must not change: a cluster with nodes, events, tags and a bill."""
    world.sagemaker.create_cluster(**slurm(workers(3), Tags=[{"Key": "a", "Value": "b"}]))
    world.advance(60)
    return world


def send(client: httpx.Client, url: str, operation: str, body: Any) -> None:
    headers = {"x-amz-target": f"SageMaker.{operation}", "content-type": "application/x-amz-json-1.1"}
    answer = client.post(url, headers=headers, content=json.dumps(body))
    assert answer.status_code in (200, 400), (operation, body, answer.text)
    assert answer.headers["content-type"] == "application/x-amz-json-1.1"
    assert "x-evil" not in answer.headers
    answer.json()
    if answer.status_code == 400:
        said = answer.content.lower()
        assert not any(word.lower() in said for word in FORBIDDEN), answer.text


def test_hostile_strings_change_nothing_of_others(bystander: TestWorld) -> None:
    """RL-20: 500 strings, each in a string of every operation, a filter and a token; the bystander stays."""
    draw = random.Random(20)
    every = places()
    by_operation: dict[str, list[Site]] = {}
    for name, site in every:
        by_operation.setdefault(name, []).append(site)
    before = bystander.export()
    attacked: set[tuple[str, str]] = set()
    # The attacker is another tenant of the very same world, and asks for the bystander's cluster too.
    credential = "Credential=444455556666/20260101/us-west-2/sagemaker/aws4_request, SignedHeaders=host, Signature=00"
    with httpx.Client(timeout=60, headers={"authorization": f"AWS4-HMAC-SHA256 {credential}"}) as client:
        for text in strings(draw):
            for name, found in by_operation.items():
                site = draw.choice(found)
                attacked.add((name, site.path))
                send(client, bystander.endpoint, name, copy.deepcopy(site.request(text)))
            send(client, bystander.endpoint, "ListClusters", {"NameContains": text, "NextToken": text})
    assert len(attacked) > 0.8 * len({(name, site.path) for name, site in every})
    ours = json.loads(bystander.export())["tables"]
    theirs = json.loads(before)["tables"]
    for table, rows in theirs.items():
        kept = [row for row in ours[table] if row.get("account") != "444455556666"]
        assert kept == rows, table


def test_hostile_values_are_read_back_as_they_were_sent(bystander: TestWorld) -> None:
    """RL-20: where a string is free, it is kept to the letter: tags, script names, and filters that match them."""
    sagemaker = bystander.sagemaker
    arn = bystander.describe()["ClusterArn"]
    free = [text for text in SEEDS if "\0" not in text and text.isascii() and text.isprintable()]
    kept = []
    for text in free:
        try:
            sagemaker.add_tags(ResourceArn=arn, Tags=[{"Key": "hostile", "Value": text}])
        except sagemaker.exceptions.ClientError:
            continue  # the model's pattern does not allow it
        tags = {tag["Key"]: tag["Value"] for tag in sagemaker.list_tags(ResourceArn=arn)["Tags"]}
        assert tags["hostile"] == text
        kept.append(text)
    assert len(kept) > 5


@pytest.mark.parametrize("text", ["%", "_", "\\", "'", "a%", "de_o"])
def test_wildcards_are_letters(bystander: TestWorld, text: str) -> None:
    """RL-20, HP-W7: NameContains is a plain part of a name."""
    try:
        found = bystander.sagemaker.list_clusters(NameContains=text)["ClusterSummaries"]
    except bystander.sagemaker.exceptions.ClientError as refused:
        assert refused.response["Error"]["Code"] == "ValidationException"
    else:
        assert found == []
