"""Static analysis of Python and shell code: what it would do, as hints for approvals."""
