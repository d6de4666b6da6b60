"""Attacks on the grader, one file each, earn no points and harm nobody at any isolation level that works here.

pytest grader/tests/integration/test_attacks.py -k talks_through_locks
"""

from collections.abc import Callable, Iterator

import pytest

from grader.tests.support.attacks import CALL_SECONDS, KATA_SECONDS, Attack, Level, Server, load_attacks

SAMPLE = {  # one attack of each family, among the fastest
}
MAX_SECONDS = KATA_SECONDS + 15.0  # including the time to start and end workers and to grade the second kata

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


def list_trials() -> Iterator[tuple[Attack, Level, str]]:
    """Yield each attack at each isolation level, with an id."""
    levels: tuple[Level, ...] = ("bwrap", "none")
    for level in levels:
        for attack in load_attacks():
            if level == "bwrap" or not attack.not_at_none:
                yield attack, level, f"{attack.title}-{level}"


TRIALS = [
    pytest.param(attack, level, id=name, marks=[] if name in SAMPLE else pytest.mark.full)
    for attack, level, name in list_trials()
]


@pytest.mark.parametrize(("attack", "level"), TRIALS)
def test_attack_earns_nothing_and_harms_nobody(attack: Attack, level: Level, get_server: GetServer) -> None:
    trial = get_server(level).try_attack(attack)
    assert trial.problems == ()
    if attack.is_stopped(level):
        assert trial.gained == 0
