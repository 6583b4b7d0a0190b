"""One job in parts on several processes: results in order, errors in order, nothing left behind.

>>> list(run_jobs(abs, [-3, 4, -5]))
[3, 4, 5]
"""

from __future__ import annotations

import pickle
import signal
import traceback
from collections.abc import Callable, Generator, Iterable
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from typing import Any, Final, TypeVar

from lupai.envs.errors import LupaiError
from lupai.train.signals import held, starting

__all__ = ["MAX_JOBS", "JobError", "run_jobs"]

Part = TypeVar("Part")
Result = TypeVar("Result")
Outcome = tuple[bool, Any]  # went well, and the result; or not, and the error

MAX_JOBS: Final = 256
_AHEAD: Final = 4  # for each process so many parts may be done before the one whose turn it is


class JobError(LupaiError, RuntimeError):
    """A worker process that ended, or an error in it that cannot be sent as it is."""

    status = 70


def run_jobs(
    function: Callable[[Part], Result],
    parts: Iterable[Part],
    jobs: int = 1,
    progress: Callable[[Part], object] | None = None,
) -> Generator[Result, None, None]:
    """Apply a function to every part; the results in the order of the parts.

    What is yielded and raised is the same for every number of processes: an error of a part, or of
    ``parts`` itself, comes after the results before it. With one job all is done in this process.
    With more, each process is started anew (spawn) and gets the function once, so that what it
    loads for a part may serve the next. Parts are taken from ``parts`` as they are needed, and few
    results wait for their turn, so memory stays bounded.

    Ctrl-C reaches this process only. When the iterator is closed, or an error leaves it, the
    processes are ended at once; should this process be killed, they end after their part. Whoever
    may leave the loop early wraps the iterator in ``contextlib.closing``.

    Args:
        function: of a module, or an object of a class of a module, so that it can be pickled. Its
            results may not depend on which parts it got before.
        parts: of any length, each to be pickled.
        jobs: number of processes, 1 … 256.
        progress: called here with each part as soon as it is done, before its result is yielded.

    Raises:
        LupaiError: a number of jobs out of range.
        JobError: a process ended by itself (killed, out of memory).
    """
    if not 1 <= jobs <= MAX_JOBS:
        raise LupaiError(f"{jobs} jobs: a number of processes is in 1 … {MAX_JOBS}")
    if jobs == 1:
        return _here(function, parts, progress)
    return _there(function, parts, jobs, progress)


def _here(function: Any, parts: Iterable[Any], progress: Any) -> Generator[Any, None, None]:
    for part in parts:
        result = function(part)
        if progress is not None:
            progress(part)
        yield result


def _there(
    function: Any, parts: Iterable[Any], jobs: int, progress: Any
) -> Generator[Any, None, None]:
    packed = pickle.dumps(function)
    source = iter(parts)
    more = True  # parts may be left in the source
    given = turn = 0  # numbers of the next part to give out, and of the next result to yield
    outcomes: dict[int, Outcome] = {}
    workers: list[_Worker] = []
    try:
        while more or turn < given:
            while turn in outcomes:
                well, result = outcomes.pop(turn)
                turn += 1
                if not well:
                    raise result
                yield result
            idle = next((worker for worker in workers if not worker.busy), None)
            giving = more and given - turn < _AHEAD * jobs and (idle or len(workers) < jobs)
            if giving:
                try:
                    part = next(source)
                except StopIteration:
                    more = False
                except Exception as error:  # its turn comes after the parts before it
                    outcomes[given], given, more = (False, error), given + 1, False
                else:
                    if idle is None:
                        with starting(signal.SIGINT):
                            workers.append(idle := _Worker(packed))
                    idle.give(given, part)
                    given += 1
            busy = {worker.pipe: worker for worker in workers if worker.busy}
            # where another part may be had nobody waits here: what is done goes out before it
            for pipe in wait(busy, timeout=0 if giving else None) if busy else ():
                number, part, outcome = busy[pipe].take()  # type: ignore[index]
                outcomes[number] = outcome
                if progress is not None and outcome[0]:
                    progress(part)
    finally:
        with held(signal.SIGINT):
            for worker in workers:
                worker.process.kill()
            for worker in workers:
                worker.close()


class _Worker:
    """A process that does one part at a time."""

    def __init__(self, packed: bytes) -> None:
        context = get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(theirs, packed), daemon=True)
        self.process.start()
        theirs.close()
        self._doing: tuple[int, Any] | None = None

    @property
    def busy(self) -> bool:
        return self._doing is not None

    def give(self, number: int, part: Any) -> None:
        self._doing = number, part
        with suppress(OSError):  # it has ended, which `take` will find too
            self.pipe.send_bytes(pickle.dumps(part))

    def take(self) -> tuple[int, Any, Outcome]:
        """Number, part and outcome, when the pipe is ready to be read."""
        assert self._doing is not None
        (number, part), self._doing = self._doing, None
        try:
            return number, part, self.pipe.recv()
        except (EOFError, OSError):
            self.process.join()
            code = self.process.exitcode or 0
            how = f"by signal {-code}" if code < 0 else f"with exit status {code}"
            error = JobError(f"a worker process ended {how} before its part was done")
            return number, part, (False, error)

    def close(self) -> None:
        self.process.join()
        self.process.close()
        self.pipe.close()


def _work(pipe: Connection, packed: bytes) -> None:
    """Do parts until the other end of the pipe is closed."""
    functions: list[Any] = []
    try:
        while True:
            pipe.send_bytes(_outcome(functions, packed, pipe.recv_bytes()))
    except (EOFError, OSError):  # nobody waits for the answer any more
        return


def _outcome(functions: list[Any], packed: bytes, part: bytes) -> bytes:
    try:
        if not functions:
            functions.append(pickle.loads(packed))
        return pickle.dumps((True, functions[0](pickle.loads(part))))
    except Exception as error:
        return pickle.dumps((False, _sendable(error)))


def _sendable(error: Exception) -> Exception:
    """The error with its place as a note; as text where it does not survive pickling."""
    error.add_note("in a worker process:\n" + "".join(traceback.format_tb(error.__traceback__)))
    try:
        copy = pickle.loads(pickle.dumps(error))
    except Exception:
        copy = None
    if type(copy) is type(error) and str(copy) == str(error):
        return error
    return JobError(f"in a worker process: {type(error).__name__}: {error}")
