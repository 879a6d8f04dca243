"""References of a host: bibliographies, registers and checks, made on first use."""
