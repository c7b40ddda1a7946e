"""Requesters' regular expressions, run in a number of steps that is known beforehand.

A form's expressions are JavaScript's; one party writes them, and they run on another party's text.
Python's engine backtracks, and a line of thirty characters can keep it busy for years. A
length limit does not help, and a timeout needs another process. So this module turns an expression
into states that all move along the text at once. The work is at most the expression's size times
the text's, and does not start if that is too much.

The result is None if an expression is not understood or cannot be run in this way (lookahead,
lookbehind, backreferences). Then the server does not know, and only the worker's browser checks the
answer, as on MTurk.
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
    """The number of steps left; all the expressions of a form share one budget."""

    def __init__(self, steps: int = MAX_STEPS) -> None:
        self.steps = steps

    def take(self, steps: int) -> bool:
        if steps > self.steps:
            return False
        self.steps -= steps
        return True


class _State(msgspec.Struct):
    """Leads to `following`: after a character if there is a test for one, else at once."""

    test: Characters | Assertion | None = None
    following: tuple[int, ...] = ()


def is_found(
    regex: str, text: str, *, ignore_case: bool = False, budget: Budget | None = None
) -> bool | None:
    """Tell whether the expression matches anywhere in the text; None if that is unknown.

    >>> is_found("^[a-c]+$", "abc"), is_found("^(a+)+$", "a" * 5000 + "b"), is_found("(?=a)", "a")
    (True, False, None)
    """
    budget = budget or Budget()
    try:
        # Building the states is work too, and wasted if there are too many.
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
    """Return all states that can be reached before reading the next character."""
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
    """Return an expression's states and the start state; state 0 is the end."""
    # The end state leads nowhere.
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
            # The part adds no states, so repeating it changes nothing.
            break
    return first


def _new(states: list[_State], state: _State) -> int:
    if len(states) > MAX_STATES:
        raise NotUnderstoodError
    states.append(state)
    return len(states) - 1
