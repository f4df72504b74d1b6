"""Custom jobs and what they run on, as google/cloud/aiplatform declares them; a test compares (VX-18)."""

from enum import IntEnum
from typing import Annotated

from app.wire.google.proto import Beta, Message, Of, Out, Repeated, Required, StringMap
from app.wire.google.scalars import Bool, Duration, Int32, Int64, String, Struct, Text, Timestamp


class Status(Message):
    """google.rpc.Status: in it the code is the canonical one's number, not HTTP's."""

    code: Int32 = None
    message: String = None
    details: Repeated[Struct] = None


class EnvVar(Message):
    name: Required[String] = None
    value: Required[String] = None


class ContainerSpec(Message):
    image_uri: Required[String] = None
    command: Repeated[Text] = None
    args: Repeated[Text] = None
    env: Repeated[EnvVar] = None


class PythonPackageSpec(Message):
    executor_image_uri: Required[String] = None
    package_uris: Required[Repeated[Text]] = None
    python_module: Required[String] = None
    args: Repeated[Text] = None
    env: Repeated[EnvVar] = None


class AcceleratorType(IntEnum):
    ACCELERATOR_TYPE_UNSPECIFIED = 0
    NVIDIA_TESLA_K80 = 1
    NVIDIA_TESLA_P100 = 2
    NVIDIA_TESLA_V100 = 3
    NVIDIA_TESLA_P4 = 4
    NVIDIA_TESLA_T4 = 5
    TPU_V2 = 6
    TPU_V3 = 7
    NVIDIA_TESLA_A100 = 8
    NVIDIA_A100_80GB = 9
    TPU_V4_POD = 10
    NVIDIA_L4 = 11
    TPU_V5_LITEPOD = 12
    NVIDIA_H100_80GB = 13
    NVIDIA_H100_MEGA_80GB = 14
    NVIDIA_H200_141GB = 15
    NVIDIA_B200 = 16
    NVIDIA_GB200 = 17
    NVIDIA_RTX_PRO_6000 = 18


class ReservationAffinity(Message):
    class Type(IntEnum):
        TYPE_UNSPECIFIED = 0
        NO_RESERVATION = 1
        ANY_RESERVATION = 2
        SPECIFIC_RESERVATION = 3

    reservation_affinity_type: Required[Annotated[str | None, Of(Type)]] = None
    key: String = None
    values: Repeated[Text] = None


class MachineSpec(Message):
    machine_type: String = None
    accelerator_type: Annotated[str | None, Of(AcceleratorType)] = None
    accelerator_count: Int32 = None
    gpu_partition_size: String = None
    tpu_topology: String = None
    reservation_affinity: ReservationAffinity | None = None
    multihost_gpu_node_count: Beta[Int32] = None
    min_gpu_driver_version: Beta[String] = None


class NfsMount(Message):
    server: Required[String] = None
    path: Required[String] = None
    mount_point: Required[String] = None


class LustreMount(Message):
    instance_ip: Required[String] = None
    volume_handle: Required[String] = None
    filesystem: Required[String] = None
    mount_point: Required[String] = None


class DiskSpec(Message):
    boot_disk_type: String = None
    boot_disk_size_gb: Int32 = None


class WorkerPoolSpec(Message, oneofs={"task": ("container_spec", "python_package_spec")}):
    container_spec: ContainerSpec | None = None
    python_package_spec: PythonPackageSpec | None = None
    machine_spec: MachineSpec | None = None
    replica_count: Int64 = None
    nfs_mounts: Repeated[NfsMount] = None
    lustre_mounts: Repeated[LustreMount] = None
    disk_spec: DiskSpec | None = None


class Scheduling(Message):
    class Strategy(IntEnum):
        STRATEGY_UNSPECIFIED = 0
        ON_DEMAND = 1
        LOW_COST = 2
        STANDARD = 3
        SPOT = 4
        FLEX_START = 6

    timeout: Duration = None
    restart_job_on_worker_restart: Bool = None
    strategy: Annotated[str | None, Of(Strategy)] = None
    disable_retries: Bool = None
    max_wait_duration: Duration = None


class DnsPeeringConfig(Message):
    domain: Required[String] = None
    target_project: Required[String] = None
    target_network: Required[String] = None


class PscInterfaceConfig(Message):
    network_attachment: String = None
    dns_peering_configs: Repeated[DnsPeeringConfig] = None


class GcsDestination(Message):
    output_uri_prefix: Required[String] = None


class CustomJobSpec(Message):
    persistent_resource_id: String = None
    worker_pool_specs: Required[Repeated[WorkerPoolSpec]] = None
    scheduling: Scheduling | None = None
    service_account: String = None
    network: String = None
    reserved_ip_ranges: Repeated[Text] = None
    psc_interface_config: PscInterfaceConfig | None = None
    base_output_directory: GcsDestination | None = None
    protected_artifact_location_id: String = None
    tensorboard: String = None
    enable_web_access: Bool = None
    enable_dashboard_access: Bool = None
    experiment: String = None
    experiment_run: String = None
    models: Repeated[Text] = None


class JobState(IntEnum):
    JOB_STATE_UNSPECIFIED = 0
    JOB_STATE_QUEUED = 1
    JOB_STATE_PENDING = 2
    JOB_STATE_RUNNING = 3
    JOB_STATE_SUCCEEDED = 4
    JOB_STATE_FAILED = 5
    JOB_STATE_CANCELLING = 6
    JOB_STATE_CANCELLED = 7
    JOB_STATE_PAUSED = 8
    JOB_STATE_EXPIRED = 9
    JOB_STATE_UPDATING = 10
    JOB_STATE_PARTIALLY_SUCCEEDED = 11


class EncryptionSpec(Message):
    kms_key_name: Required[String] = None


class CustomJob(Message):
    name: Out[String] = None
    display_name: Required[String] = None
    job_spec: Required[CustomJobSpec | None] = None
    state: Out[Annotated[str | None, Of(JobState)]] = None
    create_time: Out[Timestamp] = None
    start_time: Out[Timestamp] = None
    end_time: Out[Timestamp] = None
    update_time: Out[Timestamp] = None
    error: Out[Status | None] = None
    labels: StringMap = None
    encryption_spec: EncryptionSpec | None = None
    web_access_uris: Out[StringMap] = None
    satisfies_pzs: Out[Bool] = None
    satisfies_pzi: Out[Bool] = None
