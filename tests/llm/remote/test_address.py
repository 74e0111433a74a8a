"""Where a server is: what is an address, and that nothing secret is kept in one, or repeated."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.errors import PredtuiError
from predtui.llm.remote.address import Address, parse, reference


@pytest.mark.parametrize(
    ("url", "model", "address"),
    [
        ("http://127.0.0.1:8080", "auto", Address("http://127.0.0.1:8080")),
        ("http://box:8080/v1/", "auto", Address("http://box:8080")),
        ("https://api.example.com/llm/v1", "org/Qwen-7B", Address("https://api.example.com/llm", "org/Qwen-7B")),
        ("http://[::1]:80", "a b#c", Address("http://[::1]:80", "a b#c")),
        ("localhost:8080", "auto", Address("http://localhost:8080")),
        ("box", "auto", Address("http://box")),
        ("box:443", "auto", Address("https://box:443")),
        ("api.example.com:443/v1", "m", Address("https://api.example.com:443", "m")),
        ("192.168.1.7:11434/api/chat", "auto", Address("http://192.168.1.7:11434")),
        ("http://box:8080/v1/chat/completions", "auto", Address("http://box:8080")),
        ("http://box:8080/v1/completions/", "auto", Address("http://box:8080")),
        ("https://box/llm/v1/models", "auto", Address("https://box/llm")),
        ("http://box:8080/completion", "auto", Address("http://box:8080")),
        ("http://box:8080//", "auto", Address("http://box:8080")),
        ("http://box/v1beta/modelsof/me/", "auto", Address("http://box/v1beta/modelsof/me")),
    ],
)
def test_settings_name_a_server_and_a_model(url: str, model: str, address: Address) -> None:
    assert parse(reference(url, model)) == address
    assert reference("http://other", reference(url, model)) == reference(url, model), "a name that is whole stays"


@pytest.mark.parametrize(("url", "port"), [("http://a", 80), ("https://a", 443), ("https://a:8443/v1", 8443)])
def test_the_port_is_the_usual_one_unless_it_is_told(url: str, port: int) -> None:
    assert parse(url).port == port


@pytest.mark.parametrize("name", ["#x", ""])
def test_without_an_address_the_line_says_how_to_give_one(name: str) -> None:
    with pytest.raises(PredtuiError, match="--url http://HOST:PORT"):
        parse(name)


@pytest.mark.parametrize(
    "url", ["ftp://a", "box:port", "a b:c", "http://", "http://a:b", "http://[::1", "/tmp/x", "http:///x"]
)
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(PredtuiError, match=r"is not the address of a server\. Write it as http://HOST:PORT"):
        parse(url)


@given(st.text("abcxyz0123456789", min_size=8))
def test_a_secret_in_an_address_is_refused_and_not_repeated(secret: str) -> None:
    for url in (
        f"http://me:{secret}@host/",
        f"me:{secret}@host",
        f"http://{secret}@host",
        f"http://host/?api_key={secret}",
    ):
        with pytest.raises(PredtuiError, match="environment: PREDTUI_API_KEY") as refused:
            parse(url)
        assert secret not in str(refused.value)
