from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from benchmarks.arguments import Encoder, File, Folder

app = typer.Typer()


@app.command()
def accepted(folder: Folder, file: File, encoder: Encoder) -> None:
    print(folder.name, file.name, encoder.name)


@pytest.fixture
def given(tmp_path: Path) -> list[str]:
    encoder = tmp_path / "encoder"
    encoder.mkdir()
    for name in ("config.json", "model-00001-of-00002.safetensors"):
        (encoder / name).write_text("{}", "utf8")
    return [str(tmp_path), str(encoder / "config.json"), str(encoder)]


def test_accepts_what_is_there(given: list[str]) -> None:
    found = CliRunner().invoke(app, given)
    assert found.exit_code == 0
    assert found.output.endswith("config.json encoder\n")


@pytest.mark.parametrize("number", range(3))
@pytest.mark.parametrize("wrong", ["missing", "of another kind"])
def test_names_what_is_wrong(given: list[str], number: int, wrong: str) -> None:
    kinds = [given[1], given[0], given[0]]
    given[number] = kinds[number] if wrong == "of another kind" else "/not/there"
    found = CliRunner().invoke(app, given)
    assert found.exit_code == 2
    assert "Invalid value" in found.output
    assert ("FOLDER", "FILE", "ENCODER")[number] in found.output.upper()


def test_wants_weights(given: list[str]) -> None:
    (Path(given[2]) / "model-00001-of-00002.safetensors").unlink()
    found = CliRunner().invoke(app, given)
    assert found.exit_code == 2
    assert "holds no encoder" in " ".join(found.output.replace("│", "").split())
