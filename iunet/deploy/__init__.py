"""A trained network for use elsewhere: a small file, ONNX, and fast prediction on a CPU."""

# Works wherever iunet came from: iunet-bench is not on PyPI, so its extras need a clone.
INSTALL_EXPORT = "pip install 'onnx>=1.17' 'onnxruntime>=1.20'"
