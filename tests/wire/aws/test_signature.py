"""RL-21: SigV4 against botocore's own signer, and the code of each way of getting it wrong."""

import random
import string
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

import pytest
from botocore.auth import SigV4Auth, SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from app.clock import wall_now
from app.wire.aws import canonical, signature
from app.wire.aws.canonical import Signed
from app.wire.aws.protocol import AwsError
from app.wire.aws.signature import Caller, Key, Trusting, Verifying, keys_from
from tests.wire.aws.calls import JSON_1_1, Wire
from tests.wire.aws.samples import silent_service

SECRET = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
LATER, EARLIER = datetime(2999, 1, 1, tzinfo=UTC), datetime(2000, 1, 1, tzinfo=UTC)
KEYS = {
    "AKIDEXAMPLE": Key(SECRET),
    "123456789012": Key("another/secret"),
    "ASIALIVE": Key(SECRET, "a-session-token/with+signs==", LATER),
    "ASIAOVER": Key(SECRET, "an-old-token", EARLIER),
}
VERIFYING = Verifying(KEYS)
URL = "http://127.0.0.1:4600/w/blue/"
BODY = b'{"ClusterName":"demo"}'
HEADERS = {"Content-Type": JSON_1_1, "X-Amz-Target": "SageMaker.DescribeCluster"}


def sign(
    access_key: str = "AKIDEXAMPLE",
    *,
    secret: str | None = None,
    token: str | None = None,
    method: str = "POST",
    url: str = URL,
    body: bytes = BODY,
    headers: dict[str, str] = HEADERS,
    region: str = "us-west-2",
    service: str = "sagemaker",
    presign: int | None = None,
) -> Signed:
    """A request signed by botocore, as it stands on the wire."""
    key = KEYS.get(access_key, Key("unknown"))
    credentials = Credentials(access_key, secret or key.secret, token or key.token)
    request = AWSRequest(method, url, headers=dict(headers), data=body)
    if presign is None:
        SigV4Auth(credentials, service, region).add_auth(request)
    else:
        SigV4QueryAuth(credentials, service, region, expires=presign).add_auth(request)
    return received(request)


def received(request: Any) -> Signed:
    """What a server reads off the wire."""
    authority, _, rest = request.url.partition("://")[2].partition("/")
    path, _, query = rest.partition("?")
    headers = [
        (name.lower(), value if isinstance(value, str) else value.decode()) for name, value in request.headers.items()
    ]
    return Signed(request.method, "/" + path, query, (("host", authority), *headers), request.data or b"")


def code_of(request: Signed, verifying: Verifying = VERIFYING) -> str:
    """The code of the refusal, or "" when there is none."""
    try:
        verifying.caller(request, "sagemaker")
    except AwsError as error:
        assert error.status == 400
        assert SECRET not in error.message
        return error.code
    return ""


def random_request(draw: random.Random) -> Signed:
    """Any request that a client might sign: odd paths, queries, header spacing, bodies, keys."""
    letters = string.ascii_letters + string.digits + "-_.~ !*'()@:$,;=é€𝕏/%+&"
    word = lambda: "".join(draw.choices(letters, k=draw.randint(0, 12)))  # noqa: E731
    path = "".join("/" + quote(word(), safe="") for _ in range(draw.randint(0, 4))) or "/"
    path += draw.choice(("", "/", "//", "/.", "/../x"))
    pairs = [f"{quote(word(), safe='-_.~')}={quote(word(), safe='-_.~')}" for _ in range(draw.randint(0, 4))]
    if pairs and draw.random() < 0.3:
        pairs.append(pairs[0])
    headers = dict(HEADERS)
    for number in range(draw.randint(0, 3)):
        headers[f"X-Amz-Meta-{number}"] = f"  {word().strip()}   {draw.randint(0, 9)}\t "
    presign = draw.choice((None, None, 60, 604_800))
    url = f"http://localhost:{draw.randint(1, 65535)}{path}{'?' if pairs else ''}{'&'.join(pairs)}"
    return sign(
        draw.choice(("AKIDEXAMPLE", "123456789012", "ASIALIVE")),
        method=draw.choice(("POST", "GET", "PUT")),
        url=url,
        body=b"" if presign else draw.randbytes(draw.randint(0, 200)),  # botocore moves it into the query
        headers=headers,
        region=draw.choice(("us-west-2", "eu-central-1", "us-gov-east-1", "ap-southeast-11")),
        presign=presign,
    )


