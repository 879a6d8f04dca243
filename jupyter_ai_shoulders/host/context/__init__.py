"""What a request contains of the workspace.

Environment, instructions, skills, attachments and mentions.
"""
