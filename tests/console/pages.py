"""The console as a browser without a script uses it: it follows links, fills in forms, and reads."""

import ast
import html
import re
import shlex
from dataclasses import dataclass, field
from typing import Any

import httpx
from typer.main import get_command

from app.cli import app
from tests.kit import PLAIN, TestWorld

CODE = re.compile(r'(?s)<span class="label">([^<]*)</span><pre[^>]*><code>(.*?)</code>')


@dataclass
class Browser:
    """A tab on a world's console."""

    world: TestWorld
    http: httpx.Client = field(init=False)

    def __post_init__(self) -> None:
        self.http = httpx.Client(
            base_url=self.world.base,
            headers={"origin": self.world.base},
            follow_redirects=True,
            timeout=60,
            verify=PLAIN,
        )

    def get(self, path: str = "", status: int = 200, **parameters: Any) -> str:
        """The page at a path inside the world."""
        answer = self.http.get(f"/console/{self.world.name}/{path}".rstrip("/"), params=parameters or None)
        assert answer.status_code == status, answer.text
        return answer.text

    def fragment(self, path: str = "", **parameters: Any) -> str:
        """What a page that is shown already asks for."""
        answer = self.http.get(
            f"/console/{self.world.name}/{path}".rstrip("/"), params=parameters or None, headers={"hx-request": "true"}
        )
        assert answer.status_code == 200, answer.text
        return answer.text

    def post(self, path: str, sent_from: str = "", **fields: Any) -> str:
        """Send a form that is on the page `sent_from`; the page that is then seen."""
        root = f"{self.world.base}/console/{self.world.name}"
        referer = f"{root}/{sent_from}".rstrip("/")
        answer = self.http.post(f"{root}/do/{path}", data=fields, headers={"referer": referer})
        assert answer.status_code == 200, answer.text
        assert [each.status_code for each in answer.history] == [303]
        for label, told in re.findall(
            r'(?s)<span class="label">([^<]*)</span><pre[^>]*><code>(.*?)</code>', answer.text
        ):
            check_told(label, html.unescape(told))
        return answer.text


def check_told(label: str, told: str) -> None:
    """What a deed says may be typed: it is Python, or a command of ours with its options."""
    if label == "Python":
        ast.parse(told)
    for line in told.splitlines() if label != "Python" else ():
        if not line.startswith("windtunnel "):
            continue
        command: Any = get_command(app)
        name, *words = shlex.split(line)
        while hasattr(command, "resolve_command"):
            context = command.make_context(name, words)
            name, command, words = command.resolve_command(context, [*context._protected_args, *context.args])
        command.make_context(name, words)


def text(page: str) -> str:
    """What is read on the page, blanks as one."""
    body = re.sub(r"(?s)<(script|style|head)\b.*?</\1>", " ", page)
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", body))).strip()
