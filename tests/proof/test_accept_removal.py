"""Removal after an acceptance, with an S3 that refuses what AWS's S3 refuses."""

from types import SimpleNamespace

import boto3
from botocore.exceptions import ClientError
from moto import mock_aws
from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.s3.models import s3_backends

from proof.accept.resources import ACCEPT_TAG, STACK_KIND_OF_RESOURCE, Journal, remove

SYSTEM_TAGS = {"aws:cloudformation:stack-name": "run-frame", "aws:cloudformation:logical-id": "B"}
BUCKET_NAME = "run-frame-bucket"


def refuse_without_system_tags(params, **_):
    """Refuse a request that removes system tags, as S3 does."""
    keys = {tag["Key"] for tag in params["Tagging"]["TagSet"]}
    if not keys >= SYSTEM_TAGS.keys():
        message = "System tags cannot be removed by requester"
        error = {"Error": {"Code": "InvalidTag", "Message": message}}
        raise ClientError(error, "PutBucketTagging")


class OneStack:
    """CloudFormation with one stack, which has the bucket and the run's tag."""

    def __init__(self, *, can_delete):
        self.can_delete = can_delete
        self.status = "CREATE_COMPLETE"

    def describe_stacks(self, StackName):  # noqa: N803 - boto3's names
        if self.status == "DELETED":
            message = f"Stack with id {StackName} does not exist"
            error = {"Error": {"Code": "ValidationError", "Message": message}}
            raise ClientError(error, "DescribeStacks")
        tags = [{"Key": ACCEPT_TAG, "Value": "run"}]
        return {"Stacks": [{"StackName": StackName, "StackStatus": self.status, "Tags": tags}]}

    def describe_stack_resources(self, StackName):  # noqa: ARG002, N803
        bucket = {"ResourceType": "AWS::S3::Bucket", "PhysicalResourceId": BUCKET_NAME}
        return {"StackResources": [bucket]}

    def delete_stack(self, StackName):  # noqa: ARG002, N803
        self.status = "DELETED" if self.can_delete else "DELETE_FAILED"


def run_with_stack(folder, *, can_delete):
    """Return the account and the journal of a run that has made one stack with a bucket."""
    s3 = boto3.client("s3", "us-east-1")
    s3.meta.events.register("provide-client-params.s3.PutBucketTagging", refuse_without_system_tags)
    s3.create_bucket(Bucket=BUCKET_NAME)
    tags = {**SYSTEM_TAGS, ACCEPT_TAG: "run"}
    # CloudFormation tags the bucket; a client may not set system tags.
    s3_backends[DEFAULT_ACCOUNT_ID]["aws"].tagger.tag_resource(
        f"arn:aws:s3:::{BUCKET_NAME}", [{"Key": key, "Value": value} for key, value in tags.items()]
    )
    s3.put_object(Bucket=BUCKET_NAME, Key="functions.zip", Body=b"zip")
    clients = {"s3": s3, "cloudformation": OneStack(can_delete=can_delete)}
    place = SimpleNamespace(client=clients.get, account=DEFAULT_ACCOUNT_ID, is_embedded=True)
    journal = Journal.begin(folder, "run", {})
    journal.will_make(STACK_KIND_OF_RESOURCE, "run-frame")
    return place, journal


def buckets(place):
    """Return the names of all buckets."""
    return [bucket["Name"] for bucket in place.client("s3").list_buckets()["Buckets"]]


@mock_aws
def test_removal_sets_no_tags_on_a_bucket_that_has_system_tags(tmp_path):
    """
    Removal deletes the stack and its bucket, although S3 refuses a request without the system tags.
    """
    place, journal = run_with_stack(tmp_path, can_delete=True)
    assert [] == remove(place, journal, lambda _text: None)
    assert [] == buckets(place)
    assert [] == journal.left()


@mock_aws
def test_the_bucket_of_a_stack_that_stays_is_kept(tmp_path):
    """A stack whose deletion failed keeps its bucket, also at the next attempt."""
    place, journal = run_with_stack(tmp_path, can_delete=False)
    for _ in range(2):
        left = remove(place, journal, lambda _text: None)
        assert any(sentence.startswith("stack run-frame: it is in") for sentence in left), left
        assert [BUCKET_NAME] == buckets(place)
