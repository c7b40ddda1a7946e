"""HIT types and creating HITs through the API, over HTTP, with boto3."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.models import F

from marketplace.actions.tokens import tokens_forget
from marketplace.models import HIT, Requester, RequestToken
from tests.marketplace.calls import operation, refusal
from tests.marketplace.hits import (
    APPROVED,
    HIT_VALUES,
    LOCALE,
    TYPE,
    UNKNOWN,
    at_least,
    counters,
    create,
    get,
    qualification_type,
)
from tests.marketplace.people import EXTERNAL, make_requester

# --- Types ------------------------------------------------------------------------------------


@operation("CreateHITType")
def test_the_same_properties_are_the_same_type(mturk: Any, stranger: Any) -> None:
    us = {
        "QualificationTypeId": LOCALE,
        "Comparator": "In",
        "LocaleValues": [{"Country": "US", "Subdivision": "NY"}, {"Country": "IN"}],
    }
    first = mturk.create_hit_type(**TYPE, QualificationRequirements=[us, at_least(5)])
    assert set(first) == {"HITTypeId", "ResponseMetadata"}
    again = TYPE | {"Reward": "0.5", "QualificationRequirements": [at_least(5), us]}
    assert mturk.create_hit_type(**again)["HITTypeId"] == first["HITTypeId"]
    assert mturk.create_hit_type(**TYPE)["HITTypeId"] != first["HITTypeId"]
    assert stranger.create_hit_type(**again)["HITTypeId"] != first["HITTypeId"]


@operation(
    "CreateHITType",
    "QualificationTypeDoesNotExist",
    "InvalidQualificationTypeState",
    "InvalidParameterValue",
)
def test_requirements_that_nobody_can_meet_are_refused(mturk: Any, stranger: Any) -> None:
    def code(*requirements: dict[str, Any]) -> str:
        given = TYPE | {"QualificationRequirements": list(requirements)}
        return refusal(mturk.create_hit_type, **given)[0]

    assert code(at_least(1, UNKNOWN)) == "QualificationTypeDoesNotExist"
    inactive = qualification_type(mturk, QualificationTypeStatus="Inactive")
    assert code(at_least(1, inactive)) == "InvalidQualificationTypeState"
    theirs = qualification_type(stranger, QualificationTypeStatus="Inactive")
    assert code(at_least(1, theirs)) == "QualificationTypeDoesNotExist"
    ended = qualification_type(mturk, "ended")
    mturk.delete_qualification_type(QualificationTypeId=ended)
    assert code(at_least(1, ended)) == "InvalidQualificationTypeState"
    open_to_all = qualification_type(stranger, "of somebody else")
    mturk.create_hit_type(**TYPE, QualificationRequirements=[at_least(1, open_to_all)])

    us, india = {"Country": "US"}, {"Country": "IN"}
    misfits: list[dict[str, Any]] = [
        {"QualificationTypeId": LOCALE, "Comparator": "GreaterThan", "LocaleValues": [us]},
        {"QualificationTypeId": LOCALE, "Comparator": "EqualTo", "LocaleValues": [us, india]},
        {"QualificationTypeId": LOCALE, "Comparator": "In"},
        {"QualificationTypeId": LOCALE, "Comparator": "EqualTo", "IntegerValues": [1]},
        {
            "QualificationTypeId": LOCALE,
            "Comparator": "EqualTo",
            "LocaleValues": [india | {"Subdivision": "KA"}],
        },
        {"QualificationTypeId": APPROVED, "Comparator": "Exists", "IntegerValues": [1]},
        {"QualificationTypeId": APPROVED, "Comparator": "EqualTo"},
        {"QualificationTypeId": APPROVED, "Comparator": "LessThan", "IntegerValues": [1, 2]},
        {"QualificationTypeId": APPROVED, "Comparator": "EqualTo", "LocaleValues": [us]},
    ]
    for wrong in misfits:
        assert code(wrong) == "InvalidParameterValue", wrong


# --- Making HITs ------------------------------------------------------------------------------


@operation("CreateHIT")
@operation("GetHIT")
def test_a_hit_is_made_and_its_money_held(mturk: Any) -> None:
    requirement = at_least(10) | {"ActionsGuarded": "PreviewAndAccept"}
    hit = create(
        mturk,
        MaxAssignments=3,
        RequesterAnnotation="batch 7",
        QualificationRequirements=[requirement],
    )
    assert hit["HITStatus"] == "Assignable"
    assert hit["HITReviewStatus"] == "NotReviewed"
    assert counters(hit) == (0, 3, 0)
    assert hit["Expiration"] - hit["CreationTime"] == timedelta(seconds=7200)
    assert abs(hit["CreationTime"] - datetime.now(UTC)) < timedelta(minutes=5)
    assert hit["Question"] == EXTERNAL
    assert hit["QualificationRequirements"] == [requirement]
    for name in ("Title", "Description", "Keywords", "Reward", "AssignmentDurationInSeconds"):
        assert hit[name] == TYPE[name]
    assert hit["AutoApprovalDelayInSeconds"] == 3600
    assert (hit["MaxAssignments"], hit["RequesterAnnotation"]) == (3, "batch 7")
    assert len({hit["HITId"], hit["HITTypeId"], hit["HITGroupId"]}) == 3
    assert "HITLayoutId" not in hit
    assert get(mturk, hit) == hit
    balance = mturk.get_account_balance()
    assert (balance["AvailableBalance"], balance["OnHoldBalance"]) == ("998.50", "1.50")

    plain = create(mturk, AutoApprovalDelayInSeconds=0)
    assert plain["QualificationRequirements"] == []
    assert plain["HITGroupId"] != hit["HITGroupId"]
    assert plain["MaxAssignments"] == 1
    defaults = {k: v for k, v in HIT_VALUES.items() if k != "AutoApprovalDelayInSeconds"}
    assert mturk.create_hit(**defaults)["HIT"]["AutoApprovalDelayInSeconds"] == 2_592_000


@operation("CreateHIT", "HitAlreadyExists")
@operation("CreateHITWithHITType", "HitAlreadyExists")
def test_a_request_token_makes_one_hit(mturk: Any, stranger: Any) -> None:
    hit = create(mturk, UniqueRequestToken="one")
    code, message = refusal(mturk.create_hit, **HIT_VALUES, UniqueRequestToken="one")
    assert code == "HitAlreadyExists"
    assert message.startswith(f'The HIT with ID "{hit["HITId"]}" already exists. (')
    assert HIT.objects.count() == 1
    create(mturk, UniqueRequestToken="two")
    create(stranger, UniqueRequestToken="one")

    typed = {"HITTypeId": hit["HITTypeId"], "LifetimeInSeconds": 60, "Question": EXTERNAL}
    made = mturk.create_hit_with_hit_type(**typed, UniqueRequestToken="one")["HIT"]
    code, message = refusal(mturk.create_hit_with_hit_type, **typed, UniqueRequestToken="one")
    assert code == "HitAlreadyExists"
    assert made["HITId"] in message

    RequestToken.objects.update(created_at=F("created_at") - timedelta(hours=24, seconds=1))
    assert create(mturk, UniqueRequestToken="one")["HITId"] != hit["HITId"]
    assert refusal(mturk.create_hit, **HIT_VALUES, UniqueRequestToken="one")
    # Of the four that were used only the one used again is still remembered.
    assert tokens_forget() == 3
    assert RequestToken.objects.count() == 1


@operation("CreateHIT", "InsufficientFunds")
@operation("CreateHITWithHITType", "InsufficientFunds")
def test_without_money_there_is_no_hit(client_for: Callable[[Requester], Any]) -> None:
    poor = client_for(make_requester(cents=149))
    code, message = refusal(
        poor.create_hit, **HIT_VALUES, MaxAssignments=3, UniqueRequestToken="later"
    )
    assert code == "InsufficientFunds"
    assert message.startswith("This Requester has insufficient funds in their account to complete")
    hit_type = poor.create_hit_type(**TYPE)["HITTypeId"]
    typed = {"HITTypeId": hit_type, "LifetimeInSeconds": 60, "Question": EXTERNAL}
    code, _ = refusal(poor.create_hit_with_hit_type, **typed, MaxAssignments=3)
    assert code == "InsufficientFunds"
    assert not HIT.objects.exists()
    # What failed has not used up its token.
    create(poor, MaxAssignments=2, UniqueRequestToken="later")
    assert poor.get_account_balance()["AvailableBalance"] == "0.49"


FORM = (
    '<QuestionForm xmlns="http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/'
    '2017-11-06/QuestionForm.xsd"><Question><QuestionIdentifier>q</QuestionIdentifier>'
    "<QuestionContent><FormattedContent><![CDATA[{content}]]></FormattedContent>"
    "</QuestionContent><AnswerSpecification><FreeTextAnswer/></AnswerSpecification>"
    "</Question></QuestionForm>"
)


@operation("CreateHIT", "XMLParseError", "XHTMLParseError")
@operation("CreateHITWithHITType", "XMLParseError", "XHTMLParseError")
def test_questions_that_cannot_be_shown_are_refused(mturk: Any) -> None:
    hit_type = mturk.create_hit_type(**TYPE)["HITTypeId"]

    def codes(question: str) -> set[str]:
        untyped, _ = refusal(mturk.create_hit, **(HIT_VALUES | {"Question": question}))
        typed, _ = refusal(
            mturk.create_hit_with_hit_type,
            HITTypeId=hit_type,
            LifetimeInSeconds=60,
            Question=question,
        )
        return {untyped, typed}

    assert codes(EXTERNAL.replace("FrameHeight", "FrameWidth")) == {"XMLParseError"}
    assert codes(EXTERNAL.replace("links", "a&b=c")) == {"XMLParseError"}
    assert codes("What is this?") == {"XMLParseError"}
    assert codes(FORM.format(content="<script>1</script>")) == {"XHTMLParseError"}
    assert not HIT.objects.exists()
    create(mturk, Question=FORM.format(content="<b>What is this?</b>"))


@operation("CreateHIT", "InvalidParameterValue", "HITLayoutDoesNotExist")
@operation("CreateHITWithHITType", "InvalidParameterValue", "HITLayoutDoesNotExist")
def test_layouts_and_review_policies_are_not_offered(mturk: Any, stranger: Any) -> None:
    hit_type = mturk.create_hit_type(**TYPE)["HITTypeId"]
    for call, values in [
        (mturk.create_hit, TYPE | {"LifetimeInSeconds": 60}),
        (mturk.create_hit_with_hit_type, {"HITTypeId": hit_type, "LifetimeInSeconds": 60}),
    ]:
        assert refusal(call, **values)[0] == "InvalidParameterValue"
        both = values | {"Question": EXTERNAL, "HITLayoutId": UNKNOWN}
        assert refusal(call, **both)[0] == "InvalidParameterValue"
        assert refusal(call, **values, HITLayoutId=UNKNOWN)[0] == "HITLayoutDoesNotExist"
        policy = {"PolicyName": "SimplePlurality/2011-09-01"}
        for name in ("HITReviewPolicy", "AssignmentReviewPolicy"):
            code, message = refusal(call, **values, Question=EXTERNAL, **{name: policy})
            assert code == "InvalidParameterValue"
            assert name in message
            assert "review policies are not offered" in message
    theirs = stranger.create_hit_type(**TYPE)["HITTypeId"]
    for type_id in (UNKNOWN, theirs):
        code, message = refusal(
            mturk.create_hit_with_hit_type,
            HITTypeId=type_id,
            LifetimeInSeconds=60,
            Question=EXTERNAL,
        )
        assert code == "InvalidParameterValue"
        assert f'The value "{type_id}" is not valid for the parameter HITTypeId.' in message


@operation("CreateHITWithHITType")
def test_hits_of_a_type(mturk: Any) -> None:
    hit_type = mturk.create_hit_type(**TYPE)["HITTypeId"]
    hit = mturk.create_hit_with_hit_type(
        HITTypeId=hit_type, LifetimeInSeconds=60, MaxAssignments=2, Question=EXTERNAL
    )["HIT"]
    assert hit["HITTypeId"] == hit_type
    assert hit["Title"] == TYPE["Title"]
    assert counters(hit) == (0, 2, 0)
    assert create(mturk)["HITTypeId"] == hit_type


@operation("CreateHIT", "QualificationTypeDoesNotExist", "InvalidQualificationTypeState")
@operation("CreateHITWithHITType", "InvalidQualificationTypeState")
@operation("UpdateHITTypeOfHIT", "InvalidQualificationTypeState")
def test_no_more_hits_for_a_qualification_that_has_ended(mturk: Any) -> None:
    careful = qualification_type(mturk)
    wanted = [at_least(1, careful)]
    hit_type = mturk.create_hit_type(**TYPE, QualificationRequirements=wanted)["HITTypeId"]
    other = create(mturk)
    mturk.delete_qualification_type(QualificationTypeId=careful)
    code, _ = refusal(mturk.create_hit, **HIT_VALUES, QualificationRequirements=wanted)
    assert code == "InvalidQualificationTypeState"
    code, _ = refusal(
        mturk.create_hit_with_hit_type,
        HITTypeId=hit_type,
        LifetimeInSeconds=60,
        Question=EXTERNAL,
    )
    assert code == "InvalidQualificationTypeState"
    code, _ = refusal(mturk.update_hit_type_of_hit, HITId=other["HITId"], HITTypeId=hit_type)
    assert code == "InvalidQualificationTypeState"
    unknown = [at_least(1, UNKNOWN)]
    code, _ = refusal(mturk.create_hit, **HIT_VALUES, QualificationRequirements=unknown)
    assert code == "QualificationTypeDoesNotExist"
