import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { BlobStore } from '../../extension/capabilities/blob-store.ts'
import type { Capabilities } from '../../extension/compose.ts'
import type { Agent } from '../../extension/core/session/agent.ts'
import type { ReviewTarget, UndoTarget } from '../../extension/features/checkpoints/service.ts'
import type {} from '../../extension/features/checkpoints/service.ts'
import { callTools, createScriptedAdapter, sayText } from './scripted-adapter.ts'
import { wholeApplication } from './whole-application.ts'

export interface CallSpec {
  readonly name: string
  readonly args: Readonly<Record<string, unknown>>
}

/** The composed application with an agent that does what it is told, and the person at the same files. */
export async function reviewRig(files: Readonly<Record<string, string | Uint8Array>> = {}, { alter: alterMore = (world) => world }: { readonly alter?: (world: Capabilities) => Capabilities } = {}) {
  let blobs: BlobStore | undefined
  const alter = (world: Capabilities) => {
    blobs = world.blobs
    return alterMore(world)
  }
  const whole = await wholeApplication({ settings: { 'model.provider': 'scripted', 'model.name': 'm1' }, alter })
  const adapter = createScriptedAdapter()
  let { ctx } = whole
  ctx.models.register(adapter)
  const at = (path: string) => join(whole.folder, path)
  for (const [path, content] of Object.entries(files)) await writeFile(at(path), content)
  let agent: Agent = await ctx.agents.create({ cwd: whole.folder })
  ctx.permissions.select(agent.id, 'danger-full-access')
  let prompts = 0
  let calls = 0
  const ask = async () => {
    prompts += 1
    agent.followup({ id: `p${prompts}-${agent.session.length}`, role: 'user', content: [{ type: 'text', text: 'go' }], source: { kind: 'user' } })
    await agent.whenIdle()
  }
  return {
    whole,
    blobs: blobs!,
    adapter,
    at,
    get ctx() {
      return ctx
    },
    get agent() {
      return agent
    },
    get session() {
      return agent.session
    },
    /** One turn that makes these calls one after the other. Gives their ids. */
    async turn(...specs: readonly CallSpec[]): Promise<readonly string[]> {
      const ids = specs.map(() => `c${++calls}`)
      for (const [index, { name, args }] of specs.entries()) adapter.play(callTools({ id: ids[index]!, name, args }))
      adapter.play(sayText('Done.'))
      await ask()
      // What the calls changed is logged behind the step; a plan waits for it.
      await ctx.reviews.plan(agent.session, { kind: 'all' })
      return ids
    },
    /** Read it, then put the new text in the place of the old. */
    edit: (path: string, old: string, next: string): readonly CallSpec[] => [
      { name: 'read', args: { file_path: path } },
      { name: 'edit', args: { file_path: path, old_string: old, new_string: next } },
    ],
    write: (path: string, content: string): CallSpec => ({ name: 'write', args: { file_path: path, content } }),
    bash: (command: string): CallSpec => ({ name: 'bash', args: { command, description: 'Run it' } }),
    put: (path: string, content: string | Uint8Array) => writeFile(at(path), content),
    remove: (path: string) => rm(at(path)),
    text: (path: string): Promise<string | null> => readFile(at(path), 'utf8').catch(() => null),
    undo: (target: UndoTarget, overConflicts = false) => ctx.reviews.undo(agent.session, target, { overConflicts }),
    keep: (target: ReviewTarget) => ctx.reviews.keep(agent.session, target),
    plan: (target: UndoTarget) => ctx.reviews.plan(agent.session, target),
    file: (path: string) => ctx.reviews.file(agent.session, at(path)),
    /** Paths that wait, as the log says. */
    waiting: () => ctx.reviews.of(agent.session).files.map(({ path }) => path.slice(whole.folder.length + 1)),
    turns: () => ctx.reviews.of(agent.session).turns,
    /** What waits for the model. */
    notices: () => agent.inbox.nextStep.map(({ content }) => content.map((part) => (part.type === 'text' ? part.text : '')).join('')),
    /** As after a reload of the window. */
    async reload() {
      const { id } = agent
      await agent.session.flush()
      ;({ ctx } = await whole.restart())
      ctx.models.register(adapter)
      agent = await ctx.agents.resume(id)
    },
    dispose: () => whole.dispose(),
  }
}

export type ReviewRig = Awaited<ReturnType<typeof reviewRig>>
