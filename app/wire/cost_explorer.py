"""Cost Explorer."""

from app.wire.aws.registry import AwsService

cost_explorer = AwsService("ce", target_prefix="AWSInsightsIndexService")
