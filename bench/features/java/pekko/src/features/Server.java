package features;

import com.typesafe.config.ConfigFactory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Supplier;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import org.apache.pekko.Done;
import org.apache.pekko.actor.AbstractActor;
import org.apache.pekko.actor.ActorSystem;
import org.apache.pekko.actor.CoordinatedShutdown;
import org.apache.pekko.event.Logging;
import org.apache.pekko.http.javadsl.ConnectionContext;
import org.apache.pekko.http.javadsl.Http;
import org.apache.pekko.http.javadsl.model.ContentType;
import org.apache.pekko.http.javadsl.model.HttpEntities;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.model.MediaTypes;
import org.apache.pekko.http.javadsl.model.ws.Message;
import org.apache.pekko.http.javadsl.model.ws.TextMessage;
import org.apache.pekko.http.javadsl.model.ws.WebSocket;
import org.apache.pekko.management.javadsl.PekkoManagement;
import org.apache.pekko.stream.javadsl.Flow;
import org.apache.pekko.stream.javadsl.Sink;
import org.apache.pekko.stream.javadsl.Source;
import org.apache.pekko.util.ByteString;

/**
 * One server of the feature probes: Pekko HTTP, ended by Pekko's CoordinatedShutdown, with the health
 * checks of Pekko Management, as their documentation says. It speaks the protocol of
 * ../../../../fixture.mjs.
 */
public final class Server {
  private static final ContentType EVENTS = MediaTypes.TEXT_EVENT_STREAM.toContentType();

  private final Plan plan;
  private final ActorSystem system;
  private final CoordinatedShutdown shutdown;
  /** What blocks is not to block the threads of actors; none of these keeps the process. */
  private final ExecutorService threads =
      Executors.newCachedThreadPool(task -> {
        var thread = new Thread(task);
        thread.setDaemon(true);
        return thread;
      });

  private Server(Plan plan) {
    this.plan = plan;
    this.system = ActorSystem.create("features", ConfigFactory.parseMap(settings(plan)).withFallback(ConfigFactory.load()));
    this.shutdown = CoordinatedShutdown.get(system);
  }

  public static void main(String[] args) {
    Told.note("loaded");
    var plan = Plan.of(args);
    if (plan.misuse()) misuse();
    else new Server(plan).start();
  }

  private static final String SHUTDOWN = "pekko.coordinated-shutdown.";

  private static Map<String, Object> settings(Plan plan) {
    var settings = new HashMap<String, Object>();
    var phase = plan.hookMs() > 0 ? plan.hookMs() : plan.graceMs();
    settings.put(SHUTDOWN + "default-phase-timeout", phase + " ms");
    settings.put(SHUTDOWN + "phases.service-requests-done.timeout", plan.graceMs() + 500 + " ms");
    chain(settings, "before", CoordinatedShutdown.PhaseBeforeServiceUnbind(), CoordinatedShutdown.PhaseServiceUnbind(), plan.before());
    chain(settings, "cleanup", CoordinatedShutdown.PhaseServiceStop(), CoordinatedShutdown.PhaseBeforeClusterShutdown(), plan.cleanup());
    settings.put("pekko.http.server.enable-http2", plan.http2() ? "on" : "off");
    settings.put("pekko.http.server.parsing.illegal-header-warnings", "off");
    settings.put("pekko.management.http.hostname", "127.0.0.1");
    settings.put("pekko.management.http.port", 0);
    if (plan.leak()) {
      settings.put("pekko.management.health-checks.readiness-checks.a", Failing.class.getName());
      settings.put("pekko.management.health-checks.readiness-checks.b", Good.class.getName());
    }
    if (plan.checkNever()) settings.put("pekko.management.health-checks.readiness-checks.never", Never.class.getName());
    if (plan.logger()) settings.put("pekko.loggers", List.of(Logger.class.getName()));
    return settings;
  }

  /** Hooks that wait for each other are in phases of their own, between one of Pekko's and the next. */
  private static void chain(Map<String, Object> settings, String kind, String first, String next, List<Hook> hooks) {
    var last = first;
    for (var phase : phasesOf(kind, first, hooks)) {
      if (phase.equals(first) || phase.equals(last)) continue;
      settings.put(SHUTDOWN + "phases." + phase + ".depends-on", List.of(last));
      last = phase;
    }
    if (!last.equals(first)) settings.put(SHUTDOWN + "phases." + next + ".depends-on", List.of(last));
  }

