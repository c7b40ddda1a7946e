"""The files of `Annotations/`: one element a line, one <object> a box or chain without box.

The fast path matches the layout that every release has. A file that differs is read line by line:
that accepts other white space and reports what is wrong, and where, with anything else. Nothing is
ever expanded: a document type declaration is refused, and only XML's five own escapes are known.
"""

import re
from itertools import takewhile

from annotation.pipeline.geometry import Rect, rect_problem
from annotation.pipeline.release.model import (
    LARGEST_NUMBER,
    NUMBER,
    Annotation,
    Indents,
    ReleasedBox,
    ReleasedImage,
    ReleaseError,
    UnboxedChain,
    shorten,
)

_HEAD = re.compile(
    rf"<annotation>\n\t<filename>([^<>&\n]+)</filename>\n\t<size>\n\t\t<width>({NUMBER})</width>\n"
    rf"\t\t<height>({NUMBER})</height>\n\t\t<depth>({NUMBER})</depth>\n\t</size>\n"
)
_OBJECT = re.compile(
    rf"\t<object>\n\t\t<name>({NUMBER}(?:</name>\n\t\t<name>{NUMBER})*)</name>\n"
    rf"(?:\t\t<bndbox>\n\t\t\t<xmin>({NUMBER})</xmin>\n\t\t\t<ymin>({NUMBER})</ymin>\n"
    rf"\t\t\t<xmax>({NUMBER})</xmax>\n\t\t\t<ymax>({NUMBER})</ymax>\n\t\t</bndbox>\n"
    r"|\t\t<scene>([01])</scene>\n\t\t<nobndbox>([01])</nobndbox>\n)\t</object>\n"
)
_BETWEEN_NAMES = "</name>\n\t\t<name>"
_TAIL = "</annotation>"
_MOST_SHOWN = 20
_CORNERS = ("xmin", "ymin", "xmax", "ymax")
_ESCAPES = {"&lt;": "<", "&gt;": ">", "&quot;": '"', "&apos;": "'", "&amp;": "&"}
# Neither a path nor anything that XML cannot hold: readers join this name to a folder.
_NO_FILENAME = re.compile(r"[/\\\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]")


def parse_annotation(xml: str) -> Annotation:
    """Read one annotation file; raise ReleaseError with the line if anything in it is wrong."""
    return _parse_usual(xml) or _LineReader(xml).annotation()


def format_annotation(image: ReleasedImage) -> str:
    """Return the image's file of `Annotations/`: boxes first, no line end after the last line."""
    problem = _filename_problem(image.filename) or next(
        filter(None, (_size_problem(n) for n in (image.width, image.height, image.depth))), None
    )
    if problem:
        raise ReleaseError(problem)
    lines = [
        "<annotation>",
        f"\t<filename>{_escape(image.filename)}</filename>",
        "\t<size>",
        f"\t\t<width>{image.width}</width>",
        f"\t\t<height>{image.height}</height>",
        f"\t\t<depth>{image.depth}</depth>",
        "\t</size>",
    ]
    for box in image.boxes:
        problem = _names_problem(box.chains) or rect_problem(box.rect, image.width, image.height)
        if problem:
            raise ReleaseError(problem)
        corners = zip(
            _CORNERS, (box.rect.xmin, box.rect.ymin, box.rect.xmax, box.rect.ymax), strict=True
        )
        elements = ["<object>", *(f"<name>{chain}</name>" for chain in box.chains), "<bndbox>"]
        elements += [f"<{corner}>{value}</{corner}>" for corner, value in corners]
        elements += ["</bndbox>", "</object>"]
        lines += _indent(elements, _box_indents(len(box.chains)), box.indents)
    for unboxed in image.unboxed:
        problem = _names_problem((unboxed.chain,))
        if problem:
            raise ReleaseError(problem)
        elements = [
            "<object>",
            f"<name>{unboxed.chain}</name>",
            f"<scene>{unboxed.scene:d}</scene>",
            f"<nobndbox>{unboxed.nobndbox:d}</nobndbox>",
            "</object>",
        ]
        lines += _indent(elements, _UNBOXED_INDENTS, unboxed.indents)
    lines.append(_TAIL)
    return "\n".join(lines)


