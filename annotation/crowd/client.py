"""MTurk's API as we use it: a thin wrapper round boto3, with our types and our errors."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Any

import boto3
import msgspec
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, ConnectionClosedError
from botocore.parsers import ResponseParserError
from django.conf import settings

from annotation.crowd.errors import is_own_answer, sorted_error, stranger_error, without_names

# A call, even with one retry, ends well before its claim does (`actions.crowd.outbox.CLAIM`).
CONNECT_SECONDS, READ_SECONDS, TRIES = 3, 15, 2
PAGE = 100
_LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)


class HitShown(msgspec.Struct, frozen=True):
    """A HIT as the marketplace shows it."""

    hit_id: str
    status: str
    reward_cents: int
    expires_at: datetime
    # Assignments that can still be accepted, and those that somebody is working on.
    available: int
    pending: int
    # The annotation that we gave it when we published it.
    annotation: str = ""

    @property
    def is_over(self) -> bool:
        """Nobody is working and nobody can begin, so no more answers will come."""
        return self.status in ("Reviewable", "Reviewing", "Disposed")


class AssignmentShown(msgspec.Struct, frozen=True):
    """A submitted assignment as the marketplace shows it, with the marketplace's status."""

    assignment_id: str
    worker: str
    status: str
    submitted_at: datetime
    answer: str = ""


class BonusShown(msgspec.Struct, frozen=True):
    """A bonus that was paid."""

    assignment_id: str
    cents: int
    reason: str


class MTurk:
    """The operations that we use. All raise CrowdError; every listing is read to its end."""

    def __init__(self, boto: Any) -> None:
        self.boto = boto

    def _call(self, operation: Callable[..., dict[str, Any]], **params: Any) -> dict[str, Any]:
        try:
            answer = operation(**params)
        except (BotoCoreError, ClientError, ResponseParserError) as error:
            named = params.get("WorkerIds") or [params.get("WorkerId")]
            raise sorted_error(error, [name for name in named if name]) from error
        if not is_own_answer(answer):
            raise stranger_error(answer)
        return answer

    def _pages(
        self, operation: Callable[..., dict[str, Any]], member: str, **params: Any
    ) -> Iterator[dict[str, Any]]:
        """Yield the items of a listing. The first empty page is the last."""
        token: dict[str, str] = {}
        while True:
            answer = self._call(operation, MaxResults=PAGE, **params, **token)
            yield from answer[member]
            if not answer[member] or not answer.get("NextToken"):
                return
            token = {"NextToken": answer["NextToken"]}

    # HITs

    def hit_type_create(self, params: Mapping[str, Any]) -> str:
        """Return the id of the HIT type with these properties; equal ones share an id."""
        return str(self._call(self.boto.create_hit_type, **params)["HITTypeId"])

    def notifications_set(
        self, hit_type_id: str, *, destination: str, events: Sequence[str]
    ) -> None:
        self._call(
            self.boto.update_notification_settings,
            HITTypeId=hit_type_id,
            Active=True,
            Notification={
                "Destination": destination,
                "Transport": "SNS",
                "Version": "2014-08-15",
                "EventTypes": list(events),
            },
        )

    def hit_create(
        self,
        *,
        hit_type_id: str,
        places: int,
        lifetime_seconds: int,
        question: str,
        annotation: str,
        token: str,
    ) -> HitShown:
        answer = self._call(
            self.boto.create_hit_with_hit_type,
            HITTypeId=hit_type_id,
            MaxAssignments=places,
            LifetimeInSeconds=lifetime_seconds,
            Question=question,
            RequesterAnnotation=annotation,
            UniqueRequestToken=token,
        )
        return _hit(answer["HIT"])

    def hit_get(self, hit_id: str) -> HitShown:
        return _hit(self._call(self.boto.get_hit, HITId=hit_id)["HIT"])

    def hits(self) -> Iterator[HitShown]:
        """Yield every HIT of ours that has not been disposed of."""
        return map(_hit, self._pages(self.boto.list_hits, "HITs"))

    def hit_expire(self, hit_id: str) -> None:
        self._call(self.boto.update_expiration_for_hit, HITId=hit_id, ExpireAt=_LONG_AGO)

    # Assignments

    def assignments(self, hit_id: str) -> Iterator[AssignmentShown]:
        """Yield everything submitted for a HIT, decided on or not."""
        return map(
            _assignment,
            self._pages(self.boto.list_assignments_for_hit, "Assignments", HITId=hit_id),
        )

    def assignment_get(self, assignment_id: str) -> AssignmentShown:
        answer = self._call(self.boto.get_assignment, AssignmentId=assignment_id)
        return _assignment(answer["Assignment"])

    def assignment_approve(self, assignment_id: str) -> None:
        self._call(
            self.boto.approve_assignment, AssignmentId=assignment_id, OverrideRejection=False
        )

    def assignment_reject(self, assignment_id: str, *, reason: str) -> None:
        self._call(
            self.boto.reject_assignment, AssignmentId=assignment_id, RequesterFeedback=reason
        )

    def bonus_send(
        self, *, assignment_id: str, worker: str, cents: int, reason: str, token: str
    ) -> None:
        self._call(
            self.boto.send_bonus,
            AssignmentId=assignment_id,
            WorkerId=worker,
            BonusAmount=dollars(cents),
            Reason=reason,
            UniqueRequestToken=token,
        )

    def bonuses(self, **of: str) -> Iterator[BonusShown]:
        """Yield the bonuses paid for one HITId or one AssignmentId."""
        for shown in self._pages(self.boto.list_bonus_payments, "BonusPayments", **of):
            yield BonusShown(
                assignment_id=shown["AssignmentId"],
                cents=cents(shown["BonusAmount"]),
                reason=shown["Reason"],
            )

    # Workers

    def qualification_type_create(self, *, name: str, description: str) -> str:
        answer = self._call(
            self.boto.create_qualification_type,
            Name=name,
            Description=description,
            QualificationTypeStatus="Active",
        )
        return str(answer["QualificationType"]["QualificationTypeId"])

    def qualification_type_find(self, name: str) -> str | None:
        """Return the id of our qualification type with exactly this name."""
        listed = self._pages(
            self.boto.list_qualification_types,
            "QualificationTypes",
            Query=name,
            MustBeRequestable=False,
            MustBeOwnedByCaller=True,
        )
        return next(
            (str(one["QualificationTypeId"]) for one in listed if one["Name"] == name), None
        )

    def qualification_set(self, *, type_id: str, worker: str, value: int) -> None:
        """Give a worker this value without a notice, because we send our own message."""
        self._call(
            self.boto.associate_qualification_with_worker,
            QualificationTypeId=type_id,
            WorkerId=worker,
            IntegerValue=value,
            SendNotification=False,
        )

    def worker_write(self, *, worker: str, subject: str, text: str) -> str:
        """Write to a worker; return the reason if that failed, or nothing."""
        answer = self._call(
            self.boto.notify_workers, WorkerIds=[worker], Subject=subject, MessageText=text
        )
        failures = answer.get("NotifyWorkersFailureStatuses", [])
        if not failures:
            return ""
        problem = str(failures[0].get("NotifyWorkersFailureMessage", "refused"))
        return without_names(problem, [worker])


