"""The overview of the verbs, in sections by what they are for."""

from typing import Any

from typer.core import TyperGroup

RUN, TIME, LOOK, PROCESSES = "Run it", "Time and worlds", "Look", "Single processes, which `up` runs together"
WORLD, SCHEDULE, TRY = "Change the world", "Budgets and scheduling", "Try out"
OTHERS = "Commands"
SECTIONS = (RUN, TIME, LOOK, WORLD, SCHEDULE, TRY, PROCESSES, OTHERS)


class Sectioned(TyperGroup):
    """Typer makes its groups of a class that is given: hence a subclass where the house has none. Its own sections are
    rich's boxes, which would also frame every error, and break the line that says what is wrong."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Each section's verbs with the first sentence of their help, whole."""
        found = [(name, self.commands[name]) for name in self.list_commands(ctx)]
        shown = [
            (name, verb, getattr(verb, "rich_help_panel", None) or OTHERS) for name, verb in found if not verb.hidden
        ]
        width = max(len(name) for name, _, _ in shown)
        for section in SECTIONS:
            rows = [(name.ljust(width), verb.get_short_help_str(1000)) for name, verb, its in shown if its == section]
            if rows:
                with formatter.section(section):
                    formatter.write_dl(rows)
