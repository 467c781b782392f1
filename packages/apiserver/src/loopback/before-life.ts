import { checkArguments, type UserCodeContext } from '../engine.ts'
import { type Loopback, type LoopbackClient, notListening } from './loopback.ts'

/** The client of a server that may not have been prepared yet, to be kept by what is registered. */
export class LoopbackBeforeLife implements LoopbackClient {
  #own: Loopback | undefined

  async fetch(path: string, init: RequestInit = {}): Promise<Response> {
    checkArguments('fetch(path, init?)', [path, 'a text'], [init, 'an object'])
    if (this.#own === undefined) throw notListening(path, 'it has not been prepared: call prepare()')
    return this.#own.fetch(path, init)
  }

  get addresses(): readonly string[] {
    return this.#own?.addresses ?? []
  }

  /** @see Loopback.check */
  readonly check = (): void => this.#own?.check()

  /** Becomes, once, the client of the server that is run. */
  become(own: Loopback): void {
    this.#own = own
  }
}

/** What a hook of an API server is given beside what every hook is. */
export interface WithLoopback {
  /** The client as `loopback` of the server. */
  readonly loopback: LoopbackClient
}

/** What is no function is refused by where it is registered. */
export const withLoopback = <C extends UserCodeContext>(
  loopback: LoopbackClient,
  run: (context: C & WithLoopback) => unknown,
): ((context: C) => unknown) => (typeof run === 'function' ? (context) => run({ ...context, loopback }) : run)
