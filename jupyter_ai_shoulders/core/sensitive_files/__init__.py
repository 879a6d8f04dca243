"""Files that need special care: with secrets, or that run or instruct programs later."""
