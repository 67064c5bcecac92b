"""The package's front door, and what the repository says about it: in one place, or the same in all."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

import weald
from weald import datasets
from weald.runtime.doctor import report
from weald.runtime.extras import EXTRAS

SOURCE = Path(weald.__file__).parent.parent
ROOT = Path(__file__).resolve().parent.parent.parent
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
YAML = [*(ROOT / ".github").rglob("*.yml"), ROOT / "CITATION.cff", ROOT / ".pre-commit-config.yaml"]


def loaded_after(statement: str) -> list[str]:
    program = f"""
import json, sys
sys.path.insert(0, {str(SOURCE)!r})
{statement}
print(json.dumps([*sys.modules]))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    modules: list[str] = json.loads(done.stdout.splitlines()[-1])
    return modules


@pytest.mark.parametrize("statement", ["import weald", "import weald; dir(weald)", "import weald.cli"])
def test_importing_weald_loads_nothing_heavy(statement: str) -> None:
    assert not {"numba", "sklearn", "pandas", "polars", "scipy", "numpy"} & set(loaded_after(statement))


FIRST_MODEL = """
import numpy as np, pickle, weald
X = np.random.default_rng(0).normal(size=(60, 3))
model = weald.{estimator}(n_estimators=3, n_jobs=2).fit(X, np.arange(60) % 2)
model.predict(X)
pickle.loads(pickle.dumps(model)).predict(X)
"""


@pytest.mark.parametrize("estimator", ["BoostedTreesClassifier", "BoostedTreesRegressor"])
def test_a_first_model_of_arrays_loads_only_what_it_needs(estimator: str) -> None:
    loaded = set(loaded_after(FIRST_MODEL.format(estimator=estimator)))
    assert not {"sklearn", "scipy.sparse", "scipy.special", "scipy.stats", "scipy.optimize"} & loaded
    assert not {"pandas", "polars", "pyarrow", "narwhals", "joblib", "matplotlib", "rich", "typer"} & loaded
    assert not {"weald.data.frames", "weald.dialects", "weald.tree.cart", "weald.training.classical"} & loaded


def test_every_public_name_can_be_loaded() -> None:
    for name in weald.__all__:
        assert getattr(weald, name) is not None
        assert name in dir(weald)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'BoostedTreez'"):
        weald.BoostedTreez  # noqa: B018


def test_importing_the_demo_or_the_main_module_runs_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    import weald.__main__
    import weald.demo

    assert callable(weald.demo.main) and callable(weald.__main__.main)
    assert capfd.readouterr().out == ""


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    tomllib = pytest.importorskip("tomllib")  # Python 3.10 has none
    found: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return found


def read(path: Path) -> Any:
    yaml = pytest.importorskip("yaml")
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def name_of(requirement: str) -> str:
    return re.split(r"[\[>=<;\s]", requirement)[0]


def test_the_version_is_that_of_the_package_wherever_it_is_said(project: dict[str, Any]) -> None:
    assert "version" in project["dynamic"]
    assert read(ROOT / "CITATION.cff")["version"] == weald.__version__
    assert f"\n## [{weald.__version__}]" in (ROOT / "CHANGELOG.md").read_text()


def test_the_citation_agrees_with_the_package(project: dict[str, Any]) -> None:
    citation = read(ROOT / "CITATION.cff")
    assert citation["license"] == project["license"]
    assert citation["keywords"] == project["keywords"]
    assert citation["authors"] == project["authors"]
    assert {"cff-version", "message", "title", "type"} <= set(citation)


def test_extras_for_users_are_those_that_the_code_names(project: dict[str, Any]) -> None:
    extras = project["optional-dependencies"]
    users = {extra: needs for extra, needs in extras.items() if extra not in ("all", "test", "dev")}
    assert {name_of(needed): extra for extra, needs in users.items() for needed in needs} == EXTRAS
    assert extras["all"] == [f"weald[{','.join(users)}]"]


