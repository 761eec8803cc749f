"""Nested inputs by flat names: ``{"blocks": [{"w": x}]}`` is ``{"blocks.0.w": x}``."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from keyword import iskeyword
from typing import Any, TypeVar, cast

from tinychain_compile.errors import DeclarationError

Leaf = TypeVar("Leaf")


def flatten(
    tree: Mapping[str, Any], what: str = "input", leaves_at: Collection[str] = ()
) -> dict[str, Any]:
    """Return the leaves of nested mappings and sequences by dotted path, in order.

    Args:
        tree: Mappings with identifiers for keys, lists and tuples; all else is a leaf. A key may be
            a dotted path itself, as this function gives them.
        what: What a leaf is called in errors.
        leaves_at: Paths at which there is a leaf whatever is found, such as a list of numbers.

    Raises:
        DeclarationError: A key is no identifier, a structure is empty, or a path stands twice.
    """
    leaves: dict[str, Any] = {}
    pending: list[tuple[str, Any]] = _children(tree, "", what)[::-1]
    while pending:
        path, node = pending.pop()
        if _is_structure(node) and path not in leaves_at:
            children = _children(node, f"{path}.", what)
            if not children:
                raise DeclarationError(
                    f"{what} {path!r}", expected="a structure that is not empty", got=repr(node)
                )
            pending.extend(reversed(children))
        elif path in leaves:
            raise DeclarationError(
                f"{what} {path!r}", expected="each path once", got="a path that stands twice"
            )
        else:
            leaves[path] = node
    return leaves


def unflatten(leaves: Mapping[str, Leaf]) -> dict[str, Any]:
    """Return the nested structure of leaves by dotted path; sequences become lists.

    Raises:
        DeclarationError: One path is a part of another.
    """
    if not any("." in path for path in leaves):
        return dict(leaves)
    root: dict[str, Any] = {}
    for path, leaf in leaves.items():
        *parents, last = path.split(".")
        node = root
        for part in parents:
            child = node.setdefault(part, {})
            if type(child) is not dict:
                raise DeclarationError(
                    f"input {path!r}", expected="paths that do not end within others", got=part
                )
            node = cast("dict[str, Any]", child)
        if last in node:
            raise DeclarationError(
                f"input {path!r}", expected="paths that do not end within others", got=path
            )
        node[last] = leaf
    return {name: _with_lists(node) for name, node in root.items()}


def check_name(what: str, name: object) -> str:
    """Return a name that can be passed as a keyword.

    Raises:
        DeclarationError: It cannot.
    """
    if not isinstance(name, str) or not name.isidentifier() or iskeyword(name):
        raise DeclarationError(
            f"{what} name",
            expected="an identifier",
            got=repr(name),
            hint="Names are passed as keywords, so they must be Python identifiers.",
        )
    return name


def _is_structure(node: object) -> bool:
    return isinstance(node, (Mapping, list)) or (
        isinstance(node, tuple) and not hasattr(cast(object, node), "dtype")
    )


def _children(
    node: Mapping[str, Any] | Sequence[Any], prefix: str, what: str
) -> list[tuple[str, Any]]:
    if not isinstance(node, Mapping):
        return [(f"{prefix}{i}", child) for i, child in enumerate(node)]
    children: list[tuple[str, Any]] = []
    for key, child in cast("Mapping[object, Any]", node).items():
        parts = key.split(".") if isinstance(key, str) else [key]
        for i, part in enumerate(parts):
            is_position = i > 0 and isinstance(part, str) and part.isdecimal()
            if not is_position:
                check_name(what, part if len(parts) > 1 else key)
        children.append((f"{prefix}{key}", child))
    return children


def _with_lists(node: Any) -> Any:
    """Return a structure with lists where all keys are the numbers from 0 on."""
    if type(node) is not dict:
        return node
    children = {key: _with_lists(child) for key, child in cast("dict[str, Any]", node).items()}
    if all(key.isdecimal() for key in children):
        places = {int(key): child for key, child in children.items()}
        if sorted(places) == list(range(len(places))):
            return [places[i] for i in range(len(places))]
    return children
