package features;

import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import io.micrometer.core.instrument.MeterRegistry;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.config.BeanDefinitionCustomizer;
import org.springframework.boot.ApplicationRunner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.availability.AvailabilityChangeEvent;
import org.springframework.boot.availability.ReadinessState;
import org.springframework.boot.context.metrics.buffering.BufferingApplicationStartup;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.web.server.context.WebServerInitializedEvent;
import org.springframework.context.ApplicationEvent;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.Ordered;
import org.springframework.core.task.AsyncTaskExecutor;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;
import org.springframework.web.socket.TextMessage;
import org.springframework.web.socket.WebSocketSession;
import org.springframework.web.socket.config.annotation.EnableWebSocket;
import org.springframework.web.socket.config.annotation.WebSocketConfigurer;
import org.springframework.web.socket.handler.TextWebSocketHandler;

/**
 * One server of the feature probes: Spring Boot with its Tomcat, a graceful shutdown and the probes
 * of its actuator, as its documentation says. It speaks the protocol of ../../../../fixture.mjs.
 */
@SpringBootConfiguration
@EnableAutoConfiguration
@EnableWebSocket
@Import(Server.Api.class)
public class Server {
  /** Phases stop from high to low: the web server, at 1024 below the highest, is between these. */
  private static final int BEFORE = SmartLifecycle.DEFAULT_PHASE;
  private static final int CLEANUP = 0;

  private static final Map<String, Integer> PORTS = new HashMap<>();
  private static final Set<String> SIGNALS = new HashSet<>();

  public static void main(String[] args) {
    Told.note("loaded");
    var plan = Plan.of(args);
    if (plan.misuse()) {
      misuse();
      return;
    }
    var application = new SpringApplication(Server.class);
    application.setApplicationStartup(new BufferingApplicationStartup(2048));
    application.setDefaultProperties(properties(plan));
    application.addListeners(Server::heard);
    application.addInitializers(context -> register((GenericApplicationContext) context, plan));
    var context = application.run();
    if (plan.logger()) listenToLog();
    if (plan.start().isEmpty()) tellListening(plan, context);
  }

  private static Map<String, Object> properties(Plan plan) {
    var phase = plan.hookMs() > 0 ? plan.hookMs() : plan.graceMs();
    var properties = new HashMap<String, Object>();
    properties.put("server.address", "127.0.0.1");
    properties.put("server.port", 0);
    properties.put("server.shutdown", "graceful");
    properties.put("spring.lifecycle.timeout-per-shutdown-phase", phase + "ms");
    properties.put("spring.task.execution.shutdown.await-termination", true);
    properties.put("spring.task.execution.shutdown.await-termination-period", plan.graceMs() + "ms");
    properties.put("management.endpoint.health.probes.enabled", true);
    properties.put("management.endpoint.health.show-components", "always");
    var checks = "readinessState,ping" + (plan.checkNever() ? ",never" : "");
    properties.put("management.endpoint.health.group.readiness.include", checks);
    if (plan.admin()) properties.put("management.server.port", 0);
    if (plan.http2()) {
      properties.put("server.http2.enabled", true);
      properties.put("server.ssl.certificate", System.getenv("CERT"));
      properties.put("server.ssl.certificate-private-key", System.getenv("KEY"));
    }
    return properties;
  }

  /** A wrong value, and what it says of it. */
  private static void misuse() {
    var property = "spring.lifecycle.timeout-per-shutdown-phase";
    var application = new SpringApplication(Server.class);
    application.setDefaultProperties(Map.of("server.port", 0, property, "soon"));
    String said = null;
    try {
      application.run().close();
    } catch (RuntimeException error) {
      var cause = (Throwable) error;
      while (cause.getCause() != null) cause = cause.getCause();
      said = cause.getMessage();
    }
    var more = new HashMap<String, Object>();
    more.put("error", said);
    Told.note("misused", more);
  }

  /** Events of the application, each name once. */
  private static void heard(ApplicationEvent event) {
    if (event instanceof WebServerInitializedEvent started) {
      var namespace = started.getApplicationContext().getServerNamespace();
      PORTS.put(namespace == null ? "server" : namespace, started.getWebServer().getPort());
    }
    var name =
        event instanceof AvailabilityChangeEvent<?> change ? change.getState().toString() : event.getClass().getSimpleName();
    if (name.equals("ACCEPTING_TRAFFIC")) Told.note("has been ready");
    if (event instanceof ContextClosedEvent || SIGNALS.add(name)) Told.note("signal", Map.of("name", name));
  }