def is_configured() -> bool:
    """Tell whether a marketplace and a key for it are configured."""
    return bool(
        settings.CHAINBOX_CROWD_ENDPOINT
        and settings.CHAINBOX_CROWD_KEY_ID
        and settings.CHAINBOX_CROWD_SECRET
    )


def crowd_client() -> MTurk:
    """Return the client for the configured marketplace. It is slow to make, so it is cached."""
    return _made_client(
        settings.CHAINBOX_CROWD_ENDPOINT,
        settings.CHAINBOX_CROWD_KEY_ID,
        settings.CHAINBOX_CROWD_SECRET,
        settings.CHAINBOX_CROWD_REGION,
    )


@cache
def _made_client(endpoint: str, key_id: str, secret: str, region: str) -> MTurk:
    return MTurk(boto_client(endpoint, key_id, secret, region))


def boto_client(
    endpoint: str, key_id: str, secret: str, region: str = "us-east-1", *, tries: int = TRIES
) -> Any:
    """Make boto3's own client, with its own session: the default one is not thread-safe."""
    client = boto3.Session().client(
        "mturk",
        endpoint_url=endpoint,
        region_name=region,
        aws_access_key_id=key_id,
        aws_secret_access_key=secret,
        config=Config(
            connect_timeout=CONNECT_SECONDS,
            read_timeout=READ_SECONDS,
            retries={"mode": "standard", "total_max_attempts": tries},
        ),
    )
    client.meta.events.register("before-parse.mturk", _cut_off_refuse)
    return client


def _cut_off_refuse(response_dict: Mapping[str, Any], **_: Any) -> None:
    """Treat a truncated answer as no answer; boto3 would read it as an empty one."""
    length = response_dict["headers"].get("Content-Length")
    body = response_dict["body"]
    if len(body) != int(length) if length is not None else not body:
        raise ConnectionClosedError(endpoint_url="the marketplace")


def cents(amount: str) -> int:
    """Read an amount of dollars: 0.5 is 50."""
    whole, _, part = amount.partition(".")
    return int(whole) * 100 + int(part[:2].ljust(2, "0"))


def dollars(amount: int) -> str:
    """Write cents as dollars: 5 is 0.05."""
    return f"{amount // 100}.{amount % 100:02d}"


def _hit(shown: Mapping[str, Any]) -> HitShown:
    return HitShown(
        hit_id=shown["HITId"],
        status=shown["HITStatus"],
        reward_cents=cents(shown["Reward"]),
        expires_at=shown["Expiration"].astimezone(UTC),
        available=shown.get("NumberOfAssignmentsAvailable", 0),
        pending=shown.get("NumberOfAssignmentsPending", 0),
        annotation=shown.get("RequesterAnnotation", ""),
    )


def _assignment(shown: Mapping[str, Any]) -> AssignmentShown:
    return AssignmentShown(
        assignment_id=shown["AssignmentId"],
        worker=shown["WorkerId"],
        status=shown["AssignmentStatus"],
        submitted_at=shown["SubmitTime"].astimezone(UTC),
        answer=shown.get("Answer", ""),
    )
