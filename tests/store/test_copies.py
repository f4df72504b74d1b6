"""A fork equals its source, and equal worlds export equal bytes (CT-0, CT-2)."""

from typing import Any

from app.core.cluster_events import Event
from app.core.plans import Extension
from app.core.scope import Scope
from app.store import capacity, clusters, copies, events, governance, outbox, placements, plans, tables, tags, worlds
from app.store.capacity import Change
from app.store.db import Database, Tx
from tests.core.builders import GPU, REGION, T0, at, compute_quota, training_plan
from tests.store.conftest import make_world
from tests.store.rows import CLUSTER_ID, add_cluster, add_job, add_nodes, add_tuning, close_one, nodes, open_one, placed

ROWS = {  # tables that this test fills by a statement, since the store writes them only along with other things
    "idempotency": "(world, account, region, operation, token, request_hash, answer, expires_at) "
    "VALUES ($1, $2, $3, 'Add', 't', 'h', '{}', '2026-01-01T08:00:00Z')",
    "price_override": "(world, region, instance_type, micro_usd_per_hour) "
    "SELECT $1, $3, 'ml.p5.48xlarge', 5 WHERE $2::text <> ''",
    "fault_rule": "(world, region, rule_id, effect, account, probability, every, matches, hits) "
    "VALUES ($1, $3, 'fault-1', 'launch-capacity', $2, 5, 1, 1, 1)",
    "fault_hit": "(world, account, region, rule_id, number, effect, at, cluster, group_name, logical_id, attempt, "
    "operation) VALUES ($1, $2, $3, 'fault-1', 1, 'launch-capacity', '2026-01-01T00:00:00Z', 'demo', 'workers', 'n-1', "
    "1, '')",
    "read_lag": "(world, shown, seconds) VALUES ($1, left($2 || $3, 5), 60)",
    "count_change": "(world, account, region, cluster_id, group_name, at, was) "
    "VALUES ($1, $2, $3, 'c', 'workers', '2026-01-01T00:00:00Z', 3)",
    "cluster_operation": "(world, account, region, cluster_id, number, operation_id, kind, created_at, details) "
    "VALUES ($1, $2, $3, 'c', 1, 'o', 'Scaling', '2026-01-01T00:00:00Z', '[]')",
    "cluster_extension": "(world, account, region, cluster_id, name, generation, arn, version, settings, created_at, "
    "modified_at, changed_at, tried_at, attempt, failures, earlier) VALUES ($1, $2, $3, 'c', 'e', 1, 'arn', '1.0.0', "
    "'{}', '2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z', 'create', "
    "'{}', '{}')",
    "node_volume": "(world, account, region, volume_id, cluster_id, instance_id, device, attach_requested_at) "
    "VALUES ($1, $2, $3, 'vol-1', 'c', 'i-1', '/dev/xvdb', '2026-01-01T00:00:00Z')",
    "node_interface": "(world, account, region, interface_id, cluster_id, instance_id, attachment_id, attached_at) "
    "VALUES ($1, $2, $3, 'eni-1', 'c', 'i-1', 'a', '2026-01-01T00:00:00Z')",
    "node_move": "(world, account, region, cluster_id, logical_id, group_name, ordinal, arrives_at, created_at, "
    "instance_id, instance_type, attempt) VALUES ($1, $2, $3, 'c', 'n', 'g', 1, '2026-01-01T00:00:00Z', "
    "'2026-01-01T00:00:00Z', 'i-1', 'ml.t3.medium', 1)",
    "alarm": "(world, account, region, name, state, since) "
    "VALUES ($1, $2, $3, 'loss', 'ALARM', '2026-01-01T00:00:00Z')",
    "image_release": "(world, version, security, retired) SELECT $1, '2.0.0', true, $2 = $3",
    "execution": "(world, account, region, job_id, pool, ordinal, run) VALUES ($1, $2, $3, 'j-1', 0, 0, 1)",
    "google_document": "(world, account, region, name, collection, created_at, updated_at, body) "
    "VALUES ($1, $2, $3, 'default', 'metadataStores', '2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z', '{}')",
    "google_operation": "(world, account, region, operation_id, owner, kind, created_at, response_kind, response) "
    "VALUES ($1, $2, $3, '1', 'customJobs/1', 'DeleteOperationMetadata', '2026-01-01T00:00:00Z', 'Empty', '{}')",
    "storage_bucket": "(world, name, project, location, storage_class, labels, created_at, generation) "
    "VALUES ($1, 'bkt', $2, upper($3), 'STANDARD', '{}', '2026-01-01T00:00:00Z', 2)",
    "storage_object": "(world, bucket, name, generation, metageneration, content, size, crc32c, attributes, "
    "created_at, updated_at) SELECT $1, 'bkt', 'a', 1, 1, 1, 3, '', '{}', '2026-01-01T00:00:00Z', "
    "'2026-01-01T00:00:00Z' WHERE $2 <> $3",
    "storage_chunk": "(world, bucket, content, start, bytes) SELECT $1, 'bkt', 1, 0, '\\x00ff5c' WHERE $2 <> $3",
    "storage_upload": "(world, bucket, upload_id, content, name, attributes, checksums, conditions, began_at, "
    "received) SELECT $1, 'bkt', 'u', 2, 'a', '{}', '{}', '{}', '2026-01-01T00:00:00Z', 0 WHERE $2 <> $3",
    "budget_change": "(world, number, at, kind, name, parent, weight) "
    "SELECT $1, 1, 0, 'create', 'a', '', 1 WHERE $2 <> $3",
    "workload": "(world, account, region, fleet, name, number, gpus, replicas, min_runtime, priority, submit, "
    "resumable, kind, model, zone, status) "
    "VALUES ($1, $2, $3, 'c-1', 'w', 1, 8, 1, 0, 0, 0, true, 'batch', '', '', 'waiting')",
    "fleet_host": "(world, account, region, fleet, host, number, gpus, model, zone, state) "
    "VALUES ($1, $2, $3, 'c-1', 'n-1', 0, 8, '', '', 'healthy')",
    "fleet_capacity": "(world, account, region, fleet, seq, at, gpus) VALUES ($1, $2, $3, 'c-1', 1, 0, 8)",
    "segment": "(world, account, region, fleet, seq, workload, attempt, gpus, started, ended, funded) "
    "VALUES ($1, $2, $3, 'c-1', 1, 'w', 1, 8, 0, 1, true)",
    "decision": "(world, account, region, fleet, seq, at, kind, code, body) "
    "VALUES ($1, $2, $3, 'c-1', 1, 0, 'admit', 'free', '{}')",
    "slurm_conf": "(world, account, region, cluster_id, content, groups, edited_at) "
    "VALUES ($1, $2, $3, 'c-1', '# mine', '{}', '2026-01-01T00:00:00Z')",
}