  private static void register(GenericApplicationContext context, Plan plan) {
    context.registerBean(Plan.class, () -> plan);
    if (!plan.start().isEmpty()) {
      var isMade = plan.start().stream().anyMatch(Hook::undoes);
      if (!isMade) add(context, "listening", ApplicationRunner.class, first(given -> tellListening(plan, context)));
      for (var hook : plan.start())
        if (isMade) made(context, hook);
        else add(context, "start " + hook.name(), ApplicationRunner.class, ordered(plan.start().indexOf(hook), hook));
    }
    if (plan.delayMs() > 0) {
      var delay = new Hook("delay", plan.delayMs(), 0, false, false, false, false, List.of());
      add(context, "delay", Stopping.class, new Stopping(delay, BEFORE));
    }
    inPhases(context, plan.before(), BEFORE);
    inPhases(context, plan.cleanup(), CLEANUP);
    if (plan.leak()) {
      check(context, "a", () -> {
        throw new IllegalStateException("secretA");
      });
      check(context, "b", () -> Health.up().build());
    }
    if (plan.checkNever()) check(context, "never", () -> {
      Hook.pause(Long.MAX_VALUE);
      return Health.up().build();
    });
  }

  private static <T> void add(GenericApplicationContext context, String name, Class<T> type, T bean, BeanDefinitionCustomizer... how) {
    context.registerBean(name, type, () -> bean, how);
  }

  private static void check(GenericApplicationContext context, String name, HealthIndicator indicator) {
    add(context, name, HealthIndicator.class, indicator);
  }

  /** What is made at the start and is to be undone: a bean, with a method for its end. */
  private static void made(GenericApplicationContext context, Hook hook) {
    context.registerBean(hook.name(), Made.class, () -> new Made(hook), definition -> definition.setDestroyMethodName("undo"));
  }

  public static final class Made {
    private final Hook hook;

    Made(Hook hook) {
      this.hook = hook;
      hook.run();
    }

    public void undo() {
      Told.note("undo " + hook.name());
    }
  }

  /** Each in a phase of its own, after the one before it, unless it says what it waits for. */
  private static void inPhases(GenericApplicationContext context, List<Hook> hooks, int highest) {
    var phase = highest;
    for (var hook : hooks)
      add(context, hook.name(), Stopping.class, new Stopping(hook, hook.after() == null ? phase-- : highest));
  }

  private static ApplicationRunner first(ApplicationRunner runner) {
    return new OrderedRunner(Ordered.HIGHEST_PRECEDENCE, runner);
  }

  private static ApplicationRunner ordered(int order, Hook hook) {
    return new OrderedRunner(order, given -> hook.run());
  }

  private record OrderedRunner(int order, ApplicationRunner runner) implements ApplicationRunner, Ordered {
    @Override
    public void run(org.springframework.boot.ApplicationArguments given) throws Exception {
      runner.run(given);
    }

    @Override
    public int getOrder() {
      return order;
    }
  }

  /** A hook that Spring waits for, bounded by the time of its phase. */
  private static final class Stopping implements SmartLifecycle {
    private final Hook hook;
    private final int phase;
    private volatile boolean isRunning;

    Stopping(Hook hook, int phase) {
      this.hook = hook;
      this.phase = phase;
    }

    @Override
    public void start() {
      isRunning = true;
    }

    @Override
    public void stop() {
      hook.run();
    }

    /** Beside others of the same phase; what throws at once does so where Spring sees it. */
    @Override
    public void stop(Runnable callback) {
      isRunning = false;
      if (hook.throwing()) SmartLifecycle.super.stop(callback);
      else new Thread(() -> {
        stop();
        callback.run();
      }).start();
    }

    @Override
    public boolean isRunning() {
      return isRunning;
    }

    @Override
    public int getPhase() {
      return phase;
    }
  }

  private static void tellListening(Plan plan, ConfigurableApplicationContext context) {
    Hook.port = PORTS.get("server");
    if (!plan.http2()) warmUp(plan.admin() ? PORTS.get("management") : Hook.port);
    var health = new LinkedHashMap<String, Object>();
    health.put("live", "/actuator/health/liveness");
    health.put("ready", "/actuator/health/readiness");
    health.put("a", "/actuator/health/a");
    health.put("b", "/actuator/health/b");
    if (plan.admin()) health.put("port", PORTS.get("management"));
    var controls = new ArrayList<>(List.of("stop", "notReady", "ready", "hold", "counts", "timeline"));
    Told.note("listening", Map.of("port", Hook.port, "health", health, "controls", controls));
  }

