"""The rule of trust, simulated: whom it wrongs, and how soon it finds those who answer at random.

Seeded, so that docs/trust.md can give its numbers.
"""

import time
from collections.abc import Iterator
from random import Random
from statistics import median, quantiles

from msgspec.structs import replace

from annotation.pipeline.questions import Stage
from annotation.pipeline.revoking import Work, doubtful
from annotation.pipeline.settings import CrowdSettings, DoubtSince, Settings
from annotation.pipeline.trust import Checked, Standing, Trust, follow
from annotation.simulation.crowd import QUALITY, TYPICAL

WORKERS = 10_000
CHECKS = 1_000
SOON = 200
# How often answers at random are right: one of two, one of three; and a box anywhere passes
# Quality as often as its judges err.
RANDOM = dict.fromkeys(Stage, 0.5) | {
    Stage.REQUIREMENT: 1 / 3,
    Stage.DRAWING: 1 - QUALITY[Stage.QUALITY],
}
SETTINGS = Settings()
BEGIN = {
    Trust.PROBATION: Standing(trust=Trust.PROBATION),
    Trust.TRUSTED: Standing(trust=Trust.TRUSTED),
}


def main() -> None:
    before = time.perf_counter()
    crowd = SETTINGS.crowd
    print(f"window {crowd.trust_window}, limit {crowd.trust_limit}, {WORKERS:,} workers each")
    print()
    print(f"trust lost, in % of workers, within {SOON} / {CHECKS} checks")
    print(f"{'stage':<14}{'average':>14}{'4 points less':>16}{'at the minimum':>17}")
    for stage in Stage:
        accuracies = (
            QUALITY[stage],
            QUALITY[stage] - TYPICAL.spread,
            SETTINGS.minimum_performance[stage],
        )
        cells = [f"{a:.2f} / {b:.1f}" for a, b in (lost_shares(stage, x) for x in accuracies)]
        print(f"{stage.value:<14}{cells[0]:>14}{cells[1]:>16}{cells[2]:>17}")
    print()
    print("end of probation, in %: trusted at the first chance / trusted in the end")
    print(f"{'stage':<14}{'average':>14}{'at the minimum':>17}{'at random':>14}")
    for stage in Stage:
        accuracies = (QUALITY[stage], SETTINGS.minimum_performance[stage], RANDOM[stage])
        cells = [f"{a:.1f} / {b:.1f}" for a, b in (probation_shares(stage, x) for x in accuracies)]
        print(f"{stage.value:<14}{cells[0]:>14}{cells[1]:>17}{cells[2]:>14}")
    print()
    print("checks until answers at random are found out: median / nine of ten")
    print(f"{'stage':<14}{'from the start':>16}{'after passing':>16}")
    for stage in Stage:
        cells = [delay(stage, good_checks) for good_checks in (0, 100)]
        print(f"{stage.value:<14}{cells[0]:>16}{cells[1]:>16}")
    print()
    share = crowd.check_share
    print(f"judgments doubted of one who turned, at {share:.0%} checks: % of those since they")
    print("turned, and how many from before; by the last check passed, and by the drop")
    for stage in Stage:
        cells = [doubts(stage, since) for since in (DoubtSince.LAST_PASSED, DoubtSince.DROP)]
        print(f"{stage.value:<14}{cells[0]:>16}{cells[1]:>16}")
    print()
    print(f"{time.perf_counter() - before:.0f} s")


def answers(seed: str, *stretches: tuple[float, int]) -> Iterator[bool]:
    """Yield answers that are right with an accuracy, so many times; then the next stretch."""
    random = Random(seed)
    for accuracy, count in stretches:
        for _ in range(count):
            yield random.random() < accuracy


def checks_until_lost(stage: Stage, given: Iterator[bool], begin: Trust) -> int | None:
    """Return the number of the check that ended trust; None if none did."""
    standing = BEGIN[begin]
    for number, right in enumerate(given, start=1):
        standing = follow(standing, Checked(right), stage, SETTINGS)
        if standing.trust is Trust.REVOKED:
            return number
    return None


def lost_shares(stage: Stage, accuracy: float) -> tuple[float, float]:
    """Return the percentages of workers who lose trust soon, and ever."""
    ends = [
        checks_until_lost(stage, answers(f"lost/{stage}/{n}", (accuracy, CHECKS)), Trust.TRUSTED)
        for n in range(WORKERS)
    ]
    lost = [end for end in ends if end is not None]
    soon = sum(end <= SOON for end in lost)
    return 100 * soon / WORKERS, 100 * len(lost) / WORKERS


def probation_shares(stage: Stage, accuracy: float) -> tuple[float, float]:
    first = ever = 0
    for n in range(WORKERS):
        standing = BEGIN[Trust.PROBATION]
        for right in answers(f"probation/{stage}/{n}", (accuracy, CHECKS)):
            standing = follow(standing, Checked(right), stage, SETTINGS)
            if standing.trust is not Trust.PROBATION:
                break
        passed = standing.trust is Trust.TRUSTED
        ever += passed
        first += passed and standing.now.checks == SETTINGS.crowd.probation_items
    return 100 * first / WORKERS, 100 * ever / WORKERS


def delay(stage: Stage, good_checks: int) -> str:
    """Return how many answers at random it takes after that many of an average worker's."""
    ends = []
    for n in range(WORKERS):
        stretches = ((QUALITY[stage], good_checks), (RANDOM[stage], CHECKS))
        end = checks_until_lost(stage, answers(f"delay/{stage}/{n}", *stretches), Trust.TRUSTED)
        if end is not None and end > good_checks:
            ends.append(end - good_checks)
    return f"{median(ends):.0f} / {quantiles(ends, n=10)[-1]:.0f}"


def doubts(stage: Stage, since: DoubtSince) -> str:
    """Return what is doubted of a worker who turns to answers at random after 100 checks.

    For Drawing every box is a check. Of verification questions there is one after every so many
    judgments.
    """
    crowd: CrowdSettings = replace(SETTINGS.crowd, doubt_since=since)
    between = 0 if stage is Stage.DRAWING else round(1 / crowd.check_share) - 1
    caught = wronged = done = 0
    for n in range(WORKERS // 10):
        stretches = ((QUALITY[stage], 100), (RANDOM[stage], CHECKS))
        standing, work, number = BEGIN[Trust.TRUSTED], list[Work[int]](), 0
        turned = 0
        for check, right in enumerate(answers(f"doubts/{stage}/{n}", *stretches)):
            if check == 100:
                turned = number
            for _ in range(between):
                number += 1
                work.append(Work(number))
            number += between == 0
            work.append(Work(number if between == 0 else None, right))
            standing = follow(standing, Checked(right), stage, SETTINGS)
            if standing.trust is Trust.REVOKED:
                break
        if not turned:
            continue
        doubted = doubtful(work, SETTINGS.minimum_performance[stage], crowd)
        done += number - turned
        caught += sum(judgment > turned for judgment in doubted)
        wronged += sum(judgment <= turned for judgment in doubted)
    return f"{100 * caught / done:.0f}% + {wronged / (WORKERS // 10):.1f}"


if __name__ == "__main__":
    main()
