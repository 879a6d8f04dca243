"""Code that runs inside the users' kernels, as text; sent by the modules of ``notebook``."""
