"""What a job's error says, by the class of its failure (VX-10 to VX-14). Codes are of google.rpc.Code."""

from urllib.parse import quote

CANCELLED, INVALID_ARGUMENT, DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, FAILED_PRECONDITION, INTERNAL = 1, 3, 4, 8, 9, 13

PROGRAM, MEMORY, CRASH = "program", "memory", "crash"
LOST, STOCKOUT, PREEMPTED, INTERNAL_ERROR = "worker-lost", "stockout", "preempted", "internal"
CLUSTER_GONE = "cluster-gone"
EVICTED, REFUSED = "evicted", "refused"
"""The scheduler took the GPUs away, or cannot take the job at all (FS-5)."""
FROM_OUTSIDE = frozenset((CLUSTER_GONE, EVICTED, REFUSED))
"""What is decided on though no attempt of the job runs."""

RETRIES = {CRASH: 3, LOST: 3, STOCKOUT: 3, PREEMPTED: 6, INTERNAL_ERROR: 2}
"""How often the whole job is retried after a failure of the class (VX-6, VX-7, VX-12, VX-13); no other class is."""
CRASHES = frozenset((6, 11, 134, 139))
"""Exit codes that may be transient (VX-6)."""
OUT_OF_MEMORY = {True: 9, False: 137}
"""The exit code of a program that ran out of memory, by whether it is a Python package (VX-11)."""

_EXITED = "The replica {} exited with a non-zero status of {}. Termination reason: {}."
_MEMORY = "The replica {} ran out of memory and exited with a non-zero status of {}."
_STOCKOUT = "Resources are insufficient in region: {}. Try a different region or use a different accelerator."
_INTERNAL = "Internal error occurred for the current attempt."
_CLUSTER_GONE = (
    "The HyperPod cluster that the job was sent to (label windtunnel-cluster) was deleted. Submit the job again with "
    "the name of another cluster, or without the label."
)
_EVICTED = (
    "The scheduler gave the job's GPUs to another after its minimum runtime, and the job cannot be resumed "
    "(CustomJobSpec.scheduling.disableRetries). Submit it again, with a longer minimum runtime or with retries."
)
_REFUSED = (
    "The scheduler cannot take the job: its budget (label windtunnel-budget) has been deleted or split meanwhile. "
    "Submit it again with the name of a budget that has no budgets below it."
)
CANCEL_MESSAGE = "Job is cancelled."
TIMEOUT_MESSAGE = (
    "The job has run for longer than its timeout of {} seconds (CustomJobSpec.scheduling.timeout). "
    "Set a longer timeout, or save checkpoints and go on in another job."
)
REASON = "Error"
"""Why the container ended, as Kubernetes calls every exit with another code than 0."""
_LOGS = (
    "To find out more about why your job exited please check the logs: "
    "https://console.cloud.google.com/logs/viewer?project={}&resource={}&advancedFilter={}"
)


def class_of(code: int, python: bool) -> str:
    """The class of a non-zero exit (VX-6)."""
    if code == OUT_OF_MEMORY[python]:
        return MEMORY
    return CRASH if code in CRASHES else PROGRAM


def error(failure: str, region: str, replica: str | None, code: int | None) -> tuple[int, str]:
    """The code and the message of a job that fails by this class."""
    if failure == MEMORY:
        return INVALID_ARGUMENT, _MEMORY.format(replica, code)
    if failure in (PROGRAM, CRASH):
        return INVALID_ARGUMENT, _EXITED.format(replica, code, REASON)
    if failure in (STOCKOUT, PREEMPTED):
        return RESOURCE_EXHAUSTED, _STOCKOUT.format(region)
    if failure == CLUSTER_GONE:
        return FAILED_PRECONDITION, _CLUSTER_GONE
    if failure == EVICTED:
        return RESOURCE_EXHAUSTED, _EVICTED
    if failure == REFUSED:
        return FAILED_PRECONDITION, _REFUSED
    return INTERNAL, _INTERNAL


def with_logs(message: str, account: str, job_id: str) -> str:
    """The message as the log has it: it ends with where the job's logs are."""
    resource = quote(f"ml_job/job_id/{job_id}", safe="")
    wanted = quote(f'resource.type="ml_job"\nresource.labels.job_id="{job_id}"', safe="")
    return f"{message}\n\n{_LOGS.format(account, resource, wanted)}"
