"""The vendor's model as the judge of names and forms; it is data, read once."""

from typing import Any

import pytest
from botocore.loaders import Loader


@pytest.fixture(scope="session")
def shapes() -> dict[str, Any]:
    """The shapes of SageMaker's service model."""
    found: dict[str, Any] = Loader().load_service_model("sagemaker", "service-2")["shapes"]
    return found
