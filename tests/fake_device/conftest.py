import sys

# The fake device has to be there before thinc is: see the package.
is_there = "tests.fake_device.modules" in sys.modules
collect_ignore_glob = [] if is_there else ["*"]

if is_there:
    import pytest
    from thinc.api import require_cpu

    from .pipelines import outcome_of

    @pytest.fixture(autouse=True)
    def back_to_cpu():
        yield
        require_cpu()

    @pytest.fixture(scope="session")
    def on_cpu(bert):
        """What an arm comes to on the CPU, reckoned once."""
        known = {}

        def outcome(arm):
            if arm not in known:
                known[arm] = outcome_of(arm, bert, -1)
            return known[arm]

        return outcome
