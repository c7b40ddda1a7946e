"""Requesters, workers and HITs for tests of the marketplace."""

from itertools import count

from marketplace.actions.hits import hit_create, hit_type_make
from marketplace.actions.ledger import funds_add
from marketplace.models import HIT, HITType, Requester, Worker

EXTERNAL = (
    '<ExternalQuestion xmlns="http://mechanicalturk.amazonaws.com/'
    'AWSMechanicalTurkDataSchemas/2006-07-14/ExternalQuestion.xsd">'
    "<ExternalURL>https://tasks.example.org/page?stage=links</ExternalURL>"
    "<FrameHeight>0</FrameHeight></ExternalQuestion>"
)
_number = count(1)


def make_requester(cents: int = 100_000) -> Requester:
    requester = Requester.objects.create(name=f"requester {next(_number)}")
    if cents:
        funds_add(requester=requester, cents=cents, key=requester.requester_id)
    return requester


def make_worker() -> Worker:
    return Worker.objects.create()


def make_hit_type(requester: Requester, *, reward: int = 10, **changes: object) -> HITType:
    values: dict[str, object] = {
        "title": "Say whether two phrases name the same thing",
        "description": "Ten questions",
        "keywords": "photo, phrase",
        "assignment_duration": 600,
        "auto_approval_delay": 86_400,
        "requirements": [],
    }
    return hit_type_make(requester=requester, reward_cents=reward, **(values | changes))  # type: ignore[arg-type]  # values of several types


def make_hit(
    requester: Requester, *, assignments: int = 1, lifetime: int = 3600, reward: int = 10
) -> HIT:
    return hit_create(
        hit_type=make_hit_type(requester, reward=reward),
        question=EXTERNAL,
        max_assignments=assignments,
        lifetime=lifetime,
    )
