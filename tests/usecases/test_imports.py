"""An import takes every table that an export has (CT-2)."""

import io
import json

from app.core.scope import Scope
from app.store import imports as columns
from app.store.db import Database
from app.usecases import imports, worlds
from tests.store.conftest import make_world_in
from tests.store.test_copies import fill


async def test_every_table_comes_back(database: Database) -> None:
    """CT-2: export, import, export gives the same, with a row in each table."""
    async with database.transaction() as tx:
        scope = Scope(await make_world_in(tx), "111122223333", "us-west-2")
        await fill(tx, scope)
        exported = await worlds.export(tx, scope.world)
        text = io.StringIO(json.dumps(exported, sort_keys=True))
        await imports.load(tx, f"{scope.world}-again", text.read)
        assert await worlds.export(tx, f"{scope.world}-again") == exported
        for world in (scope.world, f"{scope.world}-again"):
            await worlds.drop(tx, world)


async def test_every_type_of_column_is_known(database: Database) -> None:
    """A column of a new type would make exports that no import takes."""
    async with database.transaction() as tx:
        kinds = {its.kind for table in (await columns.columns(tx)).values() for its in table.values()}
    known = {"smallint", "integer", "bigint", "boolean", "double precision", "timestamp with time zone", "jsonb"}
    assert {kind.removesuffix("[]") for kind in kinds} <= known | {"text", "bytea"}
