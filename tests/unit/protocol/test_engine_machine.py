"""Whatever happens to an image, in whatever order, certain things hold."""

from random import Random

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)
from msgspec.structs import replace

from annotation.pipeline.captions import Caption
from annotation.pipeline.engine import apply, begin, counts, fold, open_questions
from annotation.pipeline.geometry import Rect, rect_problem
from annotation.pipeline.mentions.mention import NOT_VISUAL, Mention
from annotation.pipeline.protocol.facts import (
    Body,
    BoxAdd,
    BoxAdjust,
    BoxDelete,
    CaptionUnrelated,
    Decision,
    Doubt,
    Fact,
    FactRefusedError,
    FixSpan,
    Join,
    Judgment,
    NoBox,
    Retype,
    SendTo,
    Split,
    Target,
    Undo,
)
from annotation.pipeline.protocol.independence import may_answer
from annotation.pipeline.protocol.questions import BOX, Question, Stage, question_from_key
from annotation.pipeline.protocol.settings import Settings
from annotation.pipeline.protocol.stage_spec import spec_of
from annotation.pipeline.protocol.state import (
    SETTLED,
    BoxStatus,
    ImageState,
    Phase,
    chain_of,
    decode_state,
    encode_state,
    find_box,
    find_chain,
    unplaced,
)
from tests.unit.protocol.state_invariants import (
    check_flags,
    check_no_doubted_vote_counts,
    check_open_questions,
)

WIDTH, HEIGHT = 20, 10
FRESH = 999
WORDS = ("red", "man", "hat", "Man", "dog")
TYPES = (("people",), ("other",), ("people", "other"), ("scene",), (NOT_VISUAL,))

small = st.integers(1, 9)
workers = st.integers(1, 5)
rects = st.sampled_from(
    [Rect(1, 1, 20, 10), Rect(2, 2, 9, 9), Rect(5, 1, 5, 1), Rect(1, 1, 21, 10), Rect(4, 4, 3, 5)]
)
some_mentions = st.lists(small, max_size=3).map(tuple)
decisions: st.SearchStrategy[Decision] = st.one_of(
    st.builds(FixSpan, st.just(1), small, st.integers(-1, 3), st.integers(0, 4)),
    st.builds(
        Retype, st.just(1), small, st.sampled_from([*TYPES, (), ("cat",), ("people", NOT_VISUAL)])
    ),
    st.builds(
        Split, st.just(1), small, some_mentions, st.lists(st.integers(1, 3), max_size=1).map(tuple)
    ),
    st.builds(Join, st.just(1), st.lists(small, max_size=3).map(tuple)),
    st.builds(BoxAdd, st.just(1), small, rects),
    st.builds(BoxAdjust, st.just(1), st.integers(1, 4), rects),
    st.builds(BoxDelete, st.just(1), st.integers(1, 4)),
    st.builds(NoBox, st.just(1), small, st.booleans(), st.booleans()),
    st.builds(CaptionUnrelated, st.just(1), st.integers(0, 4), st.booleans()),
    st.builds(SendTo, st.just(1), small, st.sampled_from(Target)),
)
setting_versions = st.builds(
    Settings,
    version=st.integers(1, 9),
    nobox_votes=st.integers(1, 3),
    coverage_votes=st.integers(1, 3),
    entries_limit=st.integers(1, 4),
    bad_boxes_limit=st.integers(1, 4),
    unrelated_flags=st.integers(1, 3),
)


@st.composite
def images(draw: st.DrawFn) -> ImageState:
    """Draw 2 to 4 captions with up to 7 mentions of one or two words."""
    captions: list[Caption] = []
    mentions: list[Mention] = []
    for number in range(1, draw(st.integers(2, 4)) + 1):
        tokens: list[str] = []
        for _ in range(draw(st.integers(0, min(3, 7 - len(mentions))))):
            start = len(tokens)
            tokens += draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=2))
            types = draw(st.sampled_from(TYPES))
            mentions.append(Mention(len(mentions) + 1, number, start, len(tokens), types))
        captions.append(Caption(number, (*tokens, ".")))
    return begin(captions, mentions, width=WIDTH, height=HEIGHT, settings=Settings())


def valid_answer(question: Question, pick: int) -> tuple[str, Rect | None]:
    answers = spec_of(question.stage).answers
    answer = answers[pick % len(answers)]
    draws = question.stage is Stage.DRAWING and answer == BOX
    return answer, Rect(2, 2, 9, 9) if draws else None


