import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Tool } from '../../../../bosun.d.ts'
import type { Agent } from '../../../../extension/core/session/agent.ts'
import { presentCall, presentResult } from '../../../../extension/host/present-tool.ts'
import { fillIn } from '../../../../extension/base/fill-in.ts'
import { countTool, extensionRig, textOf, type ExtensionRig } from '../../../support/extension-rig.ts'

let rig: ExtensionRig
let agent: Agent
beforeAll(async () => {
  rig = await extensionRig()
  agent = await rig.newAgent()
})
afterAll(() => rig.dispose())

/** What a call of that tool comes to: the text for the model, its code, its durable facts. */
async function outcomeOf(parts: Partial<Tool>, args: unknown = { text: 'four' }) {
  const { dispose } = rig.join().registerTool(countTool(parts))
  try {
    const result = await rig.call(agent, parts.name ?? 'acme_count', args)
    return { text: textOf(result), code: result.error?.code ?? null, meta: result.meta ?? null }
  } finally {
    await dispose()
  }
}
const render = (make: () => unknown): Partial<Tool> => ({ output: { ...countTool().output, render: make as Tool['output']['render'] } })
const failing = (message: string) => () => {
  throw new Error(message)
}

describe('a call of another extension’s tool', () => {
  it('gives what the body returns, as its author renders it; what is kept says whose it was', async () =>
    expect(await outcomeOf({})).toEqual({ text: '4 letters', code: null, meta: { extension: 'acme.sample' } }))
  it('keeps the facts that its author wants kept', async () =>
    expect((await outcomeOf({ output: { ...countTool().output, presentationMeta: (args) => ({ of: (args as { text: string }).text }) } })).meta).toEqual({ extension: 'acme.sample', meta: { of: 'four' } }))
  it('tells the body who calls, frozen, and nothing to act with', async () => {
    const seen: unknown[] = []
    await outcomeOf({
      execute(_args, exec) {
        seen.push(Object.isFrozen(exec), Object.keys(exec).toSorted(), exec.sessionId === agent.id, exec.cwd === rig.application.folder, exec.extensionId, Object.isFrozen(exec.arguments))
        exec.progress('half way')
        return { letters: 1 }
      },
    })
    expect(seen).toEqual([true, ['arguments', 'callId', 'cwd', 'extensionId', 'progress', 'rootCallId', 'sessionId', 'signal', 'tool', 'willChange'], true, true, 'acme.sample', true])
  })
  it('may have the last word of its author', async () =>
    expect((await outcomeOf({ finalizeContent: (call, result) => [{ type: 'text', text: `${call.tool} ${result.isError} ${Object.isFrozen(result)}` }] })).text).toBe('acme_count false true'))
  it('leaves the content when that word is none', async () => expect((await outcomeOf({ finalizeContent: () => undefined })).text).toBe('4 letters'))

  const kept = { extension: 'acme.sample' }
  const bad: readonly [what: string, parts: Partial<Tool>, expected: { text: unknown; code: string; meta?: unknown }][] = [
    ['throws', { execute: failing('the disk is full') }, { text: 'Error: the disk is full', code: 'EXTENSION_TOOL_FAILED', meta: kept }],
    ['rejects', { execute: () => Promise.reject(new Error('gone away')) }, { text: 'Error: gone away', code: 'EXTENSION_TOOL_FAILED', meta: kept }],
    ['throws what has no text', { execute: () => { throw Object.create(null) } }, { text: 'Error: acme_count of acme.sample failed: it threw a value that has no text.', code: 'EXTENSION_TOOL_FAILED', meta: kept }],
    ['returns nothing', { execute: () => undefined as never }, { text: expect.stringContaining('acme_count of acme.sample returned a value that JSON cannot carry'), code: 'INVALID_TOOL_OUTPUT', meta: kept }],
    ['returns a date', { execute: () => ({ letters: new Date(0) }) as never }, { text: expect.stringContaining('acme_count of acme.sample returned a value that JSON cannot carry: value.letters'), code: 'INVALID_TOOL_OUTPUT', meta: kept }],
    ['returns NaN', { execute: () => ({ letters: NaN }) }, { text: expect.stringContaining('returned a value that JSON cannot carry'), code: 'INVALID_TOOL_OUTPUT', meta: kept }],
    ['breaks its schema', { execute: () => ({ letters: 'four' }) }, { text: expect.stringMatching(/acme_count of acme\.sample returned a value that breaks its own schema: .*letters/), code: 'INVALID_TOOL_OUTPUT', meta: kept }],
    ['cannot be rendered', render(failing('no words')), { text: 'Error: output.render of acme_count of acme.sample failed: no words', code: 'INVALID_TOOL_OUTPUT', meta: kept }],
    ['is rendered as a word', render(() => 'four'), { text: expect.stringContaining('output.render of acme_count of acme.sample gave no list of texts'), code: 'INVALID_TOOL_OUTPUT', meta: kept }],
    ['is rendered later', render(() => Promise.resolve([])), { text: expect.stringContaining('output.render of acme_count of acme.sample failed'), code: 'INVALID_TOOL_OUTPUT', meta: kept }],
    ['is rendered as a picture', render(() => [{ type: 'image', attachment: { attachmentId: 'a', mediaType: 'image/png' } }]), { text: expect.stringContaining('gave no list of texts'), code: 'INVALID_TOOL_OUTPUT', meta: kept }],
    ['says too much', render(() => [{ type: 'text', text: 'x'.repeat(4_000_001) }]), { text: expect.stringContaining('gave 4000001 characters; 4000000 at most can be given. Return less.'), code: 'INVALID_TOOL_OUTPUT', meta: kept }],
    ['has facts that cannot be kept', { output: { ...countTool().output, presentationMeta: () => (() => 1) as never } }, { text: expect.stringContaining('output.presentationMeta of acme_count of acme.sample failed'), code: 'INVALID_TOOL_OUTPUT', meta: kept }],
    ['has a last word that fails', { finalizeContent: failing('oh') }, { text: 'Error: finalizeContent of acme_count of acme.sample failed: oh', code: 'INVALID_TOOL_OUTPUT', meta: kept }],
  ]
  it.each(bad)('that %s is a failure that names the extension', async (_what, parts, expected) => expect(await outcomeOf(parts)).toMatchObject(expected))
  it('with bad arguments never reaches the body', async () => {
    let ran = 0
    expect(await outcomeOf({ execute: () => ({ letters: (ran += 1) }) }, { text: 4 })).toMatchObject({ text: expect.stringMatching(/^Error: Invalid arguments for acme_count: .*text/), code: 'INVALID_ARGS' })
    expect(ran).toBe(0)
  })
  it('that takes longer than it may is stopped', async () =>
    expect(await outcomeOf({ timeoutMs: 1, execute: (_args, { signal }) => new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })) })).toMatchObject({ code: 'TOOL_TIMEOUT' }))
  it('runs alone, unless its author says otherwise', async () => {
    const modeOf = async (parts: Partial<Tool>) => {
      const { dispose } = rig.join().registerTool(countTool(parts))
      const mode = rig.application.ctx.tools.executionMode({ name: 'acme_count', arguments: { text: 'a' }, agent })
      await dispose()
      return mode
    }
    expect([await modeOf({}), await modeOf({ isConcurrencySafe: () => true }), await modeOf({ isConcurrencySafe: () => 1 as never }), await modeOf({ isConcurrencySafe: failing('x') })]).toEqual(['exclusive', 'parallel', 'exclusive', 'exclusive'])
  })
})

