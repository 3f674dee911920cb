"""What `import untuned` costs and gives: nothing heavy, every public name, every id in Gymnasium's registry."""

import importlib
import json
import pkgutil
import types

import pytest

import untuned
from support.processes import python

# Half a second and more together; and what only some commands need.
HEAVY = ("numba", "llvmlite", "scipy", "matplotlib", "gymnasium", "numpy", "PIL", "pandas")

REGISTERED = """
import json
import gymnasium
print(json.dumps(sorted(name for name in gymnasium.registry if name.startswith("untuned/"))))
"""
MADE = """
env = gymnasium.make("untuned/CartPole-v0")
observation, info = env.reset(seed=1)
assert observation.tolist() == [0.0, 0.0, 0.0, 0.0]
print(len(info["dynamics"]))
"""


def run(program: str, *options: str) -> str:
    finished = python(*options, "-c", program)
    assert finished.returncode == 0, finished.stderr
    assert finished.stderr == ""
    return finished.stdout


def loaded_by(program: str) -> set[str]:
    report = "\nimport json, sys\nprint(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))"
    return set(json.loads(run(program + report).splitlines()[-1]))


def test_importing_loads_nothing_heavy() -> None:
    loaded = loaded_by("import untuned")
    assert "untuned" in loaded
    assert loaded.isdisjoint((*HEAVY, "typer", "click", "rich", "platformdirs"))


@pytest.mark.parametrize(
    "use",
    [
        "untuned.__version__",
        "untuned.UnknownName('environment', 'a', ['b'])",
        "dir(untuned)",
        "hasattr(untuned, 'nothing')",
        "import untuned.errors",
        "import untuned.adapters.registration",
        "import untuned.collect.environments.names",
        "import untuned.cli.main",
    ],
)
def test_what_needs_nothing_heavy_loads_nothing_heavy(use: str) -> None:
    assert loaded_by(f"import untuned\n{use}").isdisjoint(HEAVY)


@pytest.mark.parametrize(
    "arguments", [["--help"], ["-h"], ["--version"], [], ["list", "--help"], ["coverage", "--help"]]
)
def test_help_and_version_load_nothing_heavy(arguments: list[str]) -> None:
    program = f"""
from untuned.cli.main import main
try:
    main({arguments!r})
except SystemExit:
    pass
"""
    loaded = loaded_by(program)
    assert "typer" in loaded
    assert loaded.isdisjoint(HEAVY)


def test_no_function_has_the_name_of_a_module() -> None:
    # Once a module is loaded it is an attribute of the package, and would take the place of the function.
    modules = {each.name for each in pkgutil.iter_modules(untuned.__path__)}
    assert modules
    shared = modules.intersection(untuned.__all__)
    assert all(isinstance(getattr(untuned, name), types.ModuleType) for name in shared), shared
    assert untuned.lab is importlib.import_module("untuned.lab")


@pytest.mark.parametrize("use", ["untuned.environment('cart-pole')", "untuned.algorithm('sarsa')"])
def test_environments_and_algorithms_need_no_gymnasium(use: str) -> None:
    loaded = loaded_by(f"import untuned\n{use}")
    assert "numba" in loaded
    # scipy is loaded by numba itself where it is installed.
    assert loaded.isdisjoint(("gymnasium", "PIL", "typer", "rich", "matplotlib", "pandas"))


def test_a_machine_without_gymnasium_has_the_environments_all_the_same() -> None:
    program = """
import sys
sys.modules["gymnasium"] = None
import untuned
print(untuned.environment("cart-pole").name)
try:
    untuned.from_gymnasium
except ImportError as error:
    print(error.name)
"""
    assert run(program).split() == ["cart-pole", "gymnasium"]


BEFORE = {
    "gymnasium first": "import gymnasium\nimport untuned",
    "untuned first": "import untuned\nimport gymnasium",
    "a part of gymnasium first": "import gymnasium.spaces\nimport untuned",
    "a part of gymnasium last": "import untuned\nfrom gymnasium.envs.registration import registry",
    "only a part of untuned": "import untuned.errors\nimport gymnasium",
    "untuned loaded again": "import importlib, untuned, gymnasium\nimportlib.reload(untuned)",
    "untuned loaded again before gymnasium": "import importlib, untuned\nimportlib.reload(untuned)\nimport gymnasium",
    "gymnasium loaded again": "import importlib, untuned, gymnasium\nimportlib.reload(gymnasium)",
    "asked whether gymnasium is there": (
        "import importlib.util, untuned\nassert importlib.util.find_spec('gymnasium') is not None\nimport gymnasium"
    ),
    "a first import that failed": """
import sys, untuned
class Broken:
    def find_spec(self, name, path=None, target=None):
        if name == "gymnasium.spaces":
            raise ImportError("not now")
broken = Broken()
sys.meta_path.insert(0, broken)
try:
    import gymnasium
except ImportError:
    sys.meta_path.remove(broken)
else:
    raise AssertionError("gymnasium has no spaces any more: let it fail another way")
import gymnasium
""",
}


