import type { Undo } from '../../../base/undo.ts'
import type { Clock } from '../../../capabilities/clock.ts'
import type { Logger } from '../../../capabilities/logger.ts'
import type { Machine } from '../../../capabilities/machine.ts'
import type { ProcessRunner } from '../../../capabilities/process.ts'
import type { WorktreeStore } from '../../../capabilities/worktree-store.ts'
import type { Plugin } from '../../../core/kernel/plugin.ts'
import type {} from '../../../core/loop/points.ts'
import { isWithin, changingPathMatcher, styleOf } from '../../../core/policy/paths.ts'
import type {} from '../../../core/prompt/system-prompt.ts'
import { settings as specs } from '../../../core/settings/specs.ts'
import type {} from '../../checkpoints/service.ts'
import { createGitWorktrees } from './git-worktrees.ts'
import type {} from './service.ts'
import { createWorktrees } from './worktrees.ts'

export interface WorktreesNeeds {
  readonly store: WorktreeStore
  readonly processes: Pick<ProcessRunner, 'start'>
  readonly clock: Pick<Clock, 'schedule'>
  readonly logger: Logger
  readonly machine: Pick<Machine, 'platform' | 'randomId'>
}

/** Nobody waits for it: it looks once the application has long been up. */
const SWEEP_MS = 150_000

/** For the runtime context of a child. */
const words = 'You work in a git worktree of your own: a copy of the repository that nobody else changes, on a branch of its own. Write only in it; the original may be read. Files that git ignores, such as installed packages, are not there until you make them, and go with the worktree. All else that you leave is kept and shown to the person, so there is no need to commit.'

/** Offers `worktrees`: a folder of its own for a child, and what becomes of what it holds. Source: agent tools specification 12.7. */
export function worktreesPlugin({ store, processes, clock, logger, machine }: WorktreesNeeds): Plugin {
  const style = styleOf(machine)
  return {
    name: 'worktrees',
    inject: ['settings', 'sessions', 'systemPrompt'],
    apply(ctx) {
      const secretPattern = changingPathMatcher(() => ctx.settings.get(specs.permissionsSensitivePaths), style)
      const isSecret = (path: string) => secretPattern(path) !== null
      const git = createGitWorktrees({ processes, clock, store, style, isSecret })
      const worktrees = createWorktrees({ git, store, logger, newId: () => machine.randomId(), reviews: () => ctx.get('reviews'), includesUncommitted: () => ctx.settings.get(specs.subagentsWorktreeUncommitted) })
      ctx.provide('worktrees', worktrees)
      const { systemPrompt } = ctx
      systemPrompt.runtimeContext({ name: 'worktree', order: 46, text: ({ agent }) => (isWithin(agent.session.header.cwd ?? '/', store.folder, style) ? words : '') })
      let work = Promise.resolve()
      const behind = (task: () => Promise<void>) => void (work = work.then(task).catch((error: unknown) => logger.warn('Worktrees could not be put in order.', { error: String(error) })))
      ctx.on('agent/session-start', (agent, source) => {
        if (source === 'resume') behind(() => worktrees.mend(agent.session))
      })
      ctx.on('session/removed', (sessionId) => behind(() => worktrees.drop(sessionId)))
      const cancel: Undo = clock.schedule(SWEEP_MS, () =>
        behind(async () => {
          if ((await store.list()).length === 0) return
          const there = new Set((await ctx.sessions.list()).map(({ id }) => id))
          await worktrees.sweep((id) => there.has(id) || ctx.sessions.live(id) !== undefined)
        }),
      )
      return async () => {
        cancel()
        await work
      }
    },
  }
}
