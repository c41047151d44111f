"""The choice of a solver for a loss and its rows, by module.

    squared loss, products fit into memory       squared: second moments, or products of columns
    quantile and absolute loss                   quantile: linear programs
    coupled outputs                              stacked where rows are few, else steps: proximal Newton
    other losses, and squared of wide rows       smooth: Newton steps of all machines together, or steps

Coupled outputs are those of classes. Losses without curvature, or without a provable minimum, are refused.
"""

from __future__ import annotations

from functools import partial

from adaline.errors import InvalidParameter
from adaline.fits.elastic_net import memory
from adaline.fits.elastic_net.net import FittedNet, NetOptions
from adaline.fits.elastic_net.path import chosen_net, required
from adaline.fits.elastic_net.quantile import QuantileNets
from adaline.fits.elastic_net.smooth import by_newton, smooth_net
from adaline.fits.elastic_net.squared import squared_nets
from adaline.fits.elastic_net.stacked import FoldNet, stacked_nets
from adaline.fits.elastic_net.steps import net_at, unpenalised, validated
from adaline.losses import Absolute, Loss, Quantile, Squared
from adaline.solvers.smooth.proximal_newton import l1_points
from adaline.sources import Source
from adaline.sources.threads import one_blas_thread
from adaline.sources.views import of_target


def refuse_rough(loss: Loss) -> None:
    """Refuse a loss that is not convex, or that has corners."""
    if not loss.convex:
        raise InvalidParameter(
            f"loss={loss.name!r} is not convex, so that no minimum could be proven: use 'huber', or RobustRegression"
        )
    if loss.corners:
        raise InvalidParameter(
            f"loss={loss.name!r} is convex, but has corners, and the steps of a path need curvature: use 'huber', or "
            "RobustRegression, which has it without l1"
        )


def fit_nets(source: Source, loss: Loss, options: NetOptions) -> list[FittedNet]:
    """Return the net of each target, or the one of coupled outputs."""
    if isinstance(loss, Squared):
        found = squared_nets(source, options)
        if found is not None:
            return found
    if loss.coupled and (options.positive or options.groups is not None):
        raise InvalidParameter(
            f"positive=True and groups are for losses of one output, and {loss.name!r} has one for each class, whose "
            "signs mean nothing alone: use loss='logistic' with two labels"
        )
    if loss.coupled:
        return [_by_steps(source, loss, options)]
    targets = source.targets.given
    each = [source] if targets == 1 else [of_target(source, k) for k in range(targets)]
    return [_of_one(one, loss, options) for one in each]


def _of_one(source: Source, loss: Loss, options: NetOptions) -> FittedNet:
    """Return the net of one output."""
    if isinstance(loss, Quantile | Absolute):
        if not memory.dense_copy_fits(source):
            raise InvalidParameter(
                f"loss={loss.name!r} is a linear program over rows in memory, as dense numbers of at most "
                f"{memory.MOST_COPIED_BYTES >> 20} MiB: use loss='huber', or RobustRegression, which has it without l1"
            )
        return required(chosen_net(QuantileNets(source, loss, options), options))
    plain = not options.positive and options.groups is None
    squared = isinstance(loss, Squared)  # products of its columns were too many for memory
    found = None if (squared and not plain) or (plain and options.l1 == 0) else by_newton(source, loss, options)
    if found is None and not plain:
        raise InvalidParameter(
            "positive=True and groups need products of columns that fit into memory: "
            f"at most {memory.MOST_PRODUCT_COLUMNS} columns, or rows in memory "
            f"of at most {memory.MOST_COPIED_BYTES >> 20} MiB"
        )
    return found or _by_steps(source, loss, options)


@one_blas_thread()
def _by_steps(source: Source, loss: Loss, options: NetOptions) -> FittedNet:
    """Fit any smooth convex loss of one target, or of coupled outputs, by proximal Newton steps of one machine."""
    net = smooth_net(source, loss, options.intercept, options.standardize)
    l1, wanted = options.l1, options.tol * net.null
    if l1 == 0 and not options.ridge(0.0).any():
        return unpenalised(net, options)
    if l1 is not None:
        return net_at(net, l1, net.none, None, options)
    if loss.coupled and (found := stacked_nets([FoldNet.of_all(net)], options)):
        return found[0]
    ridges = partial(options.ridges, size=net.size)
    points = l1_points(net.problem, net.size, net.constant, wanted, options.points, options.ratio, ridges)
    path = validated(net, points, options)
    best = path.chosen(options.rule)
    return net_at(net, points[best].l1, points[best].found.theta, path, options)
