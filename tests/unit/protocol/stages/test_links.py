"""Stage 1, Coreference Links."""

from annotation.pipeline.protocol.facts import Retype, SendTo, Target
from annotation.pipeline.protocol.state import Phase, find_box
from tests.unit.protocol.images import REVIEWER, Session


def test_the_first_mention_of_a_type_starts_a_chain_without_a_question() -> None:
    session = Session("[people A man] on [scene a street] with [notvisual a view] .")
    assert session.partition == [(1,), (2,)]
    assert all(not key.startswith("links") for key in session.open)


def test_only_chains_that_share_a_type_are_asked() -> None:
    session = Session("[people A man] has [animals a dog] .", "[people/other A clown] .")
    assert [key for key in session.open if key.startswith("links")] == ["links/3-1/1"]


def test_one_shared_type_is_enough() -> None:
    session = Session("[people A man] .", "[other A statue] .", "[people/other A clown] .")
    assert [k for k in session.open if k.startswith("links")] == ["links/3-1/1", "links/3-2/1"]


def test_mentions_of_one_caption_are_never_asked_against_each_other() -> None:
    session = Session("[people A man] and [people a boy] and [people a girl] .")
    assert session.partition == [(1,), (2,), (3,)]


def test_a_chain_with_a_member_of_the_captions_own_is_not_asked() -> None:
    session = Session("[people A man] .", "[people A guy] sees [people a boy] .")
    session.say("links/2-1/1", "yes")
    assert session.partition == [(1, 2), (3,)]


def test_yes_adds_to_the_chain_and_no_to_all_starts_a_new_one() -> None:
    captions = ("[people A man] and [people a boy] .", "[people Someone] .")
    session = Session(*captions)
    assert session.open == ["links/3-1/1", "links/3-2/1"]
    session.say("links/3-2/1", "yes")
    assert session.partition == [(1,), (2,)], "the turn closes when all are answered"
    session.say("links/3-1/1", "no")
    assert session.partition == [(1,), (2, 3)]

    session = Session(*captions)
    session.say("links/3-1/1", "no")
    session.say("links/3-2/1", "no")
    assert session.partition == [(1,), (2,), (3,)]


def test_the_longest_mention_stands_for_its_chain_and_of_equals_the_earliest() -> None:
    session = Session("[people A man] .", "[people A tall man] .", "[people One man] .")
    session.say("links/2-1/1", "yes")
    assert session.open == ["links/3-2/1"]

    session = Session("[people A man] .", "[people A boy] .", "[people One man] .")
    session.say("links/2-1/1", "yes")
    assert session.open == ["links/3-1/1"]


def test_longest_counts_characters_not_words() -> None:
    session = Session("[people A b c] .", "[people Firefighters] .", "[people One man] .")
    session.say("links/2-1/1", "yes")
    assert session.open == ["links/3-2/1"]


def test_turns_go_by_caption_then_token_not_by_number() -> None:
    session = Session("[people A man] .", "[people A guy] .", "[people Someone] .")
    assert session.open == ["links/2-1/1"], "mention 3 waits for mention 2"
    session.say("links/2-1/1", "no")
    assert session.open == ["links/3-1/1", "links/3-2/1"]


def test_mentions_of_unrelated_types_run_side_by_side() -> None:
    session = Session(
        "[people A man] has [animals a dog] .",
        "[people A guy] has [animals a puppy] .",
        "[people/animals A centaur] .",
    )
    assert session.open == ["links/3-1/1", "links/4-2/1"]
    session.say("links/3-1/1", "no")
    assert session.open == ["links/4-2/1"], "the centaur waits for every elder that shares a type"
    session.say("links/4-2/1", "yes")
    assert [key for key in session.open if key.startswith("links")] == [
        "links/5-1/1",
        "links/5-3/1",
        "links/5-4/1",
    ]


def test_yes_to_two_chains_joins_them() -> None:
    session = Session("[people A man] .", "[people A guy] .", "[people Someone] .")
    session.say("links/2-1/1", "no")
    session.say("links/3-1/1", "yes")
    session.say("links/3-2/1", "yes")
    assert session.partition == [(1, 2, 3)]
    assert session.state.chains[0].number == 1, "the earliest keeps its number"
    assert not session.state.in_review


