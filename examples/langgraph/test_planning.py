"""Tests of the agent's planning with pytest, one for each case. The agent is that of `--planproof-agent`."""

import pytest


@pytest.mark.planproof(cases=20)
def test_planning(planproof_case):
    """Fails with the finding where the agent fails the case."""
