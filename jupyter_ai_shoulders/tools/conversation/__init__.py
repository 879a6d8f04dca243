"""The tools of the conversation itself.

Questions, summary, checklist, artifacts and task threads.
"""
