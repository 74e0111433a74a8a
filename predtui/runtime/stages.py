"""The running stages: events are delivered to them, and they are restarted, replaced and renewed.

Must not know what any stage does inside, nor what a turn is made of.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from predtui.runtime.bus import Bus
from predtui.runtime.hosts.base import Host, HostFactory
from predtui.runtime.needs import connected
from predtui.runtime.shares import share
from predtui.runtime.supervisor import Supervisor, falls_back, given_up
from predtui.state import events as ev
from predtui.state.stage import StageSpec

STAGES = ("mic", "asr", "llm", "tts", "player")
"""The names by which the runtime knows the stages; any may be missing."""
_SOON_S = 0.3
"""Until a stage that is to be renewed is looked at again."""


class Stages:
    """One host a stage. ``start``, ``stop`` and ``pids`` from any thread, the rest from the dispatcher's."""

    def __init__(self, bus: Bus, specs: Sequence[StageSpec], make_host: HostFactory, log_path: Path | None) -> None:
        self._bus, self._make_host, self._log_path = bus, make_host, log_path
        self._supervisor = Supervisor(bus.clock)
        self._down: set[str] = set()
        self._previous: dict[str, StageSpec] = {}
        """What a stage was before it was replaced, until the new choice is ready."""
        self._chosen = {spec.name: spec for spec in specs}
        """What each stage is to be, whichever way it runs at present."""
        self._hosts: dict[str, Host] = {spec.name: self._make(spec) for spec in specs}

    def start(self) -> None:
        for name in STAGES:
            if name not in self._hosts:
                self._bus.dispatcher.post(partial(self._tell, name, "stopped", "not part of this run"))
        for host in self._hosts.values():
            host.start()

    def stop(self) -> None:
        """All at a time, by force after a second or two."""
        stopping = [threading.Thread(target=host.stop, daemon=True) for host in self._hosts.values()]
        for thread in stopping:
            thread.start()
        for thread in stopping:
            thread.join()

    def pids(self) -> dict[str, int | None]:
        """The process of each stage; None while it has none."""
        return {name: host.pid for name, host in self._hosts.items()}

    def usable(self, name: str) -> bool:
        """Whether there is such a stage and it has not failed."""
        status = self._bus.state.stages.get(name)
        return name in self._hosts and (status is None or status.state != "failed")

    def answers(self, name: str) -> bool:
        """Whether the stage takes what comes: it is usable, or runs on after what it failed at."""
        return self.usable(name) or self._supervisor.runs(name)

    def returns(self, name: str) -> bool:
        """Whether the stage's former choice comes back if the present one fails."""
        return name in self._previous

    def deliver(self, event: ev.Event, origin: str) -> None:
        """To each stage that takes it, but not to the one it comes from."""
        for name, host in self._hosts.items():
            if name != origin and name not in self._down and host.accepts(event):
                host.send(event)

    def react(self, event: ev.Event) -> None:
        """Follows every event."""
        match event:
            case ev.TurnStarted():
                self._supervisor.turn()
            case ev.StageStatus(stage=stage) if stage in self._hosts:
                self._follow(event)

    def _follow(self, status: ev.StageStatus) -> None:
        if status.state == "restarting":
            self._died(status)
        elif status.state == "ready":
            self._ready(status.stage)
        elif status.state == "failed" and status.stage in self._previous:
            spec = self._previous.pop(status.stage)
            self._bus.notify(f"{status.stage} goes on as before. {status.message}", "warning")
            self._swap(status.stage, spec)
        elif status.state == "failed" and not self._supervisor.runs(status.stage):
            again = partial(self._try_again, status.stage, self._hosts[status.stage])
            self._bus.dispatcher.after(self._supervisor.out(status.stage), again)

    def replace(self, name: str, options: Any) -> None:
        """Run stage ``name`` with other options; where it cannot open with them, the former ones come back."""
        if name not in self._hosts:
            self._bus.notify(f"There is no stage {name} to replace.", "warning")
            return
        old = self._chosen[name]
        if self.usable(name):
            self._previous[name] = old
        self._supervisor.asked(name)
        new = replace(old, options=options, needs=connected(old.needs, options), threads=share(options))
        self._swap(name, new)

    def restart(self, name: str = "") -> None:
        """Start stage ``name`` anew, whatever it does; without a name, each that has failed."""
        names = [name] if name else [name for name in self._hosts if not self.usable(name)]
        for each in names:
            if each not in self._hosts:
                self._bus.notify(f"There is no stage {each} to restart.", "warning")
                continue
            self._supervisor.asked(each)
            self._swap(each, self._chosen[each])
        if not names:
            self._bus.notify("No stage has failed.", "information")

    def renew(self, name: str) -> None:
        """Run stage ``name`` anew with the options it has, as soon as no turn is under way."""
        if self._bus.state.busy:
            self._bus.dispatcher.after(_SOON_S, partial(self.renew, name))
        elif self.usable(name):
            self._swap(name, self._chosen[name])

    def describe(self, name: str, message: str) -> None:
        """What is said of stage ``name`` while it is ready."""
        status = self._bus.state.stages.get(name)
        if status and status.state == "ready" and status.message != message and name not in self._down:
            self._tell(name, "ready", message)

    def _make(self, spec: StageSpec) -> Host:
        def emit(event: ev.Event) -> None:
            self._bus.dispatcher.post(
                lambda: self._bus.dispatch(event, spec.name) if self._hosts.get(spec.name) is host else None
            )

        host = self._make_host(spec, emit)
        return host

    def _tell(self, stage: str, state: ev.StageState, message: str) -> None:
        self._bus.publish(ev.StageStatus(stage=stage, state=state, message=message))

    def _ready(self, name: str) -> None:
        self._supervisor.ready(name)
        self._previous.pop(name, None)
        if name in self._down:
            self._down.discard(name)
            host = self._hosts[name]
            for event in self._bus.journal.resend(name, host.accepts):
                host.send(event)

    def _died(self, status: ev.StageStatus) -> None:
        name, host = status.stage, self._hosts[status.stage]
        self._down.add(name)
        restart = self._supervisor.died(name, status.signal)
        if restart is None:
            self._tell(name, "failed", given_up(host.spec, status, self._log_path))
            return
        spec = host.spec.safest() if restart.safest else host.spec
        if spec != host.spec:
            self._hosts[name] = host = self._make(spec)
            self._bus.notify(falls_back(spec, status.message), "warning")
        self._bus.dispatcher.after(restart.delay, partial(self._restart, name, host))

    def _restart(self, name: str, host: Host) -> None:
        """Unless another has taken its place, or it was given up meanwhile."""
        if self._hosts[name] is host and self.usable(name):
            host.restart()

    def _try_again(self, name: str, host: Host) -> None:
        """A stage that is out, once no turn is under way, unless something was done about it meanwhile."""
        if self._hosts[name] is not host or self.usable(name):
            return
        if self._bus.state.busy:
            self._bus.dispatcher.after(_SOON_S, partial(self._try_again, name, host))
        else:
            self._swap(name, self._chosen[name])

    def _swap(self, name: str, spec: StageSpec) -> None:
        old, self._chosen[name] = self._hosts[name], spec
        threading.Thread(target=old.stop, name=f"retire-{name}", daemon=True).start()
        self._supervisor.forget(name)
        self._down.add(name)
        self._hosts[name] = self._make(spec)
        self._hosts[name].start()
