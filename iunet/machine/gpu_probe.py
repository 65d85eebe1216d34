"""Whether torch can compute on the GPU: a program for `device: auto`, a function for a job."""

import torch


def compute() -> None:
    """A matrix product and a convolution: a build may know the driver, and not the card."""
    assert torch.version.cuda, f"torch {torch.__version__} is a build without CUDA"
    assert torch.cuda.is_available(), "torch.cuda.is_available() is False: is the driver too old?"
    ones = torch.ones(1, 1, 8, 8, device="cuda")
    assert (ones @ ones).sum().item() == 512, "a matrix product on the GPU is wrong"
    assert torch.conv2d(ones, ones).item() == 64, "a convolution on the GPU is wrong"


if __name__ == "__main__":
    compute()
