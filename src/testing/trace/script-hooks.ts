import type { UserCode } from '../../actors/user-code.ts'
import type { VirtualClock } from '../../base/virtual-clock.ts'
import type { Life } from '../../lifecycle/life.ts'

/** Piece of user code as a script writes it: `leave takes 3s fails timeout=5s after=flush`. */
export interface ScriptedHook {
  readonly kind: 'post-start' | 'pre-shutdown' | 'destroy' | 'phase'
  readonly name: string
  readonly takes: string | undefined
  readonly end: 'returns' | 'fails' | 'hangs'
  readonly options: Readonly<Record<string, string>>
}

export const HOOK_USAGE = 'NAME [takes DURATION] [fails | hangs] [timeout=DURATION] [after=NAME,NAME] [before=NAME,NAME]'

/** Undefined when the words are not such a hook. */
export function parseHook(kind: ScriptedHook['kind'], [name, ...words]: readonly string[]): ScriptedHook | undefined {
  if (name === undefined) return undefined
  const rest = [...words]
  const takes = rest[0] === 'takes' ? rest.splice(0, 2)[1] : undefined
  const end = rest[0] === 'fails' || rest[0] === 'hangs' ? rest.shift() : 'returns'
  const options = rest.map((word) => /^(timeout|after|before)=(.+)$/.exec(word))
  if (options.includes(null)) return undefined
  return {
    kind,
    name,
    takes,
    end: end as ScriptedHook['end'],
    options: Object.fromEntries(options.map((match) => [match?.[1], match?.[2]])) as ScriptedHook['options'],
  }
}

export function register(life: Life, clock: VirtualClock, { kind, name, takes, end, options }: ScriptedHook): void {
  const run: UserCode = async () => {
    if (takes !== undefined) await clock.sleep(takes)
    if (end === 'fails') throw new Error(`${name} failed`)
    if (end === 'hangs') await new Promise(() => {})
  }
  const timeout = options['timeout'] === undefined ? {} : { timeout: options['timeout'] }
  const after = options['after'] === undefined ? {} : { after: options['after'].split(',') }
  const before = options['before'] === undefined ? {} : { before: options['before'].split(',') }
  if (kind === 'post-start') life.addPostStartHook(name, run)
  else if (kind === 'pre-shutdown') life.addPreShutdownHook(name, run, { ...timeout, ...after })
  else if (kind === 'destroy') life.addDestroy(name, run, timeout)
  else life.addPhase(name, run, { ...timeout, ...after, ...before })
}
