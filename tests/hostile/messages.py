"""What comes over the network: XML of questions and forms, JSON of notifications."""

from collections.abc import Callable

from tests.hostile.cases import Case, file_of
from tests.hostile.readers import answer_key, notification, question, submitted_form

NAMESPACE = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2005-10-01/"
FORM = f'<QuestionForm xmlns="{NAMESPACE}QuestionForm.xsd">'
ANSWERS = f'<QuestionFormAnswers xmlns="{NAMESPACE}QuestionFormAnswers.xsd">'


ANSWER = "<Answer><QuestionIdentifier>a</QuestionIdentifier><FreeText>"


def prepare() -> None:
    """Nothing is needed: these are read without a database."""


def laughs(levels: int = 9) -> str:
    """The document whose entities double as often as there are levels."""
    lines = ['<!ENTITY a0 "ha">']
    lines += [f'<!ENTITY a{n + 1} "{f"&a{n};" * 10}">' for n in range(levels)]
    return f"<!DOCTYPE x [{''.join(lines)}]>"


def document(name: str, content: Callable[[], str], *says: str) -> Case:
    return Case(f"question: {name}", file_of("question.xml", content), question, says or ("XML",))


def form(name: str, content: Callable[[], str]) -> Case:
    return Case(f"form: {name}", file_of("answer.xml", content), submitted_form, ("no fields",))


def event(name: str, content: Callable[[], str]) -> Case:
    return Case(
        f"notification: {name}", file_of("n.json", content), notification, ("notification",)
    )


CASES = [
    document("entities that grow", lambda: laughs() + FORM + "&a9;</QuestionForm>", "DOCTYPE"),
    document(
        "one large entity many times",
        lambda: f'<!DOCTYPE x [<!ENTITY a "{"a" * 30_000}">]>{FORM}' + "&a;" * 9_000,
        "DOCTYPE",
    ),
    document(
        "file as an entity",
        lambda: '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>' + FORM,
        "DOCTYPE",
    ),
    document("nested elements", lambda: FORM + "<a>" * 20_000, "nested"),
    document(
        "thousands of attributes",
        lambda: "<QuestionForm " + " ".join(f'a{n}=""' for n in range(6_000)) + "/>",
    ),
    document(
        "thousands of namespaces",
        lambda: "<QuestionForm " + " ".join(f'xmlns:a{n}="b"' for n in range(4_000)) + "/>",
    ),
    document("larger than 64 KB", lambda: FORM + "<a/>" * 1_000_000, "longer"),
    Case(
        "answer key: nested elements",
        file_of("key.xml", lambda: "<AnswerKey>" * 5_000),
        answer_key,
        ("nested",),
    ),
    form(
        "entities that grow",
        lambda: laughs() + ANSWERS + f"{ANSWER}&a9;</FreeText></Answer></QuestionFormAnswers>",
    ),
    form(
        "an entity of 30 KB, 3,000 times",
        lambda: (
            f'<!DOCTYPE x [<!ENTITY a "{"a" * 30_000}">]>{ANSWERS}{ANSWER}'
            + "&a;" * 3_000
            + "</FreeText></Answer></QuestionFormAnswers>"
        ),
    ),
    form(
        "a million nested elements",
        lambda: ANSWERS + "<a>" * 1_000_000 + "</a>" * 1_000_000 + "</QuestionFormAnswers>",
    ),
    form(
        "eight million empty elements",
        lambda: ANSWERS + "<a/>" * 8_000_000 + "</QuestionFormAnswers>",
    ),
    event("nested arrays", lambda: '{"Events": ' + "[" * 250_000),
    event(
        "unknown member with nested arrays", lambda: '{"x": ' + "[" * 125_000 + "]" * 125_000 + "}"
    ),
    event("integer of 5,000 digits", lambda: f'{{"EventDocVersion": {"1" * 5000}}}'),
    event(
        "80,000 events",
        lambda: (
            '{"EventDocVersion": "a", "EventDocId": "a", "CustomerId": "a", "Events": ['
            + ",".join(["{}"] * 80_000)
            + "]}"
        ),
    ),
]
