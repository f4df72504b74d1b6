"""What software updates of clusters look at: releases of the AMI, and CloudWatch alarms."""

from sqlalchemy import Boolean, Column, Table

from app.store.tables.base import Text, metadata, tenant, time_column

image_release = Table(
    "image_release",
    metadata,
    Column("world", Text, primary_key=True),
    Column("version", Text, primary_key=True),
    Column("security", Boolean, nullable=False),
    Column("retired", Boolean, nullable=False),
)

alarm = Table(
    "alarm",
    metadata,
    *tenant(),
    Column("name", Text, primary_key=True),
    Column("state", Text, nullable=False),
    time_column("since", nullable=False),
)