def test_yes_to_two_chains_joins_the_earliest_if_two_mentions_of_a_caption_would_meet() -> None:
    session = Session("[people A man] and [people a guy] .", "[people Someone] .")
    session.say("links/3-1/1", "yes")
    session.say("links/3-2/1", "yes")
    assert session.partition == [(1, 3), (2,)]
    assert not session.state.in_review


def test_yes_to_a_chain_that_has_since_taken_one_of_the_same_caption_starts_a_new_one() -> None:
    # The two mentions of caption 2 share no type, so their turns run side by side.
    session = Session("[people/other A clown] .", "[people A man] and [other a statue] .")
    session.say("links/2-1/1", "yes")
    session.say("links/3-1/1", "yes")
    assert session.partition == [(1, 2), (3,)]


def test_a_chain_leaves_linking_when_no_mention_to_come_shares_a_type() -> None:
    session = Session("[people A man] has [animals a dog] .", "[people A guy] .")
    assert session.chain(1).phase is Phase.LINKING
    assert session.chain(2).phase is Phase.REQUIREMENT
    session.say("links/3-1/1", "no")
    assert session.chain(1).phase is Phase.DRAWING


def test_a_late_answer_to_a_closed_turn_is_stored_and_not_counted() -> None:
    session = Session("[people A man] .", "[people A guy] .")
    session.say("links/2-1/1", "no")
    before = session.partition
    session.say_late("links/2-1/1", "yes")
    assert session.partition == before
    assert session.state.facts == 2


def test_a_new_turn_asks_anew() -> None:
    session = Session("[people A man] .", "[people A guy] .")
    session.say("links/2-1/1", "yes")
    session.apply(SendTo(REVIEWER, 1, Target.LINKS))
    assert session.open == ["links/2-1/2"]
    session.say("links/2-1/2", "no")
    assert session.partition == [(1,), (2,)]


def test_a_pair_whose_target_was_taken_out_is_no_longer_asked() -> None:
    session = Session("[people A man] and [people a boy] .", "[people A guy] .")
    session.apply(Retype(REVIEWER, 1, ("notvisual",)))
    assert session.open == ["links/3-2/1"]
    session.say("links/3-2/1", "no")
    assert session.partition == [(2,), (3,)]


def test_an_open_turn_asks_about_every_chain_that_a_reviewer_has_made_of_one() -> None:
    session = Session("[people A man] .", "[people A tall guy] .", "[people Someone] .")
    session.say("links/2-1/1", "yes")
    assert session.open == ["links/3-2/1"]
    session.apply(SendTo(REVIEWER, 1, Target.LINKS))
    session.say("links/2-1/2", "no")
    session.say("links/3-2/1", "no")
    assert session.open == ["links/3-1/2"]
    session.say("links/3-1/2", "yes")
    assert session.partition == [(1, 3), (2,)]


def test_a_mention_that_joins_late_withdraws_the_box_that_waits_for_quality() -> None:
    session = Session("[people A man] .", "[notvisual A guy] .")
    session.say("drawing/1/1", "box")
    session.apply(Retype(REVIEWER, 2, ("people",)))
    session.say("links/2-1/1", "yes")
    box = find_box(session.state, 1)
    assert box is not None
    assert box.status.value == "removed"
    assert session.open == ["verification/1/1"]


def test_a_chain_in_review_stays_there_when_a_mention_joins_it_to_another() -> None:
    session = Session("[people A man] .", "[people A guy] .", "[notvisual Someone] .")
    session.say("links/2-1/1", "no")
    session.apply(SendTo(REVIEWER, 2, Target.REVIEW, "look here"))
    session.apply(Retype(REVIEWER, 3, ("people",)))
    session.say("links/3-1/1", "yes")
    session.say("links/3-2/1", "yes")
    assert session.partition == [(1, 2, 3)]
    assert session.chain(1).phase is Phase.REVIEW
    assert session.chain(1).review == "look here"


def test_the_earliest_chain_is_that_of_the_earliest_mention_whatever_stands_for_it() -> None:
    session = Session(
        "[people A man] and [people a boy] .", "[people A very tall man] .", "[people Someone] ."
    )
    session.say("links/3-1/1", "yes")
    session.say("links/3-2/1", "no")
    session.say("links/4-2/1", "yes")
    session.say("links/4-3/1", "yes")
    assert session.partition == [(1, 3, 4), (2,)]
