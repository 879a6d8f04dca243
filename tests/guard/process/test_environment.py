"""No secret of the server's environment reaches a command; the variables programs need do."""

import pytest

from jupyter_ai_shoulders.guard.process.environment import command_environment

KEPT = {
    "PATH": "/usr/bin",
    "HOME": "/home/u",
    "LANG": "de_DE.UTF-8",
    "LC_ALL": "C",
    "VIRTUAL_ENV": "/home/u/venv",
    "CONDA_PREFIX": "/opt/conda",
    "PYTHONPATH": "/home/u/lib",
    "LD_LIBRARY_PATH": "/usr/lib",
    "CUDA_VISIBLE_DEVICES": "0",
    "OMP_NUM_THREADS": "4",
    "USER": "u",
    "SHELL": "/bin/bash",
    "TERM": "xterm",
    "TZ": "UTC",
    "PWD": "/home/u",
    "KEYBOARD": "de",
    "MONKEYS": "3",
    "HTTPS_PROXY": "http://proxy.example:3128",
}
SECRET = (
    *("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "GEMINI_API_KEY"),
    *(
        "JUPYTER_TOKEN",
        "JUPYTERHUB_API_TOKEN",
        "JUPYTERHUB_USER",
        "JPY_API_TOKEN",
        "JPY_PARENT_PID",
    ),
    *("AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AZURE_CLIENT_SECRET", "GITHUB_TOKEN"),
    *("HF_TOKEN", "WANDB_API_KEY", "DB_PASSWORD", "MYSQL_PWD", "PGPASSWORD", "REDIS_URL"),
    *("my_secret", "Some_Passphrase", "CONFIGPROXY_AUTH_TOKEN", "SSH_AUTH_SOCK", "BASH_ENV"),
    *("DBUS_SESSION_BUS_ADDRESS", "NPM_TOKEN", "SIMULATOR_KEY", "SENTRY_DSN", "SLACK_WEBHOOK"),
    *("LD_PRELOAD", "GOOGLE_APPLICATION_CREDENTIALS", "APIKEY", "MYAPITOKEN", "X_ACCESSKEY"),
)


def test_what_programs_need_is_kept() -> None:
    assert command_environment(KEPT) == KEPT


@pytest.mark.parametrize("name", SECRET)
def test_what_looks_like_a_secret_is_left_out(name: str) -> None:
    assert command_environment({name: "plain", "PATH": "/bin"}) == {"PATH": "/bin"}


@pytest.mark.parametrize(
    "value",
    ["postgres://u:secret@db.example/x", "http://user:pw@proxy.example:3128", "xx sk-known yy"],
)
def test_a_value_that_holds_a_secret_is_left_out_under_any_name(value: str) -> None:
    def redact(text: str) -> str:
        return text.replace("sk-known", "[redacted]")

    assert command_environment({"HARMLESS": value}, redact) == {}
