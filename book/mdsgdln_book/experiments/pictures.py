"""Pictures that are asked about in contexts, the answers, and which of them a network gives."""

import os
from functools import cache
from pathlib import Path
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from mdsgdln import tasks

NUM_TRAIN, NUM_ASKED = 1297, 400  # pictures to train on: plain, and asked in every context
CURVED = (0, 3, 6, 8, 9)  # drawn with round strokes alone; the others have a straight one


class QuestionData(NamedTuple):
    """Pictures, questions and answers.

    Attributes:
        train, test: pixels over the one-hot context; targets.
        contexts: of the samples of train and test, (P,) each.
        words: the targets that there are, (N_out, words).
        context_of: the context in which each of them may be the answer, (words,).
    """

    train: tasks.Task
    test: tasks.Task
    contexts: tuple[np.ndarray, np.ndarray]
    words: np.ndarray
    context_of: np.ndarray


def draw_questions(kind: str) -> list[np.ndarray]:
    """Return for each context the required answer to each digit, (N_out, 10).

    Plain: the name of the digit. Contextual: even, large, curved, or the name, in four contexts;
    what is not asked is answered by 0. Same: the name in four contexts, on outputs of their own.
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
    answers[3, 3:] = name
    return list(answers)


def prepare_data(pictures: tasks.Task, num_asked: int, kind: str) -> QuestionData:
    """Split pictures at random with a fixed seed and pair each with every question."""
    order = np.random.default_rng(0).permutation(pictures.num_samples)
    pixels, names = np.asarray(pictures.inputs), np.argmax(pictures.targets, axis=0)
    chosen = order[:NUM_TRAIN]
    mean = pixels[:, chosen].mean(axis=1, keepdims=True)
    size = float(np.sqrt(np.mean(np.sum((pixels[:, chosen] - mean) ** 2, axis=0))))
    pixels, asked = (pixels - mean) / size, draw_questions(kind)

    def task(columns):
        one_hot = np.repeat(0.5 * np.eye(len(asked)), len(columns), axis=1)
        inputs = np.vstack([np.tile(pixels[:, columns], len(asked)), one_hot])
        targets = np.hstack([answers[:, names[columns]] for answers in asked])
        contexts = np.repeat(np.arange(len(asked)), len(columns))
        return tasks.Task(jnp.asarray(inputs), jnp.asarray(targets)), contexts

    parts = [task(order[:num_asked]), task(order[NUM_TRAIN:])]
    words = [np.unique(answers, axis=1) for answers in asked]
    context_of = np.repeat(np.arange(len(asked)), [found.shape[1] for found in words])
    (train, test), contexts = zip(*parts, strict=True)
    return QuestionData(train, test, contexts, np.hstack(words), context_of)


@cache
def load_data(kind: str) -> QuestionData:
    """Return the pictures, questions and answers of a task by name."""
    return prepare_data(tasks.digits(), NUM_TRAIN if kind == "plain" else NUM_ASKED, kind)


def load_mnist() -> tasks.Task:
    """Return MNIST, its 10 000 test pictures last: pixels (784, P) in 0 … 1, one-hot targets.

    Its four original files are unpacked in the folder that ``MNIST`` names; entries follow a header
    of 16 bytes in those of pictures, of 8 in those of labels.
    """

    def entries(kind, header):
        files = (Path(os.environ["MNIST"], f"{part}-{kind}-ubyte") for part in ("train", "t10k"))
        return np.concatenate([np.fromfile(file, np.uint8, offset=header) for file in files])

    pixels, digits = entries("images-idx3", 16).reshape(-1, 784), entries("labels-idx1", 8)
    return tasks.Task(pixels.T / 255, np.eye(10)[digits].T)


def has_mnist() -> bool:
    """Return whether the files of MNIST are on this machine."""
    return bool(os.environ.get("MNIST"))


def answered_words(data: QuestionData, outputs) -> np.ndarray:
    """Return the most similar permitted word for each output on a test sample.

    Shapes: outputs (N_out, P), returned (P,).
    """
    allowed = data.context_of[:, None] == data.contexts[1][None, :]
    return np.where(allowed, data.words.T @ np.asarray(outputs), -np.inf).argmax(axis=0)


def agreement(data: QuestionData, some, others) -> float:
    """Return the share of test samples on which two networks give the same answer."""
    return float(np.mean(answered_words(data, some) == answered_words(data, others)))
