"""Digests of source code by its syntax tree: code that affects results counts, text for readers does not.

What is left out: comments and layout, docstrings and other strings that stand alone, the texts of messages (strings in
``raise``, ``print`` and ``warn``, the second half of ``assert``), and annotations of arguments, results and local
variables, unless a decorator may read them. The dump of a tree is this module's own: `ast.dump` and
`ast.unparse` differ between versions of Python.

A function or class counts with everything it uses, found by following names through every module of the same folder;
a name of another package counts by where it is imported from. All of this is read from the source, not from loaded
modules: it is the same in every process, and unaffected by changes that a trial makes to a module. Code that is
reached only through a computed name (``importlib``, ``getattr`` on an object) is therefore not seen.
"""

import ast
import hashlib
import sys
import sysconfig
import types
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from pathlib import Path

_PACKAGE_FOLDER = Path(__file__).resolve().parent
_PACKAGE = _PACKAGE_FOLDER.name
_LIBRARY = Path(sysconfig.get_path("stdlib")).resolve()

#: The subpackages that are followed; the others run no trials.
_FOLLOWED = (f"{_PACKAGE}.collect.", f"{_PACKAGE}.adapters.")

#: Not followed from within the package: how kernels are compiled (part of each trial's own fingerprint), and
#: registries (the object that was looked up counts instead).
_NOT_FOLLOWED = {
    (f"{_PACKAGE}.collect.kernels.jit", None),
    (f"{_PACKAGE}.collect.definitions.registry", None),
    (f"{_PACKAGE}.collect.environments.registry", None),
    # An environment counts by what its fields hold, and by its kernels.
    (f"{_PACKAGE}.collect.environments.environment", "CompiledEnvironment"),
    (f"{_PACKAGE}.collect.environments.environment", "Environment"),
}

#: Methods of this package's classes that only display something, or say what to fingerprint.
_SHOWING = {"__fingerprint__", "__repr__", "__str__", "_described", "describe", "facts", "render"}

#: Decorators that read no annotations.
_BLIND_DECORATORS = {
    *("abstractmethod", "cache", "cached_property", "classmethod", "contextmanager", "jit", "kernel", "lru_cache"),
    *("njit", "override", "property", "setter", "staticmethod", "wraps"),
}

#: Errors of reading a module: no file, not Python, or code nested too deeply.
_UNREADABLE = (OSError, SyntaxError, ValueError, RecursionError)

#: Functions that can reach any name of a module.
_REFLECTION = {"eval", "exec", "globals"}

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)

#: A name and its attributes: ``torch.nn.Linear``.
Chain = tuple[str, ...]


def tree_digest(paths: Iterable[Path]) -> str:
    """Return 16 hexadecimal digits for whole files, in the order given; their names do not count.

    Raises
    ------
    SyntaxError
        For a file that is not Python.
    """
    return _hashed(_dump(_stripped(path.read_bytes())) for path in paths)


@cache
def own_code(*roots: str) -> str:
    """Return the digest of parts of this package, each ``module:name``, and of what they use in it."""
    items = []
    for root in roots:
        module_name, _, name = root.partition(":")
        module = _package_module(module_name)
        if module is None or name.partition(".")[0] not in module.pieces:
            raise LookupError(f"there is no {root}")
        items.append((module, module.method(name) if "." in name else name))
    return _hashed(_texts(items))


def function_code(function: types.FunctionType) -> str | None:
    """Return the digest of a function and of what it uses; None where its source cannot be read.

    A nested function counts with the whole outer function, a method with its class.
    """
    code = function.__code__
    outermost = code.co_qualname.partition(".")[0]
    try:
        module = _module_of(Path(code.co_filename), function.__globals__)
        if outermost in module.pieces:
            return _hashed(_texts([(module, outermost)]))
        pieces = module.nameless.get(code.co_firstlineno)
        return None if pieces is None else _hashed(_texts([(module, piece) for piece in pieces]))
    except _UNREADABLE:
        return None


def class_code(class_: type) -> str | None:
    """Return the digest of a class and of what it uses; None where its source cannot be read."""
    names = vars(sys.modules.get(class_.__module__, types.ModuleType("")))
    outermost = class_.__qualname__.partition(".")[0]
    try:
        module = _module_of(Path(names["__file__"]), names)
        # The module may only import it, and a class made by a call may have a name unknown to the module.
        items = [each for each in module.resolved((outermost,), {}) if not isinstance(each, str)]
        return _hashed(_texts(items or [(module, None)]))
    except (KeyError, TypeError, *_UNREADABLE):
        return None


