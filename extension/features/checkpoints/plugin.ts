import type { FileSystem } from '../../capabilities/file-system.ts'
import type { Undo } from '../../base/undo.ts'
import type { BlobStore } from '../../capabilities/blob-store.ts'
import type { Clock } from '../../capabilities/clock.ts'
import type { Logger } from '../../capabilities/logger.ts'
import type { Machine } from '../../capabilities/machine.ts'
import type { ChangeWatch } from '../../capabilities/change-watch.ts'
import type { ProcessRunner } from '../../capabilities/process.ts'
import type { ShellSyntax } from '../../capabilities/shell-syntax.ts'
import { changingPathMatcher, styleOf } from '../../core/policy/paths.ts'
import type {} from '../../core/policy/permissions.ts'
import { RESERVED_TOOL_NAME } from '../../core/tools/definition.ts'
import type { EventType } from '../../core/log/event.ts'
import type { Plugin } from '../../core/kernel/plugin.ts'
import type {} from '../../core/log/event-types.ts'
import type {} from '../../core/loop/points.ts'
import { createClockWatch } from '../../core/session/clock-watch.ts'
import type { Session } from '../../core/session/session.ts'
import type {} from '../../core/tools/service.ts'
import { fileRisk, mayRiskFiles } from './acting-commands.ts'
import { createAgentChanges } from './agent-changes.ts'
import { checkpointEventTypes } from './events.ts'
import { createGitFacts } from './git-facts.ts'
import { Images } from './images.ts'
import { reviewProjection } from './projection.ts'
import { createRecorder } from './recorder.ts'
import { createReviews, type UndoneFile } from './reviews.ts'
import type {} from './service.ts'
import { createShellChanges } from './shell-changes.ts'
import { createTakeOver } from './take-over.ts'
import { undoNotice } from './undo-notice.ts'

export interface CheckpointsNeeds {
  readonly files: FileSystem
  readonly blobs: BlobStore
  readonly logger: Logger
  readonly machine: Pick<Machine, 'randomId' | 'homeFolder' | 'platform'>
  readonly processes: Pick<ProcessRunner, 'start'>
  readonly shellSyntax: ShellSyntax
  /** Absent: what commands change is not seen. */
  readonly changeWatch: ChangeWatch | undefined
  /** Whether a path looks like a secret, which is kept nowhere. Read at each call. */
  readonly sensitivePaths: () => readonly string[]
  readonly clock: Pick<Clock, 'now' | 'monotonicMs' | 'schedule'>
  /** Read at each call. */
  readonly isEnabled: () => boolean
  /** Days that images are kept; 0: as long as their session. Read when they are looked through. */
  readonly maxAgeDays: () => number
}

/** Nobody waits for it: it looks once the application has long been up, and now and then. */
const FIRST_LOOK_MS = 120_000
const NEXT_LOOK_MS = 6 * 3_600_000
const DAY_MS = 86_400_000
/** Images of all sessions; the oldest go. */
const MAX_IMAGES_BYTES = 2 * 1024 * 1024 * 1024

