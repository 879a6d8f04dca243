"""The kernels of the Jupyter server, local or behind a gateway, and their environment."""
