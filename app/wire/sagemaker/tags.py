"""AddTags, ListTags, DeleteTags on clusters."""

from typing import TYPE_CHECKING, Any

from app.usecases import tagging
from app.usecases.requests import tags_of
from app.wire.aws.registry import Context
from app.wire.sagemaker import sagemaker
from app.wire.sagemaker.paging import Pager

if TYPE_CHECKING:
    from types_boto3_sagemaker.type_defs import AddTagsInputTypeDef, DeleteTagsInputTypeDef


def _written(tags: dict[str, str]) -> list[dict[str, str]]:
    return [{"Key": key, "Value": value} for key, value in tags.items()]


@sagemaker.operation
async def add_tags(ctx: Context, req: "AddTagsInputTypeDef") -> dict[str, Any]:
    tags = await ctx.service.db.run(tagging.add, ctx.scope, req["ResourceArn"], tags_of(req["Tags"]))
    return {"Tags": _written(tags)}


@sagemaker.operation
async def list_tags(ctx: Context, req: dict[str, Any]) -> dict[str, Any]:
    """A resource has at most 50 tags and a page at least as many, so there is one page and never a token."""
    Pager(ctx.scope, "ListTags", req)
    async with ctx.service.db.connection() as connection:
        return {"Tags": _written(await tagging.read(connection, ctx.scope, req["ResourceArn"]))}


@sagemaker.operation
async def delete_tags(ctx: Context, req: "DeleteTagsInputTypeDef") -> dict[str, Any]:
    await ctx.service.db.run(tagging.remove, ctx.scope, req["ResourceArn"], req["TagKeys"])
    return {}
