"""The event log, the sessions and the files behind them."""
