"""CCA against the closed form, and the streaming pass against the whole."""

from pathlib import Path

import numpy
import pytest
import scipy.linalg
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from grounding.pipeline.arrays import ArrayFileError, Float32, Float64, write_arrays
from grounding.pipeline.embedding.cca import (
    CanonicalSpace,
    NoCorrelationError,
    NotPositiveError,
    fit,
)
from grounding.pipeline.embedding.covariances import (
    Covariances,
    CovarianceSum,
    device_product,
    gather,
    transposed_product,
)
from grounding.pipeline.evaluation.distances import ImageSentenceDistances
from grounding.pipeline.evaluation.ranks import rank_both_ways, recall

few = settings(max_examples=25, deadline=None)


def paired(
    seed: int, count: int = 200, dx: int = 7, dy: int = 5, offset: float = 0.0
) -> tuple[Float64, Float64]:
    """Two views of three hidden causes, with noise."""
    random = numpy.random.default_rng(seed)
    hidden = random.standard_normal((count, 3))
    x = hidden @ random.standard_normal((3, dx)) + random.standard_normal((count, dx))
    y = hidden @ random.standard_normal((3, dy)) + random.standard_normal((count, dy))
    return x + offset, y - 2 * offset


def closed_form(x: Float64, y: Float64, ridge_x: float, ridge_y: float) -> Float64:
    """The correlations as eigenvalues of the textbook's block problem, highest first."""
    cxx, cyy = (numpy.atleast_2d(numpy.cov(side.T, bias=True)) for side in (x, y))
    cxy = (x - x.mean(0)).T @ (y - y.mean(0)) / len(x)
    dx, dy = cxy.shape
    left = numpy.block([[numpy.zeros((dx, dx)), cxy], [cxy.T, numpy.zeros((dy, dy))]])
    right = scipy.linalg.block_diag(
        cxx + ridge_x * numpy.trace(cxx) / dx * numpy.eye(dx),
        cyy + ridge_y * numpy.trace(cyy) / dy * numpy.eye(dy),
    )
    values: Float64 = scipy.linalg.eigh(left, right, eigvals_only=True)
    return values[::-1][: min(dx, dy)]


@few
@given(
    seed=st.integers(0, 10**6),
    dx=st.integers(1, 9),
    dy=st.integers(1, 9),
    ridge_x=st.sampled_from([0.0, 1e-3, 0.5, 10.0]),
    ridge_y=st.sampled_from([0.0, 1e-3, 0.5, 10.0]),
)
def test_correlations_are_those_of_the_closed_form(
    seed: int, dx: int, dy: int, ridge_x: float, ridge_y: float
) -> None:
    x, y = paired(seed, dx=dx, dy=dy)
    space = fit(gather([(x, y)]), ridge_x=ridge_x, ridge_y=ridge_y)
    assert numpy.allclose(space.correlations, closed_form(x, y, ridge_x, ridge_y), atol=1e-6)


@few
@given(seed=st.integers(0, 10**6), ridge=st.sampled_from([0.0, 0.1, 2.0]))
def test_directions_satisfy_what_defines_them(seed: int, ridge: float) -> None:
    x, y = paired(seed)
    sums = gather([(x, y)])
    space = fit(sums, ridge_x=ridge, ridge_y=ridge)
    for scatter, weights in (
        (sums.scatter_xx, space.weights_x),
        (sums.scatter_yy, space.weights_y),
    ):
        cov = scatter / sums.count
        cov += ridge * cov.diagonal().mean() * numpy.eye(len(cov))
        assert numpy.allclose(weights.T @ cov @ weights, numpy.eye(weights.shape[1]), atol=1e-9)
    across = space.weights_x.T @ (sums.scatter_xy / sums.count) @ space.weights_y
    assert numpy.allclose(across, numpy.diag(space.correlations), atol=1e-9)


@few
@given(seed=st.integers(0, 10**6))
def test_without_ridge_no_change_of_basis_or_origin_matters(seed: int) -> None:
    x, y = paired(seed)
    random = numpy.random.default_rng(seed)
    basis = random.standard_normal((7, 7)) + 4 * numpy.eye(7)
    plain = fit(gather([(x, y)]), ridge_x=0, ridge_y=0)
    moved = fit(gather([(x @ basis + 3, 10 * y - 1)]), ridge_x=0, ridge_y=0)
    assert numpy.allclose(plain.correlations, moved.correlations, atol=1e-8)


@few
@given(seed=st.integers(0, 10**6), ridge=st.sampled_from([0.01, 1.0]))
def test_a_relative_ridge_does_not_depend_on_the_scale_of_a_side(seed: int, ridge: float) -> None:
    x, y = paired(seed)
    plain = fit(gather([(x, y)]), ridge_x=ridge, ridge_y=ridge)
    scaled = fit(gather([(1000 * x, y / 50)]), ridge_x=ridge, ridge_y=ridge)
    assert numpy.allclose(plain.correlations, scaled.correlations, atol=1e-9)


