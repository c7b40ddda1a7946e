"""A simulated reviewer: settles what the crowd could not, from the answer key."""

from annotation.pipeline.engine import apply, open_questions
from annotation.pipeline.geometry import iou
from annotation.pipeline.protocol.facts import (
    BoxAdd,
    BoxDelete,
    CaptionUnrelated,
    Decision,
    Fact,
    Join,
    NoBox,
    SendTo,
    Split,
    Target,
)
from annotation.pipeline.protocol.settings import Settings
from annotation.pipeline.protocol.state import (
    BEFORE_BOXES,
    NOBODY,
    Chain,
    ImageState,
    Phase,
    accepted_boxes,
    find_chain,
    representative,
)
from annotation.pipeline.review.doubts import chains_concerned
from annotation.simulation.answer_key import TIGHT, AnswerKey

# The reason for taking up a chain that is not in review.
LEFT_OPEN = "the crowd left it open"


def review(
    state: ImageState, key: AnswerKey, settings: Settings, *, crowd_is_done: bool = False
) -> list[Decision]:
    """Return the decisions that settle every chain and caption of an image that is in review.

    What the crowd has settled stays as it is, except a chain that is the other half of one in
    review. If the crowd is done, chains with questions that it left open are settled as well; all
    that can be left then are mentions without a chain yet, which no review decision places.
    """
    desk = _Desk(state, key, settings)
    for caption in state.flagged_captions:
        unrelated = caption in key.unrelated
        desk.decide(CaptionUnrelated(reviewer=NOBODY, caption=caption, unrelated=unrelated))
    desk.settle_all()
    while crowd_is_done and desk.take_up_open():
        desk.settle_all()
    return desk.decisions


class _Desk:
    """The image as it is after the decisions so far."""

    def __init__(self, state: ImageState, key: AnswerKey, settings: Settings) -> None:
        self.state = state
        self.key = key
        self.settings = settings
        self.decisions: list[Decision] = []
        self._taken_up: set[int] = set()

    def take_up_open(self) -> bool:
        """Put chains that wait for the crowd into review, each once; tell if there were any."""
        waiting = {
            chain.number
            for question in open_questions(self.state)
            for chain in chains_concerned(self.state, question)
            if chain.mentions
        }
        new = sorted(waiting - self._taken_up)
        self._taken_up.update(new)
        for number in new:
            self.decide(
                SendTo(reviewer=NOBODY, chain=number, target=Target.REVIEW, reason=LEFT_OPEN)
            )
        return bool(new)

    def settle_all(self) -> None:
        for chain in self.state.chains:
            if chain.phase is Phase.REVIEW and chain.mentions:
                self.settle(chain.number)

    def decide(self, decision: Decision) -> None:
        number = self.state.facts + 1
        self.state = apply(self.state, Fact(number=number, settings=self.settings, body=decision))
        self.decisions.append(decision)

    def settle(self, number: int) -> None:
        """Make a chain, and any chains split off it, match the answer key."""
        chain = find_chain(self.state, number)
        if chain is None:
            return  # joined with another by now
        parts = [chain.number, *self._split(chain)]
        for part in parts:
            self._box(self._join(part))

    def _split(self, chain: Chain) -> list[int]:
        """Take out the mentions of other objects; return their new chains."""
        own = self._thing(chain)
        others = dict.fromkeys(self.key.chain_of[n] for n in chain.mentions)
        del others[own]
        parts = []
        for thing in others:
            leaving = tuple(n for n in chain.mentions if self.key.chain_of[n] == thing)
            known = {c.number for c in self.state.chains}
            self.decide(Split(reviewer=NOBODY, chain=chain.number, mentions=leaving))
            parts += [c.number for c in self.state.chains if c.number not in known]
        return parts

    def _join(self, number: int) -> int:
        """Join all chains of the same object; return the resulting number."""
        chain = self._chain(number)
        thing = self._thing(chain)
        same = [
            other.number
            for other in self.state.chains
            if other.mentions
            and other.phase not in BEFORE_BOXES
            and {self.key.chain_of[n] for n in other.mentions} == {thing}
        ]
        if len(same) < 2:
            return number
        self.decide(Join(reviewer=NOBODY, chains=tuple(same)))
        return min(same)

    def _box(self, number: int) -> None:
        """Keep the chain's tight boxes, draw the missing ones, and declare the chain done."""
        thing = self._thing(self._chain(number))
        wanted = list(self.key.rects_of(thing))
        if not wanted:
            scene, nobndbox = self.key.flags_of(thing)
            self.decide(NoBox(reviewer=NOBODY, chain=number, scene=scene, nobndbox=nobndbox))
            return
        for box in accepted_boxes(self.state, number):
            fitting = max(wanted, key=lambda rect: iou(rect, box.rect), default=None)
            if fitting is not None and iou(fitting, box.rect) >= TIGHT:
                wanted.remove(fitting)
            else:
                self.decide(BoxDelete(reviewer=NOBODY, box=box.number))
        for rect in wanted:
            self.decide(BoxAdd(reviewer=NOBODY, chain=number, rect=rect))
        self.decide(SendTo(reviewer=NOBODY, chain=number, target=Target.COMPLETE))

    def _chain(self, number: int) -> Chain:
        chain = find_chain(self.state, number)
        assert chain is not None  # it is in review, or was made here
        return chain

    def _thing(self, chain: Chain) -> int:
        """Return the gold chain of the chain's representative mention."""
        return self.key.chain_of[representative(self.state, chain.mentions).number]
