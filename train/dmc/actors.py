"""Where samplers live: in this process, or each in a process of its own.

Actors are asked by messages through a pipe, one at a time, and answer in their order, so that what
they return depends on what they were asked alone. They end when the trainer does, however it ends.
Ctrl-C and SIGTERM, which reach whole groups of processes, are the trainer's to hear: it needs its
actors until it has saved.

An actor imports the script that started it, as every process of ``multiprocessing`` that is not
forked. So a script that trains with actors does it below ``if __name__ == "__main__":``.
"""

from __future__ import annotations

import atexit
import multiprocessing
import os
import pickle
import signal
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from typing import Any, Final, Protocol

import cloudpickle

from lupai.train.config import TrainConfig
from lupai.train.run_folder import TrainingError
from lupai.train.signals import starting

__all__ = ["Actors", "Here", "Samplers", "make_samplers"]

Function = Callable[[Any], Any]
_UNHEARD: Final = (signal.SIGINT, signal.SIGTERM)


class Samplers(Protocol):
    """Some samplers: ask all of them, and get their answers in their order."""

    ahead: bool  # whether they work while the caller does something else

    def begin(self, function: Function) -> None:
        """Have ``function`` called on each sampler; :meth:`results` must follow."""

    def results(self) -> list[Any]:
        """What the calls that were begun returned."""

    def close(self) -> None:
        """End them."""


def make_samplers(config: TrainConfig, iteration: int) -> Samplers:
    """The samplers of a run that has done so many iterations."""
    if config.workers.runners == 0:
        return Here(config, iteration)
    return Actors(config, iteration)


class Here:
    """One sampler in this process.

    Attributes:
        sampler: it.
    """

    ahead = False

    def __init__(self, config: TrainConfig, iteration: int) -> None:
        from lupai.train.dmc.sampler import Sampler

        self.sampler = Sampler(config, 0, iteration)
        self._results: list[Any] = []

    def begin(self, function: Function) -> None:
        """See :class:`Samplers`."""
        self._results = [function(self.sampler)]

    def results(self) -> list[Any]:
        """See :class:`Samplers`."""
        return self._results

    def close(self) -> None:
        """Nothing."""


class Actors:
    """``workers.runners`` samplers in processes of their own, numbered from 1.

    Raises:
        TrainingError: by :meth:`results` where one of them died or failed.
    """

    ahead = True

    def __init__(self, config: TrainConfig, iteration: int) -> None:
        context = multiprocessing.get_context("spawn")  # a fork would copy torch's threads' locks
        self._pipes: list[Connection] = []
        self._processes: list[Any] = []
        self._answered = False  # whether all of them did once
        # Whoever forgets to close them would wait for them for ever at the end: multiprocessing
        # sends SIGTERM and joins.
        atexit.register(self.close)
        try:
            for number in range(1, config.workers.runners + 1):
                ours, theirs = context.Pipe()
                process = context.Process(
                    target=_serve,
                    args=(theirs, config, number, iteration),
                    name=f"lupai-sampler-{number}",
                    daemon=True,
                )
                with starting(*_UNHEARD):
                    process.start()
                theirs.close()  # or its end would not be noticed
                self._pipes.append(ours)
                self._processes.append(process)
        except BaseException:
            self.close()
            raise

    @property
    def pids(self) -> list[int]:
        """Of the processes."""
        return [process.pid for process in self._processes]

    def begin(self, function: Function) -> None:
        """See :class:`Samplers`; raises TrainingError where a process is gone."""
        message = cloudpickle.dumps(function)
        for number, pipe in enumerate(self._pipes):
            try:
                pipe.send_bytes(message)
            except OSError:
                raise self._lost(number) from None

    def results(self) -> list[Any]:
        """See :class:`Samplers`."""
        out: list[Any] = [None] * len(self._pipes)
        left = dict(zip(self._pipes, range(len(self._pipes)), strict=True))
        failed: dict[int, str] = {}
        while left:  # whoever is ready first: a dead one is noticed at once
            for pipe in wait(list(left)):
                assert isinstance(pipe, Connection)
                number = left.pop(pipe)
                try:
                    error, value = pickle.loads(pipe.recv_bytes())
                except (OSError, EOFError):
                    raise self._lost(number) from None
                if error:
                    failed[number] = value
                out[number] = value
        self._answered = True
        if failed:  # said when all have answered: no answer is left for the next question
            first = min(failed)
            raise TrainingError(
                f"sampler {first + 1} failed: {failed[first]} (workers.runners=0 shows where)"
            )
        return out

    def close(self) -> None:
        """End them; they are gone when this returns."""
        atexit.unregister(self.close)
        for pipe in self._pipes:
            pipe.close()
        for process in self._processes:
            process.kill()
        for process in self._processes:
            process.join()

    def _lost(self, number: int) -> TrainingError:
        process = self._processes[number]
        process.join(1)
        code = process.exitcode
        how = "it does not answer" if code is None else f"exit code {code}"
        if code is not None and code < 0:
            with suppress(ValueError):
                how = f"ended by {signal.Signals(-code).name}"
        what = "go on with --resume; fewer workers.runners need less memory"
        if code == 1 and not self._answered:
            what = (
                "it did not even begin: a script that trains with workers.runners above 0 has to "
                "do it below `if __name__ == '__main__':`, because each sampler imports the script"
            )
        return TrainingError(
            f"sampler {number + 1} of {len(self._processes)} (process {process.pid}) is gone: "
            f"{how}; {what}"
        )


def _serve(pipe: Connection, config: TrainConfig, number: int, iteration: int) -> None:
    """An actor's life."""
    for unheard in _UNHEARD:  # blocked since the start, unless an import has undone that
        signal.signal(unheard, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    import torch

    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    sampler: Any = None
    while True:
        try:
            message = pipe.recv_bytes()
        except (EOFError, OSError):
            return
        try:
            if sampler is None:
                from lupai.train.dmc.sampler import Sampler

                sampler = Sampler(config, number, iteration)
            answer = (False, pickle.loads(message)(sampler))
        except Exception as error:
            traceback.print_exc()
            answer = (True, f"{type(error).__name__}: {error}")
        try:
            pipe.send_bytes(pickle.dumps(answer, protocol=pickle.HIGHEST_PROTOCOL))
        except OSError:
            return


def _end_with(parent: Any) -> None:
    parent.join()
    os._exit(1)  # at once, also in the middle of a batch
