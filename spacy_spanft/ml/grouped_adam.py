"""Adam with rates of their own for transformers, and for the layers on top of them."""

from collections import defaultdict
from collections.abc import Iterable, MutableMapping
from typing import Any

import numpy as np
import torch
from thinc.api import Optimizer
from thinc.optimizers import FloatOrSeq
from thinc.types import FloatsXd
from torch.optim.adamw import adamw

from ..errors import SpanftError, check_number
from .parameter_groups import Key, ParameterGroup, groups_with


class GroupedAdam(Optimizer):
    """thinc's Adam, with a rate and a weight decay for each group of parameters.

    It must know the pipeline: `spacy-spanft.freeze_transformer.v1` or
    `spacy-spanft.group_parameters.v1`, as [training.before_update], shows it. All rates
    may be schedules. Everything else is as in thinc's Adam.v1, to the last bit.

    learn_rate (FloatOrSeq): The rate of all that has none of its own below.
    transformer_rate (Optional[FloatOrSeq]): The rate inside transformers: of the top
        layer, and with layer_decay = 1.0 of all layers.
    head_rate (Optional[FloatOrSeq]): The rate of components on top of a transformer.
    layer_decay (float): The factor of the rate from each layer of a transformer to the
        next one below; the embeddings are below the lowest.
    decay_biases_and_norms (bool): Whether L2 is also for biases and layer norms.
    beta1 (FloatOrSeq): Momentum.
    beta2 (FloatOrSeq): Momentum of the squared gradients.
    eps (FloatOrSeq): Added to the root of those.
    L2 (FloatOrSeq): The weight decay.
    L2_is_weight_decay (bool): Whether L2 is that, or is added to the gradients.
    grad_clip (FloatOrSeq): The largest norm of a parameter's gradient; 0 for any.
    use_averages (bool): Whether to average the parameters, for the evaluation; as in
        thinc's Adam, not those of PyTorch's layers, such as the encoder.
    """

    # thinc locks its class in this way, too.
    __slots__ = [
        "_groups",
        "_own_rates",
        "decay_biases_and_norms",
        "head_rate",
        "layer_decay",
        "transformer_rate",
    ]

    def __init__(
        self,
        learn_rate: FloatOrSeq,
        *,
        transformer_rate: FloatOrSeq | None = None,
        head_rate: FloatOrSeq | None = None,
        layer_decay: float = 1.0,
        decay_biases_and_norms: bool = False,
        beta1: FloatOrSeq = 0.9,
        beta2: FloatOrSeq = 0.999,
        eps: FloatOrSeq = 1e-8,
        L2: FloatOrSeq = 0.0,
        L2_is_weight_decay: bool = True,
        grad_clip: FloatOrSeq = 1.0,
        use_averages: bool = False,
    ) -> None:
        """Build `spacy-spanft.GroupedAdam.v1`, for [training.optimizer]."""
        expected = "above 0, and 1 at most"
        check_number("layer_decay", layer_decay, lambda x: 0 < x <= 1, expected)
        super().__init__(
            learn_rate,
            beta1=beta1,
            beta2=beta2,
            eps=eps,
            L2=L2,
            L2_is_weight_decay=L2_is_weight_decay,
            grad_clip=grad_clip,
            use_averages=use_averages,
        )
        self.layer_decay = layer_decay
        self.decay_biases_and_norms = decay_biases_and_norms
        rates = {"transformer": transformer_rate, "head": head_rate}
        self._own_rates = [part for part, rate in rates.items() if rate is not None]
        for part in self._own_rates:
            self._set_attr_or_schedule(f"{part}_rate", rates[part])
        self._groups: dict[Key, ParameterGroup] = {}

    def __call__(
        self, key: Key, weights: FloatsXd, gradient: FloatsXd, *, lr_scale: float = 1.0
    ) -> tuple[FloatsXd, FloatsXd]:
        """Update one parameter, as `thinc.api.Optimizer`."""
        before = self.learn_rate, self.L2
        # thinc's own code runs with them, so that equal groups have equal results.
        self.learn_rate, self.L2 = self.rate_and_decay(key)
        try:
            return super().__call__(key, weights, gradient, lr_scale=lr_scale)
        finally:
            self.learn_rate, self.L2 = before

    def rate_and_decay(self, key: Key) -> tuple[float, float]:
        """Return the learning rate and the weight decay of a parameter."""
        if key not in self._groups:
            # Also when a component got new labels, and with them new parameters.
            self._groups.update(groups_with(key))
        if key not in self._groups:
            raise SpanftError(
                "spacy-spanft.GroupedAdam.v1 does not know the parameter "
                f"{key[1]!r}. Set [training.before_update] to the callback "
                "spacy-spanft.group_parameters.v1, or in a training loop of your "
                "own, call spacy_spanft.training.regimes.bind(nlp)."
            )
        group = self._groups[key]
        has_own = group.part in self._own_rates
        rate = getattr(self, f"{group.part}_rate") if has_own else self.learn_rate
        if group.part == "transformer" and self.layer_decay != 1.0:
            if group.depth is None:
                raise SpanftError(
                    "The layers of a transformer cannot be told apart, as they are not "
                    "in a numbered list of modules. Leave layer_decay out."
                )
            rate *= self.layer_decay**group.depth
        is_spared = group.is_bias_or_norm and not self.decay_biases_and_norms
        return rate, 0.0 if is_spared else self.L2


