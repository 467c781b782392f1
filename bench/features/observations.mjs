// All lives of all systems, two at a time, in an order that mixes the systems.
import { readdirSync } from 'node:fs'
import { LIVES_OF_DRAIN } from './lives.mjs'
import { COMMANDS } from './observe.mjs'
import { own } from './own.mjs'
import { LIVES_OF_START } from './starts.mjs'

export const LIVES = { own, ...LIVES_OF_DRAIN, ...LIVES_OF_START }
const PARALLEL = 2
/** What only some have is not waited for with the others. */
const NEEDS = { failingStart: ({ hooks }) => hooks.start !== undefined, own: ({ file, own }) => file === 'quiesce' || own !== undefined }

/** The systems that can be started here, ours first. */
export const systems = async () => {
  const files = readdirSync(new URL('systems/', import.meta.url)).filter((file) => file.endsWith('.mjs'))
  const all = await Promise.all(
    files.map(async (file) => ({
      file: file.slice(0, -'.mjs'.length),
      ...(await import(new URL(`systems/${file}`, import.meta.url).href)).about,
    })),
  )
  return all.sort((one, other) => (one.place ?? 50) - (other.place ?? 50))
}

/**
 * What was observed: by system, by life. A life that fails is tried once more, and then says why.
 * @param {{ only?: string[], lives?: string[], say?: (line: string) => void }} options
 */
export async function observe({ only, lives = Object.keys(LIVES), say = () => {} } = {}) {
  const chosen = (await systems()).filter(({ file }) => !only || only.includes(file))
  for (const system of chosen) {
    if (!system.prepare) continue
    say(`building ${system.name}`)
    try {
      const { command, ...about } = await system.prepare()
      COMMANDS.set(system.file, command)
      Object.assign(system, about)
    } catch (error) {
      system.missing = `it cannot be built here: ${error.message.trim().split('\n')[0].slice(0, 200)}`
      say(`  ${system.missing}`)
    }
  }
  const built = chosen.filter(({ missing }) => !missing)
  const jobs = lives.flatMap((life) => built.map((system) => ({ life, system })))
  const found = Object.fromEntries(chosen.map(({ file }) => [file, {}]))
  let done = 0
  const worker = async () => {
    for (let job = jobs.shift(); job; job = jobs.shift()) {
      const { life, system } = job
      if (system.lives && !system.lives.includes(life)) continue
      if (NEEDS[life] && !NEEDS[life](system)) continue
      const look = () => (life === 'own' && system.own ? system.own(system.file) : LIVES[life](system.file))
      found[system.file][life] = await look()
        .catch(() => look())
        .catch((error) => ({ failed: String(error.message).slice(0, 400) }))
      if (++done % 20 === 0) say(`${done} lives observed, ${jobs.length} to go`)
    }
  }
  await Promise.all(Array.from({ length: PARALLEL }, worker))
  return { systems: chosen, found }
}
