"""Searches source code for secrets: keys and tokens in the formats of well-known services."""

import re

FORMS = re.compile(
    rb"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----"
    rb"|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"  # Amazon
    rb"|\bAIza[0-9A-Za-z_-]{35}"  # Google
    rb"|\bgh[opsur]_[0-9A-Za-z]{36}|\bgithub_pat_[0-9A-Za-z_]{50}|\bglpat-[0-9A-Za-z_-]{20}"  # GitHub, GitLab
    rb"|\bhf_[0-9A-Za-z]{30}"  # Hugging Face
    rb"|\bsk-(?:[a-z]+-)*[0-9A-Za-z_-]{32}"  # OpenAI, Anthropic and others
    rb"|\bxox[abeprs]-[0-9A-Za-z-]{10}"  # Slack
)


def find_secret(source: bytes) -> int:
    """Return the number of the first line that contains a secret, or 0 if no line does."""
    found = FORMS.search(source)
    return source.count(b"\n", 0, found.start()) + 1 if found else 0
