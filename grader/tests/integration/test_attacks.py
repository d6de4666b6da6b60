"""Attacks on the grader, one file each, earn no points and harm nobody at any isolation level that works here.

pytest grader/tests/integration/test_attacks.py -k talks_through_locks
"""

from collections.abc import Callable, Iterator

import pytest

from grader.tests.support.attacks import KATA_SECONDS, LEVELS, Attack, Level, Server, load_attacks

SAMPLE = {  # of each family, among the fastest
    "channel/huge_length",
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


def list_trials() -> Iterator[object]:
    """Yield the parameters of a test: each attack at each isolation level."""
    for level in LEVELS:
        for attack in load_attacks():
            in_sample = level == "bwrap" and attack.title in SAMPLE
            marks = [*([] if in_sample else [pytest.mark.full])]
            marks += [pytest.mark.usefixtures("needs_bwrap")] if level == "bwrap" else []
            if level == "bwrap" or not attack.not_at_none:
                yield pytest.param(attack, level, id=f"{attack.title}-{level}", marks=marks)


@pytest.mark.parametrize(("attack", "level"), list_trials())
def test_attack_earns_nothing_and_harms_nobody(attack: Attack, level: Level, get_server: GetServer) -> None:
    trial = get_server(level).try_attack(attack)
    assert trial.problems == ()
    if attack.is_stopped(level):
        assert trial.gained == 0


@pytest.mark.timing  # on a busy machine, a limit takes longer
@pytest.mark.full
@pytest.mark.parametrize(("attack", "level"), list_trials())
def test_attack_ends_in_time(attack: Attack, level: Level, get_server: GetServer) -> None:
    assert get_server(level).try_attack(attack).seconds <= MAX_SECONDS
