"""Windtunnel in a container, with testcontainers: for who has Docker and no Python 3.11 beside the tests.

Not run: it needs Docker. Parsed, and its command and variables checked, by tests/clients/test_recipes.py. The container
installs the service when it starts; an image of your own saves that time.
"""

from testcontainers.core.container import DockerContainer
from testcontainers.core.wait_strategies import HttpWaitStrategy

IMAGE = "python:3.12"
PORT = 4600
TOKEN = "only-for-tests"  # an address that others can reach needs one
COMMAND = "windtunnel up --ephemeral --frozen --host 0.0.0.0 --log-format json"
VARIABLES = {"WINDTUNNEL_CONTROL_TOKEN": TOKEN, "WINDTUNNEL_ALLOWED_HOSTS": "localhost,127.0.0.1"}


def windtunnel() -> DockerContainer:
    """A container to start; its control API then answers to TOKEN at `endpoint`."""
    container = DockerContainer(IMAGE).with_exposed_ports(PORT)
    for name, value in VARIABLES.items():
        container = container.with_env(name, value)
    container = container.with_command(["sh", "-c", f"pip install --quiet 'windtunnel[embedded]' && exec {COMMAND}"])
    ready = HttpWaitStrategy(PORT, "/_windtunnel/ready").with_header("Authorization", f"Bearer {TOKEN}")
    return container.waiting_for(ready.for_status_code(200).with_startup_timeout(300))


def endpoint(container: DockerContainer) -> str:
    """For `endpoint_url` of boto3, and WINDTUNNEL_ENDPOINT of the test kit (with WINDTUNNEL_CONTROL_TOKEN)."""
    return f"http://{container.get_container_host_ip()}:{container.get_exposed_port(PORT)}"
