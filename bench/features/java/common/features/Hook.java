package features;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.util.List;
import java.util.Map;

/** A function of the plan, and what it does. Without `after` it waits for the one before it. */
public record Hook(
    String name,
    int ms,
    int logBytes,
    boolean calls,
    boolean never,
    @JsonProperty("throws") boolean throwing,
    boolean undoes,
    List<String> after) {

  /** Of the server that the hooks may call. */
  public static volatile int port;

  public void run() {
    run(Map.of());
  }

  public void run(Map<String, ?> given) {
    Told.note(name + " begins", given);
    if (calls) Told.note(name + " called", Map.of("status", ask(port, "/")));
    pause(ms);
    if (logBytes > 0) System.out.println("x".repeat(logBytes - 1));
    if (never) pause(Long.MAX_VALUE);
    if (throwing) throw new IllegalStateException(name + " has failed");
    Told.note(name + " ends");
  }

  public static void pause(long ms) {
    try {
      Thread.sleep(ms);
    } catch (InterruptedException error) {
      throw new IllegalStateException(error);
    }
  }

  /** On a connection of its own, which is closed: one that is kept alive would hold the server. */
  public static Object ask(int port, String path) {
    try {
      var connection = (HttpURLConnection) URI.create("http://127.0.0.1:" + port + path).toURL().openConnection();
      connection.setRequestProperty("Connection", "close");
      connection.setConnectTimeout(5000);
      connection.setReadTimeout(5000);
      return connection.getResponseCode();
    } catch (IOException error) {
      return error.toString();
    }
  }
}
