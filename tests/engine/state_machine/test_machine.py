"""A short run of the state machine.

``python -m tests.engine.state_machine.sweep`` is the long one.
"""

from __future__ import annotations

from hypothesis import HealthCheck, settings

from tests.engine.state_machine.machine import EngineMachine

EngineMachine.TestCase.settings = settings(
    max_examples=30,
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
TestEngineMachine = EngineMachine.TestCase
