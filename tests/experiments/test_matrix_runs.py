"""The runs of a matrix: they go on, fail, stop, and are those of one process."""

import json
import os
import re
import shutil
import signal
import threading
from multiprocessing import active_children
from pathlib import Path

import pytest
import spacy

from spacy_spanft.errors import SpanftError
from spacy_spanft.experiments.matrix import plan_runs, read_arms, run_matrix
from spacy_spanft.experiments.matrix.progress import Progress
from spacy_spanft.experiments.matrix.running import last_error

from ..commands import run as spacy_command
from .matrix_place import plan, save_docs


def test_runs_once_and_goes_on(place):
    arms = read_arms("arms.yml")[:2]
    runs = plan_runs(
        arms, ["data/one"], "out", configs="configs/tiny", seeds=[0], epochs=1
    )
    assert [run.state for run in runs] == ["new", "new"]
    assert run_matrix(runs, n_jobs=2) == []
    assert [run.state for run in runs] == ["done", "done"]
    folder = place / "out" / "one" / "random" / "0"
    found = json.loads((folder / "run.json").read_text())
    assert (found["task"], found["arm"], found["seed"]) == ("one", "random", 0)
    assert found["words_per_second"] == pytest.approx(30 / found["seconds"])
    assert found["peak_memory"] is None or found["peak_memory"] > 10
    lines = (folder / "log.jsonl").read_text().splitlines()
    assert json.loads(lines[-1])["step"] == 3
    assert spacy.load(folder / "model")("good film").cats.keys() == {"A", "B"}
    assert not (folder / "model-last").exists()
    order = json.loads((place / "out" / "one" / "arms.json").read_text())
    assert order["arms"] == ["baseline", "random"]
    assert order["notes"] == {"random": "cut at random"}
    before = os.stat(folder / "run.json").st_mtime_ns
    assert run_matrix(runs) == []
    assert os.stat(folder / "run.json").st_mtime_ns == before
    # Other settings, and other data under the same name, are another run.
    changed = {"training.dropout": 0.3}
    other = plan("data/one", seeds=[0], epochs=1, overrides=changed)
    assert [run.state for run in other] == ["changed", "changed", "new"]
    shutil.rmtree(place / "data" / "one")
    save_docs(place / "data" / "one", n=11)
    assert plan("data/one", seeds=[0], epochs=1)[0].state == "changed"


def test_what_was_done_stays_until_it_is_done_again(place):
    arms = read_arms("arms.yml")[:1]
    runs = plan_runs(
        arms, ["data/one"], "out", configs="configs/tiny", seeds=[0], epochs=1
    )
    assert run_matrix(runs) == []
    bad = {"training.optimizer.eps": "nonsense"}
    settings = {"seeds": [0], "epochs": 1, "overrides": bad}
    other = plan_runs(arms, ["data/one"], "out", configs="configs/tiny", **settings)
    assert len(run_matrix(other)) == 1
    assert runs[0].state == "done"
    assert other[0].state == "changed"


def test_the_same_seed_gives_the_same_scores(place):
    arms = read_arms("arms.yml")[2:]
    logs = []
    for output in ("a", "b"):
        runs = plan_runs(arms, ["data/one"], output, configs="configs/tiny", seeds=[5])
        assert run_matrix(runs) == []
        logs.append((runs[0].folder / "log.jsonl").read_text())
    assert logs[0] == logs[1]


def test_a_run_that_fails_does_not_stop_the_rest(place):
    (place / "arms.yml").write_text(
        "arms: {bad: {set: {training.optimizer.eps: nonsense}}, "
        "baseline: {config: baseline}}"
    )
    args = ["spanft", "matrix", "arms.yml", "-c", "configs/tiny", "-d", "data/one"]
    args += ["-o", "out", "--seeds", "1", "--epochs", "1"]
    done = spacy_command(*args, ok=False)
    assert "1 of 2 runs failed" in done.stderr
    assert f"{place / 'out'}" not in done.stderr
    log = place / "out/one/bad/0.failed/log.txt"
    assert "Traceback" in log.read_text()
    assert "ValueError: Invalid schedule for 'eps'" in done.stderr
    # Told when it happens, and once more at the end.
    first, second, *_, last = done.stderr.splitlines()
    assert first == "2 runs, 0 are done, 1 at a time"
    assert second.startswith("✘ 1/2 one bad 0: ")
    assert second.endswith(f"({log.relative_to(place)})")
    assert last.endswith("] 1 of 2 runs failed. The others are done.")
    assert re.search(
        r"^2/2 one baseline 0: score [01]\.\d{4}, \d+ s$", done.stderr, re.M
    )
    assert (place / "out/one/baseline/0/run.json").exists()
    listed = spacy_command(*args, "--dry-run").stdout
    assert [line.split()[-1] for line in listed.strip().splitlines()[2:]] == [
        "new",
        "done",
    ]


