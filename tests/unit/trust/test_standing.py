"""Trust: from test to probation to trust, and how it is lost."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.protocol.settings import (
    CrowdSettings,
    DoubtSince,
    Settings,
    settings_problem,
)
from annotation.pipeline.trust.accuracy import Accuracy, chance_at_least, quantile
from annotation.pipeline.trust.revocation import Work, doubtful
from annotation.pipeline.trust.standing import (
    BeganTest,
    Checked,
    Event,
    FinishedTest,
    Needed,
    Reinstated,
    Revoked,
    Shaken,
    Standing,
    Tally,
    Trust,
    disbelief,
    fold,
    follow,
    is_enough,
    is_hopeless,
    needed_for_trust,
    stretch_lost,
    told,
    wrong_until_lost,
)

SETTINGS = Settings()
CROWD = SETTINGS.crowd
LINKS = Stage.LINKS  # minimum 80%
PASSED = FinishedTest(right=9, asked=10)

stages = st.sampled_from(Stage)
events = st.lists(
    st.one_of(
        st.just(BeganTest()),
        st.builds(FinishedTest, right=st.integers(0, 10), asked=st.just(10)),
        st.builds(Checked, st.booleans()),
        st.builds(Revoked, st.just("spam")),
        st.builds(Reinstated, st.booleans()),
    )
)


def checked(pattern: str) -> list[Event]:
    """Read checks: `+` is right, `-` is wrong."""
    return [Checked(sign == "+") for sign in pattern]


def after(pattern: str, *, begin: Trust = Trust.TRUSTED, stage: Stage = LINKS) -> Standing:
    standing = Standing(trust=begin)
    for event in checked(pattern):
        standing = follow(standing, event, stage, SETTINGS)
    return standing


# The way to trust


def test_new_testing_probation_trusted() -> None:
    steps: list[Event] = [BeganTest(), FinishedTest(right=7, asked=10), PASSED]
    seen = [fold(steps[:n], LINKS, SETTINGS).trust for n in range(4)]
    assert seen == [Trust.NEW, Trust.TESTING, Trust.TESTING, Trust.PROBATION]
    assert fold([*steps, *checked("+" * 29)], LINKS, SETTINGS).trust is Trust.PROBATION
    assert fold([*steps, *checked("+" * 30)], LINKS, SETTINGS).trust is Trust.TRUSTED


def test_the_minimum_itself_is_enough() -> None:
    assert fold([FinishedTest(right=8, asked=10)], LINKS, SETTINGS).trust is Trust.PROBATION
    assert after("+-+++" * 6, begin=Trust.PROBATION).trust is Trust.TRUSTED
    # 83% of 100 in floating point is more than 83.
    assert is_enough(83, 100, 0.83)
    assert not is_enough(82, 100, 0.83)


def test_probation_goes_on_for_who_falls_a_little_short() -> None:
    short = "+++-" * 7 + "++"  # 23 of 30
    assert after(short, begin=Trust.PROBATION).trust is Trust.PROBATION
    assert after(short + "++++", begin=Trust.PROBATION).trust is Trust.PROBATION
    assert after(short + "+++++", begin=Trust.PROBATION).trust is Trust.TRUSTED


def test_probation_ends_at_its_limit() -> None:
    standing = after("+++-" * 15, begin=Trust.PROBATION)
    assert standing.trust is Trust.REVOKED
    assert standing.reason == "45 of your first 60 checked answers were right, and it takes 80%"


def test_a_test_counts_once() -> None:
    for trust in (Trust.PROBATION, Trust.TRUSTED, Trust.REVOKED):
        standing = Standing(trust=trust, now=Tally(checks=3, right=2))
        assert follow(standing, FinishedTest(right=0, asked=10), LINKS, SETTINGS) == standing
        assert follow(standing, PASSED, LINKS, SETTINGS) == standing
        assert follow(standing, BeganTest(), LINKS, SETTINGS) == standing


@pytest.mark.parametrize("stage", Stage)
def test_only_trusted_workers_are_believed_and_drawers_on_probation(stage: Stage) -> None:
    believed = {trust for trust in Trust if not disbelief(Standing(trust=trust), stage)}
    on_probation = {Trust.PROBATION} if stage is Stage.DRAWING else set()
    assert believed == {Trust.TRUSTED} | on_probation


def test_the_reason_for_disbelief_is_the_workers_own() -> None:
    assert disbelief(Standing(trust=Trust.REVOKED, reason="spam"), Stage.DRAWING) == "spam"
    assert disbelief(Standing(trust=Trust.REVOKED), Stage.DRAWING) == "trust was lost"
    assert disbelief(Standing(trust=Trust.NEW), Stage.DRAWING) == "not trusted yet"


# Losing trust


@pytest.mark.parametrize("stage", Stage)
def test_two_unlucky_answers_end_no_trust(stage: Stage) -> None:
    for begin in (Trust.PROBATION, Trust.TRUSTED):
        assert after("--", begin=begin, stage=stage).trust is begin
        assert after("+" * 5 + "--", begin=begin, stage=stage).trust is begin


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1), st.lists(st.booleans(), max_size=40))
def test_however_strict_three_wrong_answers_it_takes(
    minimum: float, limit: float, drop_limit: float, recent: list[bool]
) -> None:
    strict = replace(CROWD, trust_limit=limit, trust_drop_limit=drop_limit)
    lost = stretch_lost(tuple(recent), minimum, strict)
    if lost:
        assert recent[-lost:].count(False) >= 3


def test_a_chance_of_just_the_limit_is_not_below_it() -> None:
    chance = chance_at_least(0.8, 5, 10)
    assert 0 < chance < 1
    assert not is_hopeless(5, 10, 0.8, limit=chance)
    assert is_hopeless(5, 10, 0.8, limit=math.nextafter(chance, 1))


def test_three_wrong_answers_are_enough_if_they_leave_no_hope() -> None:
    assert is_hopeless(0, 3, 0.8, limit=0.01)
    assert not is_hopeless(0, 2, 0.8, limit=1)
    assert not is_hopeless(97, 100, 0.8, limit=0.01), "three wrong ones of a hundred"


@pytest.mark.parametrize("stage", Stage)
def test_nothing_but_wrong_answers_are_found_out_at_once(stage: Stage) -> None:
    assert after("----", stage=stage).trust is Trust.REVOKED
    assert after("+" * 100 + "-" * 9, stage=stage).trust is Trust.REVOKED


def test_the_reason_gives_the_numbers() -> None:
    standing = after("+" * 30 + "-" * 7)
    assert standing.trust is Trust.REVOKED
    assert standing.reason == "7 of your last 7 checked answers were wrong"
    assert standing.told == standing.now
    # Alternating answers never are so bad for a short while as they are in the long run.
    assert after("+" * 30 + "-+" * 15).reason == "13 of your last 30 checked answers were wrong"


def test_old_sins_are_forgiven() -> None:
    limit = wrong_until_lost(Tally(), 0.8, CROWD)
    assert limit == 3
    old = "--" + "+" * 40
    assert after(old).now.recent == (True,) * 30
    assert after(old + "-" * 6).trust is Trust.TRUSTED


def test_a_limit_of_zero_leaves_it_to_people() -> None:
    never = replace(SETTINGS, crowd=replace(CROWD, trust_limit=0.0, trust_drop_limit=0.0))
    standing = Standing(trust=Trust.TRUSTED)
    for event in checked("-" * 50):
        standing = follow(standing, event, LINKS, never)
    assert standing.trust is Trust.TRUSTED
    assert wrong_until_lost(standing.now, 0.8, never.crowd) is None


@given(events, stages)
def test_revoked_is_left_only_by_a_researcher(happened: list[Event], stage: Stage) -> None:
    standing = Standing()
    for event in happened:
        before, standing = standing, follow(standing, event, stage, SETTINGS)
        if before.trust is Trust.REVOKED and not isinstance(event, Reinstated):
            assert standing == before
        if before.trust in (Trust.NEW, Trust.TESTING) and isinstance(event, Checked):
            assert standing == before
        if standing.trust is not before.trust:
            assert (before.trust, standing.trust) in {
                (Trust.NEW, Trust.TESTING),
                (Trust.NEW, Trust.PROBATION),
                (Trust.TESTING, Trust.PROBATION),
                (Trust.PROBATION, Trust.TRUSTED),
                (Trust.REVOKED, Trust.PROBATION),
                (Trust.REVOKED, Trust.TRUSTED),
            } | {(trust, Trust.REVOKED) for trust in Trust}
        assert len(standing.now.recent) <= CROWD.trust_window
        assert standing.now.recent == standing.now.recent[-standing.now.checks :]


def test_reinstated_begins_anew() -> None:
    lost = after("----")
    on_probation = follow(lost, Reinstated(), LINKS, SETTINGS)
    assert on_probation == Standing(trust=Trust.PROBATION)
    again = follow(lost, Reinstated(trusted=True), LINKS, SETTINGS)
    assert again == Standing(trust=Trust.TRUSTED)
    assert follow(again, Checked(False), LINKS, SETTINGS).trust is Trust.TRUSTED
    assert follow(again, Reinstated(), LINKS, SETTINGS) == again


@pytest.mark.parametrize("trust", Trust)
def test_losing_trust_elsewhere_takes_trusted_workers_back_to_probation(trust: Trust) -> None:
    before = Standing(trust=trust, now=Tally(checks=3, right=2), reason="spam")
    shaken = follow(before, Shaken(Stage.QUALITY), LINKS, SETTINGS)
    assert shaken == (Standing(trust=Trust.PROBATION) if trust is Trust.TRUSTED else before)


# Accuracy


@given(st.integers(0, 60), st.integers(0, 60), st.integers(1, 99))
def test_the_chance_is_the_beta_distributions(right: int, wrong: int, percent: int) -> None:
    """Integrate the polynomial p^right (1 − p)^wrong exactly, as its expansion in powers of p."""
    at = Fraction(percent, 100)
    powers = [(right + k, (-1) ** k * math.comb(wrong, k)) for k in range(wrong + 1)]

    def integral(to: Fraction) -> Fraction:
        return sum((c * to ** (n + 1) / Fraction(n + 1) for n, c in powers), Fraction(0))

    exact = 1 - integral(at) / integral(Fraction(1))
    assert chance_at_least(percent / 100, right, right + wrong) == pytest.approx(
        float(exact), rel=1e-9, abs=1e-300
    )


def test_the_chance_at_its_ends_and_for_many_checks() -> None:
    assert chance_at_least(0.0, 0, 10) == 1
    assert chance_at_least(1.0, 10, 10) == 0
    assert chance_at_least(0.5, 50_000, 100_000) == pytest.approx(0.5, abs=1e-6)
    with pytest.raises(ValueError, match="11 of 10 answers cannot be right"):
        chance_at_least(0.5, 11, 10)


@given(st.integers(0, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_interval_holds_the_share_and_the_most_likely(counts: tuple[int, int]) -> None:
    accuracy = Accuracy(*counts)
    assert 0 <= accuracy.low <= accuracy.high <= 1
    if accuracy.share is not None:
        assert accuracy.low <= accuracy.share <= accuracy.high
    if 0 < accuracy.right < accuracy.checks:
        inside = chance_at_least(accuracy.low, *counts) - chance_at_least(accuracy.high, *counts)
        assert inside == pytest.approx(0.95, abs=1e-9)


def test_more_checks_say_more() -> None:
    few, many = Accuracy(9, 10), Accuracy(90, 100)
    assert many.high - many.low < (few.high - few.low) / 2
    assert str(Accuracy(10, 10)) == "100%, between 72% and 100%"
    assert quantile(0.5, 0, 0) == pytest.approx(0.5)


# What workers are told


def test_accuracy_moves_every_ten_checks_only() -> None:
    seen = [told(after(("+-+++" * 6)[:n]), LINKS, SETTINGS) for n in range(26)]
    assert {t.accuracy for t in seen[:10]} == {Accuracy(0, 0)}
    assert {t.accuracy for t in seen[10:20]} == {Accuracy(8, 10)}
    assert {t.accuracy for t in seen[20:]} == {Accuracy(16, 20)}
    # Nothing else gives away what was checked in between.
    assert len(set(seen[10:20])) == 1


def test_what_is_left_to_become_trusted() -> None:
    assert told(after("", begin=Trust.PROBATION), LINKS, SETTINGS).needed == Needed(24, 30)
    assert told(after("+" * 10, begin=Trust.PROBATION), LINKS, SETTINGS).needed == Needed(14, 20)
    assert told(after("+" * 30), LINKS, SETTINGS).needed is None


def test_what_would_end_trust_is_told() -> None:
    view = told(after("+" * 30), LINKS, SETTINGS)
    wrong = view.wrong_until_lost
    assert wrong is not None
    assert after("+" * 30 + "-" * (wrong - 1)).trust is Trust.TRUSTED
    assert after("+" * 30 + "-" * wrong).trust is Trust.REVOKED


def test_a_worker_can_be_lost_by_the_very_last_answer_that_the_window_holds() -> None:
    # Of a window full of right answers, only a whole window of wrong ones leaves no hope.
    window = 10
    full = Tally(checks=window, right=window, recent=(True,) * window)
    limit = chance_at_least(0.8, 1, window)  # not below itself: one right answer is hope enough
    patient = replace(CROWD, trust_window=window, trust_limit=limit, trust_drop_limit=0.0)
    assert wrong_until_lost(full, 0.8, patient) == window
    one_left = replace(patient, trust_limit=math.nextafter(limit, 1))
    assert wrong_until_lost(full, 0.8, one_left) == window - 1


def test_trust_can_be_reached_with_the_last_item_of_probation() -> None:
    # 80% of 60 are 48: with 18 of 30 all of the next 30 must be right, and with 17 it is too late.
    assert needed_for_trust(Tally(checks=30, right=18), 0.8, CROWD) == Needed(30, 30)
    assert needed_for_trust(Tally(checks=30, right=17), 0.8, CROWD) is None
    assert needed_for_trust(Tally(checks=59, right=47), 0.8, CROWD) == Needed(1, 1)
    assert needed_for_trust(Tally(checks=59, right=46), 0.8, CROWD) is None


@given(st.lists(st.booleans(), max_size=59), st.sampled_from([0.7, 0.78, 0.8, 0.83, 1.0]))
def test_what_is_needed_is_enough_and_no_more(answers: list[bool], minimum: float) -> None:
    tally = Tally(checks=len(answers), right=sum(answers))
    if tally.checks >= CROWD.probation_items and is_enough(tally.right, tally.checks, minimum):
        return  # trusted already
    needed = needed_for_trust(tally, minimum, CROWD)
    if needed is None:
        left = CROWD.probation_limit - tally.checks
        assert not is_enough(tally.right + left, CROWD.probation_limit, minimum)
        return
    checks = tally.checks + needed.checks
    assert CROWD.probation_items <= checks <= CROWD.probation_limit
    assert is_enough(tally.right + needed.right, checks, minimum)
    assert not needed.right or not is_enough(tally.right + needed.right - 1, checks, minimum)


# What is doubted


def work_of(pattern: str) -> list[Work[int]]:
    """Read work: `.` is a judgment, named by its place; `+` and `-` are checks."""
    return [
        Work(judgment=place) if sign == "." else Work(passed=sign == "+")
        for place, sign in enumerate(pattern)
    ]


LAST_PASSED = replace(CROWD, doubt_since=DoubtSince.LAST_PASSED)


def test_judgments_since_the_last_passed_check() -> None:
    assert doubtful(work_of("..+..-.-"), 0.8, LAST_PASSED) == [3, 4, 6]
    assert doubtful(work_of("..-."), 0.8, LAST_PASSED) == [0, 1, 3]
    assert doubtful(work_of("..+"), 0.8, LAST_PASSED) == []
    assert doubtful(work_of(""), 0.8, LAST_PASSED) == []


def test_a_box_is_judgment_and_check_at_once() -> None:
    work = [Work("a", True), Work("b", False), Work("c", True), Work("d", False), Work("e")]
    assert doubtful(work, 0.7, LAST_PASSED) == ["d", "e"]
    assert doubtful(work, 0.7, CROWD) == ["b", "c", "d", "e"]


def test_judgments_since_the_drop() -> None:
    assert doubtful(work_of(".+" * 20 + "..-.-.+.-."), 0.8, CROWD) == [40, 41, 43, 45, 47, 49]
    # All that is known of the worker is bad.
    assert doubtful(work_of(".-.-"), 0.8, CROWD) == [0, 2]
    assert doubtful(work_of("..."), 0.8, CROWD) == [0, 1, 2]
    # Nothing is: a researcher has ended their trust for a reason of their own.
    assert doubtful(work_of("..+.+.."), 0.8, CROWD) == [5, 6]


@given(st.text(".+-", max_size=60), st.sampled_from(DoubtSince))
def test_what_is_doubted_is_the_latest(pattern: str, since: DoubtSince) -> None:
    doubted = doubtful(work_of(pattern), 0.8, replace(CROWD, doubt_since=since))
    judgments = [place for place, sign in enumerate(pattern) if sign == "."]
    assert doubted == judgments[len(judgments) - len(doubted) :]


# Settings


def test_one_wrong_answer_may_be_the_last() -> None:
    nearly = Tally(checks=2, right=0, recent=(False, False))
    assert wrong_until_lost(nearly, 0.8, CrowdSettings()) == 1


@pytest.mark.parametrize(
    ("crowd", "problem"),
    [
        (CrowdSettings(), None),
        (CrowdSettings(probation_items=10, probation_limit=20, check_share=0.2), None),
        (CrowdSettings(platform_percent=101), "`crowd.platform_percent` must be at most 100"),
        (CrowdSettings(trust_window=9), "`crowd.trust_window` must be at least 10, not 9"),
        (CrowdSettings(budget_cents=-1), "`crowd.budget_cents` must be at least 0, not -1"),
        (CrowdSettings(show_accuracy_every=0), "`crowd.show_accuracy_every` must be at least 1"),
        (
            CrowdSettings(hits_ceiling={LINKS: 1}),
            "`crowd.hits_ceiling` has no value for verification, req",
        ),
        (CrowdSettings(gold_needed=29), "`crowd.gold_needed` must be at least `crowd.probation"),
        (CrowdSettings(check_share=math.nan), "`crowd.check_share` must be a share from 0 to 1"),
    ],
)
def test_settings_of_the_crowd(crowd: CrowdSettings, problem: str | None) -> None:
    found = settings_problem(Settings(crowd=crowd))
    assert found is None if problem is None else str(found).startswith(problem)