def test_it_agrees_with_botocore_on_a_thousand_requests() -> None:
    """RL-21: 0 disagreements over 1,000 random requests, header and query, each refused once a byte changes."""
    draw = random.Random(21)
    for number in range(1000):
        request = random_request(draw)
        assert code_of(request) == "", (number, request)
        other = Signed(request.method, request.path, request.query, request.headers, request.body + b" ")
        assert code_of(other) == "InvalidSignatureException", (number, request)


def replaced(request: Signed, **changes: Any) -> Signed:
    """The request with some parts exchanged after it was signed."""
    parts = {name: getattr(request, name) for name in ("method", "path", "query", "headers", "body")}
    return Signed(**{**parts, **changes})


def with_header(request: Signed, name: str, change: Callable[[str], str] | None) -> Signed:
    """One header changed after signing, or taken away."""
    headers = tuple((key, value if key != name else change(value)) for key, value in request.headers
                    if key != name or change)  # fmt: skip
    return replaced(request, headers=headers)


def with_authorization(old: str, new: str) -> Signed:
    request = sign()
    assert old in (request.header("authorization") or "")
    return with_header(request, "authorization", lambda value: value.replace(old, new))


def presigned(old: str, new: str, seconds: int = 600) -> Signed:
    request = sign(presign=seconds)
    assert old in request.query
    return replaced(request, query=request.query.replace(old, new, 1))


def at(minutes: float, presign: int | None = None) -> Signed:
    """A request properly signed so many minutes from now."""
    moment = wall_now() + timedelta(minutes=minutes)
    date, scope = f"{moment:%Y%m%dT%H%M%SZ}", f"{moment:%Y%m%d}/us-west-2/sagemaker/aws4_request"
    credential = f"AKIDEXAMPLE/{scope}"
    headers = (("host", "localhost"), ("x-amz-target", "SageMaker.ListClusters"))
    if presign is None:
        headers += (("x-amz-date", date),)
    names = tuple(name for name, _ in headers) if presign is None else ("host", "x-amz-target")
    pairs = [] if presign is None else [
        ("X-Amz-Algorithm", "AWS4-HMAC-SHA256"), ("X-Amz-Credential", credential), ("X-Amz-Date", date),
        ("X-Amz-Expires", str(presign)), ("X-Amz-SignedHeaders", ";".join(names)),
    ]  # fmt: skip
    query = "&".join(f"{name}={quote(value, safe='')}" for name, value in pairs)
    request = Signed("POST", "/", query, headers, BODY)
    claim = canonical.Claim(credential, names, "", date, None, None, pairs)
    key = signature._signing_key(SECRET, date[:8], "us-west-2", "sagemaker")
    made = canonical.signature(request, claim, key)
    if presign is not None:
        return replaced(request, query=f"{query}&X-Amz-Signature={made}")
    text = f"AWS4-HMAC-SHA256 Credential={credential}, SignedHeaders={';'.join(names)}, Signature={made}"
    return replaced(request, headers=(*headers, ("authorization", text)))


MISMATCH, PARTIAL = "InvalidSignatureException", "IncompleteSignatureException"
UNKNOWN, EXPIRED, NONE = "UnrecognizedClientException", "ExpiredTokenException", "MissingAuthenticationTokenException"

