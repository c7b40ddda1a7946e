"""An HTMLQuestion adapted to our frame: old pages post to, and load from, closed hosts."""

import re
from html import escape

# None of these matches past the next tag or for long. Pages come from strangers, and an expression
# that scans to the end of the text from ten thousand places takes half a minute.
_SUBMIT = re.compile(
    r"(?:https?:)?//(?:[a-z0-9-]+\.)*mturk\.com/+mturk/externalSubmit", re.IGNORECASE
)
_SUBMIT_HERE = re.compile(
    r"(<form\b[^<>]*\saction\s*=\s*[\"']?)/mturk/externalSubmit", re.IGNORECASE
)
_OLD_SCRIPT = re.compile(
    r"(?:https?:)?//[a-z0-9.-]{0,100}amazonaws\.com/[a-z0-9./_-]{0,100}externalHIT_v1\.js",
    re.IGNORECASE,
)
_CROWD_SCRIPT = re.compile(
    r"(?:https?:)?//assets\.crowd\.aws/crowd-html-elements(?:\.min)?\.js", re.IGNORECASE
)
_INPUT = re.compile(r"<input\b(?:[^<>\"']|\"[^<\"]*\"|'[^<']*')*>", re.IGNORECASE)
_IS_ASSIGNMENT = re.compile(
    r"\sname\s*=\s*(\"assignmentId\"|'assignmentId'|assignmentId(?=[\s/>]))"
)
_VALUE = re.compile(r"\svalue\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s\"'>]+)", re.IGNORECASE)


def page_for_frame(
    html: str, *, submit_url: str, assignment_id: str, old_script: str, crowd_script: str
) -> str:
    """Let a requester's page submit to us: its form's address, its assignmentId, its scripts."""
    html = _SUBMIT.sub(lambda _: submit_url, html)
    html = _SUBMIT_HERE.sub(lambda found: found[1] + submit_url, html)
    html = _OLD_SCRIPT.sub(lambda _: old_script, html)
    html = _CROWD_SCRIPT.sub(lambda _: crowd_script, html)
    return _INPUT.sub(lambda found: _with_assignment(found[0], assignment_id), html)


def _with_assignment(tag: str, assignment_id: str) -> str:
    if not _IS_ASSIGNMENT.search(tag):
        return tag
    bare = _VALUE.sub("", tag)
    return f'{bare[:6]} value="{escape(assignment_id)}"{bare[6:]}'
