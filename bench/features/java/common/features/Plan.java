package features;

import java.util.List;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.json.JsonMapper;

/** What a server is to be, the last argument of the program. */
public record Plan(
    int graceMs,
    int totalMs,
    int delayMs,
    int hookMs,
    boolean http2,
    boolean admin,
    boolean leak,
    boolean checkNever,
    boolean logger,
    boolean misuse,
    List<Hook> start,
    List<Hook> before,
    List<Hook> cleanup) {

  public Plan {
    start = start == null ? List.of() : start;
    before = before == null ? List.of() : before;
    cleanup = cleanup == null ? List.of() : cleanup;
  }

  public static Plan of(String[] args) {
    return JsonMapper.builder()
        .disable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
        .build()
        .readValue(args[args.length - 1], Plan.class);
  }
}
