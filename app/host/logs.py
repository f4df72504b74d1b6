"""Logs of every process: one line a record on standard error, for people or as JSON, and never a secret."""

import json
import logging
import sys
from datetime import UTC, datetime
from urllib.parse import unquote, urlsplit

from app.settings import Settings

FACTS = "facts"  # a record's own pairs; as attributes of it, `name` and others would clash
RESERVED = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime"}


class Line(logging.Formatter):
    """A record as one line; line breaks inside are escaped, secrets are starred (RL-20, RL-28)."""

    def __init__(self, process: str, secrets: tuple[str, ...], *, as_json: bool) -> None:
        super().__init__()
        self.process = process
        self.secrets = secrets
        self.as_json = as_json

    def format(self, record: logging.LogRecord) -> str:
        facts = {name: value for name, value in vars(record).items() if name not in RESERVED}
        facts |= facts.pop(FACTS, {})
        message = record.getMessage()
        trace = self.formatException(record.exc_info) if record.exc_info else ""
        line = self._json(record, message, trace, facts) if self.as_json else self._human(record, message, facts)
        if trace and not self.as_json:
            line += "\n" + trace  # the one thing that people want on several lines
        for secret in self.secrets:
            line = line.replace(secret, "***")
        return line

    def _human(self, record: logging.LogRecord, message: str, facts: dict[str, object]) -> str:
        at = datetime.fromtimestamp(record.created, UTC).strftime("%H:%M:%S")
        pairs = "".join(f" {name}={value}" for name, value in facts.items())
        return f"{at} {self.process:<10} {record.levelname.lower():<7} {_escaped(message + pairs)}"

    def _json(self, record: logging.LogRecord, message: str, trace: str, facts: dict[str, object]) -> str:
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        fields = {"at": at, "process": self.process, "level": record.levelname.lower()}
        fields |= {"logger": record.name, "message": message}
        return json.dumps({**facts, **fields, **({"trace": trace} if trace else {})}, default=str)


def configure(settings: Settings, process: str) -> None:
    """Send every logger of this process to standard error, in the format that the settings name."""
    as_json = settings.log_format == "json" or (settings.log_format == "auto" and not sys.stderr.isatty())
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Line(process, secrets_of(settings), as_json=as_json))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(settings.log_level.upper())
    for chatty in ("uvicorn", "uvicorn.error", "httpx", "asyncio", "alembic"):
        logging.getLogger(chatty).setLevel(max(logging.WARNING, root.level))


def secrets_of(settings: Settings) -> tuple[str, ...]:
    """What must not be printed: tokens, secret keys, the database's password as written and as meant."""
    password = urlsplit(settings.database_url).password if settings.database_url else None
    found = [settings.control_token, *settings.secrets_by_key.values(), password]
    meant = [each for each in (*found, unquote(password) if password else None) if each]
    return tuple({*meant, *(json.dumps(each)[1:-1] for each in meant)})


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\r", "\\r").replace("\n", "\\n").replace("\x1b", "\\e")
