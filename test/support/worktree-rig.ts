import { execFileSync } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Capabilities } from '../../extension/compose.ts'
import type { Agent } from '../../extension/core/session/agent.ts'
import type { ChildOutcome, ChildRequest } from '../../extension/features/subagents/service.ts'
import type {} from '../../extension/features/subagents/worktree/service.ts'
import type { SettingValues } from './memory-settings.ts'
import { callTools, createScriptedAdapter, sayText } from './scripted-adapter.ts'
import { wholeApplication } from './whole-application.ts'

export interface Call {
  readonly name: string
  readonly args: Readonly<Record<string, unknown>>
}

export const git = (folder: string, ...args: readonly string[]) => execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', '-c', 'init.defaultBranch=main', ...args], { cwd: folder, stdio: 'pipe' }).toString()

/** The composed application in a real repository: an agent that starts children in worktrees, and the person at the same files. */
export async function worktreeRig(options: { readonly files?: Readonly<Record<string, string>>; readonly settings?: SettingValues; readonly alter?: (world: Capabilities) => Capabilities; readonly isRepository?: boolean; readonly cwd?: string } = {}) {
  const { files = { 'a.txt': 'one\ntwo\nthree\nfour\nfive\nsix\n' }, isRepository = true } = options
  let world: Capabilities | undefined
  const whole = await wholeApplication({
    settings: { 'model.provider': 'scripted', 'model.name': 'm1', ...options.settings },
    alter: (made) => (world = options.alter?.(made) ?? made),
  })
  const { folder } = whole
  const put = async (path: string, content: string) => {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), content)
  }
  for (const [path, content] of Object.entries(files)) await put(path, content)
  if (isRepository) {
    git(folder, 'init', '-q')
    git(folder, 'add', '-A')
    git(folder, 'commit', '-q', '-m', 'first')
  }
  const adapter = createScriptedAdapter()
  let { ctx } = whole
  ctx.models.register(adapter)
  const cwd = join(folder, options.cwd ?? '')
  let agent: Agent = await ctx.agents.create({ cwd })
  ctx.permissions.select(agent.id, 'danger-full-access')
  let calls = 0
  const request = (more: Partial<ChildRequest> = {}): ChildRequest => ({ parent: agent, provider: 'spawn', label: 'Mend the Läufer!', prompt: 'Do it.', purpose: { kind: 'subagent' }, isolation: 'worktree', signal: new AbortController().signal, ...more })
  return {
    whole,
    folder,
    adapter,
    get world() {
      return world!
    },
    get ctx() {
      return ctx
    },
    get agent() {
      return agent
    },
    get session() {
      return agent.session
    },
    store: () => world!.worktrees!,
    put,
    request,
    text: (path: string): Promise<string | null> => readFile(join(folder, path), 'utf8').catch(() => null),
    /** What must not change about the person's repository. */
    state: async () => ({ status: git(folder, 'status', '--porcelain'), head: git(folder, 'rev-parse', '--symbolic-full-name', 'HEAD'), commit: git(folder, 'rev-parse', 'HEAD'), stash: git(folder, 'stash', 'list'), index: (await readFile(join(folder, '.git', 'index'))).toString('base64') }),
    branches: () => git(folder, 'for-each-ref', '--format=%(refname)').trim().split('\n'),
    worktrees: () => git(folder, 'worktree', 'list', '--porcelain').split('\n').filter((line) => line.startsWith('worktree ')).length,
    play(...specs: readonly Call[]) {
      for (const { name, args } of specs) adapter.play(callTools({ id: `c${++calls}`, name, args }))
      adapter.play(sayText('Done.'))
    },
    /** A child that makes these calls. */
    async child(specs: readonly Call[], more: Partial<ChildRequest> = {}): Promise<ChildOutcome> {
      for (const { name, args } of specs) adapter.play(callTools({ id: `c${++calls}`, name, args }))
      adapter.play(sayText('Done.'))
      return await (await ctx.subagents.start(request(more))).outcome
    },
    /** Results that the model of a child was given, newest request. */
    results: () => adapter.requests.at(-1)!.messages.flatMap((message) => (message.role === 'tool' ? message.content.map(({ content }) => content.map((part) => (part.type === 'text' ? part.text : '')).join('')) : [])),
    waiting: () => ctx.worktrees.waiting(agent.session),
    async restart() {
      const id = agent.id
      ctx = (await whole.restart()).ctx
      ctx.models.register(adapter)
      agent = await ctx.agents.resume(id)
    },
    dispose: () => whole.dispose(),
  }
}
export type WorktreeRig = Awaited<ReturnType<typeof worktreeRig>>