/** Keeps what calls change, offers `reviews`, and tells the model what the person took back. Source: design 6.4. */
export function checkpointsPlugin(needs: CheckpointsNeeds): Plugin {
  const { files, blobs, clock, logger, machine, isEnabled, maxAgeDays } = needs
  return {
    name: 'checkpoints',
    inject: ['agents', 'eventTypes', 'permissions', 'projections', 'sessions', 'tools'],
    apply(ctx) {
      const images = new Images({ files, blobs })
      const recorder = createRecorder({ images, logger })
      const own = createReviews({ files, images, logger, settled: recorder.settled, tell })
      const reviews = { ...own, ...createTakeOver({ files, images, recorder, inTurn: own.inTurn }) }
      for (const [type, rule] of Object.entries(checkpointEventTypes)) ctx.effect(ctx.eventTypes.register(type as EventType, rule))
      ctx.effect(ctx.projections.register(reviewProjection))
      ctx.effect(
        ctx.projections.onDidChange(({ sessionId, key }) => {
          if (key === reviewProjection.key) reviews.changed(sessionId)
        }),
      )
      ctx.provide('reviews', reviews)
      ctx.provide('agentChanges', createAgentChanges({ sessions: ctx.sessions, agents: () => ctx.agents, reviews, tell }))
      const secretPattern = changingPathMatcher(needs.sensitivePaths, styleOf(machine))
      const shell = needs.changeWatch && createShellChanges({ watch: needs.changeWatch, git: createGitFacts(needs), images, recorder, logger, isSecret: (path) => secretPattern(path) !== null, touched: (session) => reviews.of(session).files.map(({ path }) => path) })
      ctx.on('tools/execute', (exec, next) => {
        const session = exec.agent?.session
        if (session === undefined || !isEnabled()) return next()
        // What the card of another extension's tool says is its author's word.
        const hasOwnCard = ctx.tools.get(exec.name, exec.agent?.scope ?? null)?.from === undefined
        const run = () => recorder.around({ session, callId: exec.callId, hasOwnCard }, next)
        // What a program calls is looked at with each of its calls.
        const effect = shell === undefined || exec.name === RESERVED_TOOL_NAME ? null : ctx.permissions.effectOf(exec.name, exec.arguments, exec.agent?.scope)
        if (shell === undefined || effect === null || !mayRiskFiles(effect)) return run()
        return fileRisk(effect, { shellSyntax: needs.shellSyntax, homeFolder: machine.homeFolder }).then((risk) =>
          risk === null ? run() : shell.around({ session, callId: exec.callId, turn: turns.get(session) ?? 0, ...risk, signal: exec.signal }, run),
        )
      })
      const turns = new WeakMap<Session, number>()
      ctx.on('session/event', (session, event) => {
        if (event.type === 'turn/start') turns.set(session, event.data.turn)
      })
      ctx.on('session/disposed', (session) => shell?.forget(session))
      ctx.effect(() => needs.changeWatch?.dispose())
      ctx.on('agent/session-start', (agent, source) => {
        if (source === 'resume' && isEnabled()) void recorder.mend(agent.session)
      })
      ctx.on('agent/disposing', (agent) => recorder.settled(agent.session))

      let pruning = Promise.resolve()
      const watch = createClockWatch(clock)
      const lookIn = (delayMs: number): Undo =>
        clock.schedule(delayMs, () => {
          // What is old by a clock that was just set may be of yesterday.
          if (!watch.hasJumped()) pruning = prune()
          cancel = lookIn(NEXT_LOOK_MS)
        })
      let cancel = lookIn(FIRST_LOOK_MS)
      ctx.effect(() => {
        cancel()
        return pruning
      })

      /** One message, however much is undone before the model reads it. */
      function tell(session: Session, undone: readonly UndoneFile[]): void {
        const agent = ctx.agents.live(session.id)
        if (agent === undefined || agent.isDisposed) return
        const waiting = agent.inbox.nextStep.find(({ source }) => source.kind === 'plugin' && source.plugin === 'review')
        const known = waiting === undefined ? [] : (told.get(waiting.id) ?? [])
        const all = [...new Map([...known, ...undone].map((file) => [file.path, file])).values()]
        const id = machine.randomId()
        if (waiting !== undefined && known.length > 0) agent.queue.remove(waiting.id)
        agent.inject(undoNotice(id, all))
        told.clear()
        told.set(id, all)
      }
      const told = new Map<string, readonly UndoneFile[]>()
    },
  }

  async function prune(): Promise<void> {
    const days = maxAgeDays()
    try {
      const gone = await blobs.pruneBeforeImages({ keptSince: days === 0 ? 0 : clock.now() - days * DAY_MS, maxBytes: MAX_IMAGES_BYTES })
      if (gone > 0) logger.info('What stood in files before old changes is not kept any more.', { images: gone, days })
    } catch (error) {
      logger.warn('What stood in files before old changes could not be looked through.', { error: String(error) })
    }
  }
}
