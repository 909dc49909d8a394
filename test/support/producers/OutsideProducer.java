import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * A service of the platform, as another team would write it: Kafka's own client for Java, the schema registered under
 * its record's name as Confluent's serializer does (RecordNameStrategy), and a KYC event in the registry's wire format.
 * Nothing of hookrail is in it but the schema's file.
 *
 * Arguments: brokers, registry URL, topic, schema file, event id, merchant id, user id.
 */
public class OutsideProducer {
  public static void main(String[] args) throws Exception {
    int schemaId = register(args[1], Files.readString(Path.of(args[3])));
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    bytes.write(0);
    bytes.write(ByteBuffer.allocate(4).putInt(schemaId).array());
    writeHeader(bytes, args[4], args[5], args[6]);
    writeData(bytes);
    Map<String, Object> settings =
        Map.of("bootstrap.servers", args[0], "acks", "all", "enable.idempotence", "true");
    try (var producer = new KafkaProducer<>(settings, new StringSerializer(), new ByteArraySerializer())) {
      var sent = producer.send(new ProducerRecord<>(args[2], args[6], bytes.toByteArray())).get();
      System.out.println(sent.partition() + "@" + sent.offset() + " schema " + schemaId);
    }
  }

  private static int register(String registry, String schema) throws Exception {
    String body = "{\"schema\":" + quoted(schema) + "}";
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(registry + "/subjects/com.hookrail.events.Kyc/versions"))
            .header("Content-Type", "application/vnd.schemaregistry.v1+json")
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .build();
    HttpResponse<String> answer = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
    Matcher id = Pattern.compile("\"id\"\\s*:\\s*(\\d+)").matcher(answer.body());
    if (answer.statusCode() != 200 || !id.find()) throw new IOException("the registry says " + answer.body());
    return Integer.parseInt(id.group(1));
  }

  private static void writeHeader(ByteArrayOutputStream out, String eventId, String merchantId, String userId) {
    writeString(out, eventId);
    writeString(out, merchantId);
    writeString(out, userId);
    writeLong(out, 0); // entityKind: USER
    writeString(out, "FULL_USER");
    writeLong(out, System.currentTimeMillis());
    out.write(1); // simulated
  }

  private static void writeData(ByteArrayOutputStream out) {
    writeString(out, "FULL_USER");
    writeLong(out, 0); // docs_missing: null
    writeLong(out, 0); // kyc_reject_label: null
    writeLong(out, 0); // kyc_enduser_error_message: null
    out.write(0); // can_retry
    writeLong(out, 1); // attempt
    writeLong(out, System.currentTimeMillis());
  }

  /** Avro: length, then UTF-8. */
  private static void writeString(ByteArrayOutputStream out, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    writeLong(out, bytes.length);
    out.writeBytes(bytes);
  }

  /** Avro: zigzag, seven bits a byte, the lowest first. */
  private static void writeLong(ByteArrayOutputStream out, long value) {
    long rest = (value << 1) ^ (value >> 63);
    while ((rest & ~0x7FL) != 0) {
      out.write((int) ((rest & 0x7F) | 0x80));
      rest >>>= 7;
    }
    out.write((int) rest);
  }

  private static String quoted(String text) {
    return "\"" + text.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n") + "\"";
  }
}