@few
@given(
    seed=st.integers(0, 10**6),
    cuts=st.lists(st.integers(1, 199), max_size=6, unique=True).map(sorted),
    offset=st.sampled_from([0.0, 1e4]),
    backwards=st.booleans(),
)
def test_parts_add_up_to_the_whole(
    seed: int, cuts: list[int], offset: float, backwards: bool
) -> None:
    x, y = paired(seed, offset=offset)
    parts = [
        gather([(x[start:stop], y[start:stop])])
        for start, stop in zip([0, *cuts], [*cuts, 200], strict=True)
    ]
    if backwards:
        parts.reverse()
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    assert total.count == 200
    assert numpy.allclose(total.mean_x, x.mean(0), rtol=1e-12)
    assert numpy.allclose(total.scatter_xx / 200, numpy.cov(x.T, bias=True), atol=1e-6)
    assert numpy.allclose(total.scatter_yy / 200, numpy.cov(y.T, bias=True), atol=1e-6)
    across = (x - x.mean(0)).T @ (y - y.mean(0)) / 200
    assert numpy.allclose(total.scatter_xy / 200, across, atol=1e-6)


def test_a_mean_a_million_times_the_spread_costs_no_correlation() -> None:
    x, y = paired(1)
    near = fit(gather([(x, y)]), ridge_x=0.01, ridge_y=0.01)
    far = fit(gather([(x + 1e6, y - 1e6)]), ridge_x=0.01, ridge_y=0.01)
    assert numpy.allclose(near.correlations, far.correlations, atol=1e-6)


@pytest.mark.parametrize("dtype", [numpy.float16, numpy.float32])
def test_narrow_features_give_nearly_the_same(dtype: type[numpy.floating]) -> None:
    x, y = paired(2, count=9000, offset=5.0)
    exact = fit(gather([(x, y)]), ridge_x=0.1, ridge_y=0.1)
    narrow = fit(gather([(x.astype(dtype), y.astype(dtype))]), ridge_x=0.1, ridge_y=0.1)
    tolerance = 1e-3 if dtype is numpy.float16 else 1e-6
    assert numpy.allclose(exact.correlations, narrow.correlations, atol=tolerance)


def test_the_product_for_a_gpu_is_the_same() -> None:
    """Run where there is always a device: the code is the one that runs on a GPU."""
    x, y = paired(3)
    wanted = transposed_product(x, y, torch.device("cpu"))
    assert numpy.allclose(device_product(x, y, torch.device("cpu")), wanted)
    assert numpy.allclose(device_product(x, x, torch.device("cpu")), x.T @ x)
    if torch.cuda.is_available():
        assert numpy.allclose(transposed_product(x, y, torch.device("cuda")), wanted)


@few
@given(seed=st.integers(0, 10**6), components=st.integers(1, 12), wide=st.booleans())
def test_few_components_are_the_first_of_all(seed: int, components: int, wide: bool) -> None:
    x, y = paired(seed, dx=12, dy=18 if wide else 10)
    sums = gather([(x, y)])
    full = fit(sums, ridge_x=0.1, ridge_y=0.2)
    some = fit(sums, ridge_x=0.1, ridge_y=0.2, components=components)
    kept = min(components, 12 if wide else 10)
    assert some.weights_x.shape == (12, kept)
    assert numpy.allclose(some.correlations, full.correlations[:kept], atol=1e-7)
    # Directions have no sign, so compare what both sides make together.
    power = 1.0
    one = some.project_x(x, power) @ some.project_y(y, power).T
    other = full.first(kept).project_x(x, power) @ full.first(kept).project_y(y, power).T
    assert numpy.allclose(one, other, atol=1e-3)


@few
@given(
    seed=st.integers(0, 10**6),
    images=st.integers(3, 30),
    causes=st.integers(1, 12),
    noise=st.sampled_from([0.0, 0.5]),
    ridge=st.sampled_from([1e-3, 0.1, 10.0]),
    components=st.sampled_from([None, 18, 40]),
)
def test_no_more_directions_than_the_features_vary_in(
    seed: int, images: int, causes: int, noise: float, ridge: float, components: int | None
) -> None:
    """Three captions share an image: its side varies in fewer directions than there are pairs."""
    random = numpy.random.default_rng(seed)
    hidden = numpy.repeat(random.standard_normal((images, causes)), 3, axis=0)
    x = hidden @ random.standard_normal((causes, 40)) + 3
    y = hidden @ random.standard_normal((causes, 50))
    y += noise * random.standard_normal(y.shape)
    sums = gather([(x.astype(numpy.float32), y.astype(numpy.float32))])
    space = fit(sums, ridge_x=ridge, ridge_y=ridge, components=components)
    varied = min(images - 1, causes)
    found = len(space.correlations)
    assert found <= varied
    if max(images - 1, causes) >= 2 * varied:  # else one may vary hardly more than nothing
        assert found == varied
    assert space.weights_x.shape == (40, found)
    assert space.weights_y.shape == (50, found)


