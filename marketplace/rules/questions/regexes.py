"""Reading JavaScript's regular expressions, without the `u` and `v` flags."""

import re
from array import array
from sys import byteorder
from typing import Literal

import msgspec

MAX_DEPTH = 50
_COUNT = re.compile(r"\{([0-9]{1,4})(,([0-9]{0,4}))?\}")
_HEX = re.compile(r"x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})")
_LAST = "\uffff"
_DIGITS = (("0", "9"),)
_WORD = (("0", "9"), ("A", "Z"), ("_", "_"), ("a", "z"))
_SPACE = (
    ("\t", "\r"),
    (" ", " "),
    ("\xa0", "\xa0"),
    ("\u1680", "\u1680"),
    ("\u2000", "\u200a"),
    ("\u2028", "\u2029"),
    ("\u202f", "\u202f"),
    ("\u205f", "\u205f"),
    ("\u3000", "\u3000"),
    ("\ufeff", "\ufeff"),
)
_LINE_ENDS = (("\n", "\n"), ("\r", "\r"), ("\u2028", "\u2029"))
_CONTROLS = {"t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r"}

Ranges = tuple[tuple[str, str], ...]


class NotUnderstoodError(ValueError):
    """This module does not support the expression."""


class Characters(msgspec.Struct, frozen=True):
    """One character inside some ranges or, if negated, outside all of them."""

    ranges: Ranges
    negated: bool = False

    def has(self, character: str, folded: str | None) -> bool:
        """Tell whether the character matches; `folded` is its folded form if case is ignored."""
        found = self._lists(character)
        if not found and folded is not None:
            # Also compare lower case, as a range such as a-z lists characters as written.
            found = self._lists(folded) or self._lists(folded.lower()[:1])
        return found != self.negated

    def _lists(self, character: str) -> bool:
        return any(first <= character <= last for first, last in self.ranges)


class Assertion(msgspec.Struct, frozen=True):
    kind: Literal["^", "$", "b", "B"]


class Concatenation(msgspec.Struct, frozen=True):
    parts: tuple["Node", ...]


class Alternatives(msgspec.Struct, frozen=True):
    ways: tuple["Node", ...]


class Repeat(msgspec.Struct, frozen=True):
    part: "Node"
    least: int
    most: int | None


Node = Characters | Assertion | Concatenation | Alternatives | Repeat


def code_units(text: str) -> str:
    """Return the text as JavaScript counts it: characters beyond 16 bits become two."""
    units = array("H")
    encoding = "utf-16-le" if byteorder == "little" else "utf-16-be"
    units.frombytes(text.encode(encoding, "surrogatepass"))
    return "".join(map(chr, units))


def fold(text: str) -> str:
    """Return the text in upper case, character by character, as JavaScript compares it."""
    return "".join(_upper(character) for character in text)


def is_word(character: str) -> bool:
    return any(first <= character <= last for first, last in _WORD)


def parse_regex(regex: str) -> Node:
    """Read an expression.

    >>> parse_regex("a?")
    Repeat(part=Characters(ranges=(('a', 'a'),), negated=False), least=0, most=1)
    """
    reader = _Reader(code_units(regex))
    node = reader.alternatives(0)
    if reader.place < len(reader.text):
        raise NotUnderstoodError
    return node


