"""Compiles training steps to ONNX, and runs them on ONNX Runtime (extra ``onnx``)."""
