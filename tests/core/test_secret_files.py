import pytest

from jupyter_ai_shoulders.core.secret_files import is_secret

SECRET = [
    *(".env", "app/.env.production", "prod.env", ".envrc", "keys/server.pem", "tls.KEY"),
    *("id_rsa", "home/.ssh/config", "id_ed25519", ".netrc", ".pgpass", ".npmrc", ".pypirc"),
    *("credentials", ".aws/credentials", "google-credentials.json", "client_secret_1.json"),
    *("secrets.yaml", "terraform.tfstate", "kaggle.json", "kernel-1a2b.json"),
    *(".shoulders/state.db", ".shoulders/models.json", ".docker/config.json", "store.kdbx"),
]
OPEN = [
    *(".env.example", "config/.env.template", "id_rsa.pub", "data.csv", "environment.yml"),
    *("key.py", "monkey.md", "notes/secret_santa.ipynb", "tokens.py", ".envelope"),
    *(".shoulders/skills/a/SKILL.md", ".shoulders/system.md", ".shoulders/artifacts/s1/x.csv"),
]


@pytest.mark.parametrize("path", SECRET)
def test_file_that_usually_holds_secrets_is_one(path: str):
    assert is_secret(path)


@pytest.mark.parametrize("path", OPEN)
def test_other_files_are_not(path: str):
    assert not is_secret(path)
