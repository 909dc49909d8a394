import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.generic.GenericRecordBuilder;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;

/** Publishes one KYC event to hookrail's events topic, with Kafka's own client. */
public class Producer {
  public static void main(String[] args) throws Exception {
    Map<String, String> env = System.getenv();
    for (String name : List.of("HOOKRAIL_KAFKA_BROKERS", "HOOKRAIL_SCHEMA_REGISTRY_URL", "MERCHANT_ID")) {
      if (!env.containsKey(name)) throw new IllegalStateException(name + " is not set: see docs/producers.md");
    }
    String topic = env.getOrDefault("HOOKRAIL_EVENTS_TOPIC", "payments.events");
    // A copy of hookrail's schemas/events/KYC.avsc, as a service of yours would keep it.
    String schemaFile = env.getOrDefault("KYC_SCHEMA", "../../../schemas/events/KYC.avsc");
    Schema schema = new Schema.Parser().parse(Path.of(schemaFile).toFile());

    String userId = UUID.randomUUID().toString();
    String eventId = UUID.randomUUID().toString();
    GenericRecord event = kycEvent(schema, eventId, env.get("MERCHANT_ID"), userId);

    Map<String, Object> settings =
        Map.of(
            "bootstrap.servers", env.get("HOOKRAIL_KAFKA_BROKERS"),
            "schema.registry.url", env.get("HOOKRAIL_SCHEMA_REGISTRY_URL"),
            "key.serializer", "org.apache.kafka.common.serialization.StringSerializer",
            "value.serializer", RegistryAvroSerializer.class.getName(),
            "enable.idempotence", "true", // implies acks=all
            "compression.type", "zstd");
    try (KafkaProducer<String, GenericRecord> producer = new KafkaProducer<>(settings)) {
      RecordMetadata sent = producer.send(new ProducerRecord<>(topic, userId, event)).get();
      System.out.printf("published %s to %s/%d@%d%n", eventId, topic, sent.partition(), sent.offset());
    }
  }

  private static GenericRecord kycEvent(Schema schema, String eventId, String merchantId, String userId) {
    Schema headerSchema = schema.getField("header").schema();
    long now = System.currentTimeMillis();
    GenericRecord header =
        new GenericRecordBuilder(headerSchema)
            .set("eventId", eventId)
            .set("merchantId", merchantId)
            .set("entityId", userId)
            .set("entityKind", new GenericData.EnumSymbol(headerSchema.getField("entityKind").schema(), "USER"))
            .set("subType", "FULL_USER")
            .set("occurredAt", now)
            .set("simulated", false)
            .build();
    GenericRecord data =
        new GenericRecordBuilder(schema.getField("data").schema())
            .set("status", "FULL_USER")
            .set("can_retry", false)
            .set("attempt", 1L)
            .set("updated_at", now)
            .build();
    return new GenericRecordBuilder(schema).set("header", header).set("data", data).build();
  }
}
