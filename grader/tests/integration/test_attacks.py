"""Attacks on the grader, one file each, earn no points and harm nobody at any isolation level that works here.

pytest grader/tests/integration/test_attacks.py -k talks_through_locks
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest

from grader.tests.attacks.trials import KATA_SECONDS, LEVELS, Attack, Level, Server, load_attacks
from torchkata.course import Limits

SAMPLE = (  # among the fastest
    *("channel/huge_length", "denial_of_service/endless_recursion", "escape/changes_the_root"),
    *("forged_outcomes/exits_in_the_call", "stolen_answers/imports_the_oracle"),
)
ATTACKS = load_attacks()
SAFE = [attack for attack in ATTACKS if not attack.not_at_none]  # may run without bubblewrap
MAX_SECONDS = KATA_SECONDS * Limits().wall_factor + 15.0  # including the start of workers and the second kata

GetServer = Callable[[Level], Server]


@pytest.fixture(scope="module")
def get_server() -> Iterator[GetServer]:
    """Return a function that starts the sandbox of an isolation level, or skips the test if it does not work here."""
    servers: dict[Level, Server] = {}

    def get(level: Level) -> Server:
        if level not in servers:
            servers[level] = Server(level)
        if servers[level].unavailable:
            pytest.skip(servers[level].unavailable)
        return servers[level]

    yield get
    for server in servers.values():
        server.close()


def check(attack: Attack, level: Level, get_server: GetServer) -> None:
    """Try an attack at an isolation level. Only what its file says may succeed."""
    trial = get_server(level).try_attack(attack)
    assert trial.problems == ()
    if attack.is_stopped(level):
        assert trial.gained == 0


def list_parameters(attacks: Iterable[Attack], sample: list[Any], others: list[Any]) -> list[object]:
    """Return the parameters of a test, with marks for the attacks of the sample and for the others."""
    in_sample = {True: sample, False: others}
    return [pytest.param(one, id=one.title, marks=in_sample[one.title in SAMPLE]) for one in attacks]


@pytest.mark.usefixtures("needs_bwrap")
@pytest.mark.parametrize("attack", list_parameters(ATTACKS, [pytest.mark.sample], []))
def test_attack_fails_in_bubblewrap(attack: Attack, get_server: GetServer) -> None:
    check(attack, "bwrap", get_server)


@pytest.mark.parametrize("attack", list_parameters(SAFE, [], [pytest.mark.timing]))
def test_attack_fails_without_bubblewrap(attack: Attack, get_server: GetServer) -> None:
    check(attack, "none", get_server)


@pytest.mark.timing  # on a busy machine, attacks that reach a limit take longer
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("attack", SAFE, ids=lambda attack: attack.title)
def test_attack_ends_in_time(attack: Attack, level: Level, get_server: GetServer) -> None:
    assert get_server(level).try_attack(attack).seconds <= MAX_SECONDS
