"""Google's long-running operations, and resources that are documents."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

_TEXT = sa.Text(collation="C")
_TENANT = ("world", "account", "region")


def _text(*names: str) -> list[sa.Column[str]]:
    return [sa.Column(name, _TEXT, nullable=False) for name in names]


def _moment(name: str) -> sa.Column[object]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=False)


def upgrade() -> None:
    op.create_table(
        "google_operation",
        *_text(*_TENANT, "operation_id", "owner", "kind"),
        _moment("created_at"),
        *_text("response_kind"),
        sa.Column("response", JSONB(), nullable=False),
        sa.PrimaryKeyConstraint(*_TENANT, "operation_id", name=op.f("pk_google_operation")),
    )
    op.create_index("ix_google_operation_page", "google_operation", [*_TENANT, "created_at", "operation_id"])
    op.create_table(
        "google_document",
        *_text(*_TENANT, "name", "collection"),
        _moment("created_at"),
        _moment("updated_at"),
        sa.Column("body", JSONB(), nullable=False),
        sa.PrimaryKeyConstraint(*_TENANT, "name", name=op.f("pk_google_document")),
    )
    op.create_index("ix_google_document_page", "google_document", [*_TENANT, "collection", "created_at", "name"])


def downgrade() -> None:
    op.drop_table("google_document")
    op.drop_table("google_operation")
