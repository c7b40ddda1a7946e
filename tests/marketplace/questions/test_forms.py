"""QuestionForm: what it says, and what its schema refuses."""

import pytest

from marketplace.rules.questions import QuestionForm, parse_question
from marketplace.rules.questions.schema import QUESTION_FORMS
from marketplace.rules.questions.shapes import (
    Binary,
    Formatted,
    FreeText,
    List,
    Overview,
    Pattern,
    Question,
    Selection,
    Selections,
    Text,
    Title,
)
from tests.marketplace.questions.question_documents import choice, form, question, refused

BINARY = (
    "<Binary><MimeType><Type>image</Type><SubType>gif</SubType></MimeType>"
    "<DataURL>http://a.org/board.gif</DataURL><AltText>The board</AltText></Binary>"
)
EMBEDDED = (
    "<EmbeddedBinary><EmbeddedMimeType><Type>video</Type></EmbeddedMimeType>"
    "<DataURL>https://a.org/f.mp4</DataURL><AltText>A film</AltText><Width>400</Width>"
    "<Height>300</Height><ApplicationParameter><Name>n</Name><Value>v</Value>"
    "</ApplicationParameter></EmbeddedBinary>"
)


def read(*parts: str) -> QuestionForm:
    found = parse_question(form(*parts))
    assert isinstance(found, QuestionForm)
    return found


def answer_of(specification: str) -> FreeText | Selections:
    return read(question(specification)).questions[0].answer


def test_a_form_with_everything() -> None:
    content = (
        "<Title>Game</Title><Text>\n  1 &lt; 2\n</Text><List><ListItem>one</ListItem>"
        f"<ListItem>two</ListItem></List>{BINARY}{EMBEDDED}"
        "<FormattedContent><![CDATA[<p>Bold: <b>b</b></p>]]></FormattedContent>"
    )
    found = read(
        question(name="first", content=content),
        f"<Overview>{content}</Overview>",
        question(choice("ab"), name="second", required=True),
    )
    image = Binary(kind="image", subtype="gif", url="http://a.org/board.gif", alt="The board")
    film = Binary(
        kind="video",
        subtype="",
        url="https://a.org/f.mp4",
        alt="A film",
        embedded=True,
        width="400",
        height="300",
        parameters=(("n", "v"),),
    )
    contents = (
        Title(text="Game"),
        Text(text="1 < 2"),
        List(items=("one", "two")),
        image,
        film,
        Formatted(html="<p>Bold: <b>b</b></p>"),
    )
    second = Question(
        identifier="second",
        number=2,
        content=(Text(text="Why?"),),
        is_required=True,
        answer=Selections(
            choices=(
                Selection(identifier="a", label=Text(text="The a")),
                Selection(identifier="b", label=Text(text="The b")),
            )
        ),
    )
    first = Question(identifier="first", number=1, content=contents, answer=FreeText())
    assert found.parts == (first, Overview(content=contents), second)
    assert (second.field, second.other_field) == ("answer-2", "answer-2-other")


@pytest.mark.parametrize("namespace", QUESTION_FORMS)
def test_both_namespaces_are_read(namespace: str) -> None:
    assert isinstance(parse_question(form(question(), namespace=namespace)), QuestionForm)


def test_free_text_with_constraints() -> None:
    found = answer_of(
        '<FreeTextAnswer><Constraints><IsNumeric minValue="-5" maxValue="999"/>'
        '<Length minLength="0" maxLength="3"/><AnswerFormatRegex regex="\\S"/>'
        '<AnswerFormatRegex regex="^1" errorText="Begin with 1." flags="i"/></Constraints>'
        "<DefaultText> 12</DefaultText><NumberOfLinesSuggestion>3</NumberOfLinesSuggestion>"
        "</FreeTextAnswer>"
    )
    assert found == FreeText(
        numeric=True,
        min_value=-5,
        max_value=999,
        min_length=0,
        max_length=3,
        patterns=(
            Pattern(regex="\\S", error_text="Invalid input supplied."),
            Pattern(regex="^1", error_text="Begin with 1.", ignore_case=True),
        ),
        default_text=" 12",
        lines=3,
    )


def test_a_choice_with_counts_style_and_another_answer() -> None:
    before = (
        "<MinSelectionCount>0</MinSelectionCount><MaxSelectionCount>3</MaxSelectionCount>"
        "<StyleSuggestion>checkbox</StyleSuggestion>"
    )
    other = "<OtherSelection><DefaultText>none</DefaultText></OtherSelection>"
    found = answer_of(choice("ab", before=before, other=other))
    assert isinstance(found, Selections)
    assert (found.min_count, found.max_count, found.style) == (0, 3, "checkbox")
    assert found.other == FreeText(default_text="none")


def test_selections_of_each_kind() -> None:
    labels = f"<Text>t</Text>|{BINARY}|<FormattedContent>&lt;b&gt;f&lt;/b&gt;</FormattedContent>"
    listed = "".join(
        f"<Selection><SelectionIdentifier>{number}</SelectionIdentifier>{label}</Selection>"
        for number, label in enumerate(labels.split("|"))
    )
    found = answer_of(f"<SelectionAnswer><Selections>{listed}</Selections></SelectionAnswer>")
    assert isinstance(found, Selections)
    kinds = [type(selection.label) for selection in found.choices]
    assert kinds == [Text, Binary, Formatted]


