import sys

# The fake device has to be there before thinc is: see the package.
is_there = "tests.fake_device.plugin" in sys.modules
collect_ignore_glob = [] if is_there else ["*"]

if is_there:
    from functools import cache

    import pytest
    from thinc.api import require_cpu

    from .pipelines import outcome_of

    @pytest.fixture(autouse=True)
    def back_to_cpu():
        yield
        require_cpu()

    @pytest.fixture(scope="session")
    def on_cpu(bert):
        return cache(lambda arm: outcome_of(arm, bert, -1))
