import type { FileSystem } from '../../capabilities/file-system.ts'
import type { Logger } from '../../capabilities/logger.ts'
import type { Machine } from '../../capabilities/machine.ts'
import type { Sandbox } from '../../capabilities/sandbox.ts'
import type { SettingsSource } from '../../capabilities/settings-source.ts'
import type { ShellSyntax } from '../../capabilities/shell-syntax.ts'
import type { Workspace } from '../../capabilities/workspace.ts'
import type { Dispatcher, Plugin } from '../kernel/plugin.ts'
import type {} from '../loop/points.ts'
import type {} from '../presets/preset.ts'
import type {} from '../prompt/system-prompt.ts'
import type {} from '../tools/service.ts'
import { orAbort } from '../../base/or-abort.ts'
import { createApprovals } from './approvals.ts'
import { createConfinement } from './confinements.ts'
import type {} from './foresight.ts'
import { createJudge } from './judge.ts'
import { styleOf } from './paths.ts'
import { permissionCommand } from './permission-command.ts'
import { contextText, createPermissionBook } from './permissions-service.ts'
import { createWalls } from './wall.ts'

export interface PolicyParts {
  readonly dispatch: Dispatcher
  readonly source: SettingsSource
  readonly workspace: Workspace
  readonly files: Pick<FileSystem, 'resolve'>
  readonly machine: Machine
  readonly shellSyntax: ShellSyntax
  readonly logger: Logger
  /** Folders of Bosun's own that hold what tools were told to read, such as spilled output. */
  readonly readableFolders?: (sessionId: string) => readonly string[]
  /** Absent where nothing can be confined. */
  readonly sandbox?: Sandbox
  /** Where children have folders of their own, which they may not leave by writing. */
  readonly walledFolder?: string
}

/**
 * What calls may do: provides `permissions`, `approvals` and `confinement` and judges every call before it runs.
 *
 * A judge that fails denies: the pipeline makes a failed result of its throw.
 */
export function policyPlugin(parts: PolicyParts): Plugin {
  return {
    name: 'policy',
    inject: ['settings'],
    apply(ctx) {
      const wallOf = createWalls(parts.walledFolder, styleOf(parts.machine))
      const book = createPermissionBook({
        ...parts,
        wallOf,
        settings: ctx.settings,
        presets: () => ctx.get('presets'),
        toolAt: (name, scope) => ctx.get('tools')?.get(name, scope),
      })
      const confinement = createConfinement({ ...parts, book, wallOf, settings: ctx.settings })
      const judge = createJudge({ ...parts, book, confinement, wallOf, toolAt: (name, scope) => ctx.get('tools')?.get(name, scope), settings: ctx.settings, readableFolders: parts.readableFolders ?? (() => []) })
      ctx.provide('permissions', book)
      ctx.provide('approvals', createApprovals({ ...parts, book }))
      ctx.provide('confinement', confinement)
      ctx.provide('foresight', { decide: (exec) => judge.decide(exec) })
      // Looked for while the prompt is put together, and awaited before the tools of the first request are declared: they stay as they are.
      ctx.on('agent/inbox/inserted', () => void confinement.settle())
      ctx.on('agent/pre-step', async ({ signal }, next) => {
        await orAbort(confinement.settle(), signal)
        return next()
      })
      ctx.on('agent/created', book.track)
      ctx.on('agent/session-start', (agent, source) => book.pin(agent, source))
      ctx.on('agent-preset/selected', (sessionId) => {
        const agent = ctx.get('agents')?.live(sessionId)
        if (agent !== undefined) book.startAnew(agent)
      })
      ctx.on('agent/disposed', (agent) => {
        book.forget(agent)
        judge.forget(agent.id)
      })
      ctx.on('tools/pre-execute', async (exec, next) => {
        const own = await judge.decide(exec)
        if (own.kind === 'deny') return own
        // Other listeners may only make it stricter.
        const others = await next()
        return others.kind === 'allow' ? own : others
      })
      ctx.on('tools/result', (exec, result) => {
        if (exec.name === 'write' && !result.isError && isCreation(result.value)) judge.noteCreated(exec)
      })
      ctx.plugin(permissionCommand(book))
      ctx.plugin({
        name: 'permissions-context',
        inject: ['systemPrompt'],
        apply: (inner) => {
          inner.systemPrompt.runtimeContext({ name: 'permissions', order: 40, text: ({ agent }) => contextText(book.modeIn(agent.session)) })
        },
      })
      return () => {
        confinement.dispose()
        book.dispose()
      }
    },
  }
}

const isCreation = (value: unknown) => typeof value === 'object' && value !== null && 'operation' in value && value.operation === 'create'