def _upper(character: str) -> str:
    upper = character.upper()
    if len(upper) != 1 or (ord(character) >= 128 > ord(upper)):
        return character
    return upper


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.place = 0

    @property
    def next(self) -> str:
        return self.text[self.place : self.place + 1]

    def take(self) -> str:
        character = self.next
        if not character:
            raise NotUnderstoodError
        self.place += 1
        return character

    def skip(self, text: str) -> bool:
        if self.text.startswith(text, self.place):
            self.place += len(text)
            return True
        return False

    def alternatives(self, depth: int) -> Node:
        if depth > MAX_DEPTH:
            raise NotUnderstoodError
        ways = [self.sequence(depth)]
        while self.skip("|"):
            ways.append(self.sequence(depth))
        return ways[0] if len(ways) == 1 else Alternatives(ways=tuple(ways))

    def sequence(self, depth: int) -> Node:
        parts: list[Node] = []
        while self.next not in ("", "|", ")"):
            parts.append(self.quantified(self.atom(depth)))
        return parts[0] if len(parts) == 1 else Concatenation(parts=tuple(parts))

    def quantified(self, part: Node) -> Node:
        count = _COUNT.match(self.text, self.place)
        if count:
            self.place = count.end()
            least = int(count[1])
            most = least if count[2] is None else int(count[3]) if count[3] else None
        elif self.next and self.next in "*+?":
            mark = self.take()
            least, most = int(mark == "+"), 1 if mark == "?" else None
        else:
            return part
        self.skip("?")
        if isinstance(part, Assertion) or (most is not None and most < least):
            raise NotUnderstoodError
        return Repeat(part=part, least=least, most=most)

    def atom(self, depth: int) -> Node:
        character = self.take()
        if character == "(":
            return self.group(depth)
        if character == "[":
            return self.character_class()
        if character == ".":
            return Characters(ranges=_LINE_ENDS, negated=True)
        if character == "^":
            return Assertion(kind="^")
        if character == "$":
            return Assertion(kind="$")
        if character == "\\":
            if self.skip("b"):
                return Assertion(kind="b")
            if self.skip("B"):
                return Assertion(kind="B")
            return Characters(ranges=self.escape())
        if character in "*+?":
            raise NotUnderstoodError
        if character == "{" and _COUNT.match(self.text, self.place - 1):
            raise NotUnderstoodError
        return Characters(ranges=((character, character),))

    def group(self, depth: int) -> Node:
        if self.next == "?" and not self.skip("?:"):
            raise NotUnderstoodError
        node = self.alternatives(depth + 1)
        if not self.skip(")"):
            raise NotUnderstoodError
        # Wrap the node: a group may be repeated even if its content may not.
        return Concatenation(parts=(node,))

    def escape(self) -> Ranges:
        """Read what follows a backslash."""
        number = _HEX.match(self.text, self.place)
        if number:
            self.place = number.end()
            character = chr(int(number[1] or number[2], 16))
            return ((character, character),)
        character = self.take()
        if character in "dD":
            return _DIGITS if character == "d" else _others(_DIGITS)
        if character in "wW":
            return _WORD if character == "w" else _others(_WORD)
        if character in "sS":
            return _SPACE if character == "s" else _others(_SPACE)
        if character in "123456789ck" or (character == "0" and self.next.isdigit()):
            raise NotUnderstoodError
        character = "\0" if character == "0" else _CONTROLS.get(character, character)
        return ((character, character),)

    def character_class(self) -> Node:
        negated = self.skip("^")
        ranges: list[tuple[str, str]] = []
        while not self.skip("]"):
            first = self.class_member()
            if self.next == "-" and self.text[self.place + 1 : self.place + 2] not in ("", "]"):
                self.take()
                low, high = _single(first), _single(self.class_member())
                if low > high:
                    raise NotUnderstoodError
                first = ((low, high),)
            ranges += first
        return Characters(ranges=tuple(ranges), negated=negated)

    def class_member(self) -> Ranges:
        character = self.take()
        if character != "\\":
            return ((character, character),)
        if self.skip("b"):
            return (("\b", "\b"),)
        return self.escape()


def _single(ranges: Ranges) -> str:
    """Return the only character in the ranges: a range must begin and end with one."""
    (first, last), *more = ranges
    if more or first != last:
        raise NotUnderstoodError
    return first


def _others(ranges: Ranges) -> Ranges:
    """Return the complement of the ranges, which must be in order."""
    edges = [chr(0)]
    for first, last in ranges:
        edges += [chr(ord(first) - 1), chr(ord(last) + 1)]
    edges.append(_LAST)
    return tuple(zip(edges[::2], edges[1::2], strict=True))