_UNBOXED_INDENTS: Indents = ("\t", "\t\t", "\t\t", "\t\t", "\t")


def _box_indents(names: int) -> Indents:
    return ("\t", *["\t\t"] * (names + 1), *["\t\t\t"] * 4, "\t\t", "\t")


def _indent(elements: list[str], usual: Indents, indents: Indents | None) -> list[str]:
    if indents is not None and any(indent.strip(" \t") for indent in indents):
        raise ReleaseError(f"the indents {indents!r} contain more than spaces and tabs")
    # Indents kept from an object that has gained or lost a name since no longer fit it.
    chosen = usual if indents is None or len(indents) != len(usual) else indents
    return [indent + element for indent, element in zip(chosen, elements, strict=True)]


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _size_problem(number: int) -> str | None:
    if 1 <= number <= LARGEST_NUMBER:
        return None
    return f"the image's size contains {number}, which is not a number of pixels or channels"


def _filename_problem(filename: str) -> str | None:
    if not filename or filename in (".", "..") or _NO_FILENAME.search(filename):
        return f"{filename[:58]!a} is not a plain file name"
    return None


def _names_problem(chains: tuple[int, ...]) -> str | None:
    if not chains:
        return "an <object> has no <name>, and so no chain"
    for chain in chains:
        if not 1 <= chain <= LARGEST_NUMBER:
            return f"{chain} is not a chain id of an <object>"
    if len(set(chains)) != len(chains):
        more = ", …" if len(chains) > _MOST_SHOWN else ""
        shown = ", ".join(map(str, chains[:_MOST_SHOWN]))
        return f"an <object> names a chain twice: {shown}{more}"
    return None


def _parse_usual(xml: str) -> Annotation | None:
    """Read a file of the usual layout without any problem; None for all others."""
    head = _HEAD.match(xml)
    if head is None:
        return None
    filename, width, height, depth = head[1], int(head[2]), int(head[3]), int(head[4])
    if _filename_problem(filename) or not (width and height and depth):
        return None
    boxes: list[ReleasedBox] = []
    unboxed: list[UnboxedChain] = []
    position = head.end()
    while match := _OBJECT.match(xml, position):
        names, xmin, ymin, xmax, ymax, scene, nobndbox = match.groups()
        chains = tuple(map(int, names.split(_BETWEEN_NAMES)))
        if _names_problem(chains):
            return None
        if xmin is not None:
            rect = Rect(int(xmin), int(ymin), int(xmax), int(ymax))
            if rect_problem(rect, width, height):
                return None
            boxes.append(ReleasedBox(chains, rect))
        elif len(chains) == 1:
            unboxed.append(UnboxedChain(chains[0], scene == "1", nobndbox == "1"))
        else:
            return None
        position = match.end()
    if xml[position:] not in (_TAIL, _TAIL + "\n"):
        return None
    return Annotation(filename, width, height, depth, tuple(boxes), tuple(unboxed))


