// Programs of Java for the probes, which need a JDK and Maven: java/NAME, each with its own pom.xml.
import { execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const COPY = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies'
const MAIN = 'features.Server'
const BUILD_MS = 600_000
/** A server is started for each life: with the quicker compiler alone it starts in half the time. */
const JAVA = ['--add-opens=java.base/java.io=ALL-UNNAMED', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-Xlog:disable']

/**
 * @param {string} name of the folder below java/
 * @param {readonly string[]} artifacts of the system, whose versions are told
 * @param {RegExp} [ours] jars that our program needs and the system does not
 */
export async function buildJava(name, artifacts, ours = /^$/) {
  const out = fileURLToPath(new URL(`../../build/bench/java-${name}`, import.meta.url))
  const lib = join(out, 'lib')
  rmSync(lib, { recursive: true, force: true })
  mkdirSync(lib, { recursive: true })
  const project = fileURLToPath(new URL(`java/${name}/pom.xml`, import.meta.url))
  const copy = [COPY, '-DincludeScope=runtime', `-DoutputDirectory=${lib}`]
  await promisify(execFile)('mvn', ['-q', '-B', '-f', project, `-Dout=${out}`, 'package', ...copy], { timeout: BUILD_MS })
  const jars = readdirSync(lib).sort()
  const classes = [join(out, 'server.jar'), ...jars.map((jar) => join(lib, jar))].join(':')
  const archive = join(out, 'classes.jsa')
  await archiveClasses(archive, classes)
  const versions = Object.fromEntries(artifacts.map((artifact) => [artifact, versionOf(artifact, jars)]))
  const own = Object.entries(versions).map(([artifact, version]) => `${artifact}-${version}.jar`)
  return {
    command: ['java', `-XX:SharedArchiveFile=${archive}`, ...JAVA, '-cp', classes, MAIN],
    versions: { ...versions, Java: javaVersion() },
    beside: jars.filter((jar) => !own.includes(jar) && !ours.test(jar)).length,
  }
}

/** As its jar says it. @param {string} artifact @param {readonly string[]} jars */
function versionOf(artifact, jars) {
  const version = jars.map((jar) => jar.startsWith(`${artifact}-`) && jar.slice(artifact.length + 1, -'.jar'.length))
  const found = version.find((rest) => rest && /^\d/.test(rest))
  if (!found) throw new Error(`${artifact} is not among ${jars.join(', ')}`)
  return found
}

/** Classes as they are in memory, of a life in which nothing happens: a third of the time of a start. */
async function archiveClasses(archive, classes) {
  rmSync(archive, { force: true })
  const options = [`-XX:ArchiveClassesAtExit=${archive}`, ...JAVA, '-cp', classes, MAIN]
  const plan = JSON.stringify({ graceMs: 1000, totalMs: 1000 })
  const child = spawn('java', [...options, plan], { stdio: ['ignore', 'ignore', 'ignore', 'pipe'] })
  const killing = setTimeout(() => child.kill('SIGKILL'), BUILD_MS)
  child.stdio[3].setEncoding('utf8').on('data', (text) => {
    if (text.includes('"listening"')) child.kill()
  })
  await once(child, 'exit')
  clearTimeout(killing)
}

/** Of the runtime, as its command says it. */
function javaVersion() {
  const said = execFileSync('java', ['--version'], { encoding: 'utf8' })
  return /\d[\d.]*/.exec(said)?.[0] ?? said.trim()
}