@pytest.mark.parametrize("components", [None, 75, 100])
def test_a_power_of_nothing_does_not_rank_by_noise(components: int | None) -> None:
    """40 pairs vary in 39 directions; the others once brought R@1 from over 50 to below 15."""
    random = numpy.random.default_rng(0)
    to_x, to_y = random.standard_normal((200, 200)), random.standard_normal((200, 150))

    def pairs(count: int) -> tuple[Float32, Float32]:
        hidden = random.standard_normal((count, 200))
        x, y = hidden @ to_x, hidden @ to_y
        return x.astype(numpy.float32), y.astype(numpy.float32)

    space = fit(gather([pairs(40)]), ridge_x=1.0, ridge_y=1.0, components=components)
    x, y = pairs(100)
    distances = ImageSentenceDistances(space.project_x(x, 0.0), space.project_y(y, 0.0))
    assert recall(rank_both_ways(distances, range(100)).image_to_sentence, 1) > 50


def test_directions_that_do_not_correlate_are_left_out() -> None:
    signs = numpy.array([[a, b, c] for a in (1.0, -1.0) for b in (1, -1) for c in (1, -1)])
    first, second, third = signs.T
    x = numpy.stack([first, second, third], axis=1)
    y = numpy.stack([first, second * third, first * second], axis=1)
    for components in (1, None):
        space = fit(gather([(x, y)]), ridge_x=0.1, ridge_y=0.1, components=components)
        assert numpy.allclose(space.correlations, [1 / 1.1])
    with pytest.raises(NoCorrelationError, match="nothing in the 8 pairs correlates"):
        fit(gather([(x[:, 1:], y)]), ridge_x=0.1, ridge_y=0.1)


def test_few_components_of_sides_with_as_many_directions() -> None:
    x, y = paired(6, dx=12, dy=12)
    sums = gather([(x, y)])
    full = fit(sums, ridge_x=0.1, ridge_y=0.2)
    some = fit(sums, ridge_x=0.1, ridge_y=0.2, components=3)
    numpy.testing.assert_allclose(some.correlations, full.correlations[:3], atol=1e-7)