  /** The first requests of a process take long, which is no answer to any question. */
  private static void warmUp(int healthPort) {
    Hook.ask(Hook.port, "/");
    Hook.ask(healthPort, "/actuator/health/liveness");
    Hook.ask(healthPort, "/actuator/health/readiness");
  }

  /** A program that has a logger of its own. */
  private static void listenToLog() {
    var root = (ch.qos.logback.classic.Logger) LoggerFactory.getLogger("ROOT");
    var appender = new AppenderBase<ILoggingEvent>() {
      @Override
      protected void append(ILoggingEvent event) {
        Told.note("log", Map.of("level", event.getLevel().toString(), "given", event.getFormattedMessage()));
      }
    };
    appender.setContext(root.getLoggerContext());
    appender.start();
    root.addAppender(appender);
  }

  @Bean
  WebSocketConfigurer webSockets() {
    return registry -> registry.addHandler(new TextWebSocketHandler() {
      @Override
      public void afterConnectionEstablished(WebSocketSession session) throws IOException {
        session.sendMessage(new TextMessage("hello"));
      }
    }, "/ws");
  }

  @RestController
  static class Api {
    /** No bean: an executor among these would take the place of Spring Boot's own. */
    private static final ScheduledExecutorService TIMER = Executors.newSingleThreadScheduledExecutor(task -> {
      var thread = new Thread(task);
      thread.setDaemon(true);
      return thread;
    });

    private final ConfigurableApplicationContext context;

    Api(ConfigurableApplicationContext context) {
      this.context = context;
    }

    @GetMapping("/")
    String hello() {
      return "hello";
    }

    @GetMapping("/slow")
    String slow(@RequestParam int ms) {
      Told.note("slow begins");
      Hook.pause(ms);
      Told.note("slow ends");
      return "done";
    }

    @PostMapping("/body")
    String body(HttpServletRequest request) throws IOException {
      request.getInputStream().transferTo(OutputStream.nullOutputStream());
      return "read";
    }

    @GetMapping(path = "/stream", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
    SseEmitter stream() throws IOException {
      var emitter = new SseEmitter(0L);
      emitter.send("begin");
      var task = TIMER.scheduleAtFixedRate(() -> {
        try {
          emitter.send("more");
        } catch (IOException error) {
          emitter.completeWithError(error);
        }
      }, 100, 100, TimeUnit.MILLISECONDS);
      emitter.onCompletion(() -> task.cancel(false));
      emitter.onError(error -> task.cancel(false));
      return emitter;
    }

    @GetMapping("/do/{control}")
    ResponseEntity<Object> control(@PathVariable String control) {
      return switch (control) {
        case "stop" -> done(() -> new Thread(() -> System.exit(SpringApplication.exit(context))).start());
        case "ready" -> done(() -> AvailabilityChangeEvent.publish(context, ReadinessState.ACCEPTING_TRAFFIC));
        case "notReady" -> done(() -> AvailabilityChangeEvent.publish(context, ReadinessState.REFUSING_TRAFFIC));
        case "hold" -> done(() -> context.getBean(AsyncTaskExecutor.class).execute(() -> Hook.pause(900)));
        case "crash" -> done(() -> new Thread(() -> fail("a crash")).start());
        case "reject" -> done(() -> CompletableFuture.runAsync(() -> fail("a rejection")));
        case "counts" -> ResponseEntity.ok("{\"active requests\":" + activeRequests() + "}");
        case "timeline" -> ResponseEntity.ok(timeline());
        default -> ResponseEntity.notFound().build();
      };
    }

    private static ResponseEntity<Object> done(Runnable does) {
      does.run();
      return ResponseEntity.ok("ok");
    }

    private static void fail(String message) {
      Hook.pause(20);
      throw new IllegalStateException(message);
    }

    private int activeRequests() {
      var timer = context.getBean(MeterRegistry.class).find("http.server.requests.active").longTaskTimer();
      return timer == null ? 0 : timer.activeTasks();
    }

    /** A JSON string of lines, as other fixtures answer. */
    private String timeline() {
      var startup = (BufferingApplicationStartup) context.getApplicationStartup();
      var lines = startup.getBufferedTimeline().getEvents().stream()
          .map(event -> event.getDuration().toMillis() + " ms " + event.getStartupStep().getName());
      return '"' + String.join("\\n", lines.toList()) + '"';
    }
  }
}
