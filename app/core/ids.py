"""Names and ids in the vendor's forms. All are hashes of (seed, subject), so they are the same in every run."""

from app.core.chance import digest

_ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789"
_SEQ_BYTES = 6


def cluster_id(seed: int, account: str, region: str, name: str, generation: int) -> str:
    """Twelve of `[a-z0-9]`; `generation` counts how often the name was used before."""
    return _twelve(seed, f"{account}/{region}/{name}/{generation}", "cluster-id")


def governance_id(seed: int, cluster: str, kind: str, name: str, generation: int) -> str:
    """Twelve of `[a-z0-9]`; `generation` counts how often the cluster has had the name in this kind before."""
    return _twelve(seed, f"{cluster}/{kind}/{name}/{generation}", "governance-id")


def _twelve(seed: int, subject: str, purpose: str) -> str:
    number = int.from_bytes(digest(seed, subject, purpose, 16))
    letters = []
    for _ in range(12):
        number, place = divmod(number, 36)
        letters.append(_ALPHABET[place])
    return "".join(letters)


def cluster_arn(region: str, account: str, cluster: str) -> str:
    """`arn:<partition>:sagemaker:<region>:<account>:cluster/<id>`."""
    return resource_arn(region, account, f"cluster/{cluster}")


def resource_arn(region: str, account: str, resource: str) -> str:
    """`arn:<partition>:sagemaker:<region>:<account>:<resource>`."""
    return f"arn:{partition(region)}:sagemaker:{region}:{account}:{resource}"


def account_root_arn(region: str, account: str) -> str:
    """`arn:<partition>:iam::<account>:root`, the one identity of an account here."""
    return f"arn:{partition(region)}:iam::{account}:root"


def partition(region: str) -> str:
    """The partition that a region's ARNs name."""
    if region.startswith("cn-"):
        return "aws-cn"
    return "aws-us-gov" if region.startswith("us-gov-") else "aws"


def uuid_of(raw: bytes) -> str:
    """The UUID, of version 4 in form, of sixteen bytes."""
    text = raw.hex()
    variant = "89ab"[int(text[16], 16) % 4]
    return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-{variant}{text[17:20]}-{text[20:32]}"


def logical_id(seed: int, cluster: str, group: str, ordinal: int) -> str:
    """The UUID of a node's place in its group; replacements of the node keep it."""
    return uuid_of(digest(seed, f"{cluster}/{group}/{ordinal}", "logical-id", 16))


def instance_id(seed: int, cluster: str, logical: str, attempt: int) -> str:
    """`i-` and 17 hex digits; each launch attempt has its own."""
    return "i-" + digest(seed, f"{cluster}/{logical}/{attempt}", "instance-id", 9).hex()[:17]


def event_id(seed: int, cluster: str, seq: int) -> str:
    """A UUID whose last twelve digits hide `seq`, so that an event is found by its id without an index."""
    head = digest(seed, f"{cluster}/{seq}", "event-id", 10)
    return uuid_of(head + (seq ^ _mask(seed, cluster)).to_bytes(_SEQ_BYTES))


def event_seq(seed: int, cluster: str, event: str) -> int | None:
    """The `seq` that `event_id` was made of, or None for an id that is not of this cluster."""
    seq = int(event[-12:], 16) ^ _mask(seed, cluster)
    return seq if event_id(seed, cluster, seq) == event else None


def _mask(seed: int, cluster: str) -> int:
    return int.from_bytes(digest(seed, cluster, "event-mask", _SEQ_BYTES))


def job_id(seed: int, account: str, region: str, number: int) -> str:
    """Nineteen digits, as the service numbers its jobs; `number` counts those of the project in the region."""
    return digits(seed, f"{account}/{region}/{number}", "job-id")


def digits(seed: int, subject: str, purpose: str) -> str:
    """Nineteen digits of which the first is no zero: how Google numbers what has no name, below 2**63."""
    return str(10**18 + int.from_bytes(digest(seed, subject, purpose, 16)) % (8 * 10**18))


def network_interface_id(seed: int, instance: str) -> str:
    """`eni-` and 17 hex digits of an instance's customer network interface."""
    return "eni-" + digest(seed, instance, "eni", 9).hex()[:17]


def private_ip(seed: int, instance: str) -> str:
    """An address in 10.0.0.0/8 (chosen); two nodes may share one, since nothing routes to it."""
    raw = digest(seed, instance, "ip", 3)
    return f"10.{raw[0]}.{raw[1]}.{1 + raw[2] % 254}"


def operation_id(seed: int, cluster: str, number: int) -> str:
    """The UUID of a cluster's operation; `number` counts them."""
    return uuid_of(digest(seed, f"{cluster}/{number}", "operation-id", 16))


def interface_attachment_id(seed: int, interface: str, instance: str) -> str:
    """`eni-attach-` and 17 hex digits."""
    return "eni-attach-" + digest(seed, f"{interface}/{instance}", "eni-attach", 9).hex()[:17]


def extension_arn(seed: int, region: str, account: str, cluster: str, name: str, generation: int) -> str:
    """The ARN of an extension of a cluster; one that is made again under the name has another `generation`."""
    tail = digest(seed, f"{cluster}/{name}/{generation}", "extension-id", 6).hex()
    return f"arn:{partition(region)}:sagemaker:{region}:{account}:extension/sagemaker-{cluster}/{name}/{tail}"


def host_name(seed: int, instance: str) -> str:
    """`ip-10-1-2-3`: how EC2 names a host by its address, and Slurm a node of HyperPod."""
    return f"ip-{private_ip(seed, instance).replace('.', '-')}"


def upload_id(seed: int, bucket: str, content: int) -> str:
    """48 hex digits that name an upload in pieces; `content` is the number under which its bytes lie."""
    return digest(seed, f"{bucket}/{content}", "upload-id", 24).hex()
