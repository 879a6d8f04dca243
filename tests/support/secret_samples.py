"""Keys of every kind, made at run time: a known prefix and a random body.

A template has ``<class count>`` for random characters. Kinds, prefixes and lengths are those of the
rules of gitleaks 8.30.1 (MIT). Used by ``tests.redaction_measure`` and its quick test.
"""

from __future__ import annotations

import re
from random import Random

_LOWER = "abcdefghijklmnopqrstuvwxyz"
_DIGITS = "0123456789"
_CLASSES = {
    "A": _LOWER + _LOWER.upper() + _DIGITS,
    "a": _LOWER + _DIGITS,
    "l": _LOWER,
    "U": _LOWER.upper() + _DIGITS,
    "T": "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
    "h": _DIGITS + "abcdef",
    "d": _DIGITS,
    "W": _LOWER + _LOWER.upper() + _DIGITS + "-_",
    "B": _LOWER + _LOWER.upper() + _DIGITS + "+/",
}
_BLANK = re.compile(r"<(\w)(\d+)>")
_UUID = "<h8>-<h4>-<h4>-<h4>-<h12>"

FIXED_PREFIX = {
    "1password-secret-key": "A3-<U6>-<U11>-<U5>-<U5>-<U5>",
    "1password-service-account-token": "ops_eyJ<B260>",
    "adobe-client-secret": "p8e-<a32>",
    "age-secret-key": "AGE-SECRET-KEY-1<U58>",
    "airtable-personal-access-token": "pat<A14>.<h64>",
    "alibaba-access-key-id": "LTAI<a20>",
    "anthropic-admin-api-key": "sk-ant-admin01-<W93>AA",
    "anthropic-api-key": "sk-ant-api03-<W93>AA",
    "artifactory-api-key": "AKCp<A69>",
    "artifactory-reference-token": "cmVmd<A59>",
    "atlassian-api-token": "ATATT3<W186>",
    "authress-service-client-access-key": "authress_<a12>.<a5>.acc-<a16>.<a40>",
    "aws-access-token": "AKIA<T16>",
    "aws-access-token-temporary": "ASIA<T16>",
    "aws-bedrock-long-lived": "ABSK<B120>",
    "aws-bedrock-short-lived": "bedrock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29t<A40>",
    "clickhouse-cloud-secret": "4b1d<A38>",
    "clojars-api-token": "CLOJARS_<a60>",
    "cloudflare-origin-ca-key": "v1.0-<h24>-<h146>",
    "databricks-api-token": "dapi<h32>",
    "defined-networking-api-token": "dnkey-<W26>-<W52>",
    "digitalocean-access-token": "doo_v1_<h64>",
    "digitalocean-pat": "dop_v1_<h64>",
    "digitalocean-refresh-token": "dor_v1_<h64>",
    "doppler-api-token": "dp.pt.<a43>",
    "duffel-api-token": "duffel_live_<W43>",
    "dynatrace-api-token": "dt0c01.<a24>.<a64>",
    "easypost-api-token": "EZAK<A54>",
    "easypost-test-api-token": "EZTK<A54>",
    "facebook-page-access-token": "EAAM<A120>",
    "flutterwave-encryption-key": "FLWSECK_TEST-<h12>",
    "flutterwave-secret-key": "FLWSECK_TEST-<h32>-X",
    "flyio-access-token": "fo1_<W43>",
    "flyio-macaroon": "fm2_<B120>",
    "frameio-api-token": "fio-u-<W64>",
    "gcp-api-key": "AIza<W35>",
    "github-app-token": "ghu_<A36>",
    "github-server-token": "ghs_<A36>",
    "github-fine-grained-pat": "github_pat_<A22>_<A59>",
    "github-oauth": "gho_<A36>",
    "github-pat": "ghp_<A36>",
    "github-refresh-token": "ghr_<A36>",
    "gitlab-cicd-job-token": "glcbt-<A4>_<W20>",
    "gitlab-deploy-token": "gldt-<W20>",
    "gitlab-feature-flag-client-token": "glffct-<W20>",
    "gitlab-feed-token": "glft-<W20>",
    "gitlab-incoming-mail-token": "glimt-<W25>",
    "gitlab-kubernetes-agent-token": "glagent-<W50>",
    "gitlab-oauth-app-secret": "gloas-<W64>",
    "gitlab-pat": "glpat-<W20>",
    "gitlab-pat-routable": "glpat-<W40>.01<a7>",
    "gitlab-ptt": "glptt-<h40>",
    "gitlab-rrt": "GR1348941<W20>",
    "gitlab-runner-authentication-token": "glrt-<W20>",
    "gitlab-scim-token": "glsoat-<W20>",
    "gitlab-session-cookie": "_gitlab_session=<a32>",
    "grafana-api-key": "eyJrIjoi<A80>",
    "grafana-cloud-api-token": "glc_<B60>",
    "grafana-service-account-token": "glsa_<A32>_<h8>",
    "harness-api-key": "pat.<W22>.<A24>.<A20>",
    "heroku-api-key-v2": "HRKU-AA<W58>",
    "huggingface-access-token": "hf_<l34>",
    "huggingface-organization-api-token": "api_org_<l34>",
    "infracost-api-token": "ico-<A32>",
    "intra42-client-secret": "s-s4t2ud-<h64>",
    "jwt": "eyJ<A30>.eyJ<A60>.<W43>",
    "linear-api-key": "lin_api_<a40>",
    "new-relic-insert-key": "NRII-<a32>",
    "new-relic-user-api-key": "NRAK-<a27>",
    "notion-api-token": "ntn_<d11><A35>",
    "npm-access-token": "npm_<A36>",
    "octopus-deploy-api-key": "API-<U26>",
    "openai-api-key": "sk-<A20>T3BlbkFJ<A20>",
    "openai-project-key": "sk-proj-<W74>T3BlbkFJ<W74>",
    "openshift-user-token": "sha256~<W43>",
    "perplexity-api-key": "pplx-<A48>",
    "plaid-api-token": f"access-production-{_UUID}",
    "planetscale-api-token": "pscale_tkn_<W43>",
    "planetscale-oauth-token": "pscale_oauth_<W43>",
    "planetscale-password": "pscale_pw_<W43>",
    "postman-api-token": "PMAK-<h24>-<h34>",
    "prefect-api-token": "pnu_<A36>",
    "pulumi-api-token": "pul-<h40>",
    "pypi-upload-token": "pypi-AgEIcHlwaS5vcmc<W80>",
    "readme-api-token": "rdme_<a70>",
    "rubygems-api-token": "rubygems_<h48>",
    "scalingo-api-token": "tk-us-<W48>",
    "sendgrid-api-token": "SG.<W22>.<W43>",
    "sendinblue-api-token": "xkeysib-<h64>-<a16>",
    "sentry-org-token": "sntrys_eyJpYXQiO<A60>LCJyZWdpb25fdXJs<A40>_<B43>",
    "sentry-user-token": "sntryu_<h64>",
    "settlemint-application-access-token": "sm_aat_<A16>",
    "shippo-api-token": "shippo_live_<h40>",
    "shopify-access-token": "shpat_<h32>",
    "shopify-custom-access-token": "shpca_<h32>",
    "shopify-private-app-access-token": "shppa_<h32>",
    "shopify-shared-secret": "shpss_<h32>",
    "slack-app-token": "xapp-1-<U11>-<d13>-<h64>",
    "slack-bot-token": "xoxb-<d12>-<d12>-<A24>",
    "slack-config-access-token": "xoxe.xoxb-1-<U163>",
    "slack-config-refresh-token": "xoxe-1-<U146>",
    "slack-legacy-token": "xoxs-<d10>-<d10>-<d10>-<h10>",
    "slack-legacy-workspace-token": "xoxr-<A24>",
    "slack-user-token": "xoxp-<d12>-<d12>-<d12>-<A32>",
    "sourcegraph-access-token": "sgp_<h16>_<h40>",
    "square-access-token": "EAAA<W60>",
    "square-oauth-secret": "sq0atp-<W22>",
    "stripe-access-token": "sk_live_<A24>",
    "stripe-restricted-key": "rk_live_<A24>",
    "twilio-api-key": "SK<h32>",
    "typeform-api-token": "tfp_<W59>",
    "vault-batch-token": "hvb.<W140>",
    "vault-service-token": "hvs.<W95>",
}
"""Kinds that start with a literal, by the names of gitleaks."""

