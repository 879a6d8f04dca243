"""Identity of requests: users of the server, and kernels by their secrets."""