@pytest.mark.parametrize(("kept", "by_iteration"), [(1, True), (2, True), (3, False)])
def test_the_whole_is_decomposed_only_if_more_than_a_twentieth_is_kept(
    kept: int, by_iteration: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Iteration is the faster way to few directions, and the slower way to many."""
    x, y = paired(7, count=300, dx=40, dy=40)
    sums = gather([(x, y)], device="cpu")
    decomposed: list[int] = []
    real = torch.linalg.eigh

    def watched(matrix: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        decomposed.append(len(matrix))
        values, vectors = real(matrix)
        return values, vectors

    monkeypatch.setattr(torch.linalg, "eigh", watched)
    space = fit(sums, ridge_x=0.1, ridge_y=0.1, components=kept, device="cpu")
    assert decomposed == ([] if by_iteration else [40])
    numpy.testing.assert_allclose(space.correlations, closed_form(x, y, 0.1, 0.1)[:kept], atol=1e-6)


def test_the_smaller_side_is_decomposed(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = paired(8, count=300, dx=30, dy=9)
    decomposed: list[int] = []
    real = torch.linalg.eigh

    def watched(matrix: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        decomposed.append(len(matrix))
        values, vectors = real(matrix)
        return values, vectors

    monkeypatch.setattr(torch.linalg, "eigh", watched)
    for one, other in ((x, y), (y, x)):
        fit(gather([(one, other)]), ridge_x=0.1, ridge_y=0.1, components=2, device="cpu")
    assert decomposed == [9, 9]


def test_projections_are_centred_scaled_and_of_unit_length() -> None:
    x, y = paired(4, offset=3.0)
    space = fit(gather([(x, y)]), ridge_x=0.1, ridge_y=0.1)
    for power in (0.0, 1.0, 2.5):
        wanted = (x - x.mean(0)) @ space.weights_x * space.correlations**power
        wanted /= numpy.linalg.norm(wanted, axis=1, keepdims=True)
        made = space.project_x(x, power)
        assert made.dtype == numpy.float32
        assert numpy.allclose(made, wanted, atol=1e-4)
        assert numpy.allclose(numpy.linalg.norm(space.project_y(y, power), axis=1), 1, atol=1e-6)


def test_paired_rows_are_nearer_than_others() -> None:
    x, y = paired(5, count=2000)
    space = fit(gather([(x[:1000], y[:1000])]), ridge_x=0.1, ridge_y=0.1)
    likeness = space.project_x(x[1000:], 1.0) @ space.project_y(y[1000:], 1.0).T
    assert likeness.diagonal().mean() > likeness.mean() + 0.5


def test_joint_training_is_the_sum_of_two_sets_of_pairs() -> None:
    first, second = paired(6), paired(7)
    joint = gather([first]) + gather([second])
    both = gather(
        [(numpy.concatenate([first[0], second[0]]), numpy.concatenate([first[1], second[1]]))]
    )
    one = fit(joint, ridge_x=0.1, ridge_y=0.1)
    other = fit(both, ridge_x=0.1, ridge_y=0.1)
    assert numpy.allclose(one.correlations, other.correlations, atol=1e-9)


def test_parts_and_spaces_survive_their_files(tmp_path: Path) -> None:
    x, y = paired(8)
    sums = gather([(x, y)])
    sums.write(tmp_path / "shards" / "0.npz")
    again = Covariances.read(tmp_path / "shards" / "0.npz")
    assert again.count == 200
    assert numpy.array_equal(again.scatter_xy, sums.scatter_xy)
    space = fit(again, ridge_x=0.1, ridge_y=0.1)
    space.write(tmp_path / "space.npz")
    kept = CanonicalSpace.read(tmp_path / "space.npz")
    assert numpy.array_equal(kept.project_y(y, 1.0), space.project_y(y, 1.0))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["shards", "space.npz"]


def test_files_that_are_something_else_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ArrayFileError, match="is missing"):
        Covariances.read(tmp_path / "none.npz")
    (tmp_path / "text.npz").write_text("not an archive")
    with pytest.raises(ArrayFileError, match="not a file of arrays"):
        Covariances.read(tmp_path / "text.npz")
    write_arrays(tmp_path / "other.npz", {"count": numpy.array(3)})
    with pytest.raises(ArrayFileError, match="no array mean_x"):
        Covariances.read(tmp_path / "other.npz")
    with open(tmp_path / "pickled.npz", "wb") as file:
        numpy.savez(file, count=numpy.array([object()]), mean_x=numpy.zeros(3))
    with pytest.raises(ArrayFileError):
        Covariances.read(tmp_path / "pickled.npz")


def test_what_cannot_work_is_said_in_plain_words() -> None:
    x, y = paired(9)
    flat = numpy.concatenate([x, x[:, :1]], axis=1)
    with pytest.raises(NotPositiveError, match="features of x do not vary in all their 8"):
        fit(gather([(flat * 0, y)]), ridge_x=0, ridge_y=0)
    with pytest.raises(ValueError, match="negative"):
        fit(gather([(x, y)]), ridge_x=-1, ridge_y=0)
    with pytest.raises(ValueError, match="as many rows"):
        gather([(x[:5], y[:4])])
    with pytest.raises(ValueError, match="those before it"):
        gather([(x, y), (x[:, :3], y)])
    with pytest.raises(ValueError, match="cannot be added"):
        gather([(x, y)]) + gather([(flat, y)])
    with pytest.raises(ValueError, match="a feature in pairs 1 to 200 contains a value"):
        gather([(numpy.where(x == x[3, 3], numpy.nan, x), y)])
    with pytest.raises(ValueError, match="no pair was added"):
        CovarianceSum().result()
    with pytest.raises(ValueError, match="made for 7 numbers"):
        fit(gather([(x, y)]), ridge_x=0, ridge_y=0).project_x(y, 1.0)


def test_few_of_many_directions_are_those_of_the_closed_form() -> None:
    """Then they are found by iteration: the same, and the same each time."""
    x, y = paired(5, count=400, dx=90, dy=80)
    spaces = [
        fit(gather([(x, y)], device="cpu"), ridge_x=0.5, ridge_y=0.1, components=4, device="cpu")
        for _ in range(2)
    ]
    expected = closed_form(x, y, 0.5, 0.1)[:4]
    numpy.testing.assert_allclose(spaces[0].correlations, expected, atol=1e-6)
    numpy.testing.assert_array_equal(spaces[0].weights_x, spaces[1].weights_x)
    whole = fit(gather([(x, y)], device="cpu"), ridge_x=0.5, ridge_y=0.1, device="cpu")
    for one, other in (
        (spaces[0].weights_x, whole.weights_x),
        (spaces[0].weights_y, whole.weights_y),
    ):
        cosines = (one * other[:, :4]).sum(0) / (
            numpy.linalg.norm(one, axis=0) * numpy.linalg.norm(other[:, :4], axis=0)
        )
        numpy.testing.assert_allclose(abs(cosines), 1, atol=1e-6)
