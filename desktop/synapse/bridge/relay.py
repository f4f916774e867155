"""The bridge itself: stdin and stdout of an agent's host on one side, a vault's owner on the other.

One thread and one loop, so that no answer can cross another. What a host may ask before an owner
answers is answered from the catalogue, always; the owner is told afterwards, and its answer kept
back. Everything else goes to the owner as it came. A call is sent to one owner, once: if that owner
goes away, the host hears that the call may or may not have taken effect.

When the host closes stdin, answers that are under way are waited for, for a second, so that
`printf ... | synapse mcp` is answered; whatever is left then is answered with an error.
"""

from __future__ import annotations

import os
import select
import time
from typing import Any, NamedTuple, NoReturn

from synapse.bridge import frames
from synapse.bridge.catalogue import LISTS, Catalogue
from synapse.bridge.dialling import ENDING, MOST, NOT_DONE, Refused
from synapse.bridge.era import Era
from synapse.bridge.finding import NoVault
from synapse.bridge.frames import BadFrame, Batch, Cut, Id, Message
from synapse.bridge.link import Link, Lost
from synapse.bridge.seeking import Seeker
from synapse.bridge.stdio import HostGone, Stdio, end

NO_OWNER, LOST, TOO_MANY = -32010, -32011, -32012
"""Codes of this bridge's own errors: nobody answers for the vault; the owner went away during the
call; more calls wait than the bridge holds."""

_PATIENCE = 20.0
"""Seconds that a call waits for an owner."""
_GREETING = 10.0
"""Seconds that an owner may take to answer hello."""
_LAST_ANSWERS = 1.0
"""Seconds that answers under way are waited for when stdin has ended."""
_SOONEST, _LATEST = 0.05, 5.0
"""Seconds between two attempts to find an owner: while a call waits, and at the most."""
_LOOK_AROUND = 0.5
"""Seconds between two looks at whether the host still lives."""
_MOST_WAITING = 1000
_MOST_WAITING_BYTES = 16 * 1024 * 1024

_CLOSED = (-32000, "Connection closed")
"""How the SDK in an owner that shuts down answers a call that it cut off."""


class _Call(NamedTuple):
    message: Message
    until: float


