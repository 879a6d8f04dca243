"""Code that runs inside users' kernels; sent as text by the modules of ``notebook``."""
