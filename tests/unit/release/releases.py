"""Strategies and small pieces for tests of the release format."""

from itertools import pairwise

from hypothesis import strategies as st

from annotation.pipeline.geometry import Rect
from annotation.pipeline.mentions.mention import ENTITY_TYPES, NOT_VISUAL
from annotation.pipeline.release.folder import (
    Phrase,
    ReleasedBox,
    ReleasedImage,
    Sentence,
    UnboxedChain,
)

chain_ids = st.one_of(st.integers(1, 30), st.integers(1, 10**18 - 1))
tokens = st.one_of(
    st.sampled_from(["man", "A", ".", "'s", "-LRB-", "/EN#1/people", "#", "<b>", "&amp;"]),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="[]"), min_size=1).filter(
        lambda text: text.split() == [text]
    ),
)
filenames = st.one_of(
    st.just("1000092795.jpg"),
    st.text(
        st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp", "Cn"], exclude_characters="/\\"),
        min_size=1,
    ).filter(lambda name: name not in (".", "..")),
)
image_names = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,20}", fullmatch=True)


@st.composite
def phrase_kinds(draw: st.DrawFn) -> tuple[tuple[str, ...], int]:
    if draw(st.booleans()):
        return (NOT_VISUAL,), 0
    types = draw(st.lists(st.sampled_from(ENTITY_TYPES), min_size=1, max_size=3, unique=True))
    return tuple(types), draw(chain_ids)


@st.composite
def sentences(draw: st.DrawFn) -> Sentence:
    words = draw(st.lists(tokens, min_size=1, max_size=12))
    edges = draw(st.lists(st.integers(0, len(words)), unique=True, max_size=8).map(sorted))
    phrases = []
    for start, end in pairwise(edges):
        if draw(st.booleans()):
            types, chain = draw(phrase_kinds())
            phrases.append(Phrase(start, end, types, chain))
    return Sentence(tuple(words), tuple(phrases))


def indents(lines: int) -> st.SearchStrategy[tuple[str, ...] | None]:
    """Unusual ones: the usual start with a tab, these with none or a space."""
    unusual = st.lists(st.sampled_from(["", " ", "  \t"]), min_size=lines, max_size=lines)
    return st.one_of(st.none(), unusual.map(tuple))


@st.composite
def boxes(draw: st.DrawFn, width: int, height: int) -> ReleasedBox:
    xs = sorted((draw(st.integers(1, width)), draw(st.integers(1, width))))
    ys = sorted((draw(st.integers(1, height)), draw(st.integers(1, height))))
    chains = draw(st.lists(chain_ids, min_size=1, max_size=3, unique=True))
    rect = Rect(xs[0], ys[0], xs[1], ys[1])
    return ReleasedBox(tuple(chains), rect, draw(indents(len(chains) + 8)))


unboxed_chains = st.builds(
    UnboxedChain, chain=chain_ids, scene=st.booleans(), nobndbox=st.booleans(), indents=indents(5)
)


@st.composite
def released_images(draw: st.DrawFn) -> ReleasedImage:
    width, height = draw(st.integers(1, 5000)), draw(st.integers(1, 5000))
    return ReleasedImage(
        image=draw(image_names),
        filename=draw(filenames),
        width=width,
        height=height,
        depth=draw(st.integers(1, 4)),
        sentences=tuple(draw(st.lists(sentences(), min_size=1, max_size=5))),
        boxes=tuple(draw(st.lists(boxes(width, height), max_size=4))),
        unboxed=tuple(draw(st.lists(unboxed_chains, max_size=3))),
    )
