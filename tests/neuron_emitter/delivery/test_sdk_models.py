"""The lean reading of the SDK's own data: less of it, and the same client."""

from __future__ import annotations

import botocore.session
import pytest
from botocore.exceptions import BotoCoreError

from neuron_emitter.delivery.destination import Delivered
from neuron_emitter.delivery.sdk_models import OPERATIONS, lean_loading
from tests.neuron_emitter.delivery.fake_destinations import batch_of

REGIONS = ["eu-north-1", "cn-north-1", "us-gov-west-1", "us-iso-east-1", "xx-future-7"]


def client_facts(service, region, *, is_lean):
    """Where a client sends and how it signs; or why it could not be made."""
    session = botocore.session.Session()
    if is_lean:
        files = session.get_component("data_loader").file_loader
        files.load_file = lean_loading(files.load_file)
    try:
        client = session.create_client(service, region_name=region)
    except BotoCoreError as error:  # not every service is everywhere
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
    """In every partition and in an unknown region, for all that credentials need."""
    if variant:
        monkeypatch.setenv(f"AWS_USE_{variant}_ENDPOINT", "true")
    for region in REGIONS:
        lean = client_facts(service, region, is_lean=True)
        assert client_facts(service, region, is_lean=False) == lean


@pytest.mark.usefixtures("aws", "service")
def test_a_call_goes_through_the_lean_client(log_stream):
    """It has two operations, and the shapes of an error on the way."""
    assert Delivered() == log_stream.send(batch_of("a"))
    assert [*OPERATIONS] == sorted(log_stream._client.meta.service_model.operation_names)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"partitions": [{}]}', "not"])
@pytest.mark.parametrize("name", ["endpoints", "logs/2014-03-28/service-2"])
def test_a_file_of_another_shape_is_read_by_the_sdk(name, text, tmp_path):
    """A later SDK may lay its data out anew: then it costs memory, and nothing else."""
    path = tmp_path / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    load_file = lean_loading(lambda file_path: f"whole {file_path}")
    assert f"whole {tmp_path / name}" == load_file(str(tmp_path / name))
