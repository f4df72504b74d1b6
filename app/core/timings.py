"""How long each stage takes, by profile (CT-16). The contracts' own timers are not here: they are the same in all.

Durations are whole seconds, so that what is due at one instant is one batch. `realistic` follows public reports of
people who ran the service; `fast` is for watching; `instant` leaves no gap between asking and having.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from app.core.chance import below

MIN_COUNT_TIMEOUT = timedelta(hours=3)
"""HP-17 and HP-8: virtual time in every profile."""
DECISION = timedelta(seconds=26)
"""VX-5: so long after a worker's failure it is decided what becomes of the job (seen in a log)."""
ERROR_DELAY = timedelta(seconds=60)
"""VX-9: so long after its end a job's error is told."""
STOCKOUT_WAIT = timedelta(minutes=20)
"""VX-12: so long an attempt waits for machines that there are not (seen in the field)."""
STOCKOUT_PAUSE = timedelta(minutes=10)
"""So long after an attempt that found no machines the next one begins (chosen: with four, two hours in all)."""
_DAY = 86_400
_LONGEST_WAIT = 365 * _DAY
_ATTEMPTS_A_DOUBLING = 8
_MOST_DOUBLINGS = 32


@dataclass(frozen=True, slots=True)
class Timings:
    """The durations of one profile; `retries` are the waits before the next launch attempt, the last one repeats for
    a day."""

    delays: Mapping[str, timedelta]
    retries: tuple[int, ...]
    jitter: int
    """The most seconds that the seed adds to a wait, per hundred of the wait."""

    def retry(self, failures: int, seed: int, subject: str) -> timedelta:
        """The wait after `failures` attempts in a row that failed (HP-6).

        From the second day on it doubles with every eight attempts, which is about a tenth of the time gone by: so
        that ten years of waiting cost some hundreds of attempts.
        """
        steady = self.retries[-1]
        base = self.retries[min(failures, len(self.retries)) - 1]
        later = failures - len(self.retries) - _DAY // steady
        if later > 0:
            base = min(steady << min(later // _ATTEMPTS_A_DOUBLING, _MOST_DOUBLINGS), _LONGEST_WAIT)
        spread = base * self.jitter // 100
        return timedelta(seconds=base + below(seed, f"{subject}/{failures}", "retry-jitter", spread + 1))


def _delays(**seconds: int) -> dict[str, timedelta]:
    fixed = {"none": 0, "second": 1}
    return {name: timedelta(seconds=value) for name, value in (fixed | seconds).items()}


PROFILES: Mapping[str, Timings] = {
    "instant": Timings(
        _delays(
            setup=0,
            launch=0,
            boot=0,
            script=0,
            script_timeout=1,
            deep_check=0,
            shutdown=0,
            slow_boot=60,
            payment=0,
            detect=1,
            reboot=0,
            patch=0,
            patch_retry=1,
            stuck=60,
            governance=0,
            attach=0,
            detach=0,
            extension=0,
            move_out=0,
            move_in=0,
            vm=0,
            container=0,
            container_restart=0,
            vm_stop=0,
            program=10,
            requeue=1,
            worker_spread=0,
            study=0,
            suggest=0,
        ),
        (1, 2, 4, 8, 300),
        0,
    ),
    "fast": Timings(
        _delays(
            setup=1,
            launch=1,
            boot=2,
            script=2,
            script_timeout=60,
            deep_check=3,
            shutdown=2,
            slow_boot=60,
            payment=1,
            detect=2,
            reboot=2,
            patch=3,
            patch_retry=1,
            stuck=60,
            governance=2,
            attach=1,
            detach=1,
            extension=2,
            move_out=1,
            move_in=2,
            vm=2,
            container=1,
            container_restart=1,
            vm_stop=1,
            program=10,
            requeue=2,
            worker_spread=1,
            study=1,
            suggest=1,
        ),
        (1, 2, 4, 8, 300),
        0,
    ),
    "realistic": Timings(
        _delays(
            setup=60,
            launch=120,
            boot=240,
            script=300,
            script_timeout=3600,
            deep_check=3600,
            shutdown=900,
            slow_boot=900,
            payment=60,
            detect=30,
            reboot=120,
            patch=600,
            patch_retry=60,
            stuck=60,
            governance=30,
            attach=10,
            detach=10,
            extension=120,
            move_out=120,
            move_in=240,
            vm=120,
            container=30,
            container_restart=17,
            vm_stop=40,
            program=600,
            requeue=60,
            worker_spread=60,
            study=30,
            suggest=10,
        ),
        (60, 120, 240, 480, 900),
        10,
    ),
}
