"""Lets PyTorch's tensors be on the fake device wherever thinc computes there."""

import sys

import torch


def is_on_device(tensor=None):
    """Say whether thinc's current operations, and so all tensors, are on the device."""
    from thinc.api import get_current_ops

    return get_current_ops().name == "cupy"


def join():
    """Tell PyTorch, and thinc's bridges to it, of the device."""
    import thinc.util

    # What asks for it has imported it by its name already, from several modules.
    thinc.util.get_torch_default_device.__code__ = _device.__code__
    torch.Tensor.is_cuda = property(is_on_device)
    torch.cuda.current_device = lambda: 0
    torch.cuda.synchronize = lambda device=None: None
    torch.autocast = _HalfPrecision
    torch.nn.functional.layer_norm = _layer_norm
    scaler = sys.modules["thinc.shims.pytorch_grad_scaler"].PyTorchGradScaler
    scaler._scale_tensor = _scale


def _device():
    return torch.device("cpu")


_autocast = torch.autocast
_plain_layer_norm = torch.nn.functional.layer_norm


class _HalfPrecision(_autocast):
    """float16 on the CPU, where thinc asks for CUDA's mixed precision."""

    def __init__(self, device_type, dtype=None, enabled=True, cache_enabled=None):
        super().__init__("cpu", torch.float16, enabled and is_on_device())


def _layer_norm(input, *args, **kwargs):
    """Compute it in float32, as CUDA's autocast does, and that of the CPU does not."""
    if not torch.is_autocast_enabled("cpu"):
        return _plain_layer_norm(input, *args, **kwargs)
    with _autocast("cpu", enabled=False):
        return _plain_layer_norm(input.float(), *args, **kwargs)


def _scale(self, tensor, scale_per_device, inplace):
    return tensor.mul_(self._scale) if inplace else tensor * self._scale