async def fill(tx: Tx, scope: Scope) -> None:
    """Something in every table."""
    await add_cluster(tx, scope)
    await add_nodes(tx, scope, *nodes(3), due=at(3))
    await open_one(tx, scope, 1, at(1))
    await close_one(tx, scope, 1, at(2))
    await open_one(tx, scope, 2, at(3), at(2))
    await placements.open_at(tx, scope, CLUSTER_ID, [placed()], at(3))
    await events.append(tx, scope, CLUSTER_ID, [Event("munge-key", T0)], 0, 9)
    await outbox.announce(tx, scope, CLUSTER_ID, at(1), [("Change", {"n": 1})])
    await add_job(tx, scope)
    await add_tuning(tx, scope)
    await tags.put(tx, scope, "arn", {"a": "b"})
    await capacity.set_total(tx, scope.world, Change(T0, REGION, "", GPU, 5))
    await capacity.schedule(tx, scope.world, Change(at(9), REGION, "", GPU, None))
    await capacity.leave_wake(tx, scope.world, REGION, {GPU: at(4)})
    await capacity.set_quota(tx, scope, "a", 6)
    await governance.insert(tx, scope, compute_quota())
    more = Extension(1, "tpeo-1", T0, at(hours=34), at(hours=58), None, 1, "recorded")
    assert await plans.insert(tx, scope, training_plan())
    await plans.extend(tx, scope, training_plan(), more)
    for table, row in ROWS.items():
        await tx.execute(f"INSERT INTO {table} {row}", scope.world, scope.account, scope.region)


async def export(tx: Tx, world: str) -> dict[str, list[dict[str, Any]]]:
    return {name: rows async for name, rows in copies.export_rows(tx, world)}


async def test_a_copy_equals_its_source(database: Database, scope: Scope) -> None:
    """Every table of a world has a row here, so that no table can be forgotten."""
    twin = await make_world(database)
    async with database.transaction() as tx:
        await fill(tx, scope)
        await copies.copy_rows(tx, scope.world, twin)
        source, target = await export(tx, scope.world), await export(tx, twin)
        assert source == target
        assert [name for name, rows in source.items() if not rows] == []
        assert set(source) == {table.name for table in tables.WORLD_TABLES} - set(copies.UNSHOWN), (
            "SDKs draw tokens at random"
        )
        await worlds.remove(tx, twin)
        assert not any((await export(tx, twin)).values())
        assert await export(tx, scope.world) == source, "the twin's end does not touch its source"


async def test_the_trouble_of_our_own_workers_is_no_part_of_a_world(database: Database, scope: Scope) -> None:
    """Nor is wall time: RL-10 compares exports."""
    async with database.transaction() as tx:
        await fill(tx, scope)
        before = await export(tx, scope.world)
        await clusters.postpone(tx, scope, CLUSTER_ID, "no luck")
        assert await export(tx, scope.world) == before
    assert not [column for rows in before.values() for row in rows for column in row if column.endswith("_wall")]


async def test_rows_are_sorted_by_their_key(database: Database, scope: Scope) -> None:
    """Whatever the order in which they were written."""
    async with database.transaction() as tx:
        await add_cluster(tx, scope)
        await add_nodes(tx, scope, *nodes(5)[::-1])
        rows = (await export(tx, scope.world))["instance"]
    assert [row["ordinal"] for row in rows] == [1, 2, 3, 4, 5]
    assert rows[0]["created_at"] == "2026-01-01T00:00:00.000Z"
