"""Locations: the regions of the catalogue."""

from typing import Any

from app import catalog
from app.core.listing_filter import Vocabulary, predicate
from app.wire.google.errors import wrong_field
from app.wire.vertex.messages.requests import ListLocationsRequest, Named
from app.wire.vertex.rpc import LOCATIONS, Context, rpc

_VOCABULARY = Vocabulary(texts=frozenset({"location_id", "display_name"}))
_PAGE = 100


@rpc(LOCATIONS, "GET locations", ListLocationsRequest)
async def list_locations(ctx: Context, req: ListLocationsRequest) -> dict[str, Any]:
    accepts = predicate(req.filter or "", _VOCABULARY)
    found = [_shown(ctx, region) for region in sorted(catalog.vertex_regions()) if accepts(_facts(region))]
    start = _start(req.page_token)
    end = start + min(req.page_size or _PAGE, _PAGE)
    token = {"nextPageToken": str(end)} if end < len(found) else {}
    return {"locations": found[start:end], **token}


@rpc(LOCATIONS, "GET locations/*", Named)
async def get_location(ctx: Context, req: Named) -> dict[str, Any]:
    return _shown(ctx, ctx.name.location)


def _start(token: str | None) -> int:
    if token and not (token.isdecimal() and token.isascii() and len(token) < 5):
        raise wrong_field("page_token", "The page token is not one of this list.")
    return int(token or 0)


def _facts(region: str) -> dict[str, str]:
    return {"location_id": region, "display_name": catalog.vertex_region(region).place}


def _shown(ctx: Context, region: str) -> dict[str, Any]:
    return {
        "name": f"projects/{ctx.name.project}/locations/{region}",
        "locationId": region,
        "displayName": catalog.vertex_region(region).place,
        "labels": {"cloud.googleapis.com/region": region},
    }
