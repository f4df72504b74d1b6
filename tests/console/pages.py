"""The console as a browser without a script uses it: it follows links, fills in forms, and reads."""

import html
import re
from dataclasses import dataclass, field
from typing import Any

import httpx

from tests.kit import PLAIN, TestWorld


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
        return answer.text


def text(page: str) -> str:
    """What is read on the page, blanks as one."""
    body = re.sub(r"(?s)<(script|style|head)\b.*?</\1>", " ", page)
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", body))).strip()
