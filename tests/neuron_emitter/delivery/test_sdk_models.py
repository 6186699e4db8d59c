"""The lean loader of the SDK's data makes the SDK's client with less memory."""

from __future__ import annotations

import botocore.session
import pytest
from botocore.exceptions import BotoCoreError

from neuron_emitter.delivery.destination import Delivered
from neuron_emitter.delivery.sdk_models import OPERATIONS, lean_loading
from tests.neuron_emitter.delivery.fake_destinations import batch_of

REGIONS = ["eu-north-1", "cn-north-1", "us-gov-west-1", "us-iso-east-1", "xx-future-7"]


def client_facts(service, region, *, is_lean):
    """Return a client's endpoint and signing, or the error if the client cannot be made."""
    session = botocore.session.Session()
    if is_lean:
        files = session.get_component("data_loader").file_loader
        files.load_file = lean_loading(files.load_file)
    try:
        client = session.create_client(service, region_name=region)
    except BotoCoreError as error:  # some services are not in every region
        return str(error)
    meta = client.meta
    signer = client._request_signer
    client.close()
    signing = (signer.signing_name, signer.region_name, signer.signature_version)
    return meta.endpoint_url, meta.partition, meta.region_name, *signing


@pytest.mark.parametrize("service", ["logs", "sts", "sso", "sso-oidc"])
@pytest.mark.parametrize("variant", ["", "FIPS", "DUALSTACK"])
@pytest.mark.usefixtures("aws")
def test_the_client_is_the_same(service, variant, monkeypatch):
    """A lean client equals the SDK's in all partitions and an unknown region, for all services."""
    if variant:
        monkeypatch.setenv(f"AWS_USE_{variant}_ENDPOINT", "true")
    for region in REGIONS:
        lean = client_facts(service, region, is_lean=True)
        assert client_facts(service, region, is_lean=False) == lean


@pytest.mark.usefixtures("aws", "service")
def test_a_call_goes_through_the_lean_client(log_stream):
    """A lean client has two operations, and can send records."""
    assert Delivered() == log_stream.send(batch_of("a"))
    assert [*OPERATIONS] == sorted(log_stream._client.meta.service_model.operation_names)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"partitions": [{}]}', "not"])
@pytest.mark.parametrize("name", ["endpoints", "logs/2014-03-28/service-2"])
def test_a_file_of_another_shape_is_read_by_the_sdk(name, text, tmp_path):
    """The SDK reads a data file of an unknown shape, which costs only memory."""
    path = tmp_path / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    load_file = lean_loading(lambda file_path: f"whole {file_path}")
    assert f"whole {tmp_path / name}" == load_file(str(tmp_path / name))
