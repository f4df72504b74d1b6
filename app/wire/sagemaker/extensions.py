"""Extensions of Slurm clusters: the five operations on them, and ListClusterExtensionVersions."""

from collections.abc import Mapping
from typing import Any

import orjson

from app.core.configuration import nested
from app.core.errors import Invalid
from app.core.extensions import View
from app.core.times import from_millis, to_millis
from app.usecases import extensions
from app.usecases.extensions import Wish
from app.usecases.requests import tags_of
from app.wire.aws.registry import Context
from app.wire.sagemaker import sagemaker
from app.wire.sagemaker.paging import Pager


@sagemaker.operation
async def create_cluster_extension(ctx: Context, req: dict[str, Any]) -> dict[str, Any]:
    wish = _wish(req, "ExtensionName")
    arn = await ctx.service.db.run(extensions.create, ctx.scope, wish, ctx.service.policy)
    return {"ExtensionArn": arn}


@sagemaker.operation
async def update_cluster_extension(ctx: Context, req: dict[str, Any]) -> dict[str, Any]:
    wish = _wish(req, "ExtensionArn")
    await ctx.service.db.run(extensions.update, ctx.scope, wish, ctx.service.policy)
    return {"ExtensionArn": wish.which}


def _wish(req: Mapping[str, Any], which: str) -> Wish:
    return Wish(
        cluster_arn=req["ClusterArn"],
        which=req[which],
        version=req.get("ExtensionVersion"),
        settings=_settings(req.get("ConfigurationValues")),
        token=req.get("ClientToken") or None,
        tags=tags_of(req.get("Tags", ())),
    )


def _settings(text: str | None) -> dict[str, Any] | None:
    """The JSON object in ConfigurationValues."""
    if text is None:
        return None
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise Invalid(f"ConfigurationValues is not JSON: {error}. Give a JSON object as a string.") from None
    if not isinstance(value, dict):
        raise Invalid("ConfigurationValues must be a JSON object, as in {}.")
    return value


@sagemaker.operation
async def delete_cluster_extension(ctx: Context, req: dict[str, Any]) -> dict[str, Any]:
    arn = req["ExtensionArn"]
    await ctx.service.db.run(extensions.delete, ctx.scope, req["ClusterArn"], arn, ctx.service.policy)
    return {"ExtensionArn": arn}


@sagemaker.operation
async def describe_cluster_extension(ctx: Context, req: dict[str, Any]) -> dict[str, Any]:
    seen = await ctx.service.db.run(extensions.describe, ctx.scope, req["ClusterArn"], req["ExtensionArn"])
    details = {
        **_summary(seen),
        "ClusterArn": req["ClusterArn"],
        "ConfigurationValues": orjson.dumps(nested(seen.extension.settings)).decode(),
        "LastModifiedTime": seen.extension.modified_at,
    }
    issues = [{"Code": one.code, "Message": one.message, "NodeCount": one.nodes} for one in seen.issues]
    return {
        "ExtensionDetails": details,
        "NodeSummary": {"TotalCount": seen.total, "ActiveCount": seen.active},
        "Health": {"Issues": issues} if issues else None,
    }


@sagemaker.operation
async def list_cluster_extensions(ctx: Context, req: dict[str, Any]) -> dict[str, Any]:
    pager = Pager(ctx.scope, "ListClusterExtensions", req)
    found = await ctx.service.db.run(
        extensions.listed, ctx.scope, req["ClusterArn"], req.get("CreationTimeAfter"), req.get("CreationTimeBefore")
    )
    if pager.position is not None:
        last = (from_millis(pager.position[0]), pager.position[1])
        found = [one for one in found if (one.extension.created_at, one.extension.name) > last]
    shown, token = pager.cut(found, lambda one: (to_millis(one.extension.created_at), one.extension.name))
    return {"Extensions": [_summary(one) for one in shown], "NextToken": token}


def _summary(seen: View) -> dict[str, Any]:
    one = seen.extension
    return {
        "ExtensionArn": one.arn,
        "ExtensionName": one.name,
        "ExtensionVersion": one.version,
        "Status": seen.status,
        "CreationTime": one.created_at,
    }


@sagemaker.operation
async def list_cluster_extension_versions(ctx: Context, req: dict[str, Any]) -> dict[str, Any]:
    pager = Pager(ctx.scope, "ListClusterExtensionVersions", req)
    first = pager.position[0] if pager.position is not None else 0
    offered = list(enumerate(extensions.versions(req["ExtensionName"]), 1))[first:]
    shown, token = pager.cut(offered, lambda last: (last[0],))
    return {"ExtensionVersions": [{"ExtensionVersion": version} for _, version in shown], "NextToken": token}