ATTACKS: list[tuple[str, Callable[[], Signed], str]] = [
    ("nothing", lambda: Signed("POST", "/", "", (("host", "x"),), BODY), NONE),
    ("wrong secret", lambda: sign(secret="x"), MISMATCH),
    ("unknown key", lambda: sign("AKIDNOBODY"), UNKNOWN),
    ("secret of another key", lambda: sign("123456789012", secret=SECRET), MISMATCH),
    ("other service", lambda: sign(service="dynamodb"), MISMATCH),
    ("region changed", lambda: with_authorization("us-west-2", "us-east-1"), MISMATCH),
    ("no such region", lambda: sign(region="NOWHERE"), MISMATCH),
    ("no terminator", lambda: with_authorization("aws4_request", "aws5_request"), MISMATCH),
    ("four parts of scope", lambda: with_authorization("/aws4_request", ""), PARTIAL),
    ("six parts of scope", lambda: with_authorization("aws4_request", "a/aws4_request"), PARTIAL),
    ("other day", lambda: with_authorization(f"/{wall_now():%Y%m%d}/", "/20200101/"), MISMATCH),
    ("bearer", lambda: with_header(sign(), "authorization", lambda _: "Bearer x"), PARTIAL),
    ("other algorithm", lambda: with_authorization("AWS4-HMAC-SHA256", "AWS4-HMAC-SHA1"), PARTIAL),
    ("empty", lambda: with_header(sign(), "authorization", lambda _: ""), PARTIAL),
    ("no credential", lambda: with_authorization("Credential=", "Xredential="), PARTIAL),
    ("no signed headers", lambda: with_authorization("SignedHeaders=", "X="), PARTIAL),
    ("no signature", lambda: with_authorization("Signature=", "Y="), PARTIAL),
    ("credential twice", lambda: with_authorization("Credential=", "Credential=a/b/c/d/e, Credential="), PARTIAL),
    ("no date", lambda: with_header(sign(), "x-amz-date", None), PARTIAL),
    ("date is none", lambda: with_header(sign(), "x-amz-date", lambda _: "yesterday"), PARTIAL),
    ("date of month 13", lambda: with_header(sign(), "x-amz-date", lambda _: "20261301T000000Z"), MISMATCH),
    ("body", lambda: replaced(sign(), body=BODY + b" "), MISMATCH),
    ("method", lambda: replaced(sign(), method="PUT"), MISMATCH),
    ("path", lambda: replaced(sign(), path="/w/red/"), MISMATCH),
    ("path encoded anew", lambda: replaced(sign(), path="/w/%62lue/"), MISMATCH),
    ("query added", lambda: replaced(sign(), query="a=b"), MISMATCH),
    ("target", lambda: with_header(sign(), "x-amz-target", lambda _: "SageMaker.DeleteCluster"), MISMATCH),
    ("target gone", lambda: with_header(sign(), "x-amz-target", None), MISMATCH),
    ("content type", lambda: with_header(sign(), "content-type", lambda _: "text/plain"), MISMATCH),
    ("host", lambda: with_header(sign(), "host", lambda _: "evil.com"), MISMATCH),
    ("host not signed", lambda: with_authorization("host;", ""), MISMATCH),
    ("target not signed", lambda: with_authorization(";x-amz-target", ""), MISMATCH),
    ("x-amz header added", lambda: replaced(sign(), headers=(*sign().headers, ("x-amz-new", "1"))), MISMATCH),
    ("content hash stated", lambda: replaced(sign(), headers=(
        *sign().headers, ("x-amz-content-sha256", "UNSIGNED-PAYLOAD"))), MISMATCH),
    ("two authorizations", lambda: replaced(sign(), headers=(*sign().headers, ("authorization", "x"))), PARTIAL),
    ("header and query", lambda: replaced(sign(), query="X-Amz-Algorithm=AWS4-HMAC-SHA256"), PARTIAL),
    ("signature not ASCII", lambda: with_header(sign(), "authorization", lambda value: value + "é\udcff"), MISMATCH),
    ("signature in upper case", lambda: with_header(
        sign(), "authorization", lambda value: value[:-64] + value[-64:].upper()), MISMATCH),
    ("20 minutes old", lambda: at(-20), MISMATCH),
    ("16 minutes old", lambda: at(-16), MISMATCH),
    ("20 minutes early", lambda: at(20), MISMATCH),
    ("a year old", lambda: at(-525_600), MISMATCH),
    ("presigned, over", lambda: at(-20, presign=600), MISMATCH),
    ("presigned, early", lambda: at(20, presign=600), MISMATCH),
    ("presigned, region", lambda: presigned("us-west-2", "us-east-1"), MISMATCH),
    ("presigned, longer", lambda: presigned("X-Amz-Expires=600", "X-Amz-Expires=6000"), MISMATCH),
    ("presigned, too long", lambda: presigned("X-Amz-Expires=600", "X-Amz-Expires=604801"), PARTIAL),
    ("presigned, for nothing", lambda: presigned("X-Amz-Expires=600", "X-Amz-Expires=0"), PARTIAL),
    ("presigned, below nothing", lambda: presigned("X-Amz-Expires=600", "X-Amz-Expires=-1"), PARTIAL),
    ("presigned, no date", lambda: presigned("X-Amz-Date", "X-Amz-Dat"), PARTIAL),
    ("presigned, no credential", lambda: presigned("X-Amz-Credential", "X-Amz-C"), PARTIAL),
    ("presigned, no signature", lambda: presigned("X-Amz-Signature", "X-Amz-S"), PARTIAL),
    ("presigned, twice", lambda: presigned("X-Amz-Expires=600", "X-Amz-Expires=600&X-Amz-Expires=9"), PARTIAL),
    ("presigned, added", lambda: presigned("X-Amz-Expires", "a=b&X-Amz-Expires"), MISMATCH),
    ("presigned, algorithm", lambda: presigned("AWS4-HMAC-SHA256", "AWS4-HMAC-SHA1"), PARTIAL),
    ("presigned, body", lambda: replaced(sign(presign=60), body=b"{}"), MISMATCH),
    ("token expired", lambda: sign("ASIAOVER"), EXPIRED),
    ("token of another", lambda: sign("ASIALIVE", token="forged"), UNKNOWN),
    ("token for a plain key", lambda: sign(token="forged"), UNKNOWN),
    ("token gone", lambda: with_header(sign("ASIALIVE"), "x-amz-security-token", None), MISMATCH),
]  # fmt: skip


