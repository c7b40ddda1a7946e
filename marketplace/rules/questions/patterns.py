"""Requesters' regular expressions, run in steps that can be counted beforehand.

A form's expressions are JavaScript's, written by one party and run on the text of another.
Python's engine goes back over the text, and can be made to do so for years by a line of thirty
characters; no limit of length helps, and a timeout needs another process. So an expression is
turned into states here, all of which move along the text at once: the work is never more than the
expression's size times the text's, and is not begun when that is too much.

What cannot be done in this way (looking ahead or behind, references back) or is not understood is
answered with None: the server does not know, and the check in the worker's browser stands alone, as
it did on MTurk.
"""

from functools import lru_cache

import msgspec

from marketplace.rules.questions.regexes import (
    Alternatives,
    Assertion,
    Characters,
    Concatenation,
    Node,
    NotUnderstoodError,
    Repeat,
    code_units,
    fold,
    is_word,
    parse_regex,
)

MAX_STATES = 2_000
MAX_STEPS = 1_000_000


class Budget:
    """How many more steps may be taken; one for all the expressions of a form."""

    def __init__(self, steps: int = MAX_STEPS) -> None:
        self.steps = steps

    def take(self, steps: int) -> bool:
        if steps > self.steps:
            return False
        self.steps -= steps
        return True


class _State(msgspec.Struct):
    """Goes on to `following`: after a character, if there is a test for one, else at once."""

    test: Characters | Assertion | None = None
    following: tuple[int, ...] = ()


def is_found(
    regex: str, text: str, *, ignore_case: bool = False, budget: Budget | None = None
) -> bool | None:
    """Tell whether the expression matches anywhere in the text, None if that cannot be told.

    >>> is_found("^[a-c]+$", "abc"), is_found("^(a+)+$", "a" * 5000 + "b"), is_found("(?=a)", "a")
    (True, False, None)
    """
    budget = budget or Budget()
    try:
        # Making the states is work too, and in vain if they turn out too many.
        if not budget.take(MAX_STATES):
            return None
        states, start = _compile(regex)
    except NotUnderstoodError:
        return None
    if not budget.take(sum(map(_weight, states)) * (len(text) + 1)):
        return None
    units = code_units(text)
    return _search(states, start, units, fold(units) if ignore_case else None)


def _weight(state: _State) -> int:
    return 1 + (len(state.test.ranges) if isinstance(state.test, Characters) else 0)


def _search(states: list[_State], start: int, text: str, folded: str | None) -> bool:
    current: set[int] = set()
    for place in range(len(text) + 1):
        current.add(start)
        reached = _without_moving(states, current, text, place)
        if 0 in reached:
            return True
        if place == len(text):
            return False
        current = set()
        for number in reached:
            test = states[number].test
            if isinstance(test, Characters) and test.has(text[place], folded and folded[place]):
                current.update(states[number].following)
    return False


def _without_moving(states: list[_State], current: set[int], text: str, place: int) -> set[int]:
    """Return all states that can be reached before the next character is read."""
    reached, waiting = set(current), list(current)
    while waiting:
        state = states[waiting.pop()]
        if isinstance(state.test, Characters):
            continue
        if state.test is not None and not _holds(state.test, text, place):
            continue
        for number in state.following:
            if number not in reached:
                reached.add(number)
                waiting.append(number)
    return reached


def _holds(assertion: Assertion, text: str, place: int) -> bool:
    if assertion.kind == "^":
        return place == 0
    if assertion.kind == "$":
        return place == len(text)
    before = place > 0 and is_word(text[place - 1])
    after = place < len(text) and is_word(text[place])
    return (before != after) == (assertion.kind == "b")


@lru_cache(maxsize=256)
def _compile(regex: str) -> tuple[list[_State], int]:
    """Return the states of an expression and the one to begin with; state 0 is the end."""
    # The end stays where it is, following nothing.
    states = [_State()]
    return states, _add(states, parse_regex(regex), 0)


def _add(states: list[_State], node: Node, then: int) -> int:
    """Add the states for a node that lead on to `then`; return the first of them."""
    if len(states) > MAX_STATES:
        raise NotUnderstoodError
    if isinstance(node, Concatenation):
        for part in reversed(node.parts):
            then = _add(states, part, then)
        return then
    if isinstance(node, Alternatives):
        return _new(states, _State(following=tuple(_add(states, way, then) for way in node.ways)))
    if isinstance(node, Repeat):
        return _add_repeat(states, node, then)
    return _new(states, _State(test=node, following=(then,)))


def _add_repeat(states: list[_State], node: Repeat, then: int) -> int:
    if node.most is None:
        loop = _new(states, _State())
        states[loop].following = (_add(states, node.part, loop), then)
        first = loop
    else:
        first = then
        for _ in range(node.most - node.least):
            first = _new(states, _State(following=(_add(states, node.part, first), then)))
    for _ in range(node.least):
        before = len(states)
        first = _add(states, node.part, first)
        if len(states) == before:
            # Nothing, any number of times.
            break
    return first


def _new(states: list[_State], state: _State) -> int:
    if len(states) > MAX_STATES:
        raise NotUnderstoodError
    states.append(state)
    return len(states) - 1
