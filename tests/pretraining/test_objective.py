"""The loss of SpanBERT: by hand, by finite differences, over many encoders."""

import pytest
import torch
import transformers
from torch import nn

from spacy_spanft.pretraining import objective
from spacy_spanft.pretraining.collator import IGNORED

from ..tiny import tiny_config

KINDS = ["bert", "albert", "electra", "distilbert", "deberta-v2", "mpnet"]
KINDS += ["modernbert", "mobilebert", "xlm"]
# Two spans, one of them at the end; nothing masked; a span at the head, and one of one.
LABELS = [[0, 0, 7, 8, 0, 9, 9, 0], [0, 0, 0], [0, 0, 0, 0, 0, 0], [4, 0, 0, 6, 0]]


def make_model(kind="bert", sbo=True, **changes):
    torch.manual_seed(0)
    changes = {"attn_implementation": "eager", "pos_att_type": ["p2c"], **changes}
    config = tiny_config(kind, 1, max_position_embeddings=64, **changes)
    masked_lm = transformers.MODEL_FOR_MASKED_LM_MAPPING[type(config)]
    return objective.with_objective(masked_lm, sbo)(config).eval()


def plain(model, **batch):
    """What the model does without the model."""
    return super(objective.SpanObjective, model).forward(**batch)


@pytest.fixture
def batch():
    torch.manual_seed(1)
    longest = max(map(len, LABELS))
    ids = torch.randint(1, 30, (len(LABELS), longest))
    labels = torch.full_like(ids, IGNORED)
    mask = torch.zeros_like(ids)
    for row, some in enumerate(LABELS):
        mask[row, : len(some)] = 1
        values = torch.tensor(some)
        labels[row, : len(some)] = values.masked_fill(values == 0, IGNORED)
    return {"input_ids": ids * mask, "labels": labels, "attention_mask": mask}


def boundary_vector(head, left, right, position):
    """Write formula 4 of the paper out."""
    first, _, norm_1, second, _, norm_2 = head.layers
    vector = torch.cat([left, right, head.positions.weight[position]])
    for layer, norm in ((first, norm_1), (second, norm_2)):
        vector = nn.functional.gelu(layer.weight @ vector + layer.bias)
        vector = (vector - vector.mean()) / (vector.var(correction=0) + norm.eps).sqrt()
        vector = vector * norm.weight + norm.bias
    return vector


def losses_by_hand(model, batch):
    mlm, sbo = [], []
    output = model.get_output_embeddings()
    for row, some in enumerate(LABELS):
        ids = batch["input_ids"][row, : len(some)][None]
        hidden = model.base_model(ids)[0][0]
        logits = plain(model, input_ids=ids).logits[0]
        for i, label in enumerate(some):
            if not label:
                continue
            mlm.append(-torch.log_softmax(logits[i], 0)[label])
            start = end = i
            while start > 0 and some[start - 1]:
                start -= 1
            while end < len(some) - 1 and some[end + 1]:
                end += 1
            if start > 0 and end < len(some) - 1:
                around = hidden[start - 1], hidden[end + 1]
                vector = boundary_vector(model.boundary, *around, i - start)
                scores = output.weight @ vector + output.bias
                sbo.append(-torch.log_softmax(scores, 0)[label])
    return torch.stack(mlm), torch.stack(sbo)


def test_the_loss_is_that_by_hand(batch):
    model = make_model()
    mlm, sbo = losses_by_hand(model, batch)
    assert (len(mlm), len(sbo)) == (6, 5)  # the span at the head has no left side
    outputs = model(**batch)
    expected = (mlm.sum() + sbo.sum()) / 6
    assert outputs["loss"].item() == pytest.approx(expected.item(), rel=1e-5)
    for lost, name, n in ((mlm, "mlm", 2), (sbo, "sbo", 1)):
        rows = [lost[:4].sum().item(), 0, 0, lost[4:].sum().item()]
        assert outputs[name][:, 0].tolist() == pytest.approx(rows, rel=1e-5)
        assert outputs[name][:, 1].tolist() == [4, 0, 0, n]


