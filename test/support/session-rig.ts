import { createKernel } from '../../extension/core/kernel/kernel.ts'
import type { Kernel } from '../../extension/core/kernel/plugin.ts'
import type { EventStore } from '../../extension/capabilities/event-store.ts'
import type { EventTypes } from '../../extension/core/log/event-types.ts'
import type { InvariantOptions } from '../../extension/core/log/invariants.ts'
import type { Projections } from '../../extension/core/projections/projection.ts'
import type { Sessions } from '../../extension/core/session/session.ts'
import { sessionsPlugin } from '../../extension/core/session/sessions.ts'
import { titlesPlugin } from '../../extension/core/session/titles-plugin.ts'
import { createFakeMachine } from './fake-machine.ts'
import { createManualClock, type ManualClock } from './manual-clock.ts'
import { createMemoryBlobStore, type MemoryBlobStore } from './memory-blob-store.ts'
import { createRecordingLogger, type RecordingLogger } from './quiet-logger.ts'

export interface SessionRig {
  readonly kernel: Kernel
  readonly sessions: Sessions
  readonly projections: Projections
  readonly types: EventTypes
  readonly clock: ManualClock
  readonly logger: RecordingLogger
  readonly blobs: MemoryBlobStore
}

/** The real sessions on a kernel of their own. Give two rigs one clock to keep their times apart. */
export async function createSessionRig(options: {
  readonly events: EventStore
  readonly clock?: ManualClock
  readonly invariants?: InvariantOptions
  readonly hasTitles?: boolean
  readonly patienceMs?: number
}): Promise<SessionRig> {
  const { events, clock = createManualClock(), invariants, hasTitles = false, patienceMs = 0 } = options
  const logger = createRecordingLogger()
  const blobs = createMemoryBlobStore()
  const kernel = createKernel({ logger })
  const plugin = sessionsPlugin({ events, blobs, clock, logger, machine: createFakeMachine(), dispatch: kernel.dispatch, patienceMs, ...(invariants ? { invariants } : {}) })
  await kernel.root.plugin(plugin).ready
  if (hasTitles) await kernel.root.plugin(titlesPlugin({ logger, clock, machine: createFakeMachine() })).ready
  const { sessions, projections, eventTypes: types } = kernel.root
  return { kernel, sessions, projections, types, clock, logger, blobs }
}