@pytest.mark.parametrize("order", BEFORE)
def test_every_order_of_imports_registers_every_id(order: str) -> None:
    names = json.loads(run(BEFORE[order] + REGISTERED))
    assert len(names) == 15 + 3
    assert {"untuned/CartPole-v0", "untuned/PinballSingle-v0", "untuned/Gridworld-v0"} <= set(names)


@pytest.mark.parametrize("order", ["gymnasium first", "untuned first"])
def test_either_order_of_imports_makes_environments(order: str) -> None:
    assert run(BEFORE[order] + MADE) == "4\n"


def test_gymnasium_can_be_told_to_import_untuned_itself() -> None:
    program = 'import gymnasium\nprint(gymnasium.make("untuned:untuned/CartPole-v0").spec.id)'
    assert run(program).strip() == "untuned/CartPole-v0"


def test_importing_warns_of_nothing() -> None:
    assert run("import untuned\nprint(untuned.__version__)", "-W", "error").strip() == untuned.__version__


def test_nothing_is_left_behind_among_the_importers() -> None:
    program = """
import sys
before = list(sys.meta_path)
import untuned, gymnasium
print([type(each).__module__ for each in sys.meta_path if each not in before and "untuned" in type(each).__module__])
"""
    assert run(program).strip() == "[]"


def test_gymnasium_is_found_as_before() -> None:
    # Its module, its file and its source are Gymnasium's, though we look on while it loads.
    program = """
import untuned, gymnasium, inspect, importlib.resources
print(gymnasium.__spec__.name, gymnasium.__name__)
print(inspect.getsource(gymnasium) == open(gymnasium.__file__).read())
print(importlib.resources.files("gymnasium").joinpath("__init__.py").is_file())
"""
    assert run(program).split() == ["gymnasium", "gymnasium", "True", "True"]


def test_every_public_name_is_there() -> None:
    for name in untuned.__all__:
        assert getattr(untuned, name) is not None
        assert name in dir(untuned)
    assert len(set(untuned.__all__)) == len(untuned.__all__)


def test_every_public_name_comes_with_a_star() -> None:
    program = "from untuned import *\nimport untuned\nprint(set(untuned.__all__) <= set(globals()))"
    assert run(program).strip() == "True"


def test_public_functions_are_those_of_their_modules() -> None:
    registry = importlib.import_module("untuned.collect.environments.registry")
    described = importlib.import_module("untuned.adapters.gymnasium.from_gymnasium")
    assert untuned.environment is registry.environment
    assert untuned.environments is registry.environments
    assert untuned.from_gymnasium is described.from_gymnasium
    definitions = importlib.import_module("untuned.collect.definitions.registry")
    assert untuned.algorithm is definitions.algorithm
    assert untuned.algorithms is definitions.algorithms
    assert untuned.Definition is importlib.import_module("untuned.collect.definitions.definition").Definition
    assert untuned.Draw is importlib.import_module("untuned.collect.definitions.draw").Draw
    assert untuned.ScoreTable is importlib.import_module("untuned.scores").ScoreTable
    assert untuned.read_scores is importlib.import_module("untuned.adapters.sources").read_scores


@pytest.mark.parametrize("name", ["nothing", "Environment", "__wrapped__", "enviroment"])
def test_an_unknown_attribute_is_an_attribute_error(name: str) -> None:
    with pytest.raises(AttributeError, match=f"'untuned' has no attribute '{name}'"):
        getattr(untuned, name)
    assert not hasattr(untuned, name)


def test_an_unknown_name_cannot_be_imported() -> None:
    program = "try:\n    from untuned import nothing\nexcept ImportError as error:\n    print(error)"
    assert "cannot import name 'nothing' from 'untuned'" in run(program)


def test_every_error_is_one_of_ours_and_one_of_pythons() -> None:
    assert issubclass(untuned.InvalidInput, (untuned.UntunedError, ValueError))
    assert issubclass(untuned.InvalidInput, ValueError)
    assert issubclass(untuned.UnknownName, untuned.InvalidInput)
    assert issubclass(untuned.MissingExtra, untuned.UntunedError)
    assert issubclass(untuned.StoreError, untuned.UntunedError)
    assert issubclass(untuned.MissingExtra, ImportError)


def test_a_missing_extra_says_what_to_install() -> None:
    assert "pip install 'untuned[ray]'" in str(untuned.MissingExtra("Ray", "ray"))
