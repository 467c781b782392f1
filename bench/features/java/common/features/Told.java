package features;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import tools.jackson.databind.json.JsonMapper;

/** What happens inside, told on file descriptor 3 as ../../../fixture.mjs does: a line of JSON each. */
public final class Told {
  private static final JsonMapper JSON = JsonMapper.shared();
  private static final FileOutputStream OUT = new FileOutputStream(third());

  private Told() {}

  public static void note(String event) {
    note(event, Map.of());
  }

  public static synchronized void note(String event, Map<String, ?> more) {
    var line = new LinkedHashMap<String, Object>();
    line.put("at", System.currentTimeMillis());
    line.put("event", event);
    line.putAll(more);
    try {
      OUT.write((JSON.writeValueAsString(line) + "\n").getBytes(StandardCharsets.UTF_8));
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
  }

  /** It is a socket, which has no name that could be opened; only the JDK itself wraps a number. */
  private static FileDescriptor third() {
    try {
      var descriptor = new FileDescriptor();
      var number = FileDescriptor.class.getDeclaredField("fd");
      number.setAccessible(true);
      number.setInt(descriptor, 3);
      return descriptor;
    } catch (ReflectiveOperationException error) {
      throw new IllegalStateException(error);
    }
  }
}