def free(constraints: str) -> str:
    return question(f"<FreeTextAnswer><Constraints>{constraints}</Constraints></FreeTextAnswer>")


def counted(before: str) -> str:
    return question(choice("ab", before=before))


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ("", ["'QuestionForm' is not complete", "Overview", "Question"]),
        ("<Overview><Text>t</Text></Overview>", ["'QuestionForm' is not complete", "Question"]),
        ("<Overview/>", ["'Overview' is not complete", "Title", "FormattedContent"]),
        ("<Other/>", ["starting with element 'Other'", ":Question"]),
        ("<Question/>", ["'Question' is not complete", ":QuestionIdentifier"]),
        (question(name=" "), ["QuestionIdentifier", "at least one character"]),
        (question() + question(), ["Duplicate value 'q' of element 'QuestionIdentifier'"]),
        (question(choice("aba")), ["Duplicate value 'a' of element 'SelectionIdentifier'"]),
        (question().replace("false", "no"), ["'IsRequired'", "true, false"]),
        (question(""), ["'AnswerSpecification' is not complete", ":FreeTextAnswer"]),
        (question("<FreeTextAnswer/><FreeTextAnswer/>"), ["No child element is expected"]),
        (
            question("<FileUploadAnswer/>"),
            ["starting with element 'FileUploadAnswer'", ":SelectionAnswer"],
        ),
        (question(content="<Application/>"), ["starting with element 'Application'"]),
        (question(content="<Text>a <b>b</b></Text>"), ["'Text' takes text only"]),
        (question(content="<Text id='x'>a</Text>"), ["Attribute 'id'", "'Text'"]),
        (question(content="<List/>"), ["'List' is not complete", ":ListItem"]),
        (question(content=BINARY.replace("image", "text")), ["'Type'", "image, audio, video"]),
        (question(content=BINARY.replace("http:", "ftp:")), ["'DataURL'", "http://"]),
        (question(content=BINARY.replace("http:", "javascript:")), ["'DataURL'"]),
        (question(content=EMBEDDED.replace("<Width>400</Width>", "")), ["'Height'", ":Width"]),
        (question().replace("</Question>", "<More/></Question>"), ["element 'More'"]),
        (question("<FreeTextAnswer><More/></FreeTextAnswer>"), ["element 'More'"]),
        (free("<Length/><IsNumeric/>"), ["starting with element 'IsNumeric'"]),
        (free('<IsNumeric minValue="1.5"/>'), ["IsNumeric/@minValue", "an integer"]),
        (free('<IsNumeric minValue="2" maxValue="1"/>'), ["IsNumeric/@maxValue", "less than 2"]),
        (free("<IsNumeric>1</IsNumeric>"), ["'IsNumeric' must be empty"]),
        (free('<Length minLength="-1"/>'), ["Length/@minLength", "at least 0"]),
        (free('<Length maxLength="0"/>'), ["Length/@maxLength", "at least 1"]),
        (free('<Length max="1"/>'), ["Attribute 'max'"]),
        (free("<AnswerFormatRegex/>"), ["Attribute 'regex' must appear"]),
        (free('<AnswerFormatRegex regex="a" flags="g"/>'), ["@flags", "[i]"]),
        (
            question(
                "<FreeTextAnswer><NumberOfLinesSuggestion>0</NumberOfLinesSuggestion>"
                "</FreeTextAnswer>"
            ),
            ["NumberOfLinesSuggestion", "at least 1"],
        ),
        (question(choice("")), ["'Selections' is not complete", ":Selection"]),
        (counted("<MaxSelectionCount>0</MaxSelectionCount>"), ["MaxSelectionCount", "at least 1"]),
        (counted("<MinSelectionCount>2</MinSelectionCount>"), ["MinSelectionCount", "no more"]),
        (
            counted(
                "<MinSelectionCount>3</MinSelectionCount><MaxSelectionCount>3</MaxSelectionCount>"
            ),
            ["MinSelectionCount", "2 selections"],
        ),
        (
            counted(
                "<MaxSelectionCount>2</MaxSelectionCount><MinSelectionCount>1</MinSelectionCount>"
            ),
            ["starting with element 'MinSelectionCount'", ":Selections"],
        ),
        (counted("<StyleSuggestion>slider</StyleSuggestion>"), ["StyleSuggestion", "combobox"]),
        (
            counted(
                "<MaxSelectionCount>2</MaxSelectionCount>"
                "<StyleSuggestion>radiobutton</StyleSuggestion>"
            ),
            ["StyleSuggestion", "more than one"],
        ),
    ],
)
def test_what_the_schema_refuses(part: str, words: list[str]) -> None:
    with refused("XMLParseError", *words):
        parse_question(form(part))


def test_bad_formatted_content_has_its_own_code() -> None:
    content = "<FormattedContent><![CDATA[<p>never closed]]></FormattedContent>"
    with refused("XHTMLParseError", "mismatched tag"):
        parse_question(form(question(content=content)))
