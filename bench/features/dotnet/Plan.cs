using System.Net.Sockets;
using System.Text.Json;
using System.Text.Json.Nodes;

/// <summary>What a server is to be, the last argument of the program.</summary>
record Plan(
    int GraceMs,
    int TotalMs,
    int DelayMs,
    int HookMs,
    bool Http2,
    bool Admin,
    bool Leak,
    bool CheckNever,
    bool Logger,
    bool Misuse,
    bool Together,
    Hook[]? Start,
    Hook[]? Before,
    Hook[]? Cleanup)
{
    public static Plan Of(string[] args) => JsonSerializer.Deserialize<Plan>(args[^1], JsonSerializerOptions.Web)!;
}

/// <summary>A function of the plan, and what it does.</summary>
record Hook(string Name, int Ms, int LogBytes, bool Calls, bool Never, bool Heeds, bool Throws, bool Undoes)
{
    /// <summary>Of the server that the hooks may call.</summary>
    public static int Port { get; set; }

    public async Task Run(CancellationToken ending)
    {
        Told.Note($"{Name} begins");
        if (Calls) Told.Note($"{Name} called", new() { ["status"] = await Ask(Port, "/") });
        await Task.Delay(Ms);
        if (LogBytes > 0) Console.Out.Write(new string('x', LogBytes - 1) + "\n");
        if (Never) await Task.Delay(Timeout.Infinite, Heeds ? ending : default);
        if (Throws) throw new InvalidOperationException($"{Name} has failed");
        Told.Note($"{Name} ends");
    }

    /// <summary>On a connection of its own, which is closed: one that is kept alive would hold the server.</summary>
    public static async Task<int> Ask(int port, string path)
    {
        using var client = new HttpClient();
        client.DefaultRequestHeaders.ConnectionClose = true;
        using var answer = await client.GetAsync($"http://127.0.0.1:{port}{path}");
        return (int)answer.StatusCode;
    }
}

/// <summary>What happens inside, told on file descriptor 3 as ../fixture.mjs does: a line of JSON each.</summary>
static class Told
{
    static readonly Socket Out = new(new SafeSocketHandle(3, ownsHandle: false));

    public static void Note(string name, JsonObject? more = null)
    {
        var line = more ?? [];
        line["at"] = DateTimeOffset.UtcNow.ToUnixTimeMilliseconds();
        line["event"] = name;
        lock (Out) Out.Send(System.Text.Encoding.UTF8.GetBytes(line.ToJsonString() + "\n"));
    }
}
