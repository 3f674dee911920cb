"""The memory limit of a study: what is written wrongly, or cannot be had, is said in words."""

import sys

import pytest

from untuned.collect.runner import memory_limit
from untuned.errors import InvalidInput


def test_a_number_beyond_all_floats_is_refused() -> None:
    with pytest.raises(InvalidInput, match="write a number with a unit"):
        memory_limit.parsed("9" * 400 + " GiB")


def test_a_system_that_cannot_limit_memory_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(InvalidInput, match="only Linux can limit it"):
        memory_limit.taken()
    with pytest.raises(InvalidInput, match="only Linux can limit it"), memory_limit.limited(1 << 30):
        pass
