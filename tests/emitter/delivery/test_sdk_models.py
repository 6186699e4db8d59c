"""The lean reading of the SDK's own data: less of it, and the same client."""

from __future__ import annotations

import gzip
import json

import botocore.session
import pytest
from botocore.exceptions import BotoCoreError
from fake_destinations import batch_of

from emitter.delivery.destination import Delivered
from emitter.delivery.sdk_models import (
    OPERATIONS,
    LeanFileLoader,
)

REGIONS = ["eu-north-1", "cn-north-1", "us-gov-west-1", "us-iso-east-1", "xx-future-7"]


class Whole:
    """The SDK's loader, which notes what it was asked to read."""

    def __init__(self):
        self.read = []

    def exists(self, file_path):
        """As if everything was there."""
        return file_path == "known"

    def load_file(self, file_path):
        """Note it."""
        self.read.append(file_path)
        return "whole"


def session_of(*, lean):
    """A session that reads all of the SDK's data, or what is needed."""
    session = botocore.session.Session()
    loader = session.get_component("data_loader")
    if lean:
        loader.file_loader = LeanFileLoader(loader.file_loader)
    return session


def client_facts(session, service, region):
    """
    What a client was made to be: where it sends, and how it signs; or why it could not be made.
    """
    try:
        client = session.create_client(service, region_name=region)
    except BotoCoreError as error:  # not every service is everywhere
        return str(error)
    signer = client._request_signer
    facts = (
        client.meta.endpoint_url,
        client.meta.partition,
        client.meta.region_name,
        signer.signing_name,
        signer.region_name,
        signer.signature_version,
    )
    client.close()
    return facts


@pytest.mark.parametrize("service", ["logs", "sts", "sso", "sso-oidc"])
@pytest.mark.parametrize("variant", ["", "FIPS", "DUALSTACK"])
@pytest.mark.usefixtures("aws")
def test_the_client_is_the_same(service, variant, monkeypatch):
    """
    In every partition, also in a region the SDK does not know yet, for all that credentials need.
    """
    if variant:
        monkeypatch.setenv(f"AWS_USE_{variant}_ENDPOINT", "true")
    whole, lean = session_of(lean=False), session_of(lean=True)
    for region in REGIONS:
        assert client_facts(whole, service, region) == client_facts(lean, service, region)


@pytest.mark.usefixtures("aws", "service")
def test_a_call_goes_through_the_lean_client(log_stream):
    """With an error on the way, whose shape is needed too."""
    assert Delivered() == log_stream.send(batch_of("a"))
    assert [*OPERATIONS] == sorted(log_stream._client.meta.service_model.operation_names)


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"partitions": {}}', '{"partitions": [{}]}', '{"partitions": [1]}', "not"],
)
@pytest.mark.parametrize("name", ["endpoints", "logs/2014-03-28/service-2"])
def test_a_file_of_another_shape_is_read_by_the_sdk(name, text, tmp_path):
    """A later SDK may lay its data out anew: then it costs memory, and nothing else."""
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.with_name(f"{path.name}.json").write_text(text)
    whole = Whole()
    assert "whole" == LeanFileLoader(whole).load_file(str(path))
    assert [str(path)] == whole.read


def test_a_compressed_file_is_read_too(tmp_path):
    """As newer SDKs bring them."""
    text = json.dumps({"version": 3, "partitions": []}).encode()
    (tmp_path / "endpoints.json.gz").write_bytes(gzip.compress(text))
    loaded = LeanFileLoader(Whole()).load_file(str(tmp_path / "endpoints"))
    assert {"version": 3, "partitions": []} == loaded
