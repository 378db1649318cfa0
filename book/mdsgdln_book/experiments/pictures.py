"""Pictures that are asked about in contexts, the answers, and which of them a network gives."""

import os
from functools import cache
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from mdsgdln import tasks

NUM_TRAIN, NUM_ASKED = 1297, 400  # pictures to train on: plain, and asked in every context
CURVED = (0, 3, 6, 8, 9)  # drawn with round strokes alone; the others have a straight one


class Data(NamedTuple):
    """Pictures, questions and answers.

    Attributes:
        train, test: pixels over the one-hot context; targets.
        contexts: of the samples of train and test, (P,) each.
        words: the targets that there are, (N_out, words).
        context_of: the context in which each of them may be the answer, (words,).
        mean, size: of training pictures, that were taken away and divided by.
    """

    train: tasks.Task
    test: tasks.Task
    contexts: tuple[np.ndarray, np.ndarray]
    words: np.ndarray
    context_of: np.ndarray
    mean: np.ndarray
    size: float


def questions(kind: str) -> list[np.ndarray]:
    """Return what is asked: for each context the answer to each digit, (N_out, 10).

    Plain: the name of the digit. Contextual: even, large, curved, or the name, in four contexts;
    what is not asked is answered by 0. Named: the first three, and the name in every context. Same:
    the name in four contexts, on outputs of their own.
    """
    digit = np.arange(10)
    name, yes = np.eye(10), [digit % 2 == 0, digit >= 5, np.isin(digit, CURVED)]
    if kind == "plain":
        return [name]
    if kind == "same":
        return [np.kron(one_hot[:, None], name) for one_hot in np.eye(4)]
    answers = np.zeros((4, 13, 10))
    for context, row in enumerate(yes):
        answers[context, context] = np.where(row, 1, -1)
    answers[slice(3) if kind == "named" else 3, 3:] = name
    return list(answers[:3] if kind == "named" else answers)


def prepare(
    pictures: tasks.Task, num_train: int, num_asked: int, kind: str, size_of_context: float
) -> Data:
    """Split pictures at random, always in the same way; ask every question about each of them."""
    order = np.random.default_rng(0).permutation(pictures.num_samples)
    pixels, names = np.asarray(pictures.inputs), np.argmax(pictures.targets, axis=0)
    chosen = order[:num_train]
    mean = pixels[:, chosen].mean(axis=1, keepdims=True)
    size = float(np.sqrt(np.mean(np.sum((pixels[:, chosen] - mean) ** 2, axis=0))))
    pixels, asked = (pixels - mean) / size, questions(kind)

    def task(columns):
        one_hot = np.repeat(size_of_context * np.eye(len(asked)), len(columns), axis=1)
        inputs = np.vstack([np.tile(pixels[:, columns], len(asked)), one_hot])
        targets = np.hstack([answers[:, names[columns]] for answers in asked])
        contexts = np.repeat(np.arange(len(asked)), len(columns))
        return tasks.Task(jnp.asarray(inputs), jnp.asarray(targets)), contexts

    parts = [task(order[:num_asked]), task(order[num_train:])]
    words = [np.unique(answers, axis=1) for answers in asked]
    context_of = np.repeat(np.arange(len(asked)), [found.shape[1] for found in words])
    (train, test), contexts = zip(*parts, strict=True)
    return Data(train, test, contexts, np.hstack(words), context_of, mean, size)


@cache
def load(name: str) -> Data:
    """Return the data of a task; ``"contextual, 1"`` has contexts of length 1, else ½.

    ``"mnist"`` is the plain task on pictures of MNIST, from the folder that ``MNIST`` names.
    """
    kind, _, size_of_context = name.partition(", ")
    if kind == "mnist":
        return prepare(mnist(), NUM_TRAIN, NUM_TRAIN, "plain", 0.5)
    num_asked = NUM_TRAIN if kind == "plain" else NUM_ASKED
    return prepare(tasks.digits(), NUM_TRAIN, num_asked, kind, float(size_of_context or 0.5))


def mnist() -> tasks.Task:
    """Return as many pictures of MNIST as scikit-learn has digits, drawn at random."""
    whole, number = tasks.mnist(os.environ["MNIST"]), tasks.digits().num_samples
    return whole.take(np.random.default_rng(0).permutation(whole.num_samples)[:number])


def available() -> bool:
    """Return whether MNIST, which is no part of the repository, is on this machine."""
    return bool(os.environ.get("MNIST"))


def answers(data: Data, outputs, part: int) -> np.ndarray:
    """Return which word each output is most like, of those that may answer the question, (P,)."""
    allowed = data.context_of[:, None] == data.contexts[part][None, :]
    return np.where(allowed, data.words.T @ np.asarray(outputs), -np.inf).argmax(axis=0)


def equal(data: Data, some, others, part: int) -> np.ndarray:
    """Return the share of equal answers in each context."""
    same = answers(data, some, part) == answers(data, others, part)
    return np.array([same[data.contexts[part] == c].mean() for c in range(data.context_of[-1] + 1)])
