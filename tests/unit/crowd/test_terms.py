"""Terms of HITs: what MTurk's own model of the API takes, and words that are true."""

from typing import Any

import botocore.session
import msgspec
import pytest
from botocore.validate import ParamValidator
from msgspec.structs import replace

from annotation.pipeline.crowd.terms import Terms, terms_of_test, terms_of_work
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.protocol.settings import CrowdSettings, Settings
from annotation.pipeline.work.guides import StageGuide, shipped_guide

SETTINGS = Settings()


def body(terms: Terms) -> dict[str, Any]:
    value: dict[str, Any] = msgspec.json.decode(terms.body)
    return value


@pytest.fixture(scope="module")
def shape() -> Any:
    model = botocore.session.get_session().get_service_model("mturk", api_version="2017-01-17")
    return model.operation_model("CreateHITType").input_shape


@pytest.mark.parametrize("make", [terms_of_work, terms_of_test])
@pytest.mark.parametrize("stage", Stage)
def test_they_are_what_create_hit_type_takes(make: Any, stage: Stage, shape: Any) -> None:
    crowd = CrowdSettings(platform_hits=500, platform_percent=95)
    settings = Settings(crowd=crowd, sitting_seconds=10**9)
    terms = make("a campaign " * 9, stage, shipped_guide(stage), settings)
    report = ParamValidator().validate(body(terms), shape)
    assert not report.has_errors(), report.generate_report()
    assert 30 <= body(terms)["AssignmentDurationInSeconds"] <= 31_536_000
    assert len(body(terms)["Title"]) <= 128
    assert len(body(terms)["Description"]) <= 2000
    assert "{phrase}" not in terms.body


def test_the_title_reads_well_whether_the_guides_ends_in_a_sign_or_not() -> None:
    guide = replace(shipped_guide(Stage.DRAWING), title="Draw one box", test=())
    settings = replace(SETTINGS, questions_per_hit=dict.fromkeys(Stage, 5))
    work = body(terms_of_work("c", Stage.DRAWING, guide, settings))["Title"]
    test = body(terms_of_test("c", Stage.DRAWING, guide, settings))["Title"]
    assert work == "Draw one box (up to 5 questions about photos)"
    assert test == "Test: Draw one box (0 questions about photos)"


def test_long_words_are_cut() -> None:
    guide = StageGuide(title="T" * 300, question="Q" * 3000, guidelines=())
    words = body(terms_of_work("c", Stage.LINKS, guide, SETTINGS))
    assert (len(words["Title"]), len(words["Description"])) == (128, 2000)


@pytest.mark.parametrize(
    ("settings", "proven", "kept"),
    [
        (SETTINGS, True, "for you for 1 hour."),
        (SETTINGS, False, "for you for 10 minutes after each answer, and 1 hour at most."),
        (replace(SETTINGS, sitting_seconds=600), False, "for you for 10 minutes."),
    ],
)
def test_how_long_questions_are_kept(settings: Settings, proven: bool, kept: str) -> None:
    terms = terms_of_work("c", Stage.LINKS, shipped_guide(Stage.LINKS), settings, proven=proven)
    assert kept in body(terms)["Description"]


def test_the_digest_follows_everything_that_matters() -> None:
    guide = shipped_guide(Stage.LINKS)
    others = [
        SETTINGS,
        replace(SETTINGS, sitting_seconds=600),
        replace(SETTINGS, questions_per_hit=dict.fromkeys(Stage, 7)),
        *(
            replace(SETTINGS, crowd=crowd)
            for crowd in (
                CrowdSettings(price_cents=dict.fromkeys(Stage, 26)),
                CrowdSettings(fee_percent=20),
                CrowdSettings(platform_hits=1),
                CrowdSettings(auto_approval_hours=24),
            )
        ),
    ]
    digests = [terms_of_work("c", Stage.LINKS, guide, settings).digest for settings in others]
    digests.append(terms_of_work("d", Stage.LINKS, guide, SETTINGS).digest)
    digests.append(terms_of_test("c", Stage.LINKS, guide, SETTINGS).digest)
    assert len(set(digests)) == len(digests)
    # What no worker sees and no HIT costs changes nothing.
    same = replace(SETTINGS, crowd=CrowdSettings(budget_cents=5, check_share=0.5), version=9)
    assert terms_of_work("c", Stage.LINKS, guide, same).digest == digests[0]


def test_voluntary_work_says_so() -> None:
    free = Settings(crowd=CrowdSettings(price_cents=dict.fromkeys(Stage, 0)))
    terms = terms_of_work("c", Stage.DRAWING, shipped_guide(Stage.DRAWING), free)
    assert (terms.cost_cents, body(terms)["Reward"]) == (0, "0.00")
    assert "voluntary" in body(terms)["Description"]
    assert "$" not in body(terms)["Description"]


def test_the_test_says_what_it_pays_what_the_work_pays_and_how_often_it_can_be_taken() -> None:
    def said(**crowd: Any) -> str:
        settings = Settings(crowd=CrowdSettings(**crowd))
        terms = terms_of_test("c", Stage.DRAWING, shipped_guide(Stage.DRAWING), settings)
        text: str = body(terms)["Description"]
        return text

    paid = said(price_cents=dict.fromkeys(Stage, 26), test_price_cents=5, test_tries=1)
    assert (
        "HITs of this kind, which pay $0.26 each. The test pays $0.05, whether or not you pass."
        in paid
    )
    assert "You can take it once." in paid
    free = said(price_cents=dict.fromkeys(Stage, 0), test_price_cents=0, test_tries=2)
    assert "HITs of this kind, which are voluntary. The test itself pays nothing." in free
    assert "You can take it up to 2 times." in free
    assert "Answer 70% of them correctly" in free
