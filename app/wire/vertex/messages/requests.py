"""Requests and answers of the RPCs. The first field of a request names the resource or its parent."""

from app.wire.google.proto import Message, Repeated
from app.wire.google.scalars import Bool, Duration, FieldMask, Int32, String
from app.wire.vertex.messages.jobs import CustomJob
from app.wire.vertex.messages.pipelines import TrainingPipeline
from app.wire.vertex.messages.resources import Context, MetadataStore, PersistentResource, Tensorboard
from app.wire.vertex.messages.tuning import HyperparameterTuningJob


class Named(Message):
    """What GetCustomJob, DeleteCustomJob, CancelCustomJob and their like are asked with."""

    name: String = None


class ListRequest(Message):
    """What ListCustomJobs and its like are asked with."""

    parent: String = None
    filter: String = None
    page_size: Int32 = None
    page_token: String = None
    read_mask: FieldMask = None


class CreateCustomJobRequest(Message):
    parent: String = None
    custom_job: CustomJob | None = None


class ListCustomJobsResponse(Message):
    custom_jobs: Repeated[CustomJob] = None
    next_page_token: String = None


class CreateHyperparameterTuningJobRequest(Message):
    parent: String = None
    hyperparameter_tuning_job: HyperparameterTuningJob | None = None


class ListHyperparameterTuningJobsResponse(Message):
    hyperparameter_tuning_jobs: Repeated[HyperparameterTuningJob] = None
    next_page_token: String = None


class CreateTrainingPipelineRequest(Message):
    parent: String = None
    training_pipeline: TrainingPipeline | None = None


class ListTrainingPipelinesResponse(Message):
    training_pipelines: Repeated[TrainingPipeline] = None
    next_page_token: String = None


class PageRequest(Message):
    """What ListPersistentResources and ListMetadataStores are asked with."""

    parent: String = None
    page_size: Int32 = None
    page_token: String = None


class ListPersistentResourcesResponse(Message):
    persistent_resources: Repeated[PersistentResource] = None
    next_page_token: String = None


class ListOperationsRequest(Message):
    name: String = None
    filter: String = None
    page_size: Int32 = None
    page_token: String = None
    return_partial_success: Bool = None


class WaitOperationRequest(Message):
    name: String = None
    timeout: Duration = None


class ListLocationsRequest(Message):
    name: String = None
    filter: String = None
    page_size: Int32 = None
    page_token: String = None


class CreateMetadataStoreRequest(Message):
    parent: String = None
    metadata_store: MetadataStore | None = None
    metadata_store_id: String = None


class ListMetadataStoresResponse(Message):
    metadata_stores: Repeated[MetadataStore] = None
    next_page_token: String = None


class DeleteMetadataStoreRequest(Message):
    name: String = None
    force: Bool = None


class CreateContextRequest(Message):
    parent: String = None
    context: Context | None = None
    context_id: String = None


class ListContextsRequest(Message):
    parent: String = None
    page_size: Int32 = None
    page_token: String = None
    filter: String = None
    order_by: String = None


class ListContextsResponse(Message):
    contexts: Repeated[Context] = None
    next_page_token: String = None


class UpdateContextRequest(Message):
    context: Context | None = None
    update_mask: FieldMask = None
    allow_missing: Bool = None


class DeleteContextRequest(Message):
    name: String = None
    force: Bool = None
    etag: String = None


class CreateTensorboardRequest(Message):
    parent: String = None
    tensorboard: Tensorboard | None = None


class ListTensorboardsRequest(Message):
    parent: String = None
    filter: String = None
    page_size: Int32 = None
    page_token: String = None
    order_by: String = None
    read_mask: FieldMask = None


class ListTensorboardsResponse(Message):
    tensorboards: Repeated[Tensorboard] = None
    next_page_token: String = None
