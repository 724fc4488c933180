"""A GPU made of NumPy, stricter than a real one, for machines that have none.

    python -m pytest -p tests.fake_device.plugin --gpu tests/fake_device

The plugin puts a module `cupy` into `sys.modules` before thinc is imported, so that it
needs a process of its own. No array is converted unasked, no kernel gets what it cannot
read, and memory that nobody has written holds NaN. A ledger keeps all transfers.
"""
