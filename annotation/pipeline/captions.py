"""Captions and their tokens."""

import re

import msgspec


class Caption(msgspec.Struct, frozen=True):
    """One sentence about an image; `number` counts from 1 within the image."""

    number: int
    tokens: tuple[str, ...]

    @property
    def text(self) -> str:
        return " ".join(self.tokens)


# A bracket would end a mention in the release format, so tokens never hold one. These are the names
# that the Penn Treebank gives to brackets.
BRACKETS = {"[": "-LSB-", "]": "-RSB-"}

# A clitic is a separate token, as in the public captions: man 's, does n't.
_CLITIC = r"(?:n[’']t|[’'](?:s|re|ve|ll|d|m))(?!\w)"
_CLITIC_IN_WORD = re.compile(r"(?<=\w)" + _CLITIC, re.IGNORECASE)
_TOKEN = re.compile(
    rf"""
    {_CLITIC}
    | -[LR][RS]B- | `` | '' | -- | \.\.\.   # brackets, quotes, dashes as the Treebank writes them
    | (?:[^\W\d_]\.){{2,}}                  # initials: U.S.
    | (?:Mr|Mrs|Ms|Dr|St|Jr|Sr)\.
    | \d+(?:[.,:/]\d+)*\w*(?:-\w+)*         # 3.5  1,000  10:30  1/2  2nd  5-gallon
    | \w+(?:[-&]\w+)*                       # words, with hyphens kept inside: t-shirt
    | \S                                    # any other sign stands alone
    """,
    re.VERBOSE | re.IGNORECASE,
)


def tokenise(text: str) -> tuple[str, ...]:
    """Split a caption into tokens as the public captions are split.

    A caption that is already tokenised (with spaces between tokens) comes back unchanged.

    >>> tokenise("A man's dog isn't here.")
    ('A', 'man', "'s", 'dog', 'is', "n't", 'here', '.')
    """
    tokens = _TOKEN.findall(_CLITIC_IN_WORD.sub(r" \g<0>", text))
    return tuple(BRACKETS.get(token, token) for token in tokens)
