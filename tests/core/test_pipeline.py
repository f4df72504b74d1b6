"""Which tasks of pipelines there are."""

import pytest

from app.core.errors import Invalid
from app.core.pipeline import task_of

FOLDER = "gs://google-cloud-aiplatform/schema/trainingjob/definition/"


def test_tasks() -> None:
    assert task_of(f"{FOLDER}custom_task_1.0.0.yaml") == "custom"
    assert task_of(f"{FOLDER}hyperparameter_tuning_task_1.0.0.yaml") == "tuning"


@pytest.mark.parametrize("name", ["", "custom_task", f"{FOLDER}automl_tables_1.0.0.yaml"])
def test_others_are_refused(name: str) -> None:
    with pytest.raises(Invalid, match="not emulated"):
        task_of(name)
