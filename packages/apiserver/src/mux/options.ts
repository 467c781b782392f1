import { needsAuthorizationOf } from '../authorization/options.ts'
import { isFieldsOnly, onOff, option, value } from '../engine.ts'

/** Which paths a server has by itself, and what they say. */
export const PATH_OPTIONS = {
  /**
   * Whether `/` lists the paths that are served.
   * @default true
   */
  enableIndex: option(onOff(), { default: true, meaning: 'Whether the server lists its paths at /', upstream: 'Config.EnableIndex' }),
  /**
   * Whether `/apis` says which API groups are served.
   * @default true
   */
  enableDiscovery: option(onOff(), {
    default: true,
    meaning: 'Whether /apis lists the API groups',
    upstream: 'Config.EnableDiscovery',
  }),
  /**
   * Whether `/openapi/v2` and `/openapi/v3` describe the API groups that are served.
   * @default true
   */
  enableOpenApi: option(onOff(), {
    default: true,
    meaning: 'Whether /openapi/v2 and /openapi/v3 describe the API groups',
    upstream: 'Config.SkipOpenAPIInstallation',
  }),
  /**
   * Whether `/statusz` says what runs, and since when.
   * @default true
   */
  enableStatusz: option(onOff(), {
    default: true,
    meaning: 'Whether /statusz shows version and uptime',
    upstream: 'feature gate ComponentStatusz',
  }),
  /**
   * Whether `/metrics` is served.
   * @default true
   */
  enableMetrics: option(onOff(), { default: true, meaning: 'Whether /metrics is served', upstream: 'Config.EnableMetrics' }),
  /**
   * Whether `/debug/pprof/` serves CPU profiles and heap snapshots, and `DELETE /metrics` forgets
   * what was counted. A heap snapshot has every secret of the process in it: only with
   * authorization.
   * @default false
   */
  enableProfiling: option(onOff(), {
    flag: 'profiling',
    default: false,
    meaning: 'Whether /debug/pprof/ serves CPU profiles and heap snapshots, and DELETE /metrics resets the metrics',
    upstream: '--profiling',
    needs: needsAuthorizationOf(
      '/debug/pprof/heap',
      'a heap snapshot holds every secret of the process, and without an authorizer that decides about it every client could take one (AlwaysAllow and always allowed paths do not count)',
    ),
  }),
  /**
   * What `/version` answers.
   * @default { gitVersion: 'v0.0.0' }
   */
  version: option(value<Readonly<Record<string, string>>>('an object of texts', isFieldsOnly), {
    default: { gitVersion: 'v0.0.0' },
    defaultWords: () => "{ gitVersion: 'v0.0.0' }",
    meaning: 'What /version answers',
    upstream: 'Config.EffectiveVersion',
  }),
}
