"""The reference has everything that is public, and says of it what is so."""

import re
from functools import cache
from types import GenericAlias, ModuleType

import griffe
import pytest
import typer

import untuned
from support.documents import ROOT
from support.processes import python
from untuned.cli.main import app, main

#: The public modules, by name.
MODULES = {name: module for name in untuned.__all__ if isinstance(module := getattr(untuned, name), ModuleType)}
PAGE = ROOT / "docs" / "reference" / "python.md"
LISTED = re.findall(r"^::: (\S+)$", PAGE.read_text(), flags=re.M)

#: Classes that public ones mention but that users do not need.
INNER = {
    "untuned.collect.environments.environment.OpenedEnvironment": "an environment while a trial runs",
    "untuned.collect.environments.environment.RunnableEnvironment": "what compiled and Gymnasium environments share",
    "untuned.collect.environments.stepped.SteppedEnvironment": "what Gymnasium environments have beyond facts",
    "untuned.collect.environments.stepped.Stepper": "an environment while a trial runs",
    "untuned.collect.engines.cells.Cell": "what engines run",
    "untuned.collect.resolve.Resolved": "what a study's names stand for",
    "untuned.collect.runner.trial.ForAgents": "what from_gymnasium returns",
    "untuned.collect.store.store.Store": "the file of a session's results",
    "untuned.collect.agents.agent.Agent": "compiled agents, in docs/agents.md",
    "untuned.collect.agents.agent.CompiledLearner": "compiled agents, in docs/agents.md",
    "untuned.collect.agents.agent.Learner": "compiled agents, in docs/agents.md",
    "untuned.collect.distributions.Distribution": "named in words by every hyperparameter",
    "untuned.collect.distributions.NumberDistribution": "named in words by every parameter",
    "untuned.judge.percentiles.Percentiles": "what a method of intervals is given",
    "untuned.judge.pool.Pool": "what a method of intervals is given",
}


@cache
def package() -> griffe.Module:
    """Return the package as its sources are written; nothing is imported."""
    found = griffe.load("untuned", search_paths=[ROOT / "src"], docstring_parser="numpy", resolve_aliases=True)
    assert isinstance(found, griffe.Module)
    return found


def looked_up(path: str) -> griffe.Object:
    """Return what a path of the package leads to."""
    found = package()[path.removeprefix("untuned.")]
    return found.final_target if isinstance(found, griffe.Alias) else found


def public_members(found: griffe.Object) -> list[griffe.Object]:
    """Return a class's own public methods and properties."""
    members = [each.final_target if isinstance(each, griffe.Alias) else each for each in found.members.values()]
    return [
        each for each in members if not each.name.startswith("_") and (each.is_function or "property" in each.labels)
    ]


def described(found: griffe.Object) -> list[str]:
    """Return the names of parameters, attributes included, that a docstring describes."""
    names: list[str] = []
    if isinstance(found, griffe.Class):
        for base in found.resolved_bases:
            names += described(looked_up(base.path))
    for section in found.docstring.parsed if found.docstring else ():
        if isinstance(section, griffe.DocstringSectionParameters | griffe.DocstringSectionAttributes):
            for each in section.value:
                names += [name.strip() for name in each.name.split(",")]
    return [name.lstrip("*") for name in names]


def parameters(found: griffe.Object) -> list[str]:
    """Return the names of the parameters of a function, or of the constructor of a class."""
    if isinstance(found, griffe.Class):
        return [each.name for each in found.parameters if each.name != "self"]
    assert isinstance(found, griffe.Function)
    return [each.name for each in found.parameters if each.name not in {"self", "cls"}]


def public_paths() -> set[str]:
    """Return every public class and function by the path under which it is imported."""
    flat = {f"untuned.{name}": getattr(untuned, name) for name in untuned.__all__ if name not in MODULES}
    inner = {
        f"untuned.{name}.{each}": value
        for name, module in MODULES.items()
        for each, value in vars(module).items()
        if not each.startswith("_") and callable(value) and not isinstance(value, GenericAlias)
    }
    return {path for path, value in (flat | inner).items() if path != "untuned.__version__"}


def test_the_reference_lists_the_public_names_and_no_others() -> None:
    assert len(LISTED) == len({looked_up(path).path for path in LISTED}), "something is listed twice"
    public = public_paths()
    assert not public - set(LISTED), f"add '::: NAME' to {PAGE}"
    assert not set(LISTED) - public, f"not public: add them to src/untuned/__init__.pyi, or take them out of {PAGE}"


def test_what_public_things_return_is_in_the_reference_too() -> None:
    homes = {looked_up(path).path for path in LISTED}
    for path in sorted(homes):
        found = looked_up(path)
        for each in [found, *(public_members(found) if found.is_class else ())]:
            for kind in _kinds_returned(each):
                assert kind in homes or kind in INNER, f"{each.path} leads to {kind}: add '::: {kind}' to {PAGE.name}"
    assert not set(INNER) & homes


