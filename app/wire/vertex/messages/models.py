"""Models, as far as a training pipeline names them."""

from enum import IntEnum
from typing import Annotated

from app.wire.google.proto import Ga, Message, Of, Out, Repeated, Required, StringMap
from app.wire.google.scalars import Bool, Duration, Int32, Int64, String, Text, Timestamp, Value
from app.wire.vertex.messages.explanation import ExplanationSpec
from app.wire.vertex.messages.jobs import EncryptionSpec, EnvVar


class PredictSchemata(Message):
    instance_schema_uri: String = None
    parameters_schema_uri: String = None
    prediction_schema_uri: String = None


class Checkpoint(Message):
    checkpoint_id: String = None
    epoch: Int64 = None
    step: Int64 = None


class DeployedModelRef(Message):
    endpoint: String = None
    deployed_model_id: String = None


class GenieSource(Message):
    base_model_uri: Required[String] = None


class Port(Message):
    container_port: Int32 = None


class Probe(Message, oneofs={"probe_type": ("exec_", "http_get", "grpc", "tcp_socket")}):
    class ExecAction(Message):
        command: Repeated[Text] = None

    class HttpHeader(Message):
        name: String = None
        value: String = None

    class HttpGetAction(Message):
        path: String = None
        port: Int32 = None
        host: String = None
        scheme: String = None
        http_headers: Repeated["Probe.HttpHeader"] = None

    class GrpcAction(Message):
        port: Int32 = None
        service: String = None

    class TcpSocketAction(Message):
        port: Int32 = None
        host: String = None

    exec_: ExecAction | None = None
    http_get: HttpGetAction | None = None
    grpc: GrpcAction | None = None
    tcp_socket: TcpSocketAction | None = None
    period_seconds: Int32 = None
    timeout_seconds: Int32 = None
    failure_threshold: Int32 = None
    success_threshold: Int32 = None
    initial_delay_seconds: Int32 = None


class ModelContainerSpec(Message):
    image_uri: Required[String] = None
    command: Repeated[Text] = None
    args: Repeated[Text] = None
    env: Repeated[EnvVar] = None
    ports: Repeated[Port] = None
    predict_route: String = None
    health_route: String = None
    invoke_route_prefix: String = None
    grpc_ports: Repeated[Port] = None
    deployment_timeout: Duration = None
    shared_memory_size_mb: Int64 = None
    startup_probe: Probe | None = None
    health_probe: Probe | None = None
    liveness_probe: Probe | None = None


class ModelGardenSource(Message):
    public_model_name: Required[String] = None
    version_id: String = None
    skip_hf_model_cache: Bool = None


class ModelSourceInfo(Message):
    class ModelSourceType(IntEnum):
        MODEL_SOURCE_TYPE_UNSPECIFIED = 0
        AUTOML = 1
        CUSTOM = 2
        BQML = 3
        MODEL_GARDEN = 4
        GENIE = 5
        CUSTOM_TEXT_EMBEDDING = 6
        MARKETPLACE = 7

    source_type: Annotated[str | None, Of(ModelSourceType)] = None
    copy_: Bool = None


class Model(Message):
    class ExportFormat(Message):
        class ExportableContent(IntEnum):
            EXPORTABLE_CONTENT_UNSPECIFIED = 0
            ARTIFACT = 1
            IMAGE = 2

        id: Out[String] = None
        exportable_contents: Out[Repeated[Annotated[str | None, Of(ExportableContent)]]] = None

    class DeploymentResourcesType(IntEnum):
        DEPLOYMENT_RESOURCES_TYPE_UNSPECIFIED = 0
        DEDICATED_RESOURCES = 1
        AUTOMATIC_RESOURCES = 2
        SHARED_RESOURCES = 3

    class DataStats(Message):
        training_data_items_count: Int64 = None
        validation_data_items_count: Int64 = None
        test_data_items_count: Int64 = None
        training_annotations_count: Int64 = None
        validation_annotations_count: Int64 = None
        test_annotations_count: Int64 = None

    class OriginalModelInfo(Message):
        model: Out[String] = None

    class BaseModelSource(Message, oneofs={"source": ("model_garden_source", "genie_source")}):
        model_garden_source: ModelGardenSource | None = None
        genie_source: GenieSource | None = None

    name: String = None
    version_id: Out[String] = None
    version_aliases: Repeated[Text] = None
    version_create_time: Out[Timestamp] = None
    version_update_time: Out[Timestamp] = None
    display_name: Required[String] = None
    description: String = None
    version_description: String = None
    default_checkpoint_id: String = None
    predict_schemata: PredictSchemata | None = None
    metadata_schema_uri: String = None
    metadata: Value = None
    supported_export_formats: Out[Repeated[ExportFormat]] = None
    training_pipeline: Out[String] = None
    pipeline_job: Ga[String] = None
    container_spec: ModelContainerSpec | None = None
    artifact_uri: String = None
    supported_deployment_resources_types: Out[Repeated[Annotated[str | None, Of(DeploymentResourcesType)]]] = None
    supported_input_storage_formats: Out[Repeated[Text]] = None
    supported_output_storage_formats: Out[Repeated[Text]] = None
    create_time: Out[Timestamp] = None
    update_time: Out[Timestamp] = None
    deployed_models: Out[Repeated[DeployedModelRef]] = None
    explanation_spec: ExplanationSpec | None = None
    etag: String = None
    labels: StringMap = None
    data_stats: Ga[DataStats | None] = None
    encryption_spec: EncryptionSpec | None = None
    model_source_info: Out[ModelSourceInfo | None] = None
    original_model_info: Out[OriginalModelInfo | None] = None
    metadata_artifact: Out[String] = None
    base_model_source: BaseModelSource | None = None
    satisfies_pzs: Out[Bool] = None
    satisfies_pzi: Out[Bool] = None
    checkpoints: Repeated[Checkpoint] = None
