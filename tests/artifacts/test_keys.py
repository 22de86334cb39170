"""Keys are stable, safe as file names, and reversible."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from starling_assets.artifacts.keys import content_key, joined_key, key_of_name, safe_name, sha256_hex


@given(st.text())
def test_safe_names_are_reversible(key: str) -> None:
    assert key_of_name(safe_name(key)) == key


@given(st.text())
def test_safe_names_stay_inside_their_folder(key: str) -> None:
    name = safe_name(key)
    assert name
    assert "/" not in name
    assert "\x00" not in name
    assert not name.startswith(".")


@given(st.text(), st.text())
@example("", "\x00")
@example(".", "%2E")
def test_two_keys_never_share_a_name(one: str, other: str) -> None:
    assert (safe_name(one) == safe_name(other)) == (one == other)


def test_content_key_does_not_depend_on_the_order_of_object_keys() -> None:
    assert content_key({"a": 1, "b": 2}) == content_key({"b": 2, "a": 1})
    assert content_key("a", "b") != content_key("ab")
    assert content_key(["a", "b"]) != content_key(["b", "a"])


def test_content_key_is_the_same_on_every_machine() -> None:
    assert content_key("bbb", 5) == "c228d585bb3e5437543f832671453b0d"
    assert sha256_hex(b"") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def test_joined_key_keeps_the_borders_of_its_members() -> None:
    assert joined_key(["ab", "c"]) != joined_key(["a", "bc"])
    assert joined_key(["a"]) != joined_key(["a", ""])