def _kinds_returned(found: griffe.Object) -> list[str]:
    """Return the classes of ours that a function returns, or that the attributes of a class are."""
    if isinstance(found, griffe.Function):
        annotations = [found.returns]
    elif isinstance(found, griffe.Class):
        attributes = [each for name, each in found.members.items() if each.is_attribute and not name.startswith("_")]
        annotations = [each.annotation for each in attributes if isinstance(each, griffe.Attribute)]
    else:
        annotations = [found.annotation] if isinstance(found, griffe.Attribute) else []
    kinds = []
    for annotation in annotations:
        for name in annotation.iterate() if isinstance(annotation, griffe.Expr) else ():
            if isinstance(name, griffe.ExprName) and name.canonical_path.startswith("untuned."):
                kind = looked_up(name.canonical_path)
                kinds += [kind.path] if kind.is_class else []
    return kinds


@pytest.mark.parametrize("path", LISTED)
def test_docstrings_describe_what_there_is(path: str) -> None:
    found = looked_up(path)
    assert found.docstring, "no docstring"
    every = [found, *(public_members(found) if found.is_class else ())]
    complaints = [complaint for each in every for complaint in _complaints(each, strict=each is found)]
    assert not complaints, "\n".join(complaints)


def _described_together(found: griffe.Object) -> list[list[str]]:
    """Return the names of parameters that share a description, for which the page shows only one type."""
    if not isinstance(found, griffe.Function) or not found.docstring:
        return []
    entries = re.findall(r"^\*{0,2}\w+(?:, \*{0,2}\w+)+$", found.docstring.value, flags=re.M)
    return [[name.lstrip("*") for name in entry.split(", ")] for entry in entries]


def _constants(found: griffe.Object) -> list[tuple[str, str, str]]:
    """Return the parameters of a function whose defaults are constants, which say nothing to a reader."""
    if not isinstance(found, griffe.Function) or not found.docstring:
        return []
    words = {
        each.name: each.description
        for section in found.docstring.parsed
        if isinstance(section, griffe.DocstringSectionParameters)
        for each in section.value
    }
    every = [(each.name, str(each.default), words.get(each.name, "")) for each in found.parameters]
    return [each for each in every if re.fullmatch(r"[A-Z][A-Z_]+", each[1])]


def _named(found: griffe.Object, names: list[str]) -> list[griffe.Parameter]:
    assert isinstance(found, griffe.Function)
    return [each for each in found.parameters if each.name in names]


def _complaints(found: griffe.Object, strict: bool) -> list[str]:
    if not found.docstring:
        return [f"{found.path} has no docstring"]
    if not found.is_class and not found.is_function:
        return []
    wanted, said = parameters(found), described(found)
    text = found.docstring.value
    if said:
        # A class may also describe attributes that are not arguments.
        shared = [
            f"{found.path}: {', '.join(names)} have one description and different types or defaults: write one for each"
            for names in _described_together(found)
            if len({(str(each.annotation), str(each.default)) for each in _named(found, names)}) > 1
        ]
        shared += [
            f"{found.path}: {name} is {constant} by default; say in words what that is: '... by default'"
            for name, constant, words in _constants(found)
            if "default" not in words
        ]
        missing = [name for name in wanted if name not in said]
        known = {*wanted, *(found.members if found.is_class else ())}
        beyond = [name for name in said if name not in known]
        absent = [f"{found.path}: {name} is not described" for name in missing]
        return [*absent, *(f"{found.path}: there is no {name}" for name in beyond), *shared]
    if strict:
        return [f"{found.path}: no parameter is described: {wanted}"] if wanted else []
    # A method of one line says in it what its parameters are.
    return [
        f"{found.path}: {name} is not described; write a section, or say it in ``{name}``"
        for name in wanted
        if not re.search(rf"\b{name}\b", text)
    ]


def test_the_page_of_commands_is_current() -> None:
    finished = python(str(ROOT / "docs_tools" / "commands.py"), "--check")
    assert finished.returncode == 0, "docs/reference/commands.md is out of date: run make reference"


@pytest.mark.parametrize("name", [str(each.name) for each in app.registered_commands])
def test_the_page_of_commands_has_every_option_of_the_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([name, "--help"])
    options = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", capsys.readouterr().out)) - {"--help"}
    text = (ROOT / "docs" / "reference" / "commands.md").read_text()
    section = text.split(f"\n## untuned {name}\n")[1].split("\n## ")[0]
    for option in options:
        assert option in section, option
    assert typer.main.get_command(app).name == "untuned"
