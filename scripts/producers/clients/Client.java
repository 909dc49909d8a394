import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.File;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.DecoderFactory;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Writes the records of a job file with Kafka's own client, one after the other, and prints one JSON line for each: where
 * it was written, or what refused it. The job's format is in ../job.ts. Values are serialized as docs/producers/java does.
 */
public class Client {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int REQUEST_BYTES_MAX = 128 * 1024 * 1024;

  private final String brokers;
  private final String registryUrl;
  private final String topic;
  private final JsonNode schemaTexts;
  private final Map<String, KafkaProducer<String, byte[]>> producers = new HashMap<>();
  private final Map<String, RegistryAvroSerializer> serializers = new HashMap<>();
  private final Map<String, Schema> schemas = new HashMap<>();

  private Client(JsonNode job) {
    brokers = job.get("brokers").asText();
    registryUrl = job.get("registryUrl").asText();
    topic = job.get("topic").asText();
    schemaTexts = job.get("schemas");
  }

  public static void main(String[] args) throws Exception {
    JsonNode job = JSON.readTree(new File(args[0]));
    Client client = new Client(job);
    for (JsonNode record : job.get("records")) {
      ObjectNode line = JSON.createObjectNode().put("id", record.get("id").asText());
      try {
        RecordMetadata sent = client.write(record);
        line.put("partition", sent.partition()).put("offset", sent.offset());
      } catch (SerializationException error) {
        line.put("refusedBy", "registry").put("message", error.getMessage());
      } catch (ExecutionException error) {
        line.put("refusedBy", "Kafka").put("message", error.getCause().toString());
      }
      System.out.println(JSON.writeValueAsString(line));
    }
    client.producers.values().forEach(KafkaProducer::close);
  }

  private RecordMetadata write(JsonNode record) throws Exception {
    String mode = record.get("mode").asText();
    byte[] value = valueOf(record);
    KafkaProducer<String, byte[]> producer = producerOf(mode, record.get("codec").asText());
    Long timestamp = record.has("timestamp") ? record.get("timestamp").asLong() : null;
    String key = record.get("key").isNull() ? null : record.get("key").asText();
    var message =
        new ProducerRecord<>(topic, record.get("partition").asInt(), timestamp, key, value, headersOf(record));
    if (!isTransaction(mode)) return producer.send(message).get();
    producer.beginTransaction();
    try {
      RecordMetadata sent = producer.send(message).get();
      if (mode.equals("commit")) producer.commitTransaction();
      else producer.abortTransaction();
      return sent;
    } catch (ExecutionException error) {
      producer.abortTransaction();
      throw error;
    }
  }

  private static boolean isTransaction(String mode) {
    return mode.equals("commit") || mode.equals("abort");
  }

  private KafkaProducer<String, byte[]> producerOf(String mode, String codec) {
    return producers.computeIfAbsent(
        mode + "-" + codec,
        name -> {
          Map<String, Object> settings = new HashMap<>();
          settings.put("bootstrap.servers", brokers);
          settings.put("acks", "all");
          settings.put("compression.type", codec);
          settings.put("enable.idempotence", !mode.equals("plain"));
          settings.put("max.request.size", REQUEST_BYTES_MAX);
          settings.put("buffer.memory", 2L * REQUEST_BYTES_MAX);
          settings.put("linger.ms", 0);
          if (isTransaction(mode)) settings.put("transactional.id", topic + "-java-" + name);
          var producer = new KafkaProducer<>(settings, new StringSerializer(), new ByteArraySerializer());
          if (isTransaction(mode)) producer.initTransactions();
          return producer;
        });
  }

  private byte[] valueOf(JsonNode record) throws Exception {
    JsonNode raw = record.get("raw");
    if (raw != null && raw.isNull()) return null;
    if (raw != null) {
      byte[] bytes = Base64.getDecoder().decode(raw.asText());
      return Arrays.copyOf(bytes, bytes.length + record.path("zeros").asInt());
    }
    String text = schemaTexts.get(record.get("schema").asText()).asText();
    Schema schema = schemas.computeIfAbsent(text, each -> new Schema.Parser().parse(each));
    var reader = new GenericDatumReader<GenericRecord>(schema);
    GenericRecord event =
        reader.read(null, DecoderFactory.get().jsonDecoder(schema, record.get("event").asText()));
    return serializers.computeIfAbsent(record.get("naming").asText(), this::serializer).serialize(topic, event);
  }

  /** Returns a serializer of this subject naming strategy. The default of Confluent's serializer is the topic's name. */
  private RegistryAvroSerializer serializer(String naming) {
    var serializer =
        new RegistryAvroSerializer() {
          @Override
          protected String subject(String topic, Schema schema) {
            return naming.equals("record") ? super.subject(topic, schema) : topic + "-value";
          }
        };
    serializer.configure(Map.of("schema.registry.url", registryUrl), false);
    return serializer;
  }

  private static List<Header> headersOf(JsonNode record) {
    List<Header> headers = new ArrayList<>();
    if (!record.has("headers")) return headers;
    for (JsonNode header : record.get("headers")) {
      JsonNode value = header.get(1);
      byte[] bytes = value.isNull() ? null : Base64.getDecoder().decode(value.asText());
      headers.add(new RecordHeader(header.get(0).asText(), bytes));
    }
    return headers;
  }
}
