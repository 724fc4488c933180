"""The plugin of pytest that installs the fake device: see the package."""

from .modules import install

install()


def pytest_configure(config):
    from .torch_side import join

    join()
