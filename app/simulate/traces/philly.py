"""The original log of Microsoft's Philly, `cluster_job_log`: one JSON array, read job by job."""

from collections.abc import Iterable, Iterator
from json import JSONDecodeError, JSONDecoder
from typing import Any

from app.core.errors import Invalid
from app.simulate.traces.rows import Cell, Row

KEYS = ("jobid", "vc", "user", "submitted_time", "attempts")


def philly_json(lines: Iterable[str]) -> Iterator[Row]:
    """A job runs as long as its attempts together did, on the GPUs of the largest one.

    A job without attempts, or with one that has no times, was never seen to end.
    """
    for line, job in _objects(lines):
        missing = [key for key in KEYS if key not in job] if isinstance(job, dict) else list(KEYS)
        if missing:
            raise Invalid(f"line {line}: the job has no {', '.join(missing)}; expected {', '.join(KEYS)}.")
        try:
            yield _row(line, job)
        except (AttributeError, KeyError, TypeError) as error:
            raise Invalid(
                f"line {line}: job {job['jobid']}: expected attempts with start_time, end_time and"
                f" detail, a list of ip and gpus ({error})."
            ) from None


def _row(line: int, job: dict[str, Any]) -> Row:
    runtime: int | None = 0 if job["attempts"] else None
    for attempt in job["attempts"]:
        start = Cell(line, "start_time", attempt["start_time"] or "")
        end = Cell(line, "end_time", attempt["end_time"] or "")
        if runtime is None or not _known(start) or not _known(end):
            runtime = None
        else:
            runtime += max(0, end.seconds() - start.seconds())
    gpus = [sum(len(host["gpus"]) for host in attempt["detail"]) for attempt in job["attempts"]]
    return Row(
        line,
        str(job["jobid"]),
        Cell(line, "submitted_time", str(job["submitted_time"])).seconds(),
        runtime,
        max(gpus, default=0),
        (("vc", str(job["vc"])), ("user", str(job["user"]))),
    )


def _known(moment: Cell) -> bool:
    return bool(moment) and moment.text != "None"


def _objects(lines: Iterable[str]) -> Iterator[tuple[int, Any]]:
    """The elements of the array with the lines that they begin on; held are the current line and what is unread."""
    decoder, text, at, begins, opened = JSONDecoder(), "", 0, 1, False
    for line, part in enumerate(lines, 1):
        if at == len(text):
            begins = line
        text, at = text[at:] + part, 0
        while (at := _skip(text, at)) < len(text):
            if not opened:
                if text[at] != "[":
                    raise Invalid(f"line {line}: expected a JSON array of jobs, found {text[at : at + 20]!r}.")
                opened, at = True, at + 1
                continue
            if text[at] == "]":
                return
            if "}" not in part:
                break
            try:
                found, at = decoder.raw_decode(text, at)
            except JSONDecodeError:
                break
            yield begins, found
            begins = line
    raise Invalid(f"line {begins}: the JSON array of jobs is not whole: what begins here cannot be read.")


def _skip(text: str, at: int) -> int:
    """Where the next element or bracket begins."""
    while at < len(text) and text[at] in " \t\r\n,":
        at += 1
    return at
