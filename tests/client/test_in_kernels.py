"""The client and the official SDKs inside kernels that a real server started."""

from __future__ import annotations

from jupyter_ai_shoulders.client import Client
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
