// One server of the feature probes: ASP.NET Core on Kestrel, with a host as its documentation says.
// It speaks the protocol of ../fixture.mjs.
using System.Diagnostics.Metrics;
using System.Net;
using System.Net.ServerSentEvents;
using System.Runtime.CompilerServices;
using System.Security.Cryptography.X509Certificates;
using System.Text.Json.Nodes;
using Microsoft.AspNetCore.Diagnostics.HealthChecks;
using Microsoft.AspNetCore.Hosting.Server;
using Microsoft.AspNetCore.Hosting.Server.Features;
using Microsoft.Extensions.Diagnostics.HealthChecks;

Told.Note("loaded");
var plan = Plan.Of(args);
var builder = WebApplication.CreateBuilder();
if (plan.Misuse)
{
    Misuse();
    return;
}

var services = builder.Services;
services.Configure<HostOptions>(options =>
{
    options.ShutdownTimeout = TimeSpan.FromMilliseconds(plan.TotalMs);
    options.ServicesStopConcurrently = plan.Together;
    if (plan.HookMs > 0) options.StartupTimeout = TimeSpan.FromMilliseconds(plan.HookMs);
});
builder.WebHost.ConfigureKestrel(options =>
{
    options.Listen(IPAddress.Loopback, 0, listen =>
    {
        if (plan.Http2) listen.UseHttps(X509Certificate2.CreateFromPemFile(Variable("CERT"), Variable("KEY")));
    });
    if (plan.Admin) options.Listen(IPAddress.Loopback, 0);
});
if (plan.Logger) builder.Logging.AddProvider(new NotingLogs());

foreach (var hook in plan.Start ?? []) Add(new Starting(hook));
// Services stop in the reverse order.
foreach (var hook in (plan.Cleanup ?? []).Reverse()) Add(new Cleanup(hook));
foreach (var hook in (plan.Before ?? []).Reverse()) Add(new Before(hook));
if (plan.DelayMs > 0) Add(new Before(new Hook("delay", plan.DelayMs, 0, false, false, false, false, false)));
services.AddHostedService<Points>();
var jobs = new Jobs();
Add(jobs);

var checks = services.AddHealthChecks().AddCheck("ping", () => HealthCheckResult.Healthy(), ["ready"]);
if (plan.CheckNever)
    checks.AddAsyncCheck("never", async ending =>
    {
        await Task.Delay(Timeout.Infinite, ending);
        return HealthCheckResult.Healthy();
    }, ["ready"], TimeSpan.FromSeconds(1));
if (plan.Leak)
{
    checks.AddCheck("a", () => throw new InvalidOperationException("secretA"));
    checks.AddCheck("b", () => HealthCheckResult.Healthy());
}

var app = builder.Build();
var stopping = app.Lifetime.ApplicationStopping;
using var active = new ActiveRequests();
var healthPort = 0;

app.UseWebSockets();
app.MapHealthChecks("/live", Only(check => false));
app.MapHealthChecks("/ready", Only(check => check.Tags.Contains("ready")));
app.MapHealthChecks("/a", Only(check => check.Name == "a"));
app.MapHealthChecks("/b", Only(check => check.Name == "b"));
app.MapGet("/", () => "hello");
app.MapGet("/slow", async (int ms) =>
{
    Told.Note("slow begins");
    await Task.Delay(ms);
    Told.Note("slow ends");
    return "done";
});
app.MapPost("/body", async (HttpRequest request) =>
{
    await request.Body.CopyToAsync(Stream.Null);
    return "read";
});
app.MapGet("/stream", (CancellationToken gone) => TypedResults.ServerSentEvents(Events(gone)));
app.Map("/ws", async (HttpContext context) =>
{
    using var socket = await context.WebSockets.AcceptWebSocketAsync();
    await socket.SendAsync("hello"u8.ToArray(), System.Net.WebSockets.WebSocketMessageType.Text, true, context.RequestAborted);
    while (socket.CloseStatus is null) await socket.ReceiveAsync(new byte[1024], context.RequestAborted);
});
app.MapGet("/do/{control}", (string control) =>
{
    switch (control)
    {
        case "stop":
            app.Lifetime.StopApplication();
            return Results.Text("ok");
        case "hold":
            jobs.Add(() => Task.Delay(900));
            return Results.Text("ok");
        case "crash":
            new Thread(() => Fail("a crash")).Start();
            return Results.Text("ok");
        case "reject":
            _ = Task.Run(() => Fail("a rejection"));
            return Results.Text("ok");
        case "counts":
            return Results.Text($"{{\"active requests\":{active.Count}}}");
        default:
            return Results.NotFound();
    }
});

