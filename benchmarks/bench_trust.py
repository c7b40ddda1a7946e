"""The rule of trust, simulated: whom it wrongs, and how soon it finds random answerers.

Seeded, so that docs/trust.md can give its numbers.
"""

import time

import numpy
from msgspec.structs import replace
from numpy.typing import NDArray

from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.protocol.settings import CrowdSettings, DoubtSince, Settings
from annotation.pipeline.trust.revocation import Work, doubtful
from annotation.pipeline.trust.standing import Checked, Standing, Trust, follow, is_hopeless
from annotation.simulation.crowd import QUALITY, TYPICAL

WORKERS = 10_000
IN_PROBATION = 2_000
DOUBTED = 300
CHECKS = 1_000
SOON = 200
# How often random answers are right: one in two, or one in three. A random box passes Quality as
# often as its judges err.
RANDOM = dict.fromkeys(Stage, 0.5) | {
    Stage.REQUIREMENT: 1 / 3,
    Stage.DRAWING: 1 - QUALITY[Stage.QUALITY],
}
SETTINGS = Settings()
Right = NDArray[numpy.bool_]
BEGIN = {
    Trust.PROBATION: Standing(trust=Trust.PROBATION),
    Trust.TRUSTED: Standing(trust=Trust.TRUSTED),
}


def main() -> None:
    before = time.perf_counter()
    crowd = SETTINGS.crowd
    print(
        f"window {crowd.trust_window}, limits {crowd.trust_limit} and {crowd.trust_drop_limit}, "
        f"{WORKERS:,} workers each"
    )
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


def answers(seed: str, count: int, *stretches: tuple[float, int]) -> Right:
    """Return `count` rows of answers, one row per worker.

    Each stretch gives the probability of a right answer and the number of answers.
    """
    random = numpy.random.default_rng(list(seed.encode()))
    return numpy.concatenate(
        [random.random((count, length)) < accuracy for accuracy, length in stretches], axis=1
    )


def checks_until_lost(stage: Stage, right: Right) -> NDArray[numpy.int_]:
    """Return for each row the number of the check that ends trust, or 0 if none does.

    This gives the same result as following every check, as some rows prove, but faster: the rule
    depends only on the numbers of right checks and of all checks in the window.
    """
    crowd, minimum = SETTINGS.crowd, SETTINGS.minimum_performance[stage]
    window = crowd.trust_window
    wrong = numpy.pad(numpy.cumsum(~right, axis=1), ((0, 0), (1, 0)))
    lost = numpy.zeros(wrong.shape, dtype=bool)

    def ends(checks: int, limit: float) -> NDArray[numpy.bool_]:
        """Tell for each number of wrong answers among `checks` whether it is too high."""
        return numpy.array(
            [is_hopeless(checks - w, checks, minimum, limit) for w in range(checks + 1)]
        )

    for checks in range(1, window + 1):
        if checks < window:
            lost[:, checks] |= ends(checks, crowd.trust_limit)[wrong[:, checks]]
        limit = crowd.trust_limit if checks == window else crowd.trust_drop_limit
        lost[:, checks:] |= ends(checks, limit)[wrong[:, checks:] - wrong[:, :-checks]]
    found: NDArray[numpy.int_] = numpy.argmax(lost, axis=1)
    for row in range(0, len(right), len(right) // 20):
        assert found[row] == _followed(stage, right[row])
    return found


def _followed(stage: Stage, right: NDArray[numpy.bool_]) -> int:
    standing = BEGIN[Trust.TRUSTED]
    for number, is_right in enumerate(right.tolist(), start=1):
        standing = follow(standing, Checked(is_right), stage, SETTINGS)
        if standing.trust is Trust.REVOKED:
            return number
    return 0


def lost_shares(stage: Stage, accuracy: float) -> tuple[float, float]:
    """Return the percentages of workers who lose trust soon, and ever."""
    ends = checks_until_lost(stage, answers(f"lost/{stage}", WORKERS, (accuracy, CHECKS)))
    soon = (ends > 0) & (ends <= SOON)
    return 100 * float(soon.mean()), 100 * float((ends > 0).mean())


def probation_shares(stage: Stage, accuracy: float) -> tuple[float, float]:
    first = ever = 0
    crowd = SETTINGS.crowd
    given = answers(f"probation/{stage}", IN_PROBATION, (accuracy, crowd.probation_limit))
    for row in given.tolist():
        standing = BEGIN[Trust.PROBATION]
        for right in row:
            standing = follow(standing, Checked(right), stage, SETTINGS)
            if standing.trust is not Trust.PROBATION:
                break
        passed = standing.trust is Trust.TRUSTED
        ever += passed
        first += passed and standing.now.checks == crowd.probation_items
    return 100 * first / IN_PROBATION, 100 * ever / IN_PROBATION


def delay(stage: Stage, good_checks: int) -> str:
    """Return how many random answers it takes after `good_checks` answers of an average worker."""
    stretches = ((QUALITY[stage], good_checks), (RANDOM[stage], CHECKS))
    ends = checks_until_lost(stage, answers(f"delay/{stage}", WORKERS, *stretches)) - good_checks
    median, most = numpy.quantile(ends[ends > 0], (0.5, 0.9))
    return f"{median:.0f} / {most:.0f}"


def doubts(stage: Stage, since: DoubtSince) -> str:
    """Return what is doubted if a worker starts to answer at random after 100 checks.

    For Drawing every box is a check. Gold questions come after a fixed number of judgments.
    """
    crowd: CrowdSettings = replace(SETTINGS.crowd, doubt_since=since)
    between = 0 if stage is Stage.DRAWING else round(1 / crowd.check_share) - 1
    caught = wronged = done = 0
    given = answers(f"doubts/{stage}", DOUBTED, (QUALITY[stage], 100), (RANDOM[stage], CHECKS))
    for row in given.tolist():
        standing, work, number = BEGIN[Trust.TRUSTED], list[Work[int]](), 0
        turned = 0
        for check, right in enumerate(row):
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
    return f"{100 * caught / done:.0f}% + {wronged / DOUBTED:.1f}"


if __name__ == "__main__":
    main()
