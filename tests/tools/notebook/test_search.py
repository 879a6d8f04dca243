import pytest

from jupyter_ai_shoulders.core.errors import InvalidRequest
from jupyter_ai_shoulders.testing.memory_notebooks import MemoryNotebook, memory_cell
from tests.tools.notebook_conversation import PATH, NotebookConversation, text_of


def talk() -> NotebookConversation:
    made = NotebookConversation(
        memory_cell("a", "import pandas as pd\ndf = pd.read_csv('x.csv')\ndf.head()"),
        memory_cell("b", "# Title\nabout DF", "markdown"),
    )
    other = MemoryNotebook("other.ipynb", [memory_cell("c", "print(df)")])
    made.notebooks.notebooks["other.ipynb"] = other
    return made


async def test_lines_that_contain_the_text_are_shown_with_their_neighbours():
    result = await talk().call("search_notebook", query="read_csv")
    assert text_of(result) == (
        '1 line of 1 notebook with "read_csv".\n'
        f"--- {PATH} · cell 1 · id=a · code\n"
        "  1: import pandas as pd\n"
        "> 2: df = pd.read_csv('x.csv')\n"
        "  3: df.head()"
    )
    assert result.envelope.kind == "matches"
    assert result.envelope.meta.total == 1
    assert result.seen == ()


async def test_text_minds_case_and_a_pattern_does_not():
    exact = await talk().call("search_notebook", query="df")
    assert exact.envelope.meta.total == 2
    loose = await talk().call("search_notebook", query=r"\bdf\b", is_regex=True)
    assert loose.envelope.meta.total == 3
    assert "> 2: about DF" in text_of(loose)


async def test_without_a_path_all_notebooks_are_searched():
    conversation = talk()
    result = await conversation.call("search_notebook", path=None, query="df")
    assert result.envelope.meta.total == 3
    assert "--- other.ipynb · cell 1 · id=c · code" in text_of(result)
    subject = await conversation.subject("search_notebook", path=None, query="df")
    assert subject.title == 'Search all notebooks for "df"'


async def test_notebooks_that_cannot_be_read_are_named():
    conversation = talk()
    del conversation.notebooks.notebooks["other.ipynb"]
    result = await conversation.call("search_notebook", path=None, query="df")
    assert result.envelope.meta.total == 2
    assert result.envelope.warning == "Not readable: other.ipynb."


async def test_many_matches_are_counted_and_the_first_shown():
    conversation = NotebookConversation(memory_cell("a", "x = 1\n" * 200))
    result = await conversation.call("search_notebook", query="x")
    assert result.envelope.meta.total == 200
    assert result.envelope.meta.truncated
    assert text_of(result).startswith('200 lines of 1 notebook with "x", the first 50 shown.')
    assert text_of(result).count("> ") == 50


async def test_a_search_that_finds_nothing_says_so():
    result = await talk().call("search_notebook", query="nowhere")
    assert result.ok
    assert text_of(result) == 'No line of 1 notebook with "nowhere".'


@pytest.mark.parametrize("pattern", ["(", "(?<=a)b", r"(a)\1"])
async def test_what_is_no_pattern_is_refused(pattern: str):
    with pytest.raises(InvalidRequest, match="not a regular expression"):
        await talk().call("search_notebook", query=pattern, is_regex=True)


async def test_a_pattern_that_stalls_other_engines_returns():
    conversation = NotebookConversation(memory_cell("a", "a" * 100_000 + "b"))
    result = await conversation.call("search_notebook", query="(a+)+$", is_regex=True)
    assert result.envelope.meta.total == 0