def _hashed(texts: Iterable[str]) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for text in texts:
        digest.update(f"{len(text)}\0{text}".encode(errors="surrogatepass"))
    return digest.hexdigest()


# Trees reduced to the parts that count.


def _stripped(source: bytes) -> ast.Module:
    tree: ast.Module = _Stripper().visit(ast.parse(source))
    return tree


class _Stripper(ast.NodeTransformer):
    """Takes out docstrings, messages, annotations, and methods of given names."""

    def __init__(self, methods: Collection[str] = ()) -> None:
        self._methods = methods
        self._in_function = False

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        if getattr(node, "body", None) == [] and not isinstance(node, ast.Module):
            node.body = [ast.Pass()]  # type: ignore[attr-defined]
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        if isinstance(node.value, ast.Constant):
            return None
        call = node.value
        if isinstance(call, ast.Call) and _last_name(call.func) in ("print", "warn"):
            # An expression in a message may draw random numbers: only the text is removed.
            call.args = [_Wordless(keep_values=True).visit(each) for each in call.args]
        return self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        if node.exc is not None:
            node.exc = _Wordless(keep_values=False).visit(node.exc)
        return self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        if self._methods and _last_name(node.targets[0]).endswith("failure"):
            # The text of a trial's failure.
            node.value = _Wordless(keep_values=False).visit(node.value)
        return self.generic_visit(node)

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        node.msg = None
        return self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        if all(_last_name(each) in _BLIND_DECORATORS for each in node.decorator_list):
            node.returns = None
            given = node.args
            for each in (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg):
                if each is not None:
                    each.annotation = None
        return self._inside(node, True)

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.body = [each for each in node.body if getattr(each, "name", None) not in self._methods]
        return self._inside(node, False)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        self.generic_visit(node)
        if not self._in_function:
            # Of a class it may be a field.
            return node
        return None if node.value is None else ast.Assign(targets=[node.target], value=node.value)

    def _inside(self, node: ast.AST, in_function: bool) -> ast.AST:
        before, self._in_function = self._in_function, in_function
        self.generic_visit(node)
        self._in_function = before
        return node


class _Wordless(ast.NodeTransformer):
    """Empties the strings of a message."""

    def __init__(self, *, keep_values: bool) -> None:
        self._keep_values = keep_values

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        return ast.Constant("") if isinstance(node.value, str) else node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        if not self._keep_values:
            return ast.Constant("")
        values = [each.value for each in node.values if isinstance(each, ast.FormattedValue)]
        return ast.Tuple(elts=values) if values else ast.Constant("")


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Call):
        node = node.func
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


#: Fields that follow from the others, or are about comments and quotes.
_REDUNDANT = {"ctx", "kind", "type_comment", "type_ignores"}


def _dump(node: object) -> str:
    """Return a tree as text, the same in every version of Python."""
    if isinstance(node, ast.JoinedStr):
        node = ast.JoinedStr(values=_joined(node.values))
    if isinstance(node, ast.AST):
        fields = (
            f"{name}={_dump(value)}"
            for name, value in ast.iter_fields(node)
            # Fields that a version adds are empty in code that does without them.
            if name not in _REDUNDANT and value is not None and value != []
        )
        return f"{type(node).__name__}({','.join(fields)})"
    if isinstance(node, list):
        return f"[{','.join(map(_dump, node))}]"
    return repr(node)


def _joined(values: list[ast.expr]) -> list[ast.expr]:
    """Return the parts of an f-string with adjacent texts joined: where they are split depends on the version."""
    parts: list[ast.expr] = []
    for each in values:
        if not isinstance(each, ast.Constant):
            parts.append(each)
        elif parts and isinstance(parts[-1], ast.Constant):
            parts[-1] = ast.Constant(str(parts[-1].value) + str(each.value))
        elif each.value != "":
            parts.append(each)
    return parts


# Names: what a piece of code uses, and what a statement changes.


