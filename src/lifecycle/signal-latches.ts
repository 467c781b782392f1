import { setMaxListeners } from 'node:events'

/**
 * Every lifecycle signal as an AbortSignal: it aborts when the signal fires, stays so, and is the
 * same object whenever it is asked for.
 */
export class SignalLatches {
  readonly #controllers = new Map<string, AbortController>()

  signal(name: string): AbortSignal {
    return this.#controller(name).signal
  }

  fire(name: string): void {
    this.#controller(name).abort(new Error(name))
  }

  hasFired(name: string): boolean {
    return this.#controllers.get(name)?.signal.aborted ?? false
  }

  #controller(name: string): AbortController {
    let controller = this.#controllers.get(name)
    if (!controller) {
      controller = new AbortController()
      withoutListenerLimit(controller.signal)
      this.#controllers.set(name, controller)
    }
    return controller
  }
}

/** Every request may wait for a signal: many listeners are no leak here. */
function withoutListenerLimit(signal: AbortSignal): void {
  try {
    setMaxListeners(0, signal)
  } catch {
    // A test runner that plays a browser has one of its own, which node does not count.
  }
}
