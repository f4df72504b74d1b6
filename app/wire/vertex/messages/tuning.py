"""Hyperparameter tuning jobs, studies and trials, as google/cloud/aiplatform declares them."""

from enum import IntEnum
from typing import Annotated

from app.wire.google.proto import Beta, Message, Of, Out, Repeated, Required, StringMap
from app.wire.google.scalars import (
    Bool,
    Double,
    Duration,
    Int32,
    Int64,
    Long,
    Number,
    OptionalBool,
    OptionalDouble,
    OptionalInt32,
    OptionalInt64,
    OptionalString,
    String,
    Text,
    Timestamp,
    Value,
)
from app.wire.vertex.messages.jobs import CustomJobSpec, EncryptionSpec, JobState, Status


class StudyTimeConstraint(Message, oneofs={"constraint": ("max_duration", "end_time")}):
    max_duration: Duration = None
    end_time: Timestamp = None


class StudySpec(
    Message,
    oneofs={
        "automated_stopping_spec": (
            "decay_curve_stopping_spec",
            "median_automated_stopping_spec",
            "convex_automated_stopping_spec",
            "convex_stop_config",
        )
    },
):
    class DecayCurveAutomatedStoppingSpec(Message):
        use_elapsed_duration: Bool = None

    class MedianAutomatedStoppingSpec(Message):
        use_elapsed_duration: Bool = None

    class ConvexAutomatedStoppingSpec(Message):
        max_step_count: Int64 = None
        min_step_count: Int64 = None
        min_measurement_count: Int64 = None
        learning_rate_parameter_name: String = None
        use_elapsed_duration: Bool = None
        update_all_stopped_trials: OptionalBool = None

    class MetricSpec(Message):
        class GoalType(IntEnum):
            GOAL_TYPE_UNSPECIFIED = 0
            MAXIMIZE = 1
            MINIMIZE = 2

        class SafetyMetricConfig(Message):
            safety_threshold: Double = None
            desired_min_safe_trials_fraction: OptionalDouble = None

        metric_id: Required[String] = None
        goal: Required[Annotated[str | None, Of(GoalType)]] = None
        safety_config: SafetyMetricConfig | None = None

    class ParameterSpec(
        Message,
        oneofs={
            "parameter_value_spec": (
                "double_value_spec",
                "integer_value_spec",
                "categorical_value_spec",
                "discrete_value_spec",
            )
        },
    ):
        class DoubleValueSpec(Message):
            min_value: Double = None
            max_value: Double = None
            default_value: OptionalDouble = None

        class IntegerValueSpec(Message):
            min_value: Int64 = None
            max_value: Int64 = None
            default_value: OptionalInt64 = None

        class CategoricalValueSpec(Message):
            values: Required[Repeated[Text]] = None
            default_value: OptionalString = None

        class DiscreteValueSpec(Message):
            values: Required[Repeated[Number]] = None
            default_value: OptionalDouble = None

        class ScaleType(IntEnum):
            SCALE_TYPE_UNSPECIFIED = 0
            UNIT_LINEAR_SCALE = 1
            UNIT_LOG_SCALE = 2
            UNIT_REVERSE_LOG_SCALE = 3

        class ConditionalParameterSpec(
            Message,
            oneofs={
                "parent_value_condition": ("parent_discrete_values", "parent_int_values", "parent_categorical_values")
            },
        ):
            class DiscreteValueCondition(Message):
                values: Required[Repeated[Number]] = None

            class IntValueCondition(Message):
                values: Required[Repeated[Long]] = None

            class CategoricalValueCondition(Message):
                values: Required[Repeated[Text]] = None

            parent_discrete_values: DiscreteValueCondition | None = None
            parent_int_values: IntValueCondition | None = None
            parent_categorical_values: CategoricalValueCondition | None = None
            parameter_spec: Required["StudySpec.ParameterSpec | None"] = None

        double_value_spec: DoubleValueSpec | None = None
        integer_value_spec: IntegerValueSpec | None = None
        categorical_value_spec: CategoricalValueSpec | None = None
        discrete_value_spec: DiscreteValueSpec | None = None
        parameter_id: Required[String] = None
        scale_type: Annotated[str | None, Of(ScaleType)] = None
        conditional_parameter_specs: Repeated[ConditionalParameterSpec] = None

    class Algorithm(IntEnum):
        ALGORITHM_UNSPECIFIED = 0
        GRID_SEARCH = 2
        RANDOM_SEARCH = 3

    class ObservationNoise(IntEnum):
        OBSERVATION_NOISE_UNSPECIFIED = 0
        LOW = 1
        HIGH = 2

    class MeasurementSelectionType(IntEnum):
        MEASUREMENT_SELECTION_TYPE_UNSPECIFIED = 0
        LAST_MEASUREMENT = 1
        BEST_MEASUREMENT = 2

    class StudyStoppingConfig(Message):
        should_stop_asap: OptionalBool = None
        minimum_runtime_constraint: StudyTimeConstraint | None = None
        maximum_runtime_constraint: StudyTimeConstraint | None = None
        min_num_trials: OptionalInt32 = None
        max_num_trials: OptionalInt32 = None
        max_num_trials_no_progress: OptionalInt32 = None
        max_duration_no_progress: Duration = None

    class ConvexStopConfig(Message):
        max_num_steps: Int64 = None
        min_num_steps: Int64 = None
        autoregressive_order: Int64 = None
        learning_rate_parameter_name: String = None
        use_seconds: Bool = None

    class TransferLearningConfig(Message):
        disable_transfer_learning: Bool = None
        prior_study_names: Out[Repeated[Text]] = None

    decay_curve_stopping_spec: DecayCurveAutomatedStoppingSpec | None = None
    median_automated_stopping_spec: MedianAutomatedStoppingSpec | None = None
    convex_automated_stopping_spec: ConvexAutomatedStoppingSpec | None = None
    metrics: Required[Repeated[MetricSpec]] = None
    parameters: Required[Repeated[ParameterSpec]] = None
    algorithm: Annotated[str | None, Of(Algorithm)] = None
    observation_noise: Annotated[str | None, Of(ObservationNoise)] = None
    measurement_selection_type: Annotated[str | None, Of(MeasurementSelectionType)] = None
    study_stopping_config: StudyStoppingConfig | None = None
    convex_stop_config: Beta[ConvexStopConfig | None] = None
    transfer_learning_config: Beta[TransferLearningConfig | None] = None


