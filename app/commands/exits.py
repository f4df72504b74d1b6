"""The exit code of everything that can go wrong (CT-11)."""

import sys
from collections.abc import Callable

DONE, FAILED, USAGE, NOT_READY, PORT_IN_USE, DATABASE = 0, 1, 2, 3, 4, 5


def reporting(run: Callable[[], None]) -> None:
    """Run it. What a user can mend is one line on standard error and a documented code, never a traceback."""
    try:
        run()
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:  # `windtunnel bill | head`
        sys.stderr.close()
        sys.exit(DONE)
    except Exception as error:
        code = exit_code(error)
        if code is None:
            raise
        print(f"windtunnel: {error}", file=sys.stderr)
        sys.exit(code)


def exit_code(error: Exception) -> int | None:
    """The documented code of `error`; None for what should not happen, which deserves its traceback."""
    from app.commands.client import DatabaseAway, Refused, Unreachable
    from app.commands.execute import CannotRun
    from app.commands.readiness import NotReady as NotReadyYet
    from app.core.errors import Invalid
    from app.host.children import Unusable
    from app.host.listener import PortInUse
    from app.host.supervisor import NotReady
    from app.settings import SettingsError
    from app.store.binaries import DatabaseError

    codes: dict[type[Exception], int] = {
        Refused: FAILED,
        CannotRun: FAILED,
        Invalid: USAGE,
        SettingsError: USAGE,
        Unusable: USAGE,
        Unreachable: NOT_READY,
        NotReady: NOT_READY,
        NotReadyYet: NOT_READY,
        PortInUse: PORT_IN_USE,
        DatabaseAway: DATABASE,
        DatabaseError: DATABASE,
    }
    return codes.get(type(error))
