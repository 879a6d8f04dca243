"""Files that need special care: those with secrets, and those that run or instruct programs later."""
