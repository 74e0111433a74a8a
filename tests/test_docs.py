"""The pages keep their word: commands parse, links lead somewhere, names exist in the code, methods are described."""

from __future__ import annotations

import ast
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer

from predtui import registry
from predtui.commands.cli import app
from tests.llm.families import FAMILIES

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted({*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "assets").rglob("*.md")})
NAMED = re.compile(r"`((?:[a-z_0-9]+\.)*[a-z_0-9]+):([A-Za-z_]\w*)`")
TESTED = re.compile(r"`(tests/[\w/]+\.py)(?::(\w+))?`")
UsageError = typer.BadParameter.__bases__[0]
COMMANDS: Any = typer.main.get_command(app)
LINK = re.compile(r"\]\(([^)\s]+)\)")
COMMAND = re.compile(r"`([A-Z_]+=\S+ )*(predtui [^`]+)`|^ {4}(?:[A-Z_]+=\S+ )*(predtui\b.*)$", re.MULTILINE)


def commands(page: Path) -> list[str]:
    """What the page quotes of the command line, without comments."""
    found = (match[2] or match[3] for match in COMMAND.finditer(page.read_text(encoding="utf-8")))
    return [re.split(r"\s#|\s\.\.\.|\s<|\s>", line)[0].strip() for line in found]


def parse(words: list[str]) -> None:
    """Raises UsageError for a command or an option that there is not. Runs nothing and looks at no file."""
    command = COMMANDS
    while True:
        # A command that is imported when it runs stands in the context that it makes.
        command = command.make_context(command.name, list(words), resilient_parsing=True).command
        _, rest, _ = command.make_parser(command.context_class(command)).parse_args(list(words))
        if not hasattr(command, "commands"):
            if rest:
                raise UsageError(f"too many arguments: {rest}")
            return
        if not rest:
            return
        _, command, words = command.resolve_command(command.context_class(command), rest)


QUOTED = [(page.relative_to(ROOT), line) for page in PAGES for line in commands(page)]


@pytest.mark.parametrize(("page", "line"), QUOTED, ids=[f"{page}: {line}"[:100] for page, line in QUOTED])
def test_a_quoted_command_parses(page: Path, line: str) -> None:
    words = shlex.split(line)[1:]
    try:
        parse(words)
    except UsageError:
        if not words[-1].startswith("--"):
            raise
        parse([*words, "value"])  # an option that is named without one


def test_a_mistyped_command_does_not_parse() -> None:
    for line in (
        "predtui bench nothing",
        "predtui turn --verifyer top3",
        "predtui --modell x",
        "predtui train pocket x",
    ):
        with pytest.raises(UsageError):
            parse(shlex.split(line)[1:])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for link in LINK.findall(page.read_text(encoding="utf-8")):
        path, _, part = link.partition("#")
        if path.startswith(("http:", "https:")):
            continue
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert not part or part in anchors(target), link


def anchors(page: Path) -> set[str]:
    """Those of the headings of a page, as GitHub makes them."""
    heads = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", [page for page in PAGES if NAMED.search(page.read_text(encoding="utf-8"))], ids=str)
def test_names_in_the_code_exist(page: Path) -> None:
    for module, name in NAMED.findall(page.read_text(encoding="utf-8")):
        path = ROOT / "predtui" / f"{module.replace('.', '/')}"
        file = path.with_suffix(".py") if path.with_suffix(".py").exists() else path / "__init__.py"
        assert file.exists(), module
        assert name in defined(file), f"{module}:{name}"


@pytest.mark.parametrize("page", [page for page in PAGES if TESTED.search(page.read_text(encoding="utf-8"))], ids=str)
def test_tests_that_a_page_names_exist(page: Path) -> None:
    for file, name in TESTED.findall(page.read_text(encoding="utf-8")):
        assert (ROOT / file).exists(), file
        assert not name or (name.startswith("test_") and name in defined(ROOT / file)), f"{file}:{name}"


def test_every_row_of_what_is_not_trusted_names_its_test() -> None:
    page = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    rows = page.split("|---|---|---|---|\n")[1].split("\n\n")[0].splitlines()
    assert len(rows) > 8
    assert [row for row in rows if not TESTED.search(row.split("|")[4])] == []


def test_every_cell_of_the_matrix_of_families_has_its_test() -> None:
    """A column is a test, which runs once for each row."""
    page = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
    (matrix,) = (part.splitlines() for part in page.split("\n\n") if part.startswith("| family |"))
    head, _, tests, *rows = ([cell.strip() for cell in line.split("|")[1:-1]] for line in matrix)
    assert [row[0] for row in rows] == [family.name for family in FAMILIES]
    assert all(len(row) == len(head) and all(row) for row in rows)
    for row, family in zip(rows, FAMILIES, strict=True):
        cells = dict(zip(head, row, strict=True))
        assert (cells["thinking"] == "none", cells["refusals"] == "none") == (not family.answers, not family.note)
    for column, cell in zip(head[1:], tests[1:], strict=True):
        ((file, name),) = TESTED.findall(cell)
        assert name == f"test_{column.replace('-', '_')}"
        assert name in defined(ROOT / file)


def test_what_a_page_says_of_an_idea_is_what_the_registry_says() -> None:
    """A row of a table that begins with its name has its line of help, in which a page may mark names."""
    rows = [line for line in (ROOT / "docs" / "models.md").read_text(encoding="utf-8").splitlines() if "|" in line]
    ideas = (*registry.VERIFIERS.values(), *registry.DECODERS.values(), *registry.DRAFTERS.values())
    for entry in ideas:
        name = re.sub("N$", str(entry.usual), entry.name)
        own = [row.replace("`", "") for row in rows if row.startswith(f"| `{name}`")]
        assert not own or any(entry.help.replace("`", "") in row for row in own), f"{name}: {entry.help}"


def test_files_that_the_architecture_names_exist() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = re.findall(r"`([a-z_]+/[a-z_/]+(?:\.py|/)|[a-z_]+\.py)`", page)
    assert len(named) > 20
    assert [name for name in named if not (ROOT / "predtui" / name).exists()] == []


def defined(file: Path) -> set[str]:
    """Names of a module's classes, functions and constants."""
    found: set[str] = set()
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.Assign):
            found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
    return found
