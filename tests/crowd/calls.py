"""Calls of the outbox, queued and sent."""

from collections.abc import Callable

from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.exceptions import ReadTimeoutError

from annotation import models
from annotation.actions.crowd.outbox import call_queue
from annotation.crowd.client import MTurk
from annotation.crowd.sender import calls_send
from annotation.models import Operation
from annotation.pipeline.protocol.questions import Stage
from tests.crowd.in_process import InProcess, Network, operation_of
from tests.crowd.published import (
    all_due,
)


def send(client: MTurk, campaign: models.Campaign | None = None) -> int:
    """Send the calls that are due; with a campaign, also those that are due soon."""
    if campaign is not None:
        all_due(campaign)
    return calls_send(client=client, at_once=1)


def statuses() -> dict[str, str]:
    return dict(models.OutboxCall.objects.values_list("key", "status"))


def qualify(campaign: models.Campaign, worker: models.Worker, value: int, key: str) -> None:
    call_queue(
        campaign=campaign,
        operation=Operation.QUALIFY,
        key=key,
        lane=f"qualify/links/{worker.pk}",
        worker=worker,
        stage=Stage.LINKS,
        value=value,
    )


def message(campaign: models.Campaign, worker: models.Worker) -> None:
    call_queue(
        campaign=campaign,
        operation=Operation.MESSAGE,
        key=f"message/{worker.pk}",
        worker=worker,
        stage=Stage.LINKS,
        subject="Thank you",
        text="You are trusted now.",
    )


def answers_once(server: InProcess, operation: str, other: Network) -> None:
    """Have the first request of an operation meet another network."""
    waiting = [operation]

    def network(request: AWSPreparedRequest, carry_out: Callable[[], AWSResponse]) -> AWSResponse:
        if operation_of(request) in waiting:
            waiting.clear()
            return other(request, carry_out)
        return carry_out()

    server.network = network


def lose_reply(_: AWSPreparedRequest, carry_out: Callable[[], AWSResponse]) -> AWSResponse:
    carry_out()
    raise ReadTimeoutError(endpoint_url="")
