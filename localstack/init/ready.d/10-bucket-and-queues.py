# Makes the bucket and the queues of infra/resources.json; LocalStack runs it when it is ready, in its own process, in
# the container as without one. What is there already gets today's attributes, so that it can run at every start.
# A Python script, since boto3 comes with LocalStack everywhere and awslocal only with its image.
import json
import os

import boto3

SECONDS = str  # SQS takes every attribute as a string


def read_description():
    path = os.environ.get("PASTEFLOW_RESOURCES", "/etc/localstack/init/resources.json")
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def client(service):
    return boto3.client(
        service,
        endpoint_url=os.environ.get("PASTEFLOW_LOCALSTACK_URL", "http://127.0.0.1:4566"),
        region_name=os.environ.get("PASTEFLOW_REGION", "us-east-1"),
        aws_access_key_id="test",  # LocalStack's account 000000000000
        aws_secret_access_key="test",
    )


def make_queue(sqs, name, attributes):
    """Answers the queue's ARN. CreateQueue with other attributes than the queue has is refused, hence the two steps."""
    url = sqs.create_queue(QueueName=name)["QueueUrl"]
    sqs.set_queue_attributes(QueueUrl=url, Attributes=attributes)
    return sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]


def lasting(queue):
    return {
        "VisibilityTimeout": SECONDS(queue["visibilitySeconds"]),
        "MessageRetentionPeriod": SECONDS(queue["retentionSeconds"]),
    }


def make_queues(sqs, description):
    for queue in description["queues"].values():
        # That one first: the redrive policy points at it.
        dead_letters = make_queue(
            sqs, queue["name"] + description["deadLetterSuffix"], lasting(queue["deadLetters"])
        )
        redrive = {"deadLetterTargetArn": dead_letters, "maxReceiveCount": queue["maxReceiveCount"]}
        make_queue(sqs, queue["name"], {**lasting(queue), "RedrivePolicy": json.dumps(redrive)})


def make_bucket(s3, bucket):
    region = s3.meta.region_name
    # us-east-1 is the one region that must not be named, and the one where making one's own bucket again is no error.
    placed = {} if region == "us-east-1" else {"CreateBucketConfiguration": {"LocationConstraint": region}}
    try:
        s3.create_bucket(Bucket=bucket["name"], **placed)
    except s3.exceptions.BucketAlreadyOwnedByYou:
        pass
    s3.put_bucket_versioning(Bucket=bucket["name"], VersioningConfiguration={"Status": "Enabled"})
    s3.put_bucket_lifecycle_configuration(
        Bucket=bucket["name"],
        LifecycleConfiguration={
            "Rules": [
                {
                    "ID": "abort-stray-multipart-uploads",
                    "Status": "Enabled",
                    "Filter": {"Prefix": ""},
                    "AbortIncompleteMultipartUpload": {
                        "DaysAfterInitiation": bucket["abortMultipartUploadsAfterDays"]
                    },
                },
                {
                    "ID": "expire-old-versions",
                    "Status": "Enabled",
                    "Filter": {"Prefix": ""},
                    "NoncurrentVersionExpiration": {"NoncurrentDays": bucket["expireOldVersionsAfterDays"]},
                    "Expiration": {"ExpiredObjectDeleteMarker": True},
                },
            ]
        },
    )


description = read_description()
make_bucket(client("s3"), description["bucket"])
make_queues(client("sqs"), description)
