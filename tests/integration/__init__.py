"""Whole turns over real servers, kernels and files, without a browser."""
