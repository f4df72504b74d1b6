"""A launcher of training jobs on Vertex AI, with Google's SDK."""

from dataclasses import dataclass
from typing import Any

DONE = ("JOB_STATE_SUCCEEDED", "JOB_STATE_FAILED", "JOB_STATE_CANCELLED")


@dataclass(frozen=True)
class Training:
    """What a researcher asks for."""

    name: str
    image: str
    replicas: int = 1
    machine_type: str = "a3-highgpu-8g"
    accelerator: str = "NVIDIA_H100_80GB"
    gpus: int = 8
    env: tuple[tuple[str, str], ...] = ()

    def pools(self) -> list[dict[str, Any]]:
        """The chief, which Vertex AI wants by itself, and the other workers."""
        return [self._pool(count) for count in (1, self.replicas - 1) if count]

    def _pool(self, replicas: int) -> dict[str, Any]:
        return {
            "machine_spec": {
                "machine_type": self.machine_type,
                "accelerator_type": self.accelerator,
                "accelerator_count": self.gpus,
            },
            "replica_count": replicas,
            "container_spec": {
                "image_uri": self.image,
                "env": [{"name": name, "value": value} for name, value in self.env],
            },
        }


def launch(aiplatform: Any, training: Training) -> Any:
    """The job, submitted: Vertex AI restarts its workers with their machines."""
    job = aiplatform.CustomJob(display_name=training.name, worker_pool_specs=training.pools())
    job.submit(restart_job_on_worker_restart=False)
    return job


def outcome(job: Any) -> str | None:
    """None while it is not over; else `succeeded`, or why not."""
    state = job.state.name
    if state not in DONE:
        return None
    return "succeeded" if state == "JOB_STATE_SUCCEEDED" else job.error.message
