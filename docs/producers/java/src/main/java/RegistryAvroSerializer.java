import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.EncoderFactory;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.serialization.Serializer;

/**
 * Writes a record in the schema registry's wire format: a zero byte, the schema's id in four bytes, the Avro record.
 * Registers the schema under its record's name. It uses only libraries of Maven Central; Confluent's KafkaAvroSerializer
 * with the RecordNameStrategy writes the same bytes.
 */
public class RegistryAvroSerializer implements Serializer<GenericRecord> {
  private static final ObjectMapper JSON = new ObjectMapper();
  private final HttpClient http = HttpClient.newHttpClient();
  private final Map<Schema, Integer> ids = new ConcurrentHashMap<>();
  private String registryUrl;

  @Override
  public void configure(Map<String, ?> settings, boolean isKey) {
    registryUrl = (String) settings.get("schema.registry.url");
  }

  @Override
  public byte[] serialize(String topic, GenericRecord record) {
    Schema schema = record.getSchema();
    int schemaId = ids.computeIfAbsent(schema, each -> register(subject(topic, each), each));
    try {
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      bytes.write(0);
      bytes.write(ByteBuffer.allocate(4).putInt(schemaId).array());
      BinaryEncoder encoder = EncoderFactory.get().binaryEncoder(bytes, null);
      new GenericDatumWriter<GenericRecord>(schema).write(record, encoder);
      encoder.flush();
      return bytes.toByteArray();
    } catch (IOException error) {
      throw new SerializationException(error);
    }
  }

  /** Returns the name under which the schema is registered. */
  protected String subject(String topic, Schema schema) {
    return schema.getFullName();
  }

  /** Returns the schema's id, which the registry gives out once per schema. */
  private int register(String subject, Schema schema) {
    URI versions = URI.create(registryUrl + "/subjects/" + subject + "/versions");
    try {
      String body = JSON.writeValueAsString(Map.of("schema", schema.toString()));
      HttpRequest request =
          HttpRequest.newBuilder(versions)
              .header("Content-Type", "application/vnd.schemaregistry.v1+json")
              .POST(HttpRequest.BodyPublishers.ofString(body))
              .build();
      HttpResponse<String> answer = http.send(request, BodyHandlers.ofString());
      JsonNode id = JSON.readTree(answer.body()).get("id");
      if (answer.statusCode() != 200 || id == null) {
        throw new SerializationException("the registry refused " + subject + ": " + answer.body());
      }
      return id.asInt();
    } catch (IOException error) {
      throw new SerializationException("the registry at " + registryUrl + " cannot be reached", error);
    } catch (InterruptedException error) {
      Thread.currentThread().interrupt();
      throw new SerializationException("interrupted while registering a schema", error);
    }
  }
}
