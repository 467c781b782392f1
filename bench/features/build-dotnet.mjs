// The program of .NET for the probes, which needs its SDK: dotnet/.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const BUILD_MS = 300_000

export async function buildDotnet() {
  const out = fileURLToPath(new URL('../../build/bench/dotnet', import.meta.url))
  const project = fileURLToPath(new URL('dotnet/Server.csproj', import.meta.url))
  const env = { ...process.env, DOTNET_CLI_TELEMETRY_OPTOUT: '1', DOTNET_NOLOGO: '1' }
  await run('dotnet', ['build', project, '--configuration', 'Release', '--artifacts-path', out], { env, timeout: BUILD_MS })
  const { stdout } = await run('dotnet', ['--list-runtimes'], { env })
  const version = [...stdout.matchAll(/^Microsoft\.AspNetCore\.App (10\.\S+)/gm)].at(-1)?.[1]
  if (!version) throw new Error(`ASP.NET Core 10 is not among ${stdout.trim()}`)
  return {
    command: ['dotnet', join(out, 'bin/Server/release/Server.dll')],
    versions: { 'ASP.NET Core': version },
    beside: 0,
  }
}
