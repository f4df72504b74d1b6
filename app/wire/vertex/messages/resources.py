"""Persistent resources, metadata stores and contexts, and the metadata of operations."""

from enum import IntEnum
from typing import Annotated

from app.wire.google.proto import Beta, Message, Of, Out, Repeated, Required, StringMap
from app.wire.google.scalars import Bool, Int32, Int64, OptionalInt64, String, Struct, Text, Timestamp
from app.wire.vertex.messages.jobs import DiskSpec, EncryptionSpec, MachineSpec, NfsMount, PscInterfaceConfig, Status


class ResourcePool(Message):
    class AutoscalingSpec(Message):
        min_replica_count: OptionalInt64 = None
        max_replica_count: OptionalInt64 = None

    id: String = None
    machine_spec: Required[MachineSpec | None] = None
    replica_count: OptionalInt64 = None
    disk_spec: DiskSpec | None = None
    used_replica_count: Out[Int64] = None
    autoscaling_spec: AutoscalingSpec | None = None


class ResourceRuntime(Message):
    access_uris: Out[StringMap] = None
    notebook_runtime_template: Beta[Out[String]] = None


class RayLogsSpec(Message):
    disabled: Bool = None


class RayMetricSpec(Message):
    disabled: Bool = None


class RaySpec(Message):
    image_uri: String = None
    resource_pool_images: StringMap = None
    head_node_resource_pool_id: String = None
    ray_metric_spec: RayMetricSpec | None = None
    ray_logs_spec: RayLogsSpec | None = None
    nfs_mounts: Beta[Repeated[NfsMount]] = None


class ServiceAccountSpec(Message):
    enable_custom_service_account: Required[Bool] = None
    service_account: String = None


class ResourceRuntimeSpec(Message):
    service_account_spec: ServiceAccountSpec | None = None
    ray_spec: RaySpec | None = None


class PersistentResource(Message):
    class State(IntEnum):
        STATE_UNSPECIFIED = 0
        PROVISIONING = 1
        RUNNING = 3
        STOPPING = 4
        ERROR = 5
        REBOOTING = 6
        UPDATING = 7

    name: String = None
    display_name: String = None
    resource_pools: Required[Repeated[ResourcePool]] = None
    state: Out[Annotated[str | None, Of(State)]] = None
    error: Out[Status | None] = None
    create_time: Out[Timestamp] = None
    start_time: Out[Timestamp] = None
    update_time: Out[Timestamp] = None
    labels: StringMap = None
    network: String = None
    psc_interface_config: PscInterfaceConfig | None = None
    encryption_spec: EncryptionSpec | None = None
    resource_runtime_spec: ResourceRuntimeSpec | None = None
    resource_runtime: Out[ResourceRuntime | None] = None
    reserved_ip_ranges: Repeated[Text] = None
    satisfies_pzs: Beta[Out[Bool]] = None
    satisfies_pzi: Beta[Out[Bool]] = None


class MetadataStore(Message):
    class MetadataStoreState(Message):
        disk_utilization_bytes: Int64 = None

    class DataplexConfig(Message):
        enabled_pipelines_lineage: Bool = None

    name: Out[String] = None
    create_time: Out[Timestamp] = None
    update_time: Out[Timestamp] = None
    encryption_spec: EncryptionSpec | None = None
    description: String = None
    state: Out[MetadataStoreState | None] = None
    dataplex_config: DataplexConfig | None = None


class Context(Message):
    name: String = None
    display_name: String = None
    etag: String = None
    labels: StringMap = None
    create_time: Out[Timestamp] = None
    update_time: Out[Timestamp] = None
    parent_contexts: Out[Repeated[Text]] = None
    schema_title: String = None
    schema_version: String = None
    metadata: Struct = None
    description: String = None


class GenericOperationMetadata(Message):
    partial_failures: Out[Repeated[Status]] = None
    create_time: Out[Timestamp] = None
    update_time: Out[Timestamp] = None


class DeleteOperationMetadata(Message):
    generic_metadata: GenericOperationMetadata | None = None


class Tensorboard(Message):
    name: Out[String] = None
    display_name: Required[String] = None
    description: String = None
    encryption_spec: EncryptionSpec | None = None
    blob_storage_path_prefix: Out[String] = None
    run_count: Out[Int32] = None
    create_time: Out[Timestamp] = None
    update_time: Out[Timestamp] = None
    labels: StringMap = None
    etag: String = None
    is_default: Bool = None
    satisfies_pzs: Out[Bool] = None
    satisfies_pzi: Out[Bool] = None
