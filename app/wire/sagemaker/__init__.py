"""The HyperPod part of Amazon SageMaker, one module a topic. The topics' handlers register themselves here."""

from app.wire.aws.registry import AwsService

sagemaker = AwsService("sagemaker", target_prefix="SageMaker")
