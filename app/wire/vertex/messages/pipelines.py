"""Training pipelines and the splits of their data."""

from enum import IntEnum
from typing import Annotated

from app.wire.google.proto import Message, Of, Out, Required, StringMap
from app.wire.google.scalars import Bool, Double, String, Timestamp, Value
from app.wire.vertex.messages.jobs import EncryptionSpec, GcsDestination, Status
from app.wire.vertex.messages.models import Model


class FractionSplit(Message):
    training_fraction: Double = None
    validation_fraction: Double = None
    test_fraction: Double = None


class FilterSplit(Message):
    training_filter: Required[String] = None
    validation_filter: Required[String] = None
    test_filter: Required[String] = None


class PredefinedSplit(Message):
    key: Required[String] = None


class TimestampSplit(Message):
    training_fraction: Double = None
    validation_fraction: Double = None
    test_fraction: Double = None
    key: Required[String] = None


class StratifiedSplit(Message):
    training_fraction: Double = None
    validation_fraction: Double = None
    test_fraction: Double = None
    key: Required[String] = None


class BigQueryDestination(Message):
    output_uri: Required[String] = None


class InputDataConfig(
    Message,
    oneofs={
        "split": ("fraction_split", "filter_split", "predefined_split", "timestamp_split", "stratified_split"),
        "destination": ("gcs_destination", "bigquery_destination"),
    },
):
    fraction_split: FractionSplit | None = None
    filter_split: FilterSplit | None = None
    predefined_split: PredefinedSplit | None = None
    timestamp_split: TimestampSplit | None = None
    stratified_split: StratifiedSplit | None = None
    gcs_destination: GcsDestination | None = None
    bigquery_destination: BigQueryDestination | None = None
    dataset_id: Required[String] = None
    annotations_filter: String = None
    annotation_schema_uri: String = None
    saved_query_id: String = None
    persist_ml_use_assignment: Bool = None


class PipelineState(IntEnum):
    PIPELINE_STATE_UNSPECIFIED = 0
    PIPELINE_STATE_QUEUED = 1
    PIPELINE_STATE_PENDING = 2
    PIPELINE_STATE_RUNNING = 3
    PIPELINE_STATE_SUCCEEDED = 4
    PIPELINE_STATE_FAILED = 5
    PIPELINE_STATE_CANCELLING = 6
    PIPELINE_STATE_CANCELLED = 7
    PIPELINE_STATE_PAUSED = 8


class TrainingPipeline(Message):
    name: Out[String] = None
    display_name: Required[String] = None
    input_data_config: InputDataConfig | None = None
    training_task_definition: Required[String] = None
    training_task_inputs: Required[Value] = None
    training_task_metadata: Out[Value] = None
    model_to_upload: Model | None = None
    model_id: String = None
    parent_model: String = None
    state: Out[Annotated[str | None, Of(PipelineState)]] = None
    error: Out[Status | None] = None
    create_time: Out[Timestamp] = None
    start_time: Out[Timestamp] = None
    end_time: Out[Timestamp] = None
    update_time: Out[Timestamp] = None
    labels: StringMap = None
    encryption_spec: EncryptionSpec | None = None