class _LineReader:
    """Reads one element a line, whatever white space stands round it, and knows the line."""

    def __init__(self, xml: str) -> None:
        self._lines = [
            (number, line.rstrip())
            for number, line in enumerate(xml.split("\n"), start=1)
            if line.strip()
        ]
        self._position = 0
        self._number = 1

    def annotation(self) -> Annotation:
        if self._peek().startswith("<?xml ") and self._peek().endswith("?>"):
            self._position += 1
        self._tag("<annotation>")
        filename = self._text("filename")
        self._refuse(_filename_problem(filename))
        self._tag("<size>")
        width, height, depth = (self._size(name) for name in ("width", "height", "depth"))
        self._tag("</size>")
        boxes: list[ReleasedBox] = []
        unboxed: list[UnboxedChain] = []
        while self._peek() == "<object>":
            self._object(width, height, boxes, unboxed)
        self._tag(_TAIL)
        if self._peek():
            self._position += 1
            self._number = self._lines[self._position - 1][0]
            raise self._error(f"there is more after {_TAIL}")
        return Annotation(filename, width, height, depth, tuple(boxes), tuple(unboxed))

    def _object(
        self, width: int, height: int, boxes: list[ReleasedBox], unboxed: list[UnboxedChain]
    ) -> None:
        first = self._position
        self._tag("<object>")
        names: list[int] = []
        while self._peek().startswith("<name>"):
            names.append(self._integer("name", "the chain id"))
        chains = tuple(names)
        self._refuse(_names_problem(chains))
        if self._peek() == "<bndbox>":
            self._tag("<bndbox>")
            xmin, ymin, xmax, ymax = (self._integer(name, "a box's edge") for name in _CORNERS)
            rect = Rect(xmin, ymin, xmax, ymax)
            self._refuse(rect_problem(rect, width, height))
            self._tag("</bndbox>")
            self._tag("</object>")
            indents = self._indents(first, _box_indents(len(chains)))
            boxes.append(ReleasedBox(chains, rect, indents))
        else:
            if len(chains) > 1:
                raise self._error("an <object> without <bndbox> has several <name>s")
            scene, nobndbox = self._flag("scene"), self._flag("nobndbox")
            self._tag("</object>")
            indents = self._indents(first, _UNBOXED_INDENTS)
            unboxed.append(UnboxedChain(chains[0], scene, nobndbox, indents))

    def _indents(self, first: int, usual: Indents) -> Indents | None:
        found = tuple(
            "".join(takewhile(" \t".__contains__, line))
            for _, line in self._lines[first : self._position]
        )
        return None if found == usual else found

    def _peek(self) -> str:
        """Return the next line without the white space round it; empty after the last."""
        if self._position == len(self._lines):
            return ""
        return self._lines[self._position][1].lstrip(" \t")

    def _next(self, expected: str) -> str:
        if self._position == len(self._lines):
            self._number = self._lines[-1][0] if self._lines else 1
            raise self._error(f"the file ends where {expected} is expected")
        line = self._peek()
        self._number = self._lines[self._position][0]
        self._position += 1
        if line.startswith("<!"):
            raise self._error("document type declarations and comments are not accepted")
        return line

    def _tag(self, tag: str) -> None:
        line = self._next(tag)
        if line != tag:
            raise self._error(f"expected {tag}, found {shorten(line)}")

    def _text(self, name: str) -> str:
        opening, closing = f"<{name}>", f"</{name}>"
        line = self._next(opening)
        text = line[len(opening) : -len(closing)]
        if line != f"{opening}{text}{closing}" or "<" in text or ">" in text:
            raise self._error(f"expected {opening}…{closing} on one line, found {shorten(line)}")
        plain = re.sub(r"&[^&;]*;?", lambda escape: _ESCAPES.get(escape[0], "\0"), text)
        if "\0" in plain:
            raise self._error(f"{shorten(text)} contains an escape other than {' '.join(_ESCAPES)}")
        return plain

    def _integer(self, name: str, meaning: str) -> int:
        text = self._text(name)
        if not re.fullmatch(NUMBER, text):
            raise self._error(f"{meaning} {shorten(text)} in <{name}> is not a number")
        return int(text)

    def _size(self, name: str) -> int:
        number = self._integer(name, "the size")
        self._refuse(_size_problem(number))
        return number

    def _flag(self, name: str) -> bool:
        text = self._text(name)
        if text not in ("0", "1"):
            raise self._error(f"<{name}> is {shorten(text)}; it must be 0 or 1")
        return text == "1"

    def _refuse(self, problem: str | None) -> None:
        if problem:
            raise self._error(problem)

    def _error(self, why: str) -> ReleaseError:
        return ReleaseError(why, line=self._number)
