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


def test_the_encoder_must_have_weights(given: list[str]) -> None:
    result = CliRunner().invoke(app, given)
    assert result.output.endswith("config.json encoder\n")
    (Path(given[2]) / "model-00001-of-00002.safetensors").unlink()
    result = CliRunner().invoke(app, given)
    assert result.exit_code == 2
    assert "holds no encoder" in " ".join(result.output.replace("│", "").split())
