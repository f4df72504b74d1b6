"""How a model explains its predictions: what a training pipeline may say of the model it uploads."""

from enum import IntEnum
from typing import Annotated

from app.wire.google.proto import Beta, Message, Of, Repeated, Required
from app.wire.google.scalars import Double, Int32, OptionalDouble, OptionalString, String, Text, Value


class SampledShapleyAttribution(Message):
    path_count: Required[Int32] = None


class FeatureNoiseSigma(Message):
    class NoiseSigmaForFeature(Message):
        name: String = None
        sigma: Double = None

    noise_sigma: Repeated[NoiseSigmaForFeature] = None


class SmoothGradConfig(Message, oneofs={"GradientNoiseSigma": ("noise_sigma", "feature_noise_sigma")}):
    noise_sigma: OptionalDouble = None
    feature_noise_sigma: FeatureNoiseSigma | None = None
    noisy_sample_count: Int32 = None


class BlurBaselineConfig(Message):
    max_blur_sigma: Double = None


class IntegratedGradientsAttribution(Message):
    step_count: Required[Int32] = None
    smooth_grad_config: SmoothGradConfig | None = None
    blur_baseline_config: BlurBaselineConfig | None = None


class XraiAttribution(Message):
    step_count: Required[Int32] = None
    smooth_grad_config: SmoothGradConfig | None = None
    blur_baseline_config: BlurBaselineConfig | None = None


class GcsSource(Message):
    uris: Required[Repeated[Text]] = None


class Presets(Message):
    class Query(IntEnum):
        PRECISE = 0
        FAST = 1

    class Modality(IntEnum):
        MODALITY_UNSPECIFIED = 0
        IMAGE = 1
        TEXT = 2
        TABULAR = 3

    query: Annotated[str | None, Of(Query, presence=True)] = None
    modality: Annotated[str | None, Of(Modality)] = None


class Examples(
    Message, oneofs={"source": ("example_gcs_source",), "config": ("nearest_neighbor_search_config", "presets")}
):
    class ExampleGcsSource(Message):
        class DataFormat(IntEnum):
            DATA_FORMAT_UNSPECIFIED = 0
            JSONL = 1

        data_format: Annotated[str | None, Of(DataFormat)] = None
        gcs_source: GcsSource | None = None

    example_gcs_source: ExampleGcsSource | None = None
    nearest_neighbor_search_config: Value = None
    presets: Presets | None = None
    neighbor_count: Int32 = None
    gcs_source: Beta[GcsSource | None] = None


class ExplanationParameters(
    Message,
    oneofs={
        "method": ("sampled_shapley_attribution", "integrated_gradients_attribution", "xrai_attribution", "examples")
    },
):
    sampled_shapley_attribution: SampledShapleyAttribution | None = None
    integrated_gradients_attribution: IntegratedGradientsAttribution | None = None
    xrai_attribution: XraiAttribution | None = None
    examples: Examples | None = None
    top_k: Int32 = None
    output_indices: Value = None


class ExplanationMetadata(Message):
    class InputMetadata(Message):
        class Encoding(IntEnum):
            ENCODING_UNSPECIFIED = 0
            IDENTITY = 1
            BAG_OF_FEATURES = 2
            BAG_OF_FEATURES_SPARSE = 3
            INDICATOR = 4
            COMBINED_EMBEDDING = 5
            CONCAT_EMBEDDING = 6

        class FeatureValueDomain(Message):
            min_value: Double = None
            max_value: Double = None
            original_mean: Double = None
            original_stddev: Double = None

        class Visualization(Message):
            class Type(IntEnum):
                TYPE_UNSPECIFIED = 0
                PIXELS = 1
                OUTLINES = 2

            class Polarity(IntEnum):
                POLARITY_UNSPECIFIED = 0
                POSITIVE = 1
                NEGATIVE = 2
                BOTH = 3

            class ColorMap(IntEnum):
                COLOR_MAP_UNSPECIFIED = 0
                PINK_GREEN = 1
                VIRIDIS = 2
                RED = 3
                GREEN = 4
                PINK_WHITE_GREEN = 5
                RED_GREEN = 6

            class OverlayType(IntEnum):
                OVERLAY_TYPE_UNSPECIFIED = 0
                NONE = 1
                ORIGINAL = 2
                GRAYSCALE = 3
                MASK_BLACK = 4

            type_: Annotated[str | None, Of(Type)] = None
            polarity: Annotated[str | None, Of(Polarity)] = None
            color_map: Annotated[str | None, Of(ColorMap)] = None
            clip_percent_upperbound: Double = None
            clip_percent_lowerbound: Double = None
            overlay_type: Annotated[str | None, Of(OverlayType)] = None

        input_baselines: Repeated[Value] = None
        input_tensor_name: String = None
        encoding: Annotated[str | None, Of(Encoding)] = None
        modality: String = None
        feature_value_domain: FeatureValueDomain | None = None
        indices_tensor_name: String = None
        dense_shape_tensor_name: String = None
        index_feature_mapping: Repeated[Text] = None
        encoded_tensor_name: String = None
        encoded_baselines: Repeated[Value] = None
        visualization: Visualization | None = None
        group_name: String = None

    class OutputMetadata(
        Message, oneofs={"display_name_mapping": ("index_display_name_mapping", "display_name_mapping_key")}
    ):
        index_display_name_mapping: Value = None
        display_name_mapping_key: OptionalString = None
        output_tensor_name: String = None

    inputs: Required[dict[Text, InputMetadata] | None] = None
    outputs: Required[dict[Text, OutputMetadata] | None] = None
    feature_attributions_schema_uri: String = None
    latent_space_source: String = None


class ExplanationSpec(Message):
    parameters: Required[ExplanationParameters | None] = None
    metadata: ExplanationMetadata | None = None