class Measurement(Message):
    class Metric(Message):
        metric_id: Out[String] = None
        value: Out[Double] = None

    elapsed_duration: Out[Duration] = None
    step_count: Out[Int64] = None
    metrics: Out[Repeated[Metric]] = None


class Trial(Message):
    class State(IntEnum):
        STATE_UNSPECIFIED = 0
        REQUESTED = 1
        ACTIVE = 2
        STOPPING = 3
        SUCCEEDED = 4
        INFEASIBLE = 5

    class Parameter(Message):
        parameter_id: Out[String] = None
        value: Out[Value] = None

    name: Out[String] = None
    id: Out[String] = None
    state: Out[Annotated[str | None, Of(State)]] = None
    parameters: Out[Repeated[Parameter]] = None
    final_measurement: Out[Measurement | None] = None
    measurements: Out[Repeated[Measurement]] = None
    start_time: Out[Timestamp] = None
    end_time: Out[Timestamp] = None
    client_id: Out[String] = None
    infeasible_reason: Out[String] = None
    custom_job: Out[String] = None
    web_access_uris: Out[StringMap] = None


class HyperparameterTuningJob(Message):
    name: Out[String] = None
    display_name: Required[String] = None
    study_spec: Required[StudySpec | None] = None
    max_trial_count: Required[Int32] = None
    parallel_trial_count: Required[Int32] = None
    max_failed_trial_count: Int32 = None
    trial_job_spec: Required[CustomJobSpec | None] = None
    trials: Out[Repeated[Trial]] = None
    state: Out[Annotated[str | None, Of(JobState)]] = None
    create_time: Out[Timestamp] = None
    start_time: Out[Timestamp] = None
    end_time: Out[Timestamp] = None
    update_time: Out[Timestamp] = None
    error: Out[Status | None] = None
    labels: StringMap = None
    encryption_spec: EncryptionSpec | None = None
    satisfies_pzs: Out[Bool] = None
    satisfies_pzi: Out[Bool] = None


class HyperparameterTuningJobSpec(Message):
    """The inputs of a training pipeline's task, as hyperparameter_tuning_task_1.0.0.yaml has them."""

    study_spec: Required[StudySpec | None] = None
    trial_job_spec: Required[CustomJobSpec | None] = None
    max_trial_count: Required[Int32] = None
    parallel_trial_count: Required[Int32] = None
    max_failed_trial_count: Int32 = None