class Relay:
    """One host's session. vault: None for the only one there is; agent: the name that it claims."""

    def __init__(self, stdio: Stdio, catalogue: Catalogue, vault: str | None, agent: str | None) -> None:
        self._stdio = stdio
        self._catalogue = catalogue
        self._seeker = Seeker(vault)
        self._agent = agent
        self._token = os.environ.get("SYNAPSE_AGENT_TOKEN") or None
        self._era = Era()
        self._link = Link()
        self._waiting: dict[Id, _Call] = {}
        self._running: dict[Id, Message] = {}
        self._asked: set[Id] = set()  # what the owner asked the host
        self._own = f"synapse-bridge-{os.urandom(8).hex()}"
        self._dials = 0
        self._next_dial: float | None = None
        self._pause = _SOONEST
        self._greeting_until = 0.0
        self._seen_version = catalogue.version
        self._passes_lists = False
        self._changed = False
        self._leaving: float | None = None
        self._next_look = 0.0
        self._why = ""

    def run(self) -> None:
        """Serve until stdin ends or the host dies. Raises HostGone where nobody reads any more."""
        while True:
            now = time.monotonic()
            if self._leaving is not None and (now >= self._leaving or not self._is_busy()):
                self._farewell()
                return
            self._tick(now)
            self._wait(now)

    # -- the loop ------------------------------------------------------------------------------------

    def _wait(self, now: float) -> None:
        link = self._link.socket
        readers: list[Any] = [] if self._leaving is not None else [self._stdio.source]
        if link is not None:
            readers.append(link)
        writers = [link] if link is not None and self._link.wants_to_write else []
        moments = [self._next_look, *(call.until for call in self._waiting.values())]
        moments += [moment for moment in (self._next_dial, self._leaving) if moment is not None]
        pause = max(0.0, min(moments) - now)
        if not readers and not writers:
            time.sleep(pause)
            return
        readable, writable, _ = select.select(readers, writers, [], pause)
        try:
            if link in writable:
                self._link.write()
            if link in readable:
                self._hear_owner()
        except Lost as lost:
            self._owner_lost(str(lost))
        if self._stdio.source in readable:
            self._hear_host()

    def _tick(self, now: float) -> None:
        if now >= self._next_look:
            self._next_look = now + _LOOK_AROUND
            self._stdio.check_host()
            self._seeker.reap()
        for id, call in list(self._waiting.items()):
            if now >= call.until:
                del self._waiting[id]
                self._refuse(id, NO_OWNER, self._nobody(), "no-owner")
        if self._link.state == "greeting" and now >= self._greeting_until:
            self._owner_lost("it does not answer")
        if self._link.state == "down" and self._next_dial is not None and now >= self._next_dial:
            self._dial(now)

    def _is_busy(self) -> bool:
        """Whether an answer is under way that is worth a moment; a subscription's never comes."""
        calls = [*self._running.values(), *(call.message for call in self._waiting.values())]
        return self._link.waiting_bytes > 0 or any(call.method != "subscriptions/listen" for call in calls)

    def _farewell(self) -> None:
        for id, call in self._waiting.items():
            if call.message.method != "subscriptions/listen":
                self._refuse(id, NO_OWNER, "The host hung up before an owner answered; nothing was done.")
        for id, message in self._running.items():
            if message.method != "subscriptions/listen":
                self._refuse_lost(id)

    # -- from the host -------------------------------------------------------------------------------

    def _hear_host(self) -> None:
        lines, ended = self._stdio.read()
        for line in lines:
            if isinstance(line, Cut) or line.strip():
                self._take(line)
        if ended:
            self._leaving = time.monotonic() + _LAST_ANSWERS

    def _take(self, line: bytes | Cut) -> None:
        try:
            message = frames.read(line)
            if message.method is None:
                self._take_answer(message)
            elif message.id is None:
                self._take_notification(message)
            else:
                self._take_request(message, message.id)
        except BadFrame as bad:
            self._stdio.emit(frames.failure(bad.id, bad.code, str(bad), bad.data))
        except Batch as batch:
            for id in batch.ids or (None,):
                self._stdio.emit(frames.failure(id, frames.INVALID_REQUEST, str(batch)))

    def _take_answer(self, message: Message) -> None:
        # To an owner that is gone, or to nobody: an answer is not answered.
        if message.id in self._asked and message.id is not None:
            self._asked.discard(message.id)
            self._link.send(message.line)

    def _take_notification(self, message: Message) -> None:
        up = self._link.state == "up"
        if message.method == "notifications/initialized":
            self._era.initialized = True
            self._tell_changed()
        elif message.method == "notifications/cancelled" and not self._cancel(
            message.params.get("requestId")
        ):
            return
        if up:
            self._link.send(message.line)

    def _cancel(self, given: object) -> bool:
        """Forget a call; whether the owner has to hear of it. A cancelled call is not answered."""
        # The SDK takes "7" for 7.
        for id in (given, str(given), int(given) if isinstance(given, str) and given.isdecimal() else given):
            if type(id) not in (int, str):
                continue
            if self._waiting.pop(id, None) is not None:  # type: ignore[call-overload]
                return False
            if self._running.pop(id, None) is not None:  # type: ignore[call-overload]
                return True
        return False

    def _take_request(self, message: Message, id: Id) -> None:
        if id in self._waiting or id in self._running:
            raise BadFrame(
                frames.INVALID_REQUEST,
                f"The id {frames.shown(id)} belongs to a request that has not been answered yet.",
            )
        self._era.judge(message)
        passed_on = message.method in LISTS and self._passes_lists and self._link.state == "up"
        found = None if passed_on else self._era.answer(message, self._catalogue)
        now = time.monotonic()
        if found is None:
            self._call(message, id, now)
            return
        self._stdio.emit(frames.result(id, found))
        if message.method == "initialize" and self._link.state == "up":
            self._open()
        elif self._link.state == "down" and self._next_dial is None and not self._why:
            # So that a person sees the agent where a window is open. No owner is started for this.
            self._pause, self._next_dial = _SOONEST, now

    def _call(self, message: Message, id: Id, now: float) -> None:
        is_up = self._link.state == "up"
        if is_up and self._link.is_ending:
            # Sent now, it would be lost in doubt. The hang-up follows, and then the next owner.
            is_up = False
        elif is_up and self._link.waiting_bytes < _MOST_WAITING_BYTES:
            self._send(id, message)
            return
        waiting = sum(len(call.message.line) for call in self._waiting.values())
        if len(self._waiting) >= _MOST_WAITING or waiting > _MOST_WAITING_BYTES or is_up:
            raise BadFrame(TOO_MANY, "Too much is waiting for the vault. Wait for answers first.", id)
        self._waiting[id] = _Call(message, now + _PATIENCE)
        if self._link.state == "down":
            self._pause, self._next_dial = _SOONEST, now

    # -- the owner -----------------------------------------------------------------------------------

    def _dial(self, now: float) -> None:
        self._next_dial = None
        try:
            vault, owner = self._seeker.look()
        except NoVault as none:
            self._give_up(str(none), now)
            return
        if owner is not None:
            try:
                self._link.dial(owner, self._agent, self._token)
            except OSError as error:
                self._why = f"Its owner (process {owner.pid}) does not answer: {error}."
            else:
                self._greeting_until = now + _GREETING
                self._seeker.settle(vault)
                return
        if self._waiting:
            problem = self._seeker.start(vault, now)
            if problem is not None:
                self._give_up(problem, now)
                return
            self._next_dial = now + _SOONEST
        else:
            self._look_later(now)

    def _give_up(self, problem: str, now: float) -> None:
        """Nobody will answer: say so to every call that waits. The next call tries again."""
        self._stdio.say(problem)
        for id in list(self._waiting):
            del self._waiting[id]
            self._refuse(id, NO_OWNER, problem, "no-owner")
        self._look_later(now)

    def _look_later(self, now: float) -> None:
        self._pause = min(self._pause * 2, _LATEST)
        self._next_dial = now + self._pause

    def _nobody(self) -> str:
        said = f"Nobody answered for the vault {self._seeker.name} within {_PATIENCE:.0f} s."
        return " ".join(part for part in (said, self._why, self._seeker.hint) if part)

    def _hear_owner(self) -> None:
        try:
            answer, lines = self._link.read()
        except Refused as refused:
            self._refused(refused)
            return
        if answer is not None:
            self._greeted(answer)
        for line in lines:
            self._from_owner(line)

    def _greeted(self, answer: dict[str, object]) -> None:
        self._pause, self._why = _SOONEST, ""
        self._seeker.answered()
        warnings = answer.get("warnings")
        for warning in warnings if isinstance(warnings, list) else []:
            self._stdio.say(str(warning))
        version = str(answer.get("version") or self._catalogue.version)
        self._passes_lists = version != self._catalogue.version
        self._changed |= version != self._seen_version
        self._seen_version = version
        self._open()
        self._tell_changed()
        for id, call in self._waiting.items():
            self._send(id, call.message)
        self._waiting.clear()

    def _refused(self, refused: Refused) -> None:
        self._link.close()
        now = time.monotonic()
        if refused.kind == "agent-refused":
            # Nothing changes by trying on: a person has to act, and the next call asks again.
            self._why = f"{refused} {refused.hint}".strip()
            self._give_up(self._why, now)
            self._next_dial = None
            return
        self._why = f"Its owner refused: {refused}"
        if self._waiting:
            self._next_dial = now + _SOONEST
        else:
            self._look_later(now)

    def _open(self) -> None:
        self._dials += 1
        for _, frame in self._era.opening(f"{self._own}-{self._dials}"):
            self._link.send(frame)

    def _tell_changed(self) -> None:
        """Say that the tools are others, once the host may be told anything."""
        if self._changed and self._era.initialized:
            self._changed = False
            self._stdio.emit(frames.notification("notifications/tools/list_changed"))

    def _send(self, id: Id, message: Message) -> None:
        self._running[id] = message
        self._link.send(message.line, message)

    def _from_owner(self, line: bytes | Cut) -> None:
        content = frames.read_answer(line)
        if content is None:
            self._not_passed_on(line)
            return
        assert isinstance(line, bytes)
        id = content.get("id")
        if content.get("method") == ENDING:
            self._link.told_ending = True
            return
        if "method" in content:
            if self._is_of_a_living_call(content):
                if isinstance(id, (int, str)):
                    self._asked.add(id)
                self._stdio.emit(line)
            return
        if type(id) not in (int, str):
            return
        message = self._running.pop(id, None)  # type: ignore[arg-type]
        if message is None:  # to the bridge's own requests, or to a call that was cancelled
            refusal = content.get("error")
            told_later = isinstance(refusal, dict) and refusal.get("code") == NOT_DONE
            if str(id).startswith(self._own) and refusal is not None and not told_later:
                self._stdio.say(f"the owner did not take over the session: {content['error']}")
            return
        error = content.get("error")
        if isinstance(error, dict) and (error.get("code"), error.get("message")) == _CLOSED:
            self._refuse_lost(id)  # type: ignore[arg-type]
            return
        if isinstance(error, dict) and error.get("code") == NOT_DONE:
            # It hangs up in a moment; the next owner gets the call.
            self._waiting[id] = _Call(  # type: ignore[index]
                message, time.monotonic() + _PATIENCE
            )
            return
        if error is None:
            self._era.answered(message)
        self._stdio.emit(line)

    def _is_of_a_living_call(self, content: dict[str, Any]) -> bool:
        params = content.get("params")
        given = params if isinstance(params, dict) else {}
        if content["method"] == "notifications/progress":
            token = given.get("progressToken")
            return any(_progress_token(message) == token for message in self._running.values())
        if content["method"] == "notifications/cancelled":
            asked = given.get("requestId")
            return isinstance(asked, (int, str)) and asked in self._asked
        return True

    def _not_passed_on(self, line: bytes | Cut) -> None:
        id = frames.id_of(line) if isinstance(line, Cut) else None
        self._stdio.say("the owner sent something that is no frame, or too long for one; it was left out.")
        if id is not None and self._running.pop(id, None) is not None:
            self._refuse(id, LOST, f"The answer is longer than {MOST:,} bytes. Ask for less at once.")

    def _owner_lost(self, why: str) -> None:
        unseen = {message.id for message in self._link.close() if isinstance(message, Message)}
        now = time.monotonic()
        self._why = f"Its owner went away: {why}."
        self._asked.clear()
        running, self._running = self._running, {}
        ended_in_order = self._link.told_ending
        for id, message in running.items():
            # What no owner has seen whole can go to the next; so can what changes nothing, where its
            # owner did not die of it.
            reads = message.method is not None and self._catalogue.only_reads(message.method, message.params)
            if id in unseen or (ended_in_order and reads):
                self._waiting[id] = _Call(message, now + _PATIENCE)
            else:
                self._refuse_lost(id)
        self._pause, self._next_dial = _SOONEST, now + _SOONEST

    # -- errors --------------------------------------------------------------------------------------

    def _refuse_lost(self, id: Id) -> None:
        self._refuse(
            id,
            LOST,
            "The owner of the vault went away during this call. It may or may not have taken effect, "
            "and it was not sent again: look before you repeat it.",
            "owner-lost",
        )

    def _refuse(self, id: Id, code: int, text: str, kind: str | None = None) -> None:
        self._stdio.emit(frames.failure(id, code, text, None if kind is None else {"kind": kind}))


def _progress_token(message: Message) -> object:
    meta = message.params.get("_meta")
    return meta.get("progressToken") if isinstance(meta, dict) else None


def serve(vault: str | None, agent: str | None) -> NoReturn:
    """Be the bridge until the host is gone, then end the process."""
    status = 0
    try:
        stdio = Stdio()
        try:
            Relay(stdio, Catalogue(), vault, agent).run()
        except (OSError, ValueError, KeyError) as error:
            stdio.say(f"{type(error).__name__}: {error}")
            status = 1
    except HostGone:
        pass  # nobody is left to tell
    end(status)
