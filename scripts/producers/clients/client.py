"""
Writes the records of a job file with confluent-kafka (librdkafka) and its Avro serializer, one after the other, and prints
one JSON line for each: where it was written, or who refused it. The job's format is in ../job.ts.
"""

import base64
import io
import json
import sys
import time

import fastavro
from confluent_kafka import KafkaException, Producer
from confluent_kafka.schema_registry import (
    SchemaRegistryClient,
    record_subject_name_strategy,
    topic_subject_name_strategy,
)
from confluent_kafka.schema_registry.avro import AvroSerializer
from confluent_kafka.schema_registry.error import SchemaRegistryError
from confluent_kafka.serialization import MessageField, SerializationContext

REQUEST_BYTES_MAX = 128 * 1024 * 1024
NAMING = {
    "record": {"subject.name.strategy": record_subject_name_strategy},
    "topic": {"subject.name.strategy": topic_subject_name_strategy},
    "default": {},
}

job = json.load(open(sys.argv[1], encoding="utf-8"))
registry = SchemaRegistryClient({"url": job["registryUrl"]})
context = SerializationContext(job["topic"], MessageField.VALUE)
producers = {}
serializers = {}


def producer_of(codec, mode):
    if (codec, mode) in producers:
        return producers[codec, mode]
    settings = {
        "bootstrap.servers": job["brokers"],
        "compression.type": codec,
        "enable.idempotence": mode != "plain",
        "message.max.bytes": REQUEST_BYTES_MAX,
        "linger.ms": 0,
        "log_level": 2,
    }
    if mode in ("commit", "abort"):
        settings["transactional.id"] = f"{job['topic']}-python-{codec}-{mode}"
    producer = Producer(settings)
    if "transactional.id" in settings:
        producer.init_transactions()
    producers[codec, mode] = producer
    return producer


def serializer_of(schema, naming):
    if (schema, naming) not in serializers:
        text = job["schemas"][schema]
        serializer = AvroSerializer(registry, text, conf=NAMING[naming])
        serializers[schema, naming] = (serializer, fastavro.parse_schema(json.loads(text)))
    return serializers[schema, naming]


def value_of(record):
    if "raw" in record:
        return None if record["raw"] is None else base64.b64decode(record["raw"]) + bytes(record.get("zeros", 0))
    serializer, schema = serializer_of(record["schema"], record["naming"])
    (event,) = fastavro.json_reader(io.StringIO(record["event"]), schema)
    return serializer(event, context)


def write(record):
    """Returns partition and offset. Raises KafkaException for what the client or the broker refuses."""
    value = value_of(record)
    producer = producer_of(record["codec"], record["mode"])
    is_transaction = record["mode"] in ("commit", "abort")
    results = []
    if is_transaction:
        producer.begin_transaction()
    headers = [(name, None if text is None else base64.b64decode(text)) for name, text in record.get("headers", [])]
    optional = {"timestamp": record["timestamp"]} if "timestamp" in record else {}
    try:
        producer.produce(
            job["topic"],
            value,
            record["key"],
            record["partition"],
            on_delivery=lambda error, message: results.append((error, message)),
            headers=headers,
            **optional,
        )
        producer.flush()
        error, message = results[0]
        if error is not None:
            raise KafkaException(error)
    except KafkaException:
        if is_transaction:
            producer.abort_transaction()
        raise
    if record["mode"] == "commit":
        producer.commit_transaction()
    elif record["mode"] == "abort":
        producer.abort_transaction()
    return message.partition(), message.offset()


def turns():
    """Yields each record as often as it is to be written, and when it is."""
    timed = [(at, i) for i, record in enumerate(job["records"]) for at in record.get("at", [0])]
    for at, i in sorted(timed):
        time.sleep(max(0, at / 1000 - time.time()))
        yield job["records"][i]


for record in turns():
    try:
        partition, offset = write(record)
        end = {"partition": partition, "offset": offset}
    except SchemaRegistryError as error:
        end = {"refusedBy": "registry", "message": str(error)}
    except KafkaException as error:
        end = {"refusedBy": "Kafka", "message": error.args[0].name()}
    print(json.dumps({"id": record["id"], **end}), flush=True)