describe('the card', () => {
  const cardsOf = async (parts: Partial<Tool>, args: unknown = { text: 'four' }, meta?: unknown) => {
    const { dispose } = rig.join().registerTool(countTool(parts))
    const find = (name: string) => rig.application.ctx.tools.get(name, null)
    const cards = [presentCall(find, 'acme_count', args as never), presentResult(find, { name: 'acme_count', args: args as never }, { content: [{ type: 'text', text: '4' }], isError: false, ...(meta !== undefined && { meta: meta as never }) }, { t: fillIn })]
    await dispose()
    return cards
  }
  it('shows name and arguments where its author draws none', async () => expect(await cardsOf({})).toEqual([{ card: 'generic', title: 'acme_count', rawInput: { text: 'four' } }, null]))
  it('is drawn by its author, who gets the facts that were kept', async () =>
    expect(
      await cardsOf(
        { presentCall: () => ({ card: 'generic', title: 'Count', kind: 'search' }), presentResult: (_args, result) => ({ card: 'generic', title: `Counted ${JSON.stringify(result)}` }) },
        { text: 'four' },
        { extension: 'acme.sample', meta: { of: 'four' } },
      ),
    ).toEqual([{ card: 'generic', title: 'Count', kind: 'search', rawInput: { text: 'four' } }, { card: 'generic', title: 'Counted {"content":[{"type":"text","text":"4"}],"isError":false,"meta":{"of":"four"}}' }]))
  it('says nothing that only Bosun’s own tools may say', async () =>
    expect(
      await cardsOf({
        presentCall: () => ({ card: 'generic', title: 'Count', face: 'agent', subject: 'a' }) as never,
        presentResult: () => ({ card: 'generic', title: 'Counted', jobId: 'job-1', agentId: 'a', face: 'plan' }) as never,
      }),
    ).toEqual([{ card: 'generic', title: 'Count', rawInput: { text: 'four' } }, { card: 'generic', title: 'Counted' }]))
  it.each([
    ['fails', failing('x') as never, [null, null]],
    ['is no card', () => 'words' as never, [{ card: 'generic', title: 'acme_count', rawInput: { text: 'four' } }, null]],
    ['is an answer of the person', () => ({ card: 'question', items: [] }) as never, [{ card: 'generic', title: 'acme_count', rawInput: { text: 'four' } }, null]],
  ])('falls back where what its author draws %s', async (_what, present: () => never, expected) => expect(await cardsOf({ presentCall: present, presentResult: present })).toEqual(expected))
  it('falls back for arguments of another shape', async () => expect(await cardsOf({ presentCall: () => ({ card: 'generic', title: 'Count' }) }, 'words')).toEqual([null, null]))
})
