// What the health paths of a system answer.
import { ask } from './observe.mjs'

/** @param {'live' | 'ready'} which */
export const healthOf = async (life, which) => {
  if (!life.health?.[which]) return undefined
  return (await ask(life.health.port ?? life.port, life.health[which], { ms: 1000 })).what
}

/** Readiness with the names of its checks, and without one of them. */
export async function verboseOf(life) {
  if (!life.health) return undefined
  const port = life.health.port ?? life.port
  const one = await ask(port, `${life.health.ready}?verbose`)
  return {
    status: one.status,
    body: one.body?.slice(0, 300),
    excluded: (await ask(port, `${life.health.ready}?verbose&exclude=ping`)).body?.slice(0, 300),
  }
}
