import { AsyncResource } from 'node:async_hooks'
import type { Drains } from '../actors/reported-drains.ts'
import type { StopCauses } from '../actors/stop-causes.ts'
import type { World } from '../actors/world.ts'
import { errorRecord } from '../base/events.ts'
import type { Traffic } from '../http/traffic/traffic.ts'
import { exitCodeOfOutcome, moreSevere } from '../machines/exit-codes.ts'
import { comesBefore } from '../machines/user-phases.ts'
import type { Recorder } from '../report/recorder.ts'
import type { FinalOutput } from './final-output.ts'
import type { Finish } from './finish.ts'
import type { LifecycleStatus } from './lifecycle-status.ts'
import type { OpenedListeners } from './opened-listeners.ts'
import type { LifecycleParts, Observer } from './parts.ts'
import type { Registrations } from './registrations.ts'
import type { RootActor } from './root-actor.ts'

export interface EffectSources {
  readonly parts: LifecycleParts
  readonly record: Recorder['record']
  readonly registrations: Registrations
  readonly root: RootActor
  readonly status: LifecycleStatus
  readonly causes: StopCauses
  readonly traffic: Traffic
  readonly drains: Drains
  readonly listeners: OpenedListeners
  readonly observer: Observer | undefined
  readonly finalOutput: FinalOutput
  readonly finish: Finish
}

/** What the effects of one life act on. Effects run in the asynchronous context of this call. */
export function effectContext(sources: EffectSources): World {
  const { parts, record, registrations, root, status, causes, traffic, drains, listeners, observer, finalOutput, finish } = sources
  return {
    host: parts.host,
    traffic,
    record,
    inContext: AsyncResource.bind((fn: () => unknown) => fn()) as <R>(fn: () => R) => R,
    listeners: () => listeners.open(observer),
    opened: () => listeners.all,
    audit: parts.options.audit,
    hook: (kind, name) => registrations.find(kind, name),
    muxSignal: (name) => registrations.muxSignals.get(name),
    comesBeforeClose: (kind, name) =>
      kind === 'pre-shutdown' || (kind === 'phase' && comesBefore('HTTPServerStoppedListening', name, root.wiring)),
    causes,
    drains,
    older: parts.older,
    listenerDied: (address, error) => {
      if (!error) return root.requestStop({ kind: 'server-closed' })
      causes.keep(address, error)
      root.send({ type: 'listener.died', address, error: errorRecord(error) })
    },
    endsByItself: () => status.view.stop !== undefined && status.view.stop.reason?.kind !== 'server-closed',
    flushLogs: () => {
      finalOutput.warnIfLate()
      return finalOutput.flushLog()
    },
    writeReport: (signal) => {
      finalOutput.warnIfLate()
      return finalOutput.writeReport(root.exitCode, signal)
    },
    unseenWorkOver: (signal) => finish.unseenWorkOver(signal),
    writeReportNow: (why) => {
      finalOutput.warnIfLate()
      // The phase that is being cut has not told the root yet.
      const exitCode = why === 'cut' ? moreSevere(root.exitCode, exitCodeOfOutcome('cut')) : root.exitCode
      finalOutput.write(exitCode)
    },
  }
}
