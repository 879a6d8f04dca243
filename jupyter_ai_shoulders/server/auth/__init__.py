"""Who a request acts for: users of the server, and kernels by their secrets."""
