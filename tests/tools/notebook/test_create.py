import nbformat
import pytest

from jupyter_ai_shoulders.core.errors import Conflict, NotFound
from tests.tools.notebook_conversation import NotebookConversation, text_of


async def test_notebook_is_made_with_the_kernel_asked_for():
    talk = NotebookConversation()
    result = await talk.call("create_notebook", path="new.ipynb", kernel_name="ir")
    assert "new.ipynb with the kernel ir (R)" in text_of(result)
    made = talk.shelf.made["new.ipynb"]
    nbformat.validate(nbformat.from_dict(made))
    assert made["metadata"] == {
        "kernelspec": {"display_name": "R", "language": "R", "name": "ir"},
        "language_info": {"name": "R"},
    }


async def test_notebook_gets_the_default_kernel():
    talk = NotebookConversation()
    result = await talk.call("create_notebook", path="new.ipynb")
    assert result.envelope.data == {"path": "new.ipynb", "kernel_name": "python3"}


async def test_nothing_is_overwritten_or_made_without_its_kernel():
    talk = NotebookConversation()
    await talk.call("create_notebook", path="new.ipynb")
    with pytest.raises(Conflict, match="already"):
        await talk.call("create_notebook", path="new.ipynb")
    with pytest.raises(NotFound, match="not installed"):
        await talk.call("create_notebook", path="other.ipynb", kernel_name="julia")
    assert list(talk.shelf.made) == ["new.ipynb"]
