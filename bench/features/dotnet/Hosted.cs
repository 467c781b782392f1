using System.Threading.Channels;

/// <summary>Hooks of the start: the host starts its services one after the other, and the web server as the last.</summary>
sealed class Starting(Hook hook) : IHostedService
{
    public Task StartAsync(CancellationToken ending) => hook.Run(ending);

    public Task StopAsync(CancellationToken _)
    {
        if (hook.Undoes) Told.Note($"undo {hook.Name}");
        return Task.CompletedTask;
    }
}

/// <summary>Hooks while the web server still serves: this point of all services comes before anything stops.</summary>
sealed class Before(Hook hook) : IHostedLifecycleService
{
    public Task StartingAsync(CancellationToken _) => Task.CompletedTask;
    public Task StartAsync(CancellationToken _) => Task.CompletedTask;
    public Task StartedAsync(CancellationToken _) => Task.CompletedTask;
    public Task StoppingAsync(CancellationToken ending) => hook.Run(ending);
    public Task StopAsync(CancellationToken _) => Task.CompletedTask;
    public Task StoppedAsync(CancellationToken _) => Task.CompletedTask;
}

/// <summary>Hooks after the web server, which was started last and is stopped first.</summary>
sealed class Cleanup(Hook hook) : IHostedService
{
    public Task StartAsync(CancellationToken _) => Task.CompletedTask;
    public Task StopAsync(CancellationToken ending) => hook.Run(ending);
}

/// <summary>The named points of one life.</summary>
sealed class Points : IHostedLifecycleService
{
    public Points(IHostApplicationLifetime lifetime)
    {
        lifetime.ApplicationStarted.Register(() => Note("ApplicationStarted"));
        lifetime.ApplicationStopping.Register(() => Note("ApplicationStopping"));
        lifetime.ApplicationStopped.Register(() => Note("ApplicationStopped"));
    }

    public Task StartingAsync(CancellationToken _) => Note("StartingAsync");
    public Task StartAsync(CancellationToken _) => Note("StartAsync");
    public Task StartedAsync(CancellationToken _) => Note("StartedAsync");
    public Task StoppingAsync(CancellationToken _) => Note("StoppingAsync");
    public Task StopAsync(CancellationToken _) => Note("StopAsync");
    public Task StoppedAsync(CancellationToken _) => Note("StoppedAsync");

    static Task Note(string name)
    {
        Told.Note("signal", new() { ["name"] = name });
        return Task.CompletedTask;
    }
}

/// <summary>Work that is not HTTP: the host waits for the loop of a background service.</summary>
sealed class Jobs : BackgroundService
{
    readonly Channel<Func<Task>> queue = Channel.CreateUnbounded<Func<Task>>();

    public void Add(Func<Task> job) => queue.Writer.TryWrite(job);

    protected override async Task ExecuteAsync(CancellationToken stopping)
    {
        try
        {
            await foreach (var job in queue.Reader.ReadAllAsync(stopping)) await job();
        }
        catch (OperationCanceledException)
        {
        }
    }
}
