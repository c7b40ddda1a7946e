"""Breaking things at every step of a call: the network, the database, the process itself."""

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from typing import Any

import pytest
from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.exceptions import EndpointConnectionError, ReadTimeoutError
from django.db import OperationalError, connection

from tests.crowd.in_process import InProcess, params_of, spoilt


class Killed(BaseException):
    """The process is gone: no handler of ours gets to do anything about it."""


class Fault(StrEnum):
    """Where a call breaks. The marketplace has acted from REPLY_LOST on."""

    CLAIM_NOT_COMMITTED = "before the claim is committed"
    CLAIM_COMMIT_UNKNOWN = "the claim is committed, and nobody knows"
    KILLED_BEFORE_CALL = "killed before the request goes out"
    NO_CONNECTION = "no connection"
    REPLY_LOST = "the reply is lost"
    REPLY_SPOILT = "something in between answers in its place"
    KILLED_BEFORE_REPLY = "killed before the reply is there"
    WRITE_FAILS = "the database takes no write after the reply"
    KILLED_AT_COMMIT = "killed while the end is being committed"
    COMMIT_UNKNOWN = "the end is committed, and nobody knows"


CLAIM_FAULTS = (Fault.CLAIM_NOT_COMMITTED, Fault.CLAIM_COMMIT_UNKNOWN)
CALL_FAULTS = tuple(fault for fault in Fault if fault not in CLAIM_FAULTS)
_AFTER_REPLY = (Fault.WRITE_FAILS, Fault.KILLED_AT_COMMIT, Fault.COMMIT_UNKNOWN)


class Breaker:
    """Breaks calls as planned: each the first time that it is sent, some a second time."""

    def __init__(self, server: InProcess, *, claims_broken: int) -> None:
        self.fired: Counter[Fault] = Counter()
        self._planned: dict[str, deque[Fault]] = defaultdict(deque)
        self._after_reply: Fault | None = None
        self._claiming = False
        self._inside = False
        # Every third claim, so many times in turn.
        self._claims = 0
        self._claims_broken = claims_broken
        server.network = self._network

    def plan(self, tokens: Sequence[str], *, again_every: int) -> Counter[Fault]:
        """Plan a fault for each token, for some a second one; return how many of each."""
        planned: Counter[Fault] = Counter()
        for number, token in enumerate(tokens):
            faults = [CALL_FAULTS[number % len(CALL_FAULTS)]]
            if number % again_every == 0:
                faults.append(CALL_FAULTS[(number // again_every) % len(CALL_FAULTS)])
            self._planned[token].extend(faults)
            planned.update(faults)
        return planned

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Watch the database's statements and commits, but for those of the marketplace."""
        commit = connection.commit
        with pytest.MonkeyPatch.context() as patch, connection.execute_wrapper(self._execute):
            patch.setattr(connection, "commit", lambda: self._commit(commit))
            yield

    def _fire(self, fault: Fault) -> Fault:
        self.fired[fault] += 1
        return fault

    def _network(
        self, request: AWSPreparedRequest, carry_out: Callable[[], AWSResponse]
    ) -> AWSResponse:
        fault = self._fault_of(request)
        if fault is Fault.KILLED_BEFORE_CALL:
            raise Killed(self._fire(fault))
        if fault is Fault.NO_CONNECTION:
            raise EndpointConnectionError(endpoint_url=self._fire(fault))
        self._inside = True
        try:
            response = carry_out()
        finally:
            self._inside = False
        if fault is Fault.REPLY_LOST:
            raise ReadTimeoutError(endpoint_url=self._fire(fault))
        if fault is Fault.KILLED_BEFORE_REPLY:
            raise Killed(self._fire(fault))
        if fault is Fault.REPLY_SPOILT:
            self._fire(fault)
            return spoilt(request, 502, "<html>Bad Gateway</html>")
        if fault in _AFTER_REPLY:
            self._after_reply = fault
        return response

    def _fault_of(self, request: AWSPreparedRequest) -> Fault | None:
        params = params_of(request)
        # What has no token is known by its assignment.
        name = params.get("UniqueRequestToken") or params.get("AssignmentId", "")
        planned = self._planned.get(name)
        return planned.popleft() if planned else None

    def _execute(
        self, execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any
    ) -> Any:
        if not self._inside and sql.startswith('UPDATE "annotation_outboxcall"'):
            self._claiming = '"attempts" = ' in sql.partition("WHERE")[0]
            if self._after_reply is Fault.WRITE_FAILS and not self._claiming:
                self._after_reply = None
                raise OperationalError(self._fire(Fault.WRITE_FAILS))
        return execute(sql, params, many, context)

    def _commit(self, commit: Callable[[], None]) -> None:
        fault = None if self._inside else self._commit_fault()
        if fault is None:
            commit()
            return
        self._fire(fault)
        if fault in (Fault.CLAIM_NOT_COMMITTED, Fault.KILLED_AT_COMMIT):
            connection.rollback()
            raise Killed(fault)
        commit()
        raise OperationalError(fault)

    def _commit_fault(self) -> Fault | None:
        fault, self._after_reply = self._after_reply, None
        if fault is not None:
            return fault
        claiming, self._claiming = self._claiming, False
        self._claims += claiming
        if not claiming or self._claims % 3 or not self._claims_broken:
            return None
        self._claims_broken -= 1
        return CLAIM_FAULTS[self._claims_broken % 2]