Named = Iterable[tuple[str, torch.nn.Parameter]]


def can_fuse(optimizer: Any, module: torch.nn.Module) -> bool:
    """Whether `fused_step` can do a step: of Adam without averages, on a CPU."""
    if type(optimizer) not in (Optimizer, GroupedAdam):
        return False
    is_adam = not optimizer.use_radam and optimizer.b1 > 0 and optimizer.b2 > 0
    decays = optimizer.L2_is_weight_decay or not optimizer.L2
    return bool(is_adam and decays and optimizer.averages is None) and all(
        p.device.type == "cpu" and p.dtype == torch.float32 and p.is_contiguous()
        for p in module.parameters()
    )


def fused_step(optimizer: Optimizer, owner: int, named: Named) -> None:
    """Update the weights of the shim with the id `owner` that have a gradient."""
    alike: dict[tuple[float, float, int], list[tuple[Key, Any]]] = defaultdict(list)
    for name, parameter in named:
        if parameter.grad is None or not parameter.numel():
            continue
        key = (owner, name)
        optimizer.nr_update[key] += 1
        rate, decay = optimizer.learn_rate, optimizer.L2
        if isinstance(optimizer, GroupedAdam):
            rate, decay = optimizer.rate_and_decay(key)
        alike[rate, decay, optimizer.nr_update[key]].append((key, parameter))
        if optimizer.grad_clip:
            _clip(parameter.grad, optimizer.grad_clip)
    for (rate, decay, n_steps), group in alike.items():
        # thinc's decay comes after the step, and is of what the step has changed.
        left = (1 - rate * decay) or 1e-9  # which divides below
        adamw(
            [parameter.data for _, parameter in group],
            [parameter.grad.contiguous() for _, parameter in group],
            [_moment(optimizer.mom1, *item) for item in group],
            [_moment(optimizer.mom2, *item) for item in group],
            [],
            [torch.tensor(float(n_steps - 1)) for _ in group],
            fused=True,
            amsgrad=False,
            maximize=False,
            beta1=optimizer.b1,
            beta2=optimizer.b2,
            lr=rate * left,
            weight_decay=decay / left,
            # thinc adds it to the root before that is corrected, PyTorch after.
            eps=optimizer.eps / (1 - optimizer.b2**n_steps) ** 0.5,
        )


def _clip(gradient: torch.Tensor, most: float) -> None:
    norm = float(gradient.norm())
    if norm >= most:
        gradient.mul_(most / norm)


def _moment(moments: MutableMapping[Key, Any], key: Key, like: Any) -> torch.Tensor:
    """Return a moment as thinc has it, in the shape of its weight."""
    if key not in moments:
        moments[key] = np.zeros(like.numel(), np.float32)
    return torch.from_numpy(moments[key]).view_as(like)
