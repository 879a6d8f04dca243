"""The tools that read, edit, run and search notebooks and use their kernels."""