@pytest.mark.parametrize(("build", "code"), [attack[1:] for attack in ATTACKS], ids=[attack[0] for attack in ATTACKS])
def test_each_way_of_getting_it_wrong_has_its_code(build: Callable[[], Signed], code: str) -> None:
    """RL-21: the exact code; HP-W6."""
    assert code_of(build()) == code


def test_no_changed_character_of_an_authorization_passes() -> None:
    """RL-21: 250 more vectors: one character of the header changed, or one header's value."""
    draw = random.Random(22)
    request = sign()
    authorization = request.header("authorization") or ""
    for _ in range(250):
        place = draw.randrange(len(authorization))
        char = draw.choice([each for each in string.printable[:94] if each != authorization[place]])
        changed = authorization[:place] + char + authorization[place + 1 :]
        if changed.lower().split(" ", 1)[1].replace(" ", "") == authorization.lower().split(" ", 1)[1].replace(" ", ""):
            continue  # names of signed headers count in lower case
        code = code_of(with_header(request, "authorization", lambda _, changed=changed: changed))
        assert code in (MISMATCH, PARTIAL, UNKNOWN), changed


@pytest.mark.parametrize("minutes", [-14, 0, 14])
def test_a_clock_may_be_off_by_less_than_fifteen_minutes(minutes: int) -> None:
    """RL-21: the skew that AWS allows; a presigned request lives as long as it says."""
    assert code_of(at(minutes)) == ""
    assert code_of(at(minutes - 60, presign=7200)) == ""


def test_the_signer_is_the_caller() -> None:
    """HP-W6: a 12-digit key is the account; else the default one."""
    assert VERIFYING.caller(sign("123456789012", region="eu-west-1"), "sagemaker") == Caller(
        "123456789012", "eu-west-1"
    )
    assert VERIFYING.caller(sign("ASIALIVE"), "sagemaker") == Caller("111122223333", "us-west-2")


def test_off_reads_account_and_region_alone() -> None:
    """RL-21, off: every attack passes, whatever it says."""
    for _, build, _ in ATTACKS:
        caller = Trusting().caller(build(), "sagemaker")
        assert len(caller.account) == 12
        assert caller.region.count("-") >= 2
    presigned_by = sign("123456789012", region="eu-west-1", presign=60)
    assert Trusting().caller(presigned_by, "sagemaker") == Caller("123456789012", "eu-west-1")


def test_keys_are_read_from_settings() -> None:
    """HP-W6: configured keys, lasting and temporary."""
    read = keys_from(("AKID:SECRET", "ASIA:SECRET/+:TOKEN:2026-01-31T00:00:00Z"))
    assert read == {
        "AKID": Key("SECRET"),
        "ASIA": Key("SECRET/+", "TOKEN", datetime(2026, 1, 31, tzinfo=UTC)),
    }


async def test_the_endpoint_verifies_before_it_reads_the_body() -> None:
    """HP-W6 over the wire: refused in dialect, or served."""
    wire = Wire([silent_service(["DescribeCluster"])], authentication=VERIFYING)
    refused = await wire.call("DescribeCluster", b"not json")
    refused.assert_is_aws()
    assert (refused.status, refused.code) == (400, NONE)
