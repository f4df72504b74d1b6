"""Software updates of clusters."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

_TEXT = sa.Text(collation="C")
_TIME = sa.DateTime(timezone=True)
_GROUP = {
    "former_image": _TEXT,
    "update_status": _TEXT,
    "update_config": JSONB(),
    "batch_at": _TIME,
    "rest_until": _TIME,
}
_NODE = {"image": _TEXT, "next_image": _TEXT, "patch_at": _TIME, "retry_at": _TIME, "patched_at": _TIME}


def upgrade() -> None:
    op.add_column("instance_group", sa.Column("image", _TEXT, nullable=False, server_default="1.1.0"))
    op.alter_column("instance_group", "image", server_default=None)
    for name, kind in _GROUP.items():
        op.add_column("instance_group", sa.Column(name, kind, nullable=True))
    for name, kind in _NODE.items():
        op.add_column("instance", sa.Column(name, kind, nullable=True))
    op.execute("UPDATE instance SET image = '1.1.0' WHERE instance_id IS NOT NULL")
    op.create_table(
        "image_release",
        sa.Column("world", _TEXT, nullable=False),
        sa.Column("version", _TEXT, nullable=False),
        sa.Column("security", sa.Boolean(), nullable=False),
        sa.Column("retired", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("world", "version", name="pk_image_release"),
    )
    op.create_table(
        "alarm",
        *(sa.Column(name, _TEXT, nullable=False) for name in ("world", "account", "region", "name", "state")),
        sa.Column("since", _TIME, nullable=False),
        sa.PrimaryKeyConstraint("world", "account", "region", "name", name="pk_alarm"),
    )


def downgrade() -> None:
    op.drop_table("alarm")
    op.drop_table("image_release")
    for name in _NODE:
        op.drop_column("instance", name)
    for name in (*_GROUP, "image"):
        op.drop_column("instance_group", name)