_PEM_LINES = "\n".join(["<B64>"] * 12)


def _pem(kind: str) -> str:
    return f"-----BEGIN {kind}-----\n{_PEM_LINES}\n<B40>=\n-----END {kind}-----"


COMMON = {
    "rsa-private-key": _pem("RSA PRIVATE " + "KEY"),
    "ec-private-key": _pem("EC PRIVATE " + "KEY"),
    "openssh-private-key": _pem("OPENSSH PRIVATE " + "KEY"),
    "pkcs8-private-key": _pem("PRIVATE " + "KEY"),
    "encrypted-private-key": _pem("ENCRYPTED PRIVATE " + "KEY"),
    "pgp-private-key": _pem("PGP PRIVATE " + "KEY BLOCK"),
    "google-oauth-client-secret": "GOCSPX-<W28>",
    "google-oauth-access-token": "ya29.<W120>",
    "google-oauth-refresh-token": "1//0<W60>",
    "stripe-webhook-secret": "whsec_<A32>",
    "dockerhub-token": "dckr_pat_<W27>",
    "circleci-token": "CCIPAT_<A22>_<h40>",
    "figma-token": "figd_<W40>",
    "groq-key": "gsk_<A52>",
    "xai-key": "xai-<A80>",
    "openrouter-key": "sk-or-v1-<h64>",
    "replicate-token": "r8_<A37>",
    "nvidia-key": "nvapi-<W64>",
    "pinecone-key": "pcsk_<A6>_<A63>",
    "langsmith-key": "lsv2_pt_<h32>_<h10>",
    "wandb-key": "wandb_v1_<A77>",
    "supabase-token": "sbp_<h40>",
    "supabase-secret": "sb_secret_<W31>",
    "netlify-token": "nfp_<A36>",
    "vercel-token": "vcp_<A56>",
    "tailscale-key": "tskey-auth-<A12>-<A32>",
    "mailgun-key": "key-<h32>",
    "resend-key": "re_<A8>_<A24>",
    "posthog-key": "phx_<A43>",
    "telegram-bot-token": "<d10>:AA<W33>",
    "discord-bot-token": "MT<A24>.<W6>.<W38>",
    "terraform-token": "<A14>.atlasv1.<W66>",
    "mailchimp-key": "<h32>-us12",
    "nuget-key": "oy2<a43>",
    "dropbox-token": "sl.<W135>",
    "braintree-token": "access_token$production$<a16>$<h32>",
    "slack-webhook": "T<U10>/B<U10>/<A24>",
    "address-password": "<A20>",
    "bearer-header": "<W40>",
    "basic-header": "<B24>==",
    "api-key-header": "<A32>",
    "aws-secret-key": "<B40>",
    "azure-storage-key": "<B86>==",
}
"""Kinds many people have; some are known by what stands before them only."""

AROUND = {
    "slack-webhook": ("https://hooks.slack.com/services/", ""),
    "address-password": ("postgresql+psycopg://admin:", "@db.example.org:5432/app"),
    "bearer-header": ("Authorization: Bearer ", ""),
    "basic-header": ('{"Authorization": "Basic ', '"}'),
    "api-key-header": ("x-api-key: ", ""),
    "aws-secret-key": ("aws_secret_access_key = ", ""),
    "azure-storage-key": ("DefaultEndpointsProtocol=https;AccountName=a;AccountKey=", ";"),
}
"""What stands before and after a key, where that is what tells it."""


def secret(template: str, random: Random) -> str:
    """Return a key that fits a template."""

    def body(found: re.Match[str]) -> str:
        return "".join(random.choices(_CLASSES[found[1]], k=int(found[2])))

    return _BLANK.sub(body, template)
