"""Lets Hypothesis draw the properties of the simulated machine."""

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

MACHINES = st.fixed_dictionaries(
    {"gpu": st.booleans(), "first": st.sampled_from([0.0, 300.0]), "clock_set": st.booleans()},
    optional={"busy": st.just(200.0)},
)


def check(run):
    @settings(
        max_examples=25, deadline=None, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
    )
    @given(st.sampled_from([0.02, 0.5, 3.0]), MACHINES)
    def result_is_the_time_of_one(seconds, machine):
        if not machine["gpu"]:
            machine.pop("busy", None)
        demand(run(seconds, **machine), seconds, 1.15)

    try:
        result_is_the_time_of_one()
        for machine in ({"gpu": True}, {"gpu": True, "busy": 90.0}, {"first": 90.0}, {"clock_set": True}):
            demand(run(0.5, **machine), 0.5, 1.15)
        for slow in range(7):
            demand(run(0.5, slow=slow), 0.5, 7.0)
    except BaseException as error:
        if isinstance(error, (AssertionError, KeyboardInterrupt)):
            raise
        raise AssertionError(repr(error)) from None


def demand(happened, seconds, high):
    assert type(happened.seconds) is float
    assert 0.93 * seconds < happened.seconds < high * seconds
    assert happened.timed > 2
    assert happened.matmuls > 3
    assert not happened.modified
