"""How a walk is run: so many steps, without a database of examples, and without shrinking, which takes too long."""

from hypothesis import HealthCheck, Phase, settings
from hypothesis import seed as seeded
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

LENGTH = 50


def walk(machine: type[RuleBasedStateMachine], steps: int, seed: int | None) -> None:
    """Walks of fifty steps each; without a seed they are the same ones in every run."""
    run_state_machine_as_test(  # type: ignore[no-untyped-call]
        machine if seed is None else seeded(seed)(machine),
        settings=settings(
            max_examples=max(1, steps // LENGTH),
            stateful_step_count=LENGTH,
            deadline=None,
            derandomize=seed is None,
            database=None,
            phases=(Phase.generate,),
            print_blob=False,
            suppress_health_check=list(HealthCheck),
        ),
    )