class Image(RuleBasedStateMachine):
    """An image to which anything may happen."""

    def __init__(self) -> None:
        super().__init__()
        self.settings = Settings()
        self.facts: list[Fact] = []
        self.asked: list[Question] = []

    @initialize(image=images())
    def begin(self, image: ImageState) -> None:
        self.start = self.state = image

    def fact(self, body: Body) -> None:
        """Apply a fact; states are frozen, so one that is refused leaves no trace."""
        fact = Fact(self.state.facts + 1, self.settings, body)
        try:
            after = apply(self.state, fact)
        except FactRefusedError:
            return
        assert after.next_chain >= self.state.next_chain
        assert after.next_box >= self.state.next_box
        if not isinstance(body, Undo):
            known = {chain.number for chain in self.state.chains}
            new = {chain.number for chain in after.chains} - known
            assert all(number >= self.state.next_chain for number in new)
            boxes = {box.number for box in self.state.boxes}
            drawn = {box.number for box in after.boxes} - boxes
            assert all(number >= self.state.next_box for number in drawn)
        self.facts.append(fact)
        self.state = after
        self.asked += [q for q in open_questions(after) if q not in self.asked]

    # What happens

    @precondition(lambda self: bool(open_questions(self.state)))
    @rule(which=st.integers(0, 99), pick=st.integers(0, 5), worker=workers)
    def answer(self, which: int, pick: int, worker: int) -> None:
        questions = open_questions(self.state)
        question = questions[which % len(questions)]
        self._answer(question, worker, pick)

    @precondition(lambda self: bool(open_questions(self.state)))
    @rule(which=st.integers(0, 99), pick=st.integers(0, 5))
    def answer_afresh(self, which: int, pick: int) -> None:
        questions = open_questions(self.state)
        self._answer(questions[which % len(questions)], 10 + self.state.facts, pick)

    @precondition(lambda self: bool(open_questions(self.state)))
    @rule(
        which=st.integers(0, 99),
        pick=st.integers(0, 5),
        cut=st.lists(small, max_size=1),
        unrelated=st.lists(st.integers(1, 4), max_size=1),
    )
    def answer_and_report(
        self, which: int, pick: int, cut: list[int], unrelated: list[int]
    ) -> None:
        questions = open_questions(self.state)
        question = questions[which % len(questions)]
        answer, rect = valid_answer(question, pick)
        worker = 10 + self.state.facts
        self.fact(Judgment(worker, question, answer, rect, tuple(cut), tuple(unrelated)))

    @precondition(lambda self: bool(self.asked))
    @rule(which=st.integers(0, 99), pick=st.integers(0, 5), worker=workers)
    def answer_late(self, which: int, pick: int, worker: int) -> None:
        question = self.asked[which % len(self.asked)]
        answer, rect = valid_answer(question, pick)
        judgment = Judgment(worker, question, answer, rect)
        before, counted = self.state, counts(self.state, judgment)
        self.fact(judgment)
        if not counted:
            assert _at(self.state, before.facts) == before

    @precondition(lambda self: any(isinstance(f.body, Judgment) for f in self.facts))
    @rule(which=st.integers(0, 99))
    def doubt(self, which: int) -> None:
        judged = [fact.number for fact in self.facts if isinstance(fact.body, Judgment)]
        self.fact(Doubt(judged[which % len(judged)]))

    @rule(decision=decisions)
    def decide(self, decision: Decision) -> None:
        before = self.state
        self.fact(decision)
        if self.state is not before:
            undo = Fact(self.state.facts + 1, self.settings, Undo(1, self.state.facts))
            assert _without_counters(apply(self.state, undo)) == _without_counters(before)

    @precondition(lambda self: bool(self.state.chains))
    @rule(which=st.integers(0, 99), where=st.sampled_from(Target))
    def send(self, which: int, where: Target) -> None:
        chain = self.state.chains[which % len(self.state.chains)]
        self.decide(decision=SendTo(1, chain.number, where))

    @precondition(lambda self: bool(self.state.decisions))
    @rule(which=st.integers(0, 99))
    def undo(self, which: int) -> None:
        decision = self.state.decisions[which % len(self.state.decisions)]
        self.fact(Undo(1, decision.fact))

    @rule(number=st.integers(1, 20))
    def undo_anything(self, number: int) -> None:
        self.fact(Undo(1, number))

    @rule(version=setting_versions)
    def change_settings(self, version: Settings) -> None:
        self.settings = version

    def _answer(self, question: Question, worker: int, pick: int) -> None:
        answer, rect = valid_answer(question, pick)
        judgment = Judgment(worker, question, answer, rect)
        assert counts(self.state, judgment) == may_answer(self.state, question, worker)
        self.fact(judgment)

    # What holds

    @invariant()
    def every_visual_mention_has_one_chain_or_waits(self) -> None:
        placed = [number for chain in self.state.chains for number in chain.mentions]
        waiting = [mention.number for mention in unplaced(self.state)]
        visual = [mention.number for mention in self.state.mentions if mention.is_visual]
        assert sorted(placed + waiting) == sorted(visual)

    @invariant()
    def chains_are_sound(self) -> None:
        for chain in self.state.chains:
            assert chain.mentions
            assert list(chain.mentions) == sorted(chain.mentions)
            assert chain.number < self.state.next_chain
            assert bool(chain.review) == (chain.phase is Phase.REVIEW)
            accepted = [
                box
                for box in self.state.boxes
                if chain.number in box.chains and box.status is BoxStatus.ACCEPTED
            ]
            if chain.phase in (Phase.COVERAGE, Phase.COMPLETE):
                assert accepted
            if chain.phase in (Phase.REQUIREMENT, Phase.NONVISUAL):
                assert not accepted
            for votes in (chain.verification, chain.requirement, chain.coverage):
                voters = [vote.worker for vote in votes]
                assert len(set(voters)) == len(voters)

    @invariant()
    def boxes_are_sound(self) -> None:
        for box in self.state.boxes:
            assert box.number < self.state.next_box
            assert rect_problem(box.rect, WIDTH, HEIGHT) is None
            if box.status in (BoxStatus.ACCEPTED, BoxStatus.PROPOSED):
                assert all(find_chain(self.state, number) for number in box.chains)
        for chain in self.state.chains:
            proposed = [
                box
                for box in self.state.boxes
                if chain.number in box.chains and box.status is BoxStatus.PROPOSED
            ]
            if chain.phase is Phase.QUALITY:
                assert len(proposed) == 1
            elif chain.phase is not Phase.REVIEW:
                assert not proposed

    @invariant()
    def questions_are_sound(self) -> None:
        questions = open_questions(self.state)
        keys = [question.key for question in questions]
        assert len(set(keys)) == len(keys)
        assert [question_from_key(key) for key in keys] == questions
        asked_of: list[int] = []
        for question in questions:
            if question.doubted:
                continue
            if question.stage is Stage.LINKS:
                mention, target = question.subject
                assert chain_of(self.state, mention) is None
                assert chain_of(self.state, target) is not None
                continue
            number = question.subject[0]
            if question.stage is Stage.QUALITY:
                box = find_box(self.state, number)
                assert box is not None
                assert box.status is BoxStatus.PROPOSED
                number = box.chains[0]
            chain = find_chain(self.state, number)
            assert chain is not None
            assert chain.phase not in SETTLED
            assert chain.phase is not Phase.REVIEW
            asked_of.append(number)
        assert len(set(asked_of)) == len(asked_of)

    @invariant()
    def open_questions_show_what_they_ask_about(self) -> None:
        check_open_questions(self.state)

    @invariant()
    def flags_follow_the_votes(self) -> None:
        check_flags(self.state)

    @invariant()
    def no_doubted_vote_counts(self) -> None:
        doubts = {fact.body.judgment for fact in self.facts if isinstance(fact.body, Doubt)}
        check_no_doubted_vote_counts(self.state, doubts)

    @invariant()
    def every_open_question_can_be_answered(self) -> None:
        for question in open_questions(self.state):
            for pick in range(len(spec_of(question.stage).answers)):
                answer, rect = valid_answer(question, pick)
                judgment = Judgment(FRESH, question, answer, rect)
                assert counts(self.state, judgment)
                fact = Fact(self.state.facts + 1, self.settings, judgment)
                after = apply(self.state, fact)
                assert _at(after, self.state.facts) != self.state

    @invariant()
    def finished_means_nothing_to_ask_and_nothing_to_review(self) -> None:
        if self.state.is_finished:
            assert not open_questions(self.state)
            assert not self.state.in_review
        elif not open_questions(self.state):
            assert self.state.in_review

    @invariant()
    def the_state_can_be_stored(self) -> None:
        text = encode_state(self.state)
        assert decode_state(text) == self.state

    def teardown(self) -> None:
        if hasattr(self, "start"):
            assert fold(self.start, self.facts) == self.state
            self._work_ends()

    def _work_ends(self) -> None:
        """Answering all that is open, by workers enough, settles all or sends it to review."""
        state, random = self.state, Random(self.state.facts)
        while questions := open_questions(state):
            for question in questions:
                answer, rect = valid_answer(question, random.randrange(6))
                judgment = Judgment(FRESH + state.facts, question, answer, rect)
                state = apply(state, Fact(state.facts + 1, self.settings, judgment))
            assert state.facts < self.state.facts + 2000
        assert not unplaced(state) or state.flagged_captions
        for chain in state.chains:
            assert state.flagged_captions or chain.phase in (*SETTLED, Phase.REVIEW)


def _at(state: ImageState, facts: int) -> ImageState:
    """Return the state with another count of facts, for comparing what else has changed."""
    return replace(state, facts=facts)


def _without_counters(state: ImageState) -> ImageState:
    """Return the state without the numbers that only ever grow."""
    return replace(state, facts=0, next_chain=0, next_box=0, link_round=0)


TestImage = Image.TestCase
TestImage.settings = settings(
    max_examples=25,
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
