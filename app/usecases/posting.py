"""One post to a webhook: to an address that was looked at, signed, without redirects, with nothing read back."""

import asyncio
import ipaddress
import socket
from typing import TYPE_CHECKING, Any

import orjson

from app import clock
from app.core.errors import Invalid
from app.core.webhooks import Target, may_connect, signature, target

if TYPE_CHECKING:
    import httpx

PATIENCE_SECONDS = 5.0
"""Wall time for a whole post; shorter than a lease, so that a post is over when its lease is lost."""
ID, TIMESTAMP, SIGNATURE = "X-Windtunnel-Id", "X-Windtunnel-Timestamp", "X-Windtunnel-Signature"


def sender() -> "httpx.AsyncClient":
    """A client that follows nothing and is told nothing by the environment."""
    import httpx

    return httpx.AsyncClient(trust_env=False, follow_redirects=False, timeout=PATIENCE_SECONDS)


async def post(
    client: "httpx.AsyncClient", url: str, secret: str, envelope: dict[str, Any], hosts: tuple[str, ...]
) -> tuple[int | None, str | None]:
    """The status of the answer, or None, and why it counts as a failure, or None."""
    import httpx

    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            status = await _sent(client, target(url, hosts), secret, envelope)
    except Invalid as refusal:
        return None, refusal.message
    except TimeoutError:
        return None, f"no answer within {PATIENCE_SECONDS:g} s"
    except (httpx.HTTPError, httpx.InvalidURL, OSError, UnicodeError) as error:
        return None, f"{type(error).__name__}: {error}"[:200]
    return status, None if 200 <= status < 300 else f"answered {status}"


async def _sent(client: "httpx.AsyncClient", where: Target, secret: str, envelope: dict[str, Any]) -> int:
    import httpx

    body = orjson.dumps(envelope)
    timestamp = int(clock.wall_now().timestamp())
    url = httpx.URL(where.url)
    headers = {
        "Host": url.netloc.decode("ascii"),
        "Content-Type": "application/json",
        "User-Agent": "windtunnel",
        ID: envelope["id"],
        TIMESTAMP: str(timestamp),
        SIGNATURE: signature(secret, timestamp, body),
    }
    # The address is the one that was looked at: a name that is looked up again might lead elsewhere.
    request = client.build_request(
        "POST", url.copy_with(host=await _address(where)), content=body, headers=headers,
        extensions={"sni_hostname": where.host},
    )  # fmt: skip
    answer = await client.send(request, stream=True)
    await answer.aclose()
    return answer.status_code


async def _address(where: Target) -> str:
    """An address of the host that may be connected to. Invalid when it has another one too."""
    try:
        found = [str(ipaddress.ip_address(where.host))]
    except ValueError:
        known = await asyncio.get_running_loop().getaddrinfo(where.host, where.port, type=socket.SOCK_STREAM)
        found = [str(each[4][0]) for each in known]
    refused = [address for address in found if not may_connect(address, where.listed)]
    if refused or not found:
        raise Invalid(f"'{where.host}' leads to {', '.join(refused) or 'no address'}, where no webhook may go.")
    return sorted(found, key=lambda address: ":" in address)[0]
