import type { Server } from 'node:http'
import { HttpAdapterHost } from '@nestjs/core'
import { type AttachedLife, attachLifecycle } from '../attach.ts'
import { checkArguments, withFields } from '../base/arguments.ts'
import { endpointsOf } from '../endpoints/of-life.ts'
import type { Lifecycle } from '../lifecycle/lifecycle.ts'
import type { LifecycleOptions } from '../options/options.ts'
import type { Report } from '../report/report.ts'
import { type ClosableApp, closeWithLife } from './nest-close.ts'
import { type HybridApp, joinMessages } from './nest-messages.ts'

/** What is injected: the life around the app's HTTP server. */
export class Quiesce {
  readonly #life: () => AttachedLife
  readonly #signals: LifecycleOptions['signals']
  #attached: AttachedLife | undefined
  #app: object | undefined

  constructor(life: () => AttachedLife, signals?: LifecycleOptions['signals']) {
    this.#life = life
    this.#signals = signals
  }

  /**
   * The life, to register hooks and take holds. There is none in a constructor: Nest makes its
   * server after its providers, so the first place to ask is `onModuleInit()`.
   * @throws QuiesceError as `attachLifecycle`
   */
  get life(): AttachedLife {
    this.#attached ??= this.#life()
    return this.#attached
  }

  /**
   * Serves until stopped, and ends with the shutdown hooks of Nest, which are given the name of the
   * signal, or undefined where there was none; `enableShutdownHooks()` is not needed, and what it
   * does at the signals of the life is undone. Before or after `app.listen()`; after
   * `startAllMicroservices()` when there are any, whose messages under way join the drain.
   *
   * From here on the app's `close()` is a stop of the life, whose promise settles when the life has
   * ended: requests are answered until the drain is over, and Nest's hooks come after it, once.
   * @throws QuiesceError ERR_OPTION_INVALID without the app
   */
  run(app: ClosableApp & HybridApp): Promise<Report> {
    checkArguments('run(app)', [app, withFields('the Nest app: app.get(Quiesce).run(app)', 'close')])
    // A second call returns the same promise, as that of a life does.
    if (this.#app === app) return this.life.run()
    const life = this.life as AttachedLife & Pick<Lifecycle, 'join'>
    closeWithLife(app, life, this.#signals)
    this.#app = app
    joinMessages(app, (name, work) => life.join(name, work))
    return this.life.run()
  }
}

/**
 * A NestJS module, with health endpoints unless the option `health` says otherwise. Everything may
 * inject {@link Quiesce}.
 *
 * @example
 * // imports: [QuiesceModule.forRoot({ deadline: '25s' })]
 * const app = await NestFactory.create(AppModule)
 * await app.listen(3000)
 * await app.get(Quiesce).run(app)
 */
// biome-ignore lint/complexity/noStaticOnlyClass: modules of Nest are classes
export class QuiesceModule {
  /** @param options those of `attachLifecycle` */
  static forRoot(options: LifecycleOptions = {}) {
    checkArguments('QuiesceModule.forRoot(options?)', [options, 'an object of options'])
    const useFactory = ({ httpAdapter }: HttpAdapterHost): Quiesce =>
      new Quiesce(() => {
        const life = attachLifecycle(httpAdapter.getHttpServer() as Server, { health: true, ...options })
        endpointsOf('life', life).servedBy(httpAdapter.getInstance())
        return life
      }, options.signals)
    return {
      module: QuiesceModule,
      global: true,
      providers: [{ provide: Quiesce, inject: [HttpAdapterHost], useFactory }],
      exports: [Quiesce],
    }
  }
}
