"""The client and the official SDKs inside kernels that a real server started."""

from __future__ import annotations

import sqlite3

import pytest

from jupyter_ai_shoulders.client import Client
from jupyter_ai_shoulders.client.agent_database import open_agent_database
from jupyter_ai_shoulders.client.errors import ClientError
from jupyter_ai_shoulders.wire.api.agent_data.database import AgentDatabase
from jupyter_ai_shoulders.wire.api.settings import PutAgentDatabaseSettings, PutSettings
from jupyter_ai_shoulders.wire.usage import PutBudget
from tests.client.conftest import PRICED, ClientServer
from tests.client.kernels import ServerKernel
from tests.simulator_process import says

ANTHROPIC = f"""
from jupyter_ai_shoulders import Client
message = Client().anthropic(max_retries=0).messages.create(
    model="{PRICED}", max_tokens=50, messages=[{{"role": "user", "content": "Hi"}}]
)
print(message.content[0].text)
"""
OPENAI = f"""
from jupyter_ai_shoulders import Client
done = Client().openai(max_retries=0).chat.completions.create(
    model="{PRICED}", messages=[{{"role": "user", "content": "Hi"}}]
)
print(done.choices[0].message.content)
"""
BY_ENVIRONMENT = f"""
import os, openai
from jupyter_ai_shoulders import Client
os.environ.update(Client().env())
print(openai.OpenAI().responses.create(model="{PRICED}", input="Hi").output_text)
"""


async def test_a_client_finds_its_server_and_its_notebook(place: ClientServer) -> None:
    place.plays(says("From the kernel."))
    async with ServerKernel(place.lab, "found.ipynb") as kernel:
        ran = await kernel.run(
            "from jupyter_ai_shoulders import Client\n"
            "client = Client()\n"
            "print(client.connection.address.url, client.notebook())\n"
            "print(client.ask('Hi'))"
        )

    assert ran.error == ""
    assert ran.text.splitlines() == [f"{place.url} found.ipynb", "From the kernel."]


async def test_the_official_sdks_call_models_without_a_key(place: ClientServer) -> None:
    place.plays(says("Claude's."), says("GPT's."), says("By name."))
    async with ServerKernel(place.lab, "sdks.ipynb") as kernel:
        ran = [await kernel.run(code) for code in (ANTHROPIC, OPENAI, BY_ENVIRONMENT)]

    assert [each.error for each in ran] == ["", "", ""]
    assert [each.text.strip() for each in ran] == ["Claude's.", "GPT's.", "By name."]


async def test_the_official_sdks_say_that_the_budget_is_reached(
    place: ClientServer, client: Client
) -> None:
    place.plays(says("Never sent."))
    client.connection.send("PUT", "budget", PutBudget(month_micro_usd=0))
    try:
        async with ServerKernel(place.lab, "budget.ipynb") as kernel:
            claude, gpt = await kernel.run(ANTHROPIC), await kernel.run(OPENAI)
    finally:
        client.connection.send("PUT", "budget", PutBudget(month_micro_usd=10**12))

    assert claude.error.startswith("PaymentRequiredError: Error code: 402")
    assert "billing_error" in claude.error
    assert gpt.error.startswith("RateLimitError: Error code: 429")
    for error in (claude.error, gpt.error):
        assert "have spent" in error
        assert "Raise it in the AI settings" in error
    assert place.upstream.requests() == []


async def test_a_kernels_secret_opens_the_proxy_and_conversations_only(place: ClientServer) -> None:
    code = (
        "import os, httpx\n"
        "secret = os.environ['SHOULDERS_PROXY_SECRET']\n"
        "proxy, server = os.environ['SHOULDERS_PROXY_URL'], os.environ['SHOULDERS_URL']\n"
        "headers = {'Authorization': f'token {secret}'}\n"
        "for url in (f'{proxy}/v1/models', f'{server}api/contents', "
        "f'{server}shoulders/api/v1/status', f'{server}shoulders/api/v1/tools'):\n"
        "    print(httpx.get(url, headers=headers).status_code)\n"
    )
    async with ServerKernel(place.lab, "secret.ipynb") as kernel:
        before = await kernel.run(code)
        first = await kernel.run("print(secret)")
        await kernel.restart()
        after = await kernel.run(code)
        second = await kernel.run("print(secret)")

    assert before.error == ""
    assert before.text.split() == after.text.split() == ["200", "403", "200", "403"]
    assert first.text == second.text


async def test_every_kernel_has_a_secret_of_its_own(place: ClientServer) -> None:
    code = "import os; print(os.environ['SHOULDERS_PROXY_SECRET'])"
    async with (
        ServerKernel(place.lab, "one.ipynb") as one,
        ServerKernel(place.lab, "two.ipynb") as two,
    ):
        secrets = {(await one.run(code)).text, (await two.run(code)).text}
        names = [kernel.id in secret for kernel in (one, two) for secret in secrets]

    assert len(secrets) == 2
    assert sorted(names) == [False, False, True, True]


PANDAS = """
import pandas as pd
from jupyter_ai_shoulders import Client
with Client().agent_database() as database:
    runs = pd.read_sql("SELECT * FROM runs ORDER BY loss", database)
    print(runs.to_csv(index=False).strip())
    try:
        database.execute("DELETE FROM runs")
    except Exception as error:
        print(error)
"""


async def test_pandas_reads_the_agents_database_in_a_kernel(
    place: ClientServer, client: Client
) -> None:
    def put(**values: object) -> None:
        change = PutSettings(agent_database=PutAgentDatabaseSettings.model_validate(values))
        client.connection.send("PUT", "settings", change)

    path = place.lab.root / ".shoulders" / "agent.db"
    async with ServerKernel(place.lab, "pandas.ipynb") as kernel:
        off = await kernel.run(PANDAS)
        put(enabled=True)
        empty = await kernel.run(PANDAS)
        with sqlite3.connect(path) as made:
            made.execute("CREATE TABLE runs (name, loss REAL)")
            made.execute("INSERT INTO runs VALUES ('b', 0.5), ('a', 0.25)")
        made.close()
        ran = await kernel.run(PANDAS)
    elsewhere = client.connection.get("agent-database", AgentDatabase)
    put(enabled=None)

    assert "is off for this workspace.\nSwitch it on" in off.error
    assert "has no tables yet.\n" in empty.error
    assert ran.error == ""
    assert ran.text.splitlines() == [
        "name,loss",
        "a,0.25",
        "b,0.5",
        "attempt to write a readonly database",
    ]
    with pytest.raises(ClientError, match="different machines"):
        open_agent_database(elsewhere.model_copy(update={"file": "1:1"}))
