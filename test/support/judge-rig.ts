import type { FileKey } from '../../extension/capabilities/file-system.ts'
import type { SandboxMode } from '../../extension/core/log/event.ts'
import { createConfinement } from '../../extension/core/policy/confinements.ts'
import { createJudge } from '../../extension/core/policy/judge.ts'
import type { Sandbox } from '../../extension/capabilities/sandbox.ts'
import { absolutePath, styleOf } from '../../extension/core/policy/paths.ts'
import { createPermissionBook } from '../../extension/core/policy/permissions-service.ts'
import { createWalls } from '../../extension/core/policy/wall.ts'
import { createSettings } from '../../extension/core/settings/service.ts'
import type { PermissionRuleSetting } from '../../extension/core/settings/specs.ts'
import type { Execution, PreExecuteDecision } from '../../extension/core/tools/definition.ts'
import { createBashSyntax } from '../../extension/platform/node/bash-syntax.ts'
import type { Json } from '../../extension/base/json.ts'
import { createFakeAgent } from './fake-agent.ts'
import { createFakeMachine } from './fake-machine.ts'
import { memorySettings } from './memory-settings.ts'
import { createRecordingLogger } from './quiet-logger.ts'

const shellSyntax = createBashSyntax()

/** What a decision is made in. */
export interface World {
  readonly mode?: SandboxMode
  readonly isTrusted?: boolean
  readonly rules?: readonly PermissionRuleSetting[]
  readonly workspaceRules?: readonly PermissionRuleSetting[]
  /** Links by path. */
  readonly links?: Readonly<Record<string, string>>
  readonly folders?: readonly string[]
  readonly hasGrammar?: boolean
  /** Where the session works; default: the first folder. */
  readonly cwd?: string
  /** Where children have folders of their own. */
  readonly walledFolder?: string
  readonly sandbox?: Sandbox
}

/** The judge over real settings and the real grammar: a workspace at `/home/me/web`, the person's home at `/home/me`. */
export function judgeRig({ mode, isTrusted = true, rules, workspaceRules, links = {}, folders = ['/home/me/web'], hasGrammar = true, cwd = folders[0] ?? '/home/me/web', walledFolder, sandbox }: World = {}) {
  const source = memorySettings(
    { ...(rules && { 'permissions.rules': rules }), ...(mode && { 'permissions.defaultPreset': mode }) },
    workspaceRules ? { 'permissions.rules': workspaceRules } : {},
  )
  const logger = createRecordingLogger()
  const machine = createFakeMachine({ homeFolder: '/home/me' })
  const settings = createSettings({ source, logger })
  const workspace = {
    folders: () => folders.map((path) => ({ name: path.split('/').at(-1) ?? '', path })),
    isTrusted: () => isTrusted,
    onDidChangeTrust: () => () => undefined,
    onDidChangeFolders: () => () => undefined,
    snapshot: () => Promise.resolve({ openEditors: [], unsavedFiles: [] }),
  }
  const follow = (path: string) => Object.entries(links).reduce((at, [from, to]) => (at === from || at.startsWith(`${from}/`) ? to + at.slice(from.length) : at), path)
  const files = {
    resolve(path: string, cwd: string) {
      if (path.includes('\0')) return Promise.reject(new Error('NUL'))
      const real = follow(absolutePath(path, cwd, { isWindows: false, ignoresCase: false }))
      return Promise.resolve({ key: real as FileKey, path: real, spelling: path, isDanglingLink: false, exists: !/\/(HEAD|objects)$/.test(real) })
    },
  }
  const syntax = hasGrammar ? shellSyntax : { parseBash: () => Promise.reject(new Error('no grammar')) }
  const wallOf = createWalls(walledFolder, styleOf(machine))
  const book = createPermissionBook({ source, settings, workspace, machine, logger, wallOf })
  const confinement = createConfinement({ book, settings, workspace, files, machine, logger, wallOf, ...(sandbox && { sandbox }) })
  const judge = createJudge({ book, confinement, toolAt: () => undefined, settings, workspace, files, machine, shellSyntax: syntax, logger, readableFolders: () => ['/storage/spill'], wallOf })
  const agent = createFakeAgent({ cwd })
  const exec = (name: string, args: Json): Execution => ({ callId: 'c', rootCallId: 'c', name, arguments: args, agent, token: { id: 't' }, signal: new AbortController().signal })
  return { judge, confinement, exec, decide: (name: string, args: Json) => judge.decide(exec(name, args)) }
}

/** `allow`, or the kind with its words. */
export const brief = (decision: PreExecuteDecision) => {
  if (decision.kind === 'allow') return 'allow'
  if (decision.kind === 'deny') return `deny${decision.code === undefined ? '' : ` ${decision.code}`}: ${decision.reason}`
  return `${decision.details?.mustAsk === true ? 'must ask' : 'ask'}: ${decision.details?.effect}: ${decision.details?.why}`
}