def test_every_requirement_has_a_lower_bound_to_be_tested(project: dict[str, Any]) -> None:
    for needed in [*project["dependencies"], *chain(*project["optional-dependencies"].values())]:
        assert name_of(needed) == "weald" or re.fullmatch(r"[\w-]+>=[\d.]+(; .*)?", needed), needed


def test_the_page_about_installing_says_the_lower_bounds(project: dict[str, Any]) -> None:
    page = (ROOT / "docs" / "installing.md").read_text()
    users = [project["optional-dependencies"][extra] for extra in EXTRAS.values()]
    for needed in [*project["dependencies"], *chain(*users)]:
        assert f"| {needed.replace('>=', ' | ')} |" in page, needed


def test_the_doctor_knows_every_dependency(project: dict[str, Any]) -> None:
    told = {name for name, _ in report()}
    assert {name_of(needed) for needed in project["dependencies"]} | set(EXTRAS) <= told


def test_the_oldest_python_is_the_same_everywhere(project: dict[str, Any]) -> None:
    oldest = project["requires-python"].removeprefix(">=")
    assert f"\nOLDEST := {oldest}\n" in (ROOT / "Makefile").read_text()
    assert f'target-version = "py{oldest.replace(".", "")}"' in (ROOT / "pyproject.toml").read_text()
    assert f"Programming Language :: Python :: {oldest}" in project["classifiers"]


def test_types_are_shipped() -> None:
    assert (Path(weald.__file__).parent / "py.typed").exists()


@pytest.mark.parametrize("name", datasets.names())
def test_every_table_that_ships_has_a_licence_and_a_source(name: str) -> None:
    page = (Path(datasets.__file__).parent / "LICENCES.md").read_text()
    row = re.search(rf"^\| `{name}` \|([^|]*)\|([^|]*)\|([^|]*)\|([^|]*)\|$", page, re.MULTILINE)
    assert row is not None
    creators, source, licence, _ = (cell.strip() for cell in row.groups())
    assert creators and "<http" in source
    assert datasets.load(name).licence in licence
    if "below" in licence:
        assert f"\n## MIT licence of `{name}`\n" in page


def test_every_table_in_the_folder_is_known() -> None:
    folder = Path(datasets.__file__).parent
    assert {path.name.removesuffix(".csv.gz") for path in folder.glob("*.csv.gz")} == set(datasets.names())


@pytest.mark.parametrize("path", YAML, ids=lambda path: path.name)
def test_yaml_can_be_read(path: Path) -> None:
    assert isinstance(read(path), dict)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_run_targets_of_the_makefile(path: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for job in read(path)["jobs"].values():
        commands = [step["run"] for step in job["steps"] if "run" in step]
        assert commands
        if job["runs-on"] != "windows-latest":
            for command in commands:
                target = re.fullmatch(r"make ([a-z-]+) PYTHON=python", command)
                assert target is not None and target[1] in targets, command


def test_the_tests_run_on_all_systems_and_pythons(project: dict[str, Any]) -> None:
    jobs = read(ROOT / ".github" / "workflows" / "tests.yml")["jobs"]
    assert jobs["quick"]["strategy"]["matrix"]["os"] == ["ubuntu-latest", "macos-latest"]
    pythons = jobs["quick"]["strategy"]["matrix"]["python"]
    assert pythons == jobs["windows"]["strategy"]["matrix"]["python"]
    classified = [line.split(" :: ")[2] for line in project["classifiers"] if "Python :: 3." in line]
    assert set(classified) <= set(pythons)


def test_windows_runs_what_the_makefile_runs() -> None:
    makefile = (ROOT / "Makefile").read_text()
    job = read(ROOT / ".github" / "workflows" / "tests.yml")["jobs"]["windows"]
    for step in job["steps"]:
        if "run" in step:
            words = step["run"].removeprefix("python -m ").replace('"', "'")
            assert words.removeprefix("pip ") in makefile, words


def test_hooks_run_what_the_environment_has() -> None:
    (repository,) = read(ROOT / ".pre-commit-config.yaml")["repos"]
    assert repository["repo"] == "local"
    assert all(hook["language"] == "system" for hook in repository["hooks"])
