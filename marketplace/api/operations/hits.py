"""Operations on HIT types and HITs."""

from typing import Any

from common.clock import database_now
from marketplace.actions.hits import hit_dispose, hit_expire_at, hit_retype, hit_review
from marketplace.actions.publication import (
    Publication,
    TypeProperties,
    hit_extend_once,
    hit_publish,
    hit_type_register,
    requirement_types_check,
)
from marketplace.actions.settlement import hit_settle
from marketplace.api.operations import present
from marketplace.api.operations.paging import listing
from marketplace.models import HIT, HITType, Requester
from marketplace.rules.errors import RequestError, invalid_value
from marketplace.rules.money import cents
from marketplace.rules.qualifications import SYSTEM_TYPES
from marketplace.rules.questions import parse_question
from marketplace.selectors.hits import hits_of, hits_requiring, reviewable_hits, reviewing_hits
from marketplace.selectors.owned import own_hit, own_hit_type, qualification_type_named

AUTO_APPROVAL_DELAY = 2_592_000


def create_hit_type(caller: Requester, params: dict[str, Any]) -> dict[str, Any]:
    made = hit_type_register(requester=caller, properties=_type_properties(params))
    return {"HITTypeId": made.hit_type_id}


def create_hit(caller: Requester, params: dict[str, Any]) -> dict[str, Any]:
    return _publish(caller, params, "CreateHIT", _type_properties(params))


def create_hit_with_hit_type(caller: Requester, params: dict[str, Any]) -> dict[str, Any]:
    hit_type = own_hit_type(caller, params["HITTypeId"])
    return _publish(caller, params, "CreateHITWithHITType", hit_type)


def get_hit(caller: Requester, params: dict[str, Any]) -> dict[str, Any]:
    return {"HIT": present.hit(_settled(caller, params["HITId"]))}


def delete_hit(caller: Requester, params: dict[str, Any]) -> dict[str, Any]:
    hit_dispose(hit=_settled(caller, params["HITId"]))
    return {}


def update_expiration_for_hit(caller: Requester, params: dict[str, Any]) -> dict[str, Any]:
    hit_expire_at(hit=_settled(caller, params["HITId"]), when=params["ExpireAt"])
    return {}


def create_additional_assignments_for_hit(
    caller: Requester, params: dict[str, Any]
) -> dict[str, Any]:
    hit_extend_once(
        hit=_settled(caller, params["HITId"]),
        more=params["NumberOfAdditionalAssignments"],
        token=params.get("UniqueRequestToken"),
    )
    return {}


def update_hit_review_status(caller: Requester, params: dict[str, Any]) -> dict[str, Any]:
    hit_review(hit=_settled(caller, params["HITId"]), revert=bool(params.get("Revert")))
    return {}


def update_hit_type_of_hit(caller: Requester, params: dict[str, Any]) -> dict[str, Any]:
    hit = _settled(caller, params["HITId"])
    hit_type = own_hit_type(caller, params["HITTypeId"])
    requirement_types_check(requester=caller, requirements=hit_type.requirements)
    hit_retype(hit=hit, hit_type=hit_type)
    return {}


def list_hits(caller: Requester, params: dict[str, Any]) -> dict[str, Any]:
    return _list(caller, "ListHITs", params, hits_of(caller))


def list_reviewable_hits(caller: Requester, params: dict[str, Any]) -> dict[str, Any]:
    if params.get("Status", "Reviewable") == "Reviewing":
        rows = reviewing_hits(caller)
    else:
        rows = reviewable_hits(caller, database_now())
    if "HITTypeId" in params:
        rows = rows.filter(hit_type=own_hit_type(caller, params["HITTypeId"]))
    return _list(caller, "ListReviewableHITs", params, rows)


def list_hits_for_qualification_type(caller: Requester, params: dict[str, Any]) -> dict[str, Any]:
    type_id = params["QualificationTypeId"]
    if type_id not in SYSTEM_TYPES:
        qualification_type_named(caller, type_id)
    return _list(caller, "ListHITsForQualificationType", params, hits_requiring(caller, type_id))


def list_review_policy_results_for_hit(caller: Requester, params: dict[str, Any]) -> dict[str, Any]:
    """Our HITs have no review policies, so the answer only names the HIT."""
    hit = own_hit(caller, params["HITId"])
    return {
        "HITId": hit.hit_id,
        "AssignmentReviewReport": {"ReviewResults": [], "ReviewActions": []},
        "HITReviewReport": {"ReviewResults": [], "ReviewActions": []},
    }


def _publish(
    caller: Requester,
    params: dict[str, Any],
    operation: str,
    hit_type: HITType | TypeProperties,
) -> dict[str, Any]:
    publication = Publication(
        question=_question(params),
        max_assignments=params.get("MaxAssignments", 1),
        lifetime=params["LifetimeInSeconds"],
        annotation=params.get("RequesterAnnotation", ""),
    )
    made = hit_publish(
        requester=caller,
        operation=operation,
        token=params.get("UniqueRequestToken"),
        hit_type=hit_type,
        publication=publication,
    )
    return {"HIT": present.hit(made)}


def _question(params: dict[str, Any]) -> str:
    """Return the question as it was given, if it can be shown."""
    for policy in ("AssignmentReviewPolicy", "HITReviewPolicy"):
        if params.get(policy):
            raise RequestError(
                "InvalidParameterValue",
                f"{policy} is not valid: review policies are not offered here.",
            )
    question, layout = params.get("Question"), params.get("HITLayoutId")
    if question and layout:
        raise RequestError(
            "InvalidParameterValue", "Question and HITLayoutId cannot both be given."
        )
    if layout:
        raise RequestError("HITLayoutDoesNotExist", f"HITLayout {layout} does not exist.")
    if not question:
        raise invalid_value("Question", question or "")
    if params.get("HITLayoutParameters"):
        raise RequestError(
            "InvalidParameterValue", "HITLayoutParameters are for a HITLayoutId only."
        )
    parse_question(question)
    return str(question)


def _type_properties(params: dict[str, Any]) -> TypeProperties:
    return TypeProperties(
        title=params["Title"],
        description=params["Description"],
        keywords=params.get("Keywords", ""),
        reward_cents=cents(params["Reward"]),
        assignment_duration=params["AssignmentDurationInSeconds"],
        auto_approval_delay=params.get("AutoApprovalDelayInSeconds", AUTO_APPROVAL_DELAY),
        requirements=params.get("QualificationRequirements", []),
    )


def _settled(caller: Requester, hit_id: str) -> HIT:
    """Return the caller's HIT after doing whatever is due."""
    hit = own_hit(caller, hit_id)
    hit_settle(hit=hit)
    return hit


def _list(caller: Requester, operation: str, params: dict[str, Any], rows: Any) -> dict[str, Any]:
    page, answer = listing(caller, operation, params, rows, order=("-pk",))
    return answer | {"HITs": present.hits(page)}