class _Uses(ast.NodeVisitor):
    """Collects the free names of a piece of code, in order, and what it imports itself."""

    def __init__(self) -> None:
        self.chains: dict[Chain, None] = {}
        self.imports: dict[str, tuple[str, int, str | None]] = {}
        self._scopes: list[set[str]] = []

    def visit_Name(self, node: ast.Name) -> None:
        self._add((node.id,))

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if (chain := _chain(node)) is not None:
            self._add(chain)
        else:
            self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self.visit(node.target)
        if node.value is not None:
            self.visit(node.value)

    def visit_Import(self, node: ast.Import) -> None:
        self.imports |= _imports(node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        self.imports |= _imports(node)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        for each in (*node.decorator_list, *node.args.defaults, *filter(None, node.args.kw_defaults)):
            self.visit(each)
        self._within(_parameters(node.args) | _locals(node.body), node.body)

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815

    def visit_Lambda(self, node: ast.Lambda) -> None:
        for each in (*node.args.defaults, *filter(None, node.args.kw_defaults)):
            self.visit(each)
        self._within(_parameters(node.args), [node.body])

    def generic_visit(self, node: ast.AST) -> None:
        if isinstance(node, _COMPREHENSIONS):
            self._scopes.append({name for each in node.generators for name in _stored(each.target)})
            super().generic_visit(node)
            self._scopes.pop()
        else:
            super().generic_visit(node)

    def _within(self, names: set[str], body: Sequence[ast.AST]) -> None:
        self._scopes.append(names)
        for each in body:
            self.visit(each)
        self._scopes.pop()

    def _add(self, chain: Chain) -> None:
        if not any(chain[0] in scope for scope in self._scopes):
            self.chains[chain] = None


def _chain(node: ast.AST) -> Chain | None:
    attributes: list[str] = []
    while isinstance(node, ast.Attribute):
        attributes.append(node.attr)
        node = node.value
    return (node.id, *reversed(attributes)) if isinstance(node, ast.Name) else None


def _parameters(given: ast.arguments) -> set[str]:
    each = (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg)
    return {argument.arg for argument in each if argument is not None}


def _inner(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Yield all nodes of the same scope: functions and classes themselves, without their bodies."""
    waiting = deque(nodes)
    while waiting:
        node = waiting.popleft()
        yield node
        if not isinstance(node, (*_FUNCTIONS, ast.ClassDef, ast.Lambda, *_COMPREHENSIONS)):
            waiting.extend(ast.iter_child_nodes(node))


def _stored(*nodes: ast.AST) -> set[str]:
    """Return the names that are assigned there, except imports, which are followed."""
    names = set()
    for node in _inner(nodes):
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            names.add(node.id)
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            names.add(node.name)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            names.add(node.rest)
    return names


def _locals(body: list[ast.stmt]) -> set[str]:
    """Return the local names of a function, except imports, which are followed."""
    elsewhere: set[str] = set()
    for node in _inner(body):
        elsewhere.update(node.names if isinstance(node, ast.Global | ast.Nonlocal) else _imports(node))
    return _stored(*body) - elsewhere


def _declared_global(node: ast.AST) -> set[str]:
    return {name for each in ast.walk(node) if isinstance(each, ast.Global) for name in each.names}


def _decorators(node: ast.AST) -> list[ast.expr]:
    return [each.func if isinstance(each, ast.Call) else each for each in getattr(node, "decorator_list", [])]


def _imports(node: ast.AST) -> dict[str, tuple[str, int, str | None]]:
    """Return the names that an import binds: each with its module, its relative level, and the name there."""
    if isinstance(node, ast.ImportFrom):
        return {
            # Several modules may be imported with a star.
            each.asname or (each.name if each.name != "*" else f"*{node.module}"): (
                node.module or "",
                node.level,
                each.name,
            )
            for each in node.names
        }
    if isinstance(node, ast.Import):
        return {
            each.asname or each.name.partition(".")[0]: (
                each.name if each.asname else each.name.partition(".")[0],
                0,
                None,
            )
            for each in node.names
        }
    return {}


def _changed(statement: ast.stmt) -> set[str]:
    """Return the names of a module that a statement binds, or changes a part of.

    ``TABLE["x"] = 1`` and ``CONFIG.update(...)`` change what the name stands for, ``torch.set_default_dtype(...)`` what
    a module does, and a function that says ``global RATE`` belongs to what ``RATE`` is.
    """
    names = _stored(statement) | _declared_global(statement)
    guard = isinstance(statement, ast.If) and "__name__" in {
        each.id for each in ast.walk(statement.test) if isinstance(each, ast.Name)
    }
    for node in _inner([statement]):
        called = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and not guard
        if called and (chain := _chain(node.value.func)) is not None and len(chain) > 1:  # type: ignore[attr-defined]
            names.add(chain[0])
    for node in ast.walk(statement):
        if isinstance(node, ast.Subscript | ast.Attribute) and not isinstance(node.ctx, ast.Load):
            root: ast.AST = node
            while isinstance(root, ast.Subscript | ast.Attribute):
                root = root.value
            if isinstance(root, ast.Name):
                names.add(root.id)
    return names


# Modules, and following names through them.


@dataclass(frozen=True, eq=False)
class _Piece:
    """Some code that counts as a whole."""

    node: ast.AST

    @cached_property
    def text(self) -> str:
        return _dump(self.node)

    @cached_property
    def uses(self) -> _Uses:
        uses = _Uses()
        uses.visit(self.node)
        return uses


@dataclass(frozen=True, eq=False)
class _Module:
    """The source of a module: which statements belong to which of its names, and where its imports lead.

    Parameters
    ----------
    path
        Its file.
    name
        Its dotted name, relative to its folder.
    home
        The folder whose modules are followed; None to follow none.
    pieces, everything
        The statements that bind or change a name, by the name; all statements.
    imports
        What is imported, by the name it has here.
    nameless
        Lambdas, by their line.
    """

    path: Path
    name: str
    home: Path | None
    pieces: dict[str, list[_Piece]] = field(default_factory=dict)
    everything: list[_Piece] = field(default_factory=list)
    imports: dict[str, tuple[str, int, str | None]] = field(default_factory=dict)
    nameless: dict[int, list[_Piece]] = field(default_factory=dict)

    @property
    def ours(self) -> bool:
        return self.name.partition(".")[0] == _PACKAGE

    def read(self, source: bytes) -> "_Module":
        """Fill the tables from the source."""
        tree = ast.parse(source)
        for node in ast.walk(tree):
            if isinstance(node, ast.Lambda):
                self.nameless.setdefault(node.lineno, []).append(_Piece(node))
        changed: dict[_Piece, set[str]] = {}
        for statement in _Stripper(_SHOWING if self.ours else set()).visit(tree).body:
            for node in _inner([statement]):
                self.imports.update(_imports(node))
            if not isinstance(statement, ast.Import | ast.ImportFrom):
                changed[_Piece(statement)] = _changed(statement)
        self.everything.extend(changed)
        bound = {name for piece in changed for name in _stored(piece.node) | _declared_global(piece.node)}
        # A decorator may store the function in what it changes.
        kept_in = {getattr(piece.node, "name", None): names for piece, names in changed.items()}
        foreign = {name for name, (module, *_) in self.imports.items() if module.partition(".")[0] != _PACKAGE}
        for piece, names in changed.items():
            stored = _stored(piece.node)
            for chain in filter(None, map(_chain, _decorators(piece.node))):
                names |= {chain[0]} if len(chain) > 1 else kept_in.get(chain[0], set()) - {chain[0]}
            for name in sorted(names):
                # A statement that binds nothing may change another package's module; a definition does not.
                if name in stored or name in bound or (name in foreign and not stored):
                    self.pieces.setdefault(name, []).append(piece)
        return self

    def knows(self, name: str) -> bool:
        return self._holder(name, set()) is not None

    @cached_property
    def imported_pieces(self) -> list[_Piece]:
        """Every imported name, as code that uses it."""
        return [_Piece(ast.Name(id=name)) for name in self.imports if name[0] != "*"]

    def method(self, name: str) -> _Piece:
        """Return a method of a class by itself, ``Class.method``."""
        class_, _, method = name.partition(".")
        members = (each for piece in self.pieces[class_] for each in getattr(piece.node, "body", []))
        return next(_Piece(each) for each in members if getattr(each, "name", None) == method)

    def resolved(self, chain: Chain, nearer: dict[str, tuple[str, int, str | None]]) -> "Iterator[_Item | str]":
        """Yield what a name leads to: parts of modules that are followed, and where others come from."""
        root = chain[0]
        if root in self.pieces and (self.name, root) not in _NOT_FOLLOWED:
            yield self, root
        imported = nearer.get(root) or self.imports.get(root)
        if imported is not None:
            yield from self._followed(chain, *imported)
        elif root not in self.pieces:
            if (holder := self._holder(root, set())) is not None:
                yield from holder.resolved(chain, {})
            elif root in _REFLECTION:
                yield self, None

    def _followed(self, chain: Chain, module_name: str, level: int, name: str | None) -> "Iterator[_Item | str]":
        absolute = self._absolute(module_name, level)
        rest = [*([name] if name is not None else []), *chain[1:]]
        if absolute == _PACKAGE and rest and not self.ours:
            # Public names are loaded at first use: only at run time are their modules known.
            found = getattr(sys.modules.get(_PACKAGE), rest[0], None)
            if getattr(found, "__module__", None) and getattr(found, "__name__", None) == rest[0]:
                absolute = str(found.__module__)
        module = self._found(absolute)
        while rest and (module is None or not module.knows(rest[0])):
            inner = self._found(f"{absolute}.{rest[0]}")
            if inner is None and (module is not None or not self._may_hold(absolute)):
                break
            absolute, module = f"{absolute}.{rest.pop(0)}", inner
        if module is not None and rest and module.knows(rest[0]):
            if not self.ours or (module.name, rest[0]) not in _NOT_FOLLOWED:
                yield from module.resolved(tuple(rest), {})
        elif module is not None and not rest:
            # The module itself is passed on: anything in it may be used.
            yield module, None
        elif absolute.partition(".")[0] == _PACKAGE:
            # Its module within this package may change.
            yield f"{chain[0]}={name}"
        else:
            yield f"{chain[0]}={absolute}:{name}"

    def _absolute(self, module_name: str, level: int) -> str:
        if level == 0:
            return module_name
        parents = self.name.split(".")
        parents = parents[: len(parents) - level + (self.path.name == "__init__.py")]
        return ".".join([*parents, *([module_name] if module_name else [])])

    def _may_hold(self, name: str) -> bool:
        """Return whether there is a folder of that name without a module of its own."""
        return self.home is not None and bool(name) and self.home.joinpath(*name.split(".")).is_dir()

    def _found(self, name: str) -> "_Module | None":
        if name.partition(".")[0] == _PACKAGE:
            return None if self.ours and (name, None) in _NOT_FOLLOWED else _package_module(name)
        if self.home is None or self.ours or not name:
            return None
        return _below(self.home, name)

    def _holder(self, name: str, asked: "set[_Module]") -> "_Module | None":
        """Return this module if it has the name, else one that has it and is imported with a star."""
        if name in self.pieces or name in self.imports:
            return self
        asked.add(self)
        for starred, (module_name, level, _) in self.imports.items():
            found = self._found(self._absolute(module_name, level)) if starred[0] == "*" else None
            if found is not None and found not in asked and (holder := found._holder(name, asked)) is not None:
                return holder
        return None


#: A name of a module with all that belongs to it; None for the whole module, a piece for that alone.
_Item = tuple[_Module, str | _Piece | None]


def _texts(items: "Sequence[_Item]") -> Iterator[str]:
    """Yield the texts of all code that is reached from there, in the order of reaching it."""
    waiting = deque(items)
    seen: set[object] = set()
    while waiting:
        module, what = waiting.popleft()
        if what is None:
            waiting.extend((module, piece) for piece in module.imported_pieces)
        for piece in module.everything if what is None else [what] if isinstance(what, _Piece) else module.pieces[what]:
            if piece in seen:
                continue
            seen.add(piece)
            yield piece.text
            for chain in piece.uses.chains:
                for found in module.resolved(chain, piece.uses.imports):
                    if not isinstance(found, str):
                        waiting.append(found)
                    elif found not in seen:
                        seen.add(found)
                        yield found


def _module_of(path: Path, names: dict[str, object]) -> _Module:
    """Return the module with these global names; raises OSError without a file, SyntaxError if that is not Python."""
    if path.suffix != ".py":
        raise OSError(f"{path} is not a source file")
    path = path.resolve(strict=True)
    if path.is_relative_to(_PACKAGE_FOLDER):
        home: Path | None = _PACKAGE_FOLDER.parent
    elif _installed(path):
        home = None
    else:
        home = path.parent
        spec = names.get("__spec__")
        called = getattr(spec, "name", None) or names.get("__name__")
        parts = str(called).split(".")
        own = path.parent.parts if path.name == "__init__.py" else path.with_suffix("").parts
        if parts == list(own[-len(parts) :]):
            home = Path(*own[: -len(parts)])
    return _read(path, home)


def _read(path: Path, home: Path | None) -> _Module:
    status = path.stat()
    return _parsed(path, home, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=1024)
def _parsed(path: Path, home: Path | None, time: int, size: int) -> _Module:
    inner = path.parent if path.name == "__init__.py" else path.with_suffix("")
    name = inner.name if home is None else ".".join(inner.relative_to(home).parts)
    return _Module(path, name, home).read(path.read_bytes())


def _below(home: Path, name: str) -> _Module | None:
    """Return the module of a folder by its name; None where there is none, or it cannot be read."""
    inner = home.joinpath(*name.split("."))
    for path in (inner / "__init__.py", inner.with_name(f"{inner.name}.py")):
        if path.is_file():
            try:
                return _read(path.resolve(), home)
            except _UNREADABLE:
                return None
    return None


@cache
def _package_module(name: str) -> _Module | None:
    return _below(_PACKAGE_FOLDER.parent, name) if f"{name}.".startswith(_FOLLOWED) else None


def _installed(path: Path) -> bool:
    """Return whether a file is of Python's own library, or of a package that was installed."""
    return bool({"site-packages", "dist-packages"} & set(path.parts)) or path.is_relative_to(_LIBRARY)
