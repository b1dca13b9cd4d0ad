import { describe, expect, it } from 'vitest'
import type { Machine } from '../../../../extension/capabilities/machine.ts'
import { createKernel } from '../../../../extension/core/kernel/kernel.ts'
import { shippedPresets } from '../../../../extension/core/presets/shipped.ts'
import { createPromptSectionsPlugin, type PromptOptions } from '../../../../extension/core/prompt/sections.ts'
import { createSystemPromptPlugin } from '../../../../extension/core/prompt/service.ts'
import type { PromptContext } from '../../../../extension/core/prompt/system-prompt.ts'
import { createToolsPlugin } from '../../../../extension/core/tools/registry.ts'
import { createFakeAgent } from '../../../support/fake-agent.ts'
import { createFakeMachine } from '../../../support/fake-machine.ts'
import { createRecordingLogger } from '../../../support/quiet-logger.ts'

interface World {
  readonly tools?: readonly string[]
  readonly options?: Partial<PromptOptions>
  readonly machine?: Partial<Machine>
}

function setUp({ tools = [], machine = {}, options = {} }: World = {}) {
  const kernel = createKernel({ logger: createRecordingLogger() })
  kernel.root.plugin(createSystemPromptPlugin({ dispatch: kernel.dispatch }))
  kernel.root.plugin(createToolsPlugin({ dispatch: kernel.dispatch, randomId: () => 't' }))
  kernel.root.plugin(
    createPromptSectionsPlugin({ machine: createFakeMachine(machine), options: () => ({ includeHarnessIdentity: true, persona: '', ...options }) }),
  )
  for (const name of tools)
    kernel.root.tools.register({ name, description: name, parameters: { type: 'object' }, output: { schema: {}, render: () => [] }, execute: () => null })
  const agent = createFakeAgent()
  const context: PromptContext = { agent, scope: kernel.createScope('agent', null), provider: 'p', model: 'm', cwd: '/w', step: 1 }
  return { assemble: (more: Partial<PromptContext> = {}) => kernel.root.systemPrompt.assemble({ ...context, ...more }) }
}

describe('the system prompt', () => {
  it('takes at most 2 600 of the 4 000 bytes of the standard preset; the rest is for the families of tools', async () => {
    const tools = shippedPresets.find(({ id }) => id === 'standard')?.tools ?? []
    const { system } = await setUp({ tools }).assemble({ cwd: '/home/person/projects/some-workspace', model: 'deepseek-v4-pro' })
    expect(new TextEncoder().encode(system).length).toBeLessThanOrEqual(2600)
  })
  it('says where the work happens, and no date', async () => {
    const { system } = await setUp().assemble()
    expect(system).toContain('# Where you work\nWorking folder: /w\nPlatform: Linux\nShell: /bin/bash\nModel: m')
    expect(system).not.toMatch(/\b(19|20)\d\d\b|today|date/i)
  })
  it('names the shell of Windows and that there may be none', async () => {
    expect((await setUp({ machine: { platform: 'win32', bash: null, pwsh: 'pwsh.exe' } }).assemble()).system).toContain('Platform: Windows\nShell: pwsh.exe')
    expect((await setUp({ machine: { platform: 'darwin', bash: null } }).assemble()).system).toContain('Platform: macOS\nShell: none')
  })
  it('leaves the model out while none is chosen', async () => expect((await setUp().assemble({ model: '' })).system).not.toContain('Model:'))
  it('speaks only of tools that are there', async () => {
    expect((await setUp().assemble()).system).not.toContain('# Tools')
    const { system } = await setUp({ tools: ['read', 'grep'] }).assemble()
    expect(system).toContain('# Tools')
    expect(system).not.toContain('todo_write')
    expect((await setUp({ tools: ['todo_write'] }).assemble()).system).toContain('todo_write')
  })
  it('leaves its name out, and puts the person’s words in, when told so', async () => {
    const { system } = await setUp({ options: { includeHarnessIdentity: false, persona: 'Speak like {{model}}.' } }).assemble()
    expect(system).not.toContain('Bosun')
    expect(system).toContain('Model: m\n\nSpeak like m.')
  })
  it('is the same byte for byte from one step to the next', async () => {
    const { assemble } = setUp({ tools: ['read'] })
    expect((await assemble({ step: 2 })).system).toBe((await assemble()).system)
  })
})
