"""A trained network for use elsewhere: a small file, ONNX, and fast prediction on a CPU."""