app.Lifetime.ApplicationStarted.Register(() =>
{
    Told.Note("has been ready");
    _ = TellListening();
});
await app.RunAsync();

void Add<T>(T service) where T : class, IHostedService => services.AddSingleton<IHostedService>(service);

static string Variable(string name) => Environment.GetEnvironmentVariable(name)!;

static void Fail(string message)
{
    Thread.Sleep(20);
    throw new InvalidOperationException(message);
}

static HealthCheckOptions Only(Func<HealthCheckRegistration, bool> predicate) => new() { Predicate = predicate };

async IAsyncEnumerable<SseItem<string>> Events([EnumeratorCancellation] CancellationToken gone)
{
    using var either = CancellationTokenSource.CreateLinkedTokenSource(gone, stopping);
    yield return new("begin");
    while (!either.IsCancellationRequested)
    {
        await Task.Delay(100, either.Token).ContinueWith(_ => { }, CancellationToken.None);
        if (!either.IsCancellationRequested) yield return new("more");
    }
    yield return new("bye");
}

// A wrong value of a setting, and what the host says of it.
void Misuse()
{
    builder.Configuration["shutdownTimeoutSeconds"] = "soon";
    string? said = null;
    try
    {
        var timeout = builder.Build().Services.GetRequiredService<Microsoft.Extensions.Options.IOptions<HostOptions>>().Value.ShutdownTimeout;
        Console.WriteLine($"taken as {timeout}");
    }
    catch (Exception error)
    {
        said = error.Message;
    }
    Told.Note("misused", new() { ["error"] = said, ["what"] = "shutdownTimeoutSeconds of 'soon'" });
}

async Task TellListening()
{
    var addresses = app.Services.GetRequiredService<IServer>().Features.Get<IServerAddressesFeature>()!.Addresses;
    var ports = addresses.Select(address => new Uri(address).Port).ToArray();
    (Hook.Port, healthPort) = (ports[0], ports[^1]);
    // The first requests of a process take long, which is no answer to any question.
    if (!plan.Http2)
        foreach (var path in new[] { "/", "/live", "/ready" }.Take(plan.CheckNever ? 2 : 3))
            await Hook.Ask(path == "/" ? Hook.Port : healthPort, path);
    var health = new JsonObject { ["live"] = "/live", ["ready"] = "/ready", ["a"] = "/a", ["b"] = "/b" };
    if (plan.Admin) health["port"] = healthPort;
    Told.Note("listening", new()
    {
        ["port"] = Hook.Port,
        ["health"] = health,
        ["controls"] = new JsonArray("stop", "hold", "counts"),
    });
}

/// <summary>Requests under way, as the host's own metrics have them.</summary>
sealed class ActiveRequests : IDisposable
{
    readonly MeterListener listener = new();
    long count;

    public ActiveRequests()
    {
        listener.InstrumentPublished = (instrument, each) =>
        {
            if (instrument.Name == "http.server.active_requests") each.EnableMeasurementEvents(instrument);
        };
        listener.SetMeasurementEventCallback<long>((_, change, _, _) => Interlocked.Add(ref count, change));
        listener.Start();
    }

    public long Count => Interlocked.Read(ref count);

    public void Dispose() => listener.Dispose();
}

/// <summary>A program that has a logger of its own.</summary>
sealed class NotingLogs : ILoggerProvider, ILogger
{
    public ILogger CreateLogger(string category) => this;
    public IDisposable? BeginScope<TState>(TState state) where TState : notnull => null;
    public bool IsEnabled(LogLevel level) => true;
    public void Dispose() { }

    public void Log<TState>(LogLevel level, EventId id, TState state, Exception? error, Func<TState, Exception?, string> format) =>
        Told.Note("log", new() { ["level"] = level.ToString(), ["given"] = format(state, error) });
}