  /** The phase of each hook: after the one before it, unless it says what it waits for. */
  private static List<String> phasesOf(String kind, String first, List<Hook> hooks) {
    var phases = new ArrayList<String>();
    var count = 0;
    for (var hook : hooks) {
      phases.add(hook.after() != null || count == 0 ? first : kind + "-" + count);
      if (hook.after() == null) count++;
    }
    return phases;
  }

  /** A wrong value, and what it says of it. */
  private static void misuse() {
    var wrong = Map.of(SHUTDOWN + "default-phase-timeout", "soon");
    var said = new HashMap<String, Object>();
    said.put("error", null);
    try {
      var system = ActorSystem.create("features", ConfigFactory.parseMap(wrong).withFallback(ConfigFactory.load()));
      system.terminate();
    } catch (RuntimeException error) {
      said.put("error", error.getMessage());
    }
    Told.note("misused", said);
  }

  private void start() {
    add("before", CoordinatedShutdown.PhaseBeforeServiceUnbind(), plan.before());
    add("cleanup", CoordinatedShutdown.PhaseServiceStop(), plan.cleanup());
    if (plan.delayMs() > 0)
      shutdown.addTask(CoordinatedShutdown.PhaseBeforeServiceUnbind(), "delay", () -> blocking(() -> Hook.pause(plan.delayMs())));
    var builder = Http.get(system).newServerAt("127.0.0.1", 0);
    if (plan.http2()) builder = builder.enableHttps(ConnectionContext.httpsServer(tls()));
    var binding = builder.bind(this::answer).toCompletableFuture().join();
    binding.addToCoordinatedShutdown(Duration.ofMillis(plan.graceMs()), system);
    var management = PekkoManagement.get(system).start().toCompletableFuture().join();
    Hook.port = binding.localAddress().getPort();
    var health = new LinkedHashMap<String, Object>();
    health.put("live", "/alive");
    health.put("ready", "/ready");
    health.put("a", "/ready");
    health.put("b", "/alive");
    health.put("port", management.getPort());
    // The first requests of a process take long, which is no answer to any question.
    if (!plan.http2()) for (var path : List.of("/", "/none")) Hook.ask(Hook.port, path);
    for (var path : List.of("/alive", "/ready")) if (!plan.checkNever()) Hook.ask(management.getPort(), path);
    Told.note("listening", Map.of("port", Hook.port, "health", health, "controls", List.of("stop", "hold")));
  }

  private void add(String kind, String first, List<Hook> hooks) {
    var phases = phasesOf(kind, first, hooks);
    for (var index = 0; index < hooks.size(); index++) {
      var hook = hooks.get(index);
      shutdown.addTask(phases.get(index), hook.name(), () -> blocking(() -> hook.run(given())));
    }
  }

  /** A task can ask for the reason of the end. */
  private Map<String, ?> given() {
    return shutdown.getShutdownReason().map(reason -> Map.of("given", reason.toString())).orElse(Map.of());
  }

  private CompletionStage<Done> blocking(Runnable does) {
    return CompletableFuture.supplyAsync(() -> {
      does.run();
      return Done.getInstance();
    }, threads);
  }

  private CompletionStage<HttpResponse> answer(HttpRequest request) {
    var path = request.getUri().path();
    return switch (path) {
      case "/" -> text("hello");
      case "/slow" -> slow(Integer.parseInt(request.getUri().query().get("ms").orElse("0")));
      case "/body" -> request.discardEntityBytes(system).completionStage().thenCompose(done -> text("read"));
      case "/stream" -> CompletableFuture.completedFuture(HttpResponse.create().withEntity(HttpEntities.create(EVENTS, events())));
      case "/ws" -> CompletableFuture.completedFuture(WebSocket.handleWebSocketRequestWith(request, socket()));
      case "/do/stop" -> control(() -> new Thread(() -> shutdown.runAll(new Mine())).start());
      case "/do/hold" -> control(this::hold);
      case "/do/crash" -> control(() -> new Thread(() -> fail("a crash")).start());
      case "/do/reject" -> control(() -> CompletableFuture.runAsync(() -> fail("a rejection")));
      default -> CompletableFuture.completedFuture(HttpResponse.create().withStatus(404).withEntity("not found"));
    };
  }

