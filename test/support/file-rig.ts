import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect } from 'vitest'
import type { Agent } from '../../extension/core/session/agent.ts'
import type { ToolResult } from '../../extension/core/tools/definition.ts'
import { wholeApplication, type WholeApplication } from './whole-application.ts'

/** The file tools in the whole application, with a folder and a session of its own for each case. */
export interface FileRig {
  readonly application: WholeApplication
  agent: Agent
  folder: string
  at(name: string): string
  put(name: string, content: string | Uint8Array): Promise<void>
  bytesOf(name: string): Promise<Buffer>
  contentOf(name: string): Promise<string>
  run(name: string, args: object, options?: { readonly agent?: Agent; readonly signal?: AbortSignal }): Promise<ToolResult>
  read(file_path: string, more?: object): Promise<ToolResult>
  write(file_path: string, content: string): Promise<ToolResult>
  edit(file_path: string, old_string: string, new_string: string, more?: object): Promise<ToolResult>
  /** The model sees what the calls so far gave. */
  nextStep(): void
  /** A fresh folder and session. */
  next(): Promise<void>
}

export async function createFileRig(options: Parameters<typeof wholeApplication>[0] = {}): Promise<FileRig> {
  const application = await wholeApplication({ ...options, settings: { 'permissions.defaultPreset': 'danger-full-access', ...options.settings } })
  let count = 0
  let steps = 0
  const rig: FileRig = {
    application,
    // Each case calls `next` first.
    agent: undefined as unknown as Agent,
    folder: application.folder,
    at: (name) => join(rig.folder, name),
    async put(name, content) {
      await mkdir(dirname(rig.at(name)), { recursive: true })
      await writeFile(rig.at(name), content)
    },
    bytesOf: (name) => readFile(rig.at(name)),
    contentOf: (name) => readFile(rig.at(name), 'utf8'),
    run: (name, args, { agent = rig.agent, signal = new AbortController().signal } = {}) =>
      application.ctx.tools.execute({ callId: `call-${(count += 1)}`, name, arguments: args, agent, signal }),
    read: (file_path, more = {}) => rig.run('read', { file_path, ...more }),
    write: (file_path, content) => rig.run('write', { file_path, content }),
    edit: (file_path, old_string, new_string, more = {}) => rig.run('edit', { file_path, old_string, new_string, ...more }),
    nextStep() {
      if (steps > 0) rig.agent.session.append({ type: 'step/end', data: { turn: 1, step: steps } })
      rig.agent.session.append({ type: 'step/start', data: { turn: 1, step: (steps += 1) } })
    },
    async next() {
      rig.folder = join(application.folder, `case-${(count += 1)}`)
      await mkdir(rig.folder)
      rig.agent = await application.ctx.agents.create({ cwd: rig.folder, preset: 'standard' })
      rig.agent.session.append({ type: 'turn/start', data: { turn: 1 } })
      steps = 0
    },
  }
  return rig
}

/** What `outcomeOf` gives of a failed call. */
export const failed = (code: string, message: RegExp = /./) => ({ code, message: expect.stringMatching(message) as string })
