"""How often passwords may be tried: exact in every window, and never to the owner's harm."""

from hypothesis import given
from hypothesis import strategies as st

from common.accounts.rules import (
    MOST_BY_STRANGERS,
    MOST_PER_ACCOUNT,
    MOST_PER_ADDRESS,
    WINDOW_MS,
    Attempt,
    account_wait,
    address_wait,
    still_counted,
    wait_in_words,
    without,
)

# Gaps of all sizes, so that bursts at the edge of a window are among them.
GAPS = st.one_of(
    st.integers(0, 1000),
    st.integers(0, WINDOW_MS // 5),
    st.sampled_from([WINDOW_MS - 1, WINDOW_MS, WINDOW_MS + 1]),
)
HISTORIES = st.lists(st.tuples(GAPS, st.booleans()), max_size=60)
NOW = 1_800_000_000_000


def evaluated(history: list[tuple[int, bool]]) -> list[Attempt]:
    """Return the attempts that were let through, out of all that were made."""
    now = NOW
    through: list[Attempt] = []
    for gap, is_known in history:
        now += gap
        if account_wait(through, now, is_known=is_known) == 0:
            through.append(Attempt(at=now, is_known=is_known))
    return through


def in_window(attempts: list[Attempt], start: int) -> list[Attempt]:
    return [attempt for attempt in attempts if start <= attempt.at < start + WINDOW_MS]


@given(HISTORIES)
def test_no_fifteen_minutes_see_more_than_ten(history: list[tuple[int, bool]]) -> None:
    through = evaluated(history)
    for attempt in through:
        window = in_window(through, attempt.at)
        assert len(window) <= MOST_PER_ACCOUNT == 10
        assert sum(not other.is_known for other in window) <= MOST_BY_STRANGERS


@given(HISTORIES)
def test_strangers_cannot_use_up_what_is_left_for_the_owner(
    history: list[tuple[int, bool]],
) -> None:
    through = evaluated([(gap, False) for gap, _ in history])
    now = through[-1].at if through else NOW
    for _ in range(MOST_PER_ACCOUNT - MOST_BY_STRANGERS):
        assert account_wait(through, now, is_known=True) == 0
        through.append(Attempt(at=now, is_known=True))


@given(HISTORIES, st.booleans())
def test_the_wait_that_is_told_is_exact(history: list[tuple[int, bool]], is_known: bool) -> None:
    through = evaluated(history)
    now = through[-1].at if through else NOW
    wait = account_wait(through, now, is_known=is_known)
    assert 0 <= wait <= WINDOW_MS
    assert account_wait(through, now + wait, is_known=is_known) == 0
    if wait:
        assert account_wait(through, now + wait - 1, is_known=is_known) == 1


@given(HISTORIES)
def test_what_is_no_longer_counted_changes_nothing(history: list[tuple[int, bool]]) -> None:
    through = evaluated(history)
    now = through[-1].at if through else NOW
    kept = still_counted(through, now)
    for is_known in (True, False):
        assert account_wait(kept, now, is_known=is_known) == account_wait(
            through, now, is_known=is_known
        )


def test_a_clock_set_back_keeps_nobody_out_until_it_is_there_again() -> None:
    near = [Attempt(at=NOW + WINDOW_MS - 1, is_known=False)] * MOST_BY_STRANGERS
    assert 0 < account_wait(near, NOW, is_known=False) < 2 * WINDOW_MS
    far = [Attempt(at=NOW + WINDOW_MS, is_known=False)] * MOST_BY_STRANGERS
    assert account_wait(far, NOW, is_known=False) == 0


def test_an_address_is_shared_by_many() -> None:
    attempts = [Attempt(at=NOW + number, is_known=False) for number in range(MOST_PER_ADDRESS)]
    now = NOW + MOST_PER_ADDRESS
    assert address_wait(attempts[1:], now) == 0
    assert address_wait(attempts, now) == WINDOW_MS - MOST_PER_ADDRESS


def test_only_the_forgiven_attempt_goes() -> None:
    one, other = Attempt(at=NOW, is_known=False), Attempt(at=NOW, is_known=True)
    assert without([one, one, other], one) == [one, other]
    assert without([other], one) == [other]


def test_the_wait_in_words() -> None:
    assert wait_in_words(61, is_known=True) == (
        "Too many failed sign-in attempts. Please try again in 2 minutes."
    )
    assert wait_in_words(1, is_known=False) == (
        "Too many failed sign-in attempts. Please try again in 1 minute, or use a browser where"
        " you have signed in before."
    )