  private static final class Mine implements CoordinatedShutdown.Reason {
    @Override
    public String toString() {
      return "a reason of mine";
    }
  }

  private static CompletionStage<HttpResponse> text(String body) {
    return CompletableFuture.completedFuture(HttpResponse.create().withEntity(body));
  }

  private CompletionStage<HttpResponse> slow(int ms) {
    return CompletableFuture.supplyAsync(() -> {
      Told.note("slow begins");
      Hook.pause(ms);
      Told.note("slow ends");
      return HttpResponse.create().withEntity("done");
    }, threads);
  }

  private static Source<ByteString, ?> events() {
    var more = Source.tick(Duration.ofMillis(100), Duration.ofMillis(100), ByteString.fromString("data: more\n\n"));
    return Source.single(ByteString.fromString("data: begin\n\n")).concat(more);
  }

  private static Flow<Message, Message, ?> socket() {
    Source<Message, ?> said = Source.<Message>single(TextMessage.create("hello")).concat(Source.maybe());
    return Flow.fromSinkAndSource(Sink.ignore(), said);
  }

  private static CompletionStage<HttpResponse> control(Runnable does) {
    does.run();
    return text("ok");
  }

  private static void fail(String message) {
    Hook.pause(20);
    throw new IllegalStateException(message);
  }

  /** A job that is under way, as a task of the phase in which requests end. */
  private void hold() {
    var job = blocking(() -> Hook.pause(900));
    Supplier<CompletionStage<Done>> waits = () -> job;
    var task = shutdown.addCancellableTask(CoordinatedShutdown.PhaseServiceRequestsDone(), "a job", waits);
    job.whenComplete((done, error) -> task.cancel());
  }

  private static SSLContext tls() {
    try (var file = Files.newInputStream(Path.of(System.getenv("CERT")))) {
      var certificate = CertificateFactory.getInstance("X.509").generateCertificate(file);
      var body = Files.readString(Path.of(System.getenv("KEY"))).replaceAll("-----[A-Z ]+-----|\\s", "");
      var key = new PKCS8EncodedKeySpec(Base64.getDecoder().decode(body));
      var store = KeyStore.getInstance("PKCS12");
      store.load(null, null);
      store.setKeyEntry("server", privateKey(key), new char[0], new Certificate[] {certificate});
      var managers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
      managers.init(store, new char[0]);
      var context = SSLContext.getInstance("TLS");
      context.init(managers.getKeyManagers(), null, null);
      return context;
    } catch (GeneralSecurityException error) {
      throw new IllegalStateException(error);
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
  }

  private static java.security.PrivateKey privateKey(PKCS8EncodedKeySpec key) throws GeneralSecurityException {
    try {
      return KeyFactory.getInstance("RSA").generatePrivate(key);
    } catch (InvalidKeySpecException error) {
      return KeyFactory.getInstance("EC").generatePrivate(key);
    }
  }

  /** Checks of health, which Pekko Management makes of their names. */
  public abstract static class Check implements Supplier<CompletionStage<Boolean>> {
    public Check(ActorSystem system) {}
  }

  public static final class Failing extends Check {
    public Failing(ActorSystem system) {
      super(system);
    }

    @Override
    public CompletionStage<Boolean> get() {
      return CompletableFuture.failedFuture(new IllegalStateException("secretA"));
    }
  }

  public static final class Good extends Check {
    public Good(ActorSystem system) {
      super(system);
    }

    @Override
    public CompletionStage<Boolean> get() {
      return CompletableFuture.completedFuture(true);
    }
  }

  public static final class Never extends Check {
    public Never(ActorSystem system) {
      super(system);
    }

    @Override
    public CompletionStage<Boolean> get() {
      return new CompletableFuture<>();
    }
  }

  /** A program that has a logger of its own. */
  public static final class Logger extends AbstractActor {
    @Override
    public Receive createReceive() {
      return receiveBuilder()
          .match(Logging.InitializeLogger.class, given -> getSender().tell(Logging.loggerInitialized(), getSelf()))
          .match(Logging.LogEvent.class, event ->
              Told.note("log", Map.of("level", event.level(), "given", String.valueOf(event.message()))))
          .build();
    }
  }
}