def test_without_boundaries(batch):
    model = make_model(sbo=False)
    assert not hasattr(model, "boundary")
    expected = plain(model, **batch).loss
    outputs = model(**batch)
    assert outputs["loss"].item() == pytest.approx(expected.item(), rel=1e-5)
    assert "sbo" not in outputs


# As transformers gives it: an int up to 4.49, on several GPUs one for each.
@pytest.mark.parametrize("n_items", [6, torch.tensor([6])])
def test_it_sums_over_the_batches_of_a_step(batch, n_items):
    model = make_model()
    whole = model(**batch)["loss"]
    total = 0.0
    for rows in (slice(0, 1), slice(1, 3), slice(3, 4)):
        part = {name: value[rows] for name, value in batch.items()}
        total += model(**part, num_items_in_batch=n_items)["loss"].item()
    assert total == pytest.approx(whole.item(), rel=1e-5)


def test_nothing_masked(batch):
    model = make_model()
    batch["labels"][:] = IGNORED
    loss = model(**batch)["loss"]
    loss.backward()
    assert loss.item() == 0
    gradients = [p.grad for p in model.parameters() if p.grad is not None]
    assert gradients
    assert not any(gradient.any() for gradient in gradients)


def test_gradients_by_finite_differences(batch):
    model = make_model().double()
    model(**batch)["loss"].backward()
    step = 1e-6
    for name, weight in model.named_parameters():
        gradient = weight.grad.flatten()
        flat = weight.data.view(-1)
        i = int(gradient.abs().argmax())
        before, sides = flat[i].item(), []
        for side in (before + step, before - step):
            flat[i] = side
            with torch.no_grad():
                sides.append(model(**batch)["loss"].item())
        flat[i] = before
        slope = (sides[0] - sides[1]) / (2 * step)
        expected = pytest.approx(slope, rel=1e-5, abs=1e-8)
        assert gradient[i].item() == expected, name


@pytest.mark.parametrize("kind", KINDS)
def test_encoders(kind, batch, tmp_path):
    model = make_model(kind)
    inputs = {name: batch[name] for name in ("input_ids", "attention_mask")}
    before = plain(model, **inputs).logits
    logits = before.transpose(1, 2)
    lost = nn.functional.cross_entropy(logits, batch["labels"], reduction="none").sum(1)
    outputs = model(**batch)
    # The head saw the masked tokens alone, and that makes no difference.
    assert outputs["mlm"][:, 0].tolist() == pytest.approx(lost.tolist(), rel=1e-4)
    assert torch.isfinite(outputs["loss"])
    assert outputs["sbo"][:, 1].tolist() == [4, 0, 0, 1]
    assert objective.output_embeddings(model)[0].shape[0] == 30
    assert torch.equal(before, plain(model, **inputs).logits)
    # What is saved is a model of Hugging Face, and with the objective the same again.
    model.save_pretrained(tmp_path)
    other = transformers.AutoModelForMaskedLM.from_pretrained(tmp_path).eval()
    is_text = batch["attention_mask"].bool()
    after = other(**inputs).logits[is_text]
    assert torch.allclose(before[is_text], after, atol=1e-6)
    again = type(model).from_pretrained(tmp_path).eval()
    assert again(**batch)["loss"].item() == pytest.approx(outputs["loss"].item())


def test_there_are_positions_for_so_many():
    labels = torch.full((1, 9), IGNORED)
    labels[0, 1:8] = 3
    at = objective.find_boundaries(labels, torch.ones_like(labels))
    head = objective.SpanBoundaryHead(4, 4, n_positions=5)
    vectors, is_near = head(torch.randn(1, 9, 4), at)
    assert is_near.tolist() == [True] * 5 + [False] * 2
    assert vectors.shape == (5, 4)
    model = make_model(hidden_size=4)
    model.boundary = head
    outputs = model(input_ids=torch.ones_like(labels), labels=labels)
    assert outputs["sbo"][:, 1].tolist() == [5]
    assert outputs["mlm"][:, 1].tolist() == [7]
