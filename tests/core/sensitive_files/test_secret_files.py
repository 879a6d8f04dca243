import pytest

from jupyter_ai_shoulders.core.sensitive_files.secret_files import (
    is_secret,
    is_server_login,
    secret_locations,
)

SECRET = [
    *(".env", "app/.env.production", "prod.env", ".envrc", "keys/server.pem", "tls.KEY"),
    *("id_rsa", "home/.ssh/config", "id_ed25519", ".netrc", ".pgpass", ".npmrc", ".pypirc"),
    *("credentials", ".aws/credentials", "google-credentials.json", "client_secret_1.json"),
    *("secrets.yaml", "terraform.tfstate", "kaggle.json", "kernel-1a2b.json"),
    *(".shoulders/state.db", ".shoulders/models.json", ".docker/config.json", "store.kdbx"),
]
USUAL = [
    *(".local/share/jupyter/runtime/jpserver-1.json", "jpserver-8888-open.html"),
    *(".local/share/jupyter/runtime/kernel-1.json", ".local/share/jupyter/notebook_secret"),
    *(".jupyter/jupyter_server_config.json", ".ipython/profile_default/history.sqlite"),
    *(
        ".ssh/id_ed25519",
        ".ssh/config",
        ".ssh/known_hosts",
        ".gnupg/secring.gpg",
        ".pki/nssdb/key4.db",
    ),
    *(
        ".aws/credentials",
        ".aws/config",
        ".azure/accessTokens.json",
        ".config/gcloud/credentials.db",
    ),
    *(
        ".kube/config",
        ".docker/config.json",
        ".config/containers/auth.json",
        ".config/rclone/rclone.conf",
    ),
    *(".oci/config", ".config/doctl/config.yaml", ".config/hcloud/cli.toml", ".boto", ".s3cfg"),
    *(
        ".terraform.d/credentials.tfrc.json",
        ".terraformrc",
        ".pulumi/credentials.json",
        ".vault-token",
    ),
    *(
        ".netrc",
        ".git-credentials",
        ".config/git/credentials",
        ".config/gh/hosts.yml",
        ".config/hub",
    ),
    *(
        ".config/glab-cli/config.yml",
        ".config/github-copilot/apps.json",
        ".cache/git/credential/socket",
    ),
    *(
        ".cache/huggingface/token",
        ".huggingface/token",
        ".kaggle/kaggle.json",
        ".config/kaggle/kaggle.json",
    ),
    *(
        ".config/wandb/settings",
        ".mlflow/credentials",
        ".dvc/config.local",
        ".config/openml/config",
    ),
    *(".databrickscfg", ".snowflake/connections.toml", ".snowsql/config", ".dbt/profiles.yml"),
    *(".pgpass", ".pg_service.conf", ".my.cnf", ".mylogin.cnf", ".odbc.ini", ".cassandra/cqlshrc"),
    *(".npmrc", ".pypirc", ".cargo/credentials.toml", ".gem/credentials", ".m2/settings.xml"),
    *(
        ".gradle/gradle.properties",
        ".config/pip/pip.conf",
        ".config/pypoetry/auth.toml",
        ".condarc",
    ),
    *(".bash_history", ".zsh_history", ".python_history", ".psql_history", ".sqlite_history"),
    *(".node_repl_history", ".local/share/fish/fish_history", ".viminfo", ".lesshst", ".Rhistory"),
    *(
        ".local/share/keyrings/login.keyring",
        ".local/share/kwalletd/kdewallet.kwl",
        "Passwords.kdbx",
    ),
    *(".password-store/mail.gpg", ".config/op/config", ".config/Bitwarden CLI/data.json"),
    *(".mozilla/firefox/x.default/logins.json", ".config/google-chrome/Default/Login Data"),
    *(".config/chromium/Default/Cookies", ".config/BraveSoftware/x", ".thunderbird/x/key4.db"),
    *(".config/Slack/Cookies", "Library/Keychains/login.keychain-db", "cookies.sqlite"),
    *(".codex/auth.json", ".claude/.credentials.json", ".claude.json", ".gemini/oauth_creds.json"),
    *(
        ".config/anthropic/config",
        ".config/io.datasette.llm/keys.json",
        ".local/share/opencode/auth.json",
    ),
    *(
        ".config/Code/User/globalStorage/state.vscdb",
        ".config/solana/id.json",
        "wallet.dat",
        ".Renviron",
    ),
    *("etc/shadow", "etc/ssh/ssh_host_rsa_key", "run/secrets/kubernetes.io/token", "token.pickle"),
]
"""Common files with keys, logins or typed text in a home directory; the last line is relative to
``/``.
"""
OPEN = [
    *(".env.example", "config/.env.template", "id_rsa.pub", "data.csv", "environment.yml"),
    *("key.py", "monkey.md", "notes/secret_santa.ipynb", "tokens.py", ".envelope"),
    *(".claude/settings.json", ".config/matplotlib/matplotlibrc", "local/share/jupyter.md"),
    *("runtime/log.txt", "shadow.py", "my.config/gh/hosts.yml", "history.py", ".jupyterlab/x"),
    *(".shoulders/skills/a/SKILL.md", ".shoulders/system.md", ".shoulders/artifacts/s1/x.csv"),
]


@pytest.mark.parametrize("path", SECRET)
def test_file_that_usually_holds_secrets_is_one(path: str):
    assert is_secret(path)


@pytest.mark.parametrize("path", OPEN)
def test_other_files_are_not(path: str):
    assert not is_secret(path)


@pytest.mark.parametrize("path", USUAL)
def test_usual_files_with_keys_are_secret_wherever_the_home_is(path: str):
    assert is_secret(path)
    assert is_secret(f"home/ada/{path}")
    assert is_secret(path.upper())


def test_login_data_of_servers_is_told_from_other_secrets():
    assert is_server_login(".local/share/jupyter/runtime/kernel-1.json")
    assert is_server_login("runtime/jpserver-1-open.html")
    assert not is_server_login(".config/gh/hosts.yml")


def test_places_are_plain_paths():
    assert all(place == place.strip("/") and "*" not in place for place in secret_locations())
