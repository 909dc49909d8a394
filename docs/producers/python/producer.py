"""Publishes one KYC event to hookrail's events topic, with confluent-kafka (librdkafka)."""

import os
import sys
import uuid
from datetime import datetime, timezone
from pathlib import Path

from confluent_kafka import Producer
from confluent_kafka.schema_registry import SchemaRegistryClient, record_subject_name_strategy
from confluent_kafka.schema_registry.avro import AvroSerializer
from confluent_kafka.serialization import MessageField, SerializationContext

for name in ("HOOKRAIL_KAFKA_BROKERS", "HOOKRAIL_SCHEMA_REGISTRY_URL", "MERCHANT_ID"):
    if not os.environ.get(name):
        sys.exit(f"{name} is not set: see docs/producers.md")

BROKERS = os.environ["HOOKRAIL_KAFKA_BROKERS"]
REGISTRY_URL = os.environ["HOOKRAIL_SCHEMA_REGISTRY_URL"]
TOPIC = os.environ.get("HOOKRAIL_EVENTS_TOPIC", "payments.events")
MERCHANT_ID = os.environ["MERCHANT_ID"]
# A copy of hookrail's schemas/events/KYC.avsc, as a service of yours would keep it.
SCHEMA = Path(os.environ.get("KYC_SCHEMA", Path(__file__).parent / "../../../schemas/events/KYC.avsc"))

registry = SchemaRegistryClient({"url": REGISTRY_URL})
serialize = AvroSerializer(
    registry,
    SCHEMA.read_text(),
    conf={"subject.name.strategy": record_subject_name_strategy},
)
producer = Producer(
    {
        "bootstrap.servers": BROKERS,
        "enable.idempotence": True,  # implies acks=all
        "compression.type": "zstd",
        "partitioner": "murmur2_random",  # the partitioner of the Java client and of hookrail
    }
)

user_id = str(uuid.uuid4())
now = datetime.now(timezone.utc)
event = {
    "header": {
        "eventId": str(uuid.uuid4()),
        "merchantId": MERCHANT_ID,
        "entityId": user_id,
        "entityKind": "USER",
        "subType": "FULL_USER",
        "occurredAt": now,
        "simulated": False,
    },
    "data": {"status": "FULL_USER", "can_retry": False, "attempt": 1, "updated_at": now},
}


def on_delivery(error, message):
    if error is not None:
        sys.exit(f"not published: {error}")
    print(f"published {event['header']['eventId']} to {message.topic()}/{message.partition()}@{message.offset()}")


producer.produce(
    TOPIC,
    key=user_id,
    value=serialize(event, SerializationContext(TOPIC, MessageField.VALUE)),
    on_delivery=on_delivery,
)
producer.flush()
