"""Many cases at once: over the processes of this machine."""

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from multiprocessing import active_children, get_context

from app.simulate.cases import Case, Result, solve


def solve_all(cases: Sequence[Case], workers: int, told: Callable[[int], None]) -> list[Result]:
    """The results in the order of the cases; `told` hears how many are done. The first failure ends the rest at once.

    Processes are spawned, so a script that calls this has to stand under `if __name__ == "__main__"`.
    """
    others = set(active_children())
    pool = ProcessPoolExecutor(min(workers, len(cases)) or 1, mp_context=get_context("spawn"))
    try:
        futures = [pool.submit(solve, case) for case in cases]
        left: set[Future[Result]] = set(futures)
        while left:
            done, left = wait(left, return_when=FIRST_COMPLETED)
            for future in done:
                future.result()
            told(len(futures) - len(left))
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for process in set(active_children()) - others:
            process.terminate()
        raise
    pool.shutdown()
    return [future.result() for future in futures]