def test_progress_without_a_terminal(place, capsys):
    """A line for each training, with the time that is left."""
    runs = plan("data/one", "data/two", seeds=[0, 1], epochs=1)
    with Progress(runs, runs[1:], n_jobs=2) as progress:
        progress.begin(runs[1])
        progress.finish(runs[1], 3700.4, 0.12345)
        progress.fail(runs[2], "no memory")
        progress.finish(runs[3], 65, None)
    # 10 texts of 3 words took 3700 s: 4 more of these runs are left, and 6 of 7 texts;
    # then 2 and 6, of which two at a time take 1 h 37 min.
    assert capsys.readouterr().err.splitlines() == [
        "12 runs, 1 is done, 2 at a time",
        "2/12 one random 0: score 0.1235, 1 h 1 min, about 4 h 12 min left",
        "✘ 3/12 one ngrams 0: no memory",
        "4/12 one baseline 1: 1 min 5 s, about 1 h 37 min left",
    ]


def when_there(path, pattern, action):
    """Act in the background as soon as there is a file."""

    def wait():
        while not any(path.glob(pattern)) and not is_over.wait(0.05):
            pass
        if not is_over.is_set():
            action()

    is_over = threading.Event()
    thread = threading.Thread(target=wait)
    thread.start()
    return lambda: (is_over.set(), thread.join())


LOG = "out/one/baseline/0.going-*/log.jsonl"
MATRIX = ["spanft", "matrix", "arms.yml", "-c", "configs/tiny", "-d", "data/one"]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_leave_nothing_half_done(place, number):
    # Shells let what they start in the background ignore it.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    end = when_there(place, LOG, lambda: os.kill(os.getpid(), number))
    try:
        args = [*MATRIX, "-o", "out", "--jobs", "2", "--epochs", "5000"]
        done = spacy_command(*args, ok=False)
    finally:
        end()
        signal.signal(signal.SIGINT, before)
    assert "Stopped" in done.stderr
    assert "Traceback" not in done.stderr
    left = [path.name for path in (place / "out").rglob("*") if path.is_file()]
    assert sorted(left) == [".lock", "arms.json"]
    assert active_children() == []


def test_a_task_is_one_matrix_s_own(place):
    """A second one says who is there, and touches nothing."""
    before = []

    def begin_another():
        before.extend((place / "out").rglob("*"))
        with pytest.raises(SpanftError, match="Something else is writing") as found:
            run_matrix(runs)
        said.append(str(found.value))
        assert set(before) <= set((place / "out").rglob("*"))

    said = []
    arms = read_arms("arms.yml")[:1]
    runs = plan_runs(
        arms, ["data/one"], "out", configs="configs/tiny", seeds=[0], epochs=3
    )
    end = when_there(place, LOG, begin_another)
    try:
        assert run_matrix(runs) == []
    finally:
        end()
    (message,) = said
    assert f"'{Path('out/one')}': process {os.getpid()} on " in message
    assert re.search(r"since \d{4}-\d\d-\d\d \d\d:", message)
    assert [run.state for run in runs] == ["done"]
    (place / "out" / "one" / ".lock").unlink()
    assert run_matrix(runs) == []


def test_what_is_gone_is_done_again(place):
    arms = read_arms("arms.yml")[:1]
    (run,) = plan_runs(
        arms, ["data/one"], "out", configs="configs/tiny", seeds=[0], epochs=1
    )
    for half in ("0.going", "0.going-1234"):
        (run.folder.parent / half / "model").mkdir(parents=True)
    assert run_matrix([run]) == []
    assert [path.name for path in run.folder.parent.iterdir()] == ["0"]
    facts = (run.folder / "run.json").read_text()
    files = json.loads(facts)["files"]
    for path in ("meta.json", "textcat/model", "vocab/strings.json"):
        assert files[path] == (run.folder / "model" / path).stat().st_size
    for bad in ("[]", "null", "{", "[" * 100_000, ""):
        (run.folder / "run.json").write_text(bad)
        assert run.state == "damaged"
    (run.folder / "run.json").write_text(facts)
    weights = run.folder / "model" / "textcat" / "model"
    whole = weights.read_bytes()
    weights.write_bytes(whole[:-1])
    assert run.state == "damaged"
    weights.write_bytes(whole)
    (run.folder / "model" / "notes.txt").touch()
    assert run.state == "done"
    # A run of which the files were not written down.
    old = json.loads(facts)
    del old["files"]
    (run.folder / "run.json").write_text(json.dumps(old))
    assert run.state == "done"
    shutil.rmtree(run.folder / "model")
    assert run.state == "damaged"
    assert run_matrix([run]) == []
    assert run.state == "done"


