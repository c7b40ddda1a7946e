"""A qualification's test of two questions, and its answer key."""

_SCHEMAS = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas"


def _question(identifier: str) -> str:
    selections = "".join(
        f"<Selection><SelectionIdentifier>{one}</SelectionIdentifier><Text>{one}</Text></Selection>"
        for one in ("left", "right")
    )
    return (
        f"<Question><QuestionIdentifier>{identifier}</QuestionIdentifier>"
        "<IsRequired>true</IsRequired>"
        "<QuestionContent><Text>Which?</Text></QuestionContent><AnswerSpecification>"
        f"<SelectionAnswer><Selections>{selections}</Selections></SelectionAnswer>"
        "</AnswerSpecification></Question>"
    )


def _marks(identifier: str, right: str, score: int) -> str:
    return (
        f"<Question><QuestionIdentifier>{identifier}</QuestionIdentifier><AnswerOption>"
        f"<SelectionIdentifier>{right}</SelectionIdentifier><AnswerScore>{score}</AnswerScore>"
        "</AnswerOption></Question>"
    )


TEST = (
    f'<QuestionForm xmlns="{_SCHEMAS}/2017-11-06/QuestionForm.xsd">'
    f"{_question('first')}{_question('second')}</QuestionForm>"
)
# Left is right for the first question, right for the second; the score is a percentage.
KEY = (
    f'<AnswerKey xmlns="{_SCHEMAS}/2005-10-01/AnswerKey.xsd">'
    f"{_marks('first', 'left', 3)}{_marks('second', 'right', 1)}"
    "<QualificationValueMapping><PercentageMapping><MaximumSummedScore>4</MaximumSummedScore>"
    "</PercentageMapping></QualificationValueMapping></AnswerKey>"
)
