"""Singular vectors and eigenvectors as another machine may choose them: those of equal values are
turned at random, in every Python that has this folder on its PYTHONPATH.
"""

from functools import wraps

import numpy as np
import scipy.linalg._decomp_svd as scipy_svd  # with orth and null_space

EQUAL = 1e-9  # of the largest value


def turn(values):
    """Return an orthogonal matrix that mixes the vectors of equal values, which are sorted."""
    rng = np.random.default_rng(0)
    far = np.abs(np.diff(values)) > EQUAL * np.abs(values).max(initial=0)
    matrix = np.zeros((len(values), len(values)))
    for level in np.split(np.arange(len(values)), np.flatnonzero(far) + 1):
        normal = rng.normal(size=(len(level), len(level)))
        matrix[np.ix_(level, level)] = np.linalg.qr(normal)[0]
    return matrix.astype(values.dtype)


def turned_svd(svd):
    """Return a decomposition with other singular vectors; those of zero turn on each side alone."""

    @wraps(svd)
    def other(a, full_matrices=True, compute_uv=True, **options):
        found = svd(a, full_matrices, compute_uv, **options)
        if not compute_uv or np.ndim(a) != 2:
            return found
        left, values, right = found
        rank = int(np.sum(values > EQUAL * values.max(initial=0)))
        common = turn(values[:rank])
        left, right = (
            np.hstack(
                [
                    side[:, :rank] @ common,
                    side[:, rank:] @ turn(np.zeros(side.shape[1] - rank, side.dtype)),
                ]
            )
            for side in (left, right.T)
        )
        return getattr(type(found), "_make", tuple)((left, values, right.T))

    return other


def turned_eigh(eigh):
    """Return a decomposition with other eigenvectors."""

    @wraps(eigh)
    def other(a, UPLO="L"):
        found = eigh(a, UPLO)
        return found if np.ndim(a) != 2 else type(found)(found[0], found[1] @ turn(found[0]))

    return other


np.linalg.svd, np.linalg.eigh = turned_svd(np.linalg.svd), turned_eigh(np.linalg.eigh)
scipy_svd.svd = turned_svd(scipy_svd.svd)