def test_tables(place):
    """Data may be tables, with columns as the config says, or task.json."""
    folder = place / "data" / "table"
    folder.mkdir()
    rows = [f"{'good' if i % 2 else 'bad'} film\t{'AB'[i % 2]}\n" for i in range(9)]
    for part in ("train", "dev"):
        (folder / f"{part}.tsv").write_text("words\tkind\n" + "".join(rows))
    with pytest.raises(ValueError, match="There is no column"):
        plan("data/table")
    facts = folder / "task.json"
    facts.write_text('{"columns": {"text": "words", "label": "kind"}}')
    arms = read_arms("arms.yml")[:1]
    (run,) = plan_runs(
        arms, ["data/table"], "out", configs="configs/tiny", seeds=[0], epochs=1
    )
    assert run.n_words == 18
    assert run_matrix([run]) == []
    nlp = spacy.load(run.folder / "model")
    assert nlp("good film").cats.keys() == {"A", "B"}
    assert nlp.config["corpora"]["dev"]["text"] == "words"
    for bad in ('{"columns": []}', '{"columns": {"path": "x"}}', "null"):
        facts.write_text(bad)
        with pytest.raises(SpanftError, match=r"task\.json cannot be used"):
            plan("data/table")
    facts.unlink()
    reader = {"@readers": "spacy-spanft.TableCorpus.v1", "path": None}
    columns = {**reader, "text": "words", "text_pair": "kind", "label": None}
    change = {"corpora.train": columns, "corpora.dev": columns}
    (run, *_) = plan("data/table", seeds=[0], epochs=1, overrides=change)
    assert run.n_words == 9 * 3
    assert run.config["corpora"]["train"] == {**columns, "path": "${paths.train}"}


def test_the_reason_is_not_the_block_that_spacy_prints_below_it(place):
    """It is what stands between, in colors or not."""
    said = "textcat.model -> use_clss\tunexpected argument: 'use_clss'"
    dump = "{'span_pooling': {'@architectures': 'x'}}"
    for title in (
        "\x1b[38;5;1m✘ Config error for 'x'\x1b[0m",
        "✘ Config error for 'x'",
    ):
        Path("log.txt").write_text(f"ℹ Using CPU\n{title}\n{said}\n{dump}\n")
        expected = f"Config error for 'x' {said}".replace("\t", " ")
        assert last_error(Path("log.txt")) == expected


def test_the_reason_names_the_encoder(place):
    """One that cannot be on the hub, so that nobody looks for it there."""
    arms = read_arms("arms.yml")[:1]
    given = {"paths.transformer": "no such encoder"}
    how = {"pipeline": "textcat", "seeds": [0], "epochs": 1, "overrides": given}
    ((_, reason, _),) = run_matrix(plan_runs(arms, ["data/one"], "out", **how))
    assert reason.startswith("[SF182] The encoder 'no such encoder' cannot be loaded.")
    assert "Traceback" in Path("out/one/baseline/0.failed/log.txt").read_text()


def test_all_failed(place):
    """What they have in common is said once, at the end."""
    (place / "arms.yml").write_text(
        "arms: {bad: {set: {training.optimizer.eps: nonsense}}}"
    )
    shutil.copy("data/one/dev.spacy", "data/one/test.spacy")
    args = ["arms.yml", "-c", "configs/tiny", "-d", "data/one", "-o", "out"]
    for command in ("matrix", "experiment"):
        more = ["--metrics", "metrics"] if command == "experiment" else []
        done = spacy_command("spanft", command, *args, *more, "--seeds", "2", ok=False)
        *_, reason, last = done.stderr.splitlines()
        assert reason.startswith("✘ out/one/bad/0 and 1 more: ")
        assert last.endswith("] All runs failed: 2 of 2.")
