import { describe, expect, it } from 'vitest'
import { fillIn } from '../../../extension/base/fill-in.ts'
import type { ToolResult } from '../../../extension/core/tools/definition.ts'
import type { CallQuestion, EditorCall } from '../../../extension/features/editor-calls/service.ts'
import { EditorChatTools } from '../../../extension/host/editor-chat-tools.ts'
import { languageModelTools, offeredTools } from '../../../extension/host/offered-tools.ts'

const signal = new AbortController().signal
const text = (words: string) => [{ type: 'text' as const, text: words }]
const failed = (words: string): ToolResult => ({ isError: true, error: { message: words }, content: text(`Error: ${words}`) })

function setUp({ question = null, result = failed('') }: { readonly question?: CallQuestion | null; readonly result?: ToolResult }) {
  const made: EditorCall[] = []
  const tools = new EditorChatTools({
    services: {
      // Only what is asked of them here.
      tools: { get: (name: string) => (name === 'bash' ? { presentCall: () => ({ card: 'terminal', title: 'Run npm\u202e test', kind: 'execute' }) } : undefined) } as never,
      editorCalls: { prepare: async () => question, run: async (call) => (made.push(call), result), sessionOf: () => 's1' },
    },
    blobs: { getAttachment: async (sessionId, attachmentId) => new TextEncoder().encode(`${sessionId} ${attachmentId}`) },
    l10n: { t: fillIn },
  })
  return { tools, made }
}
const call = (tool: string) => ({ tool, input: {}, chat: 'c1', signal })

describe('what the editor shows of a call', () => {
  const rows: readonly [why: string, tool: string, question: CallQuestion | null, shown: unknown][] = [
    ['is its card, with what cannot be seen written out', 'bash', null, { message: 'Run npm\\u{202e} test', question: null }],
    ['is the name of a tool without one', 'none', null, { message: 'Use none', question: null }],
    ['is what an approval would ask', 'bash', { effect: 'Run `rm -rf dist`', why: 'No rule allows it.' }, { message: 'Run npm\\u{202e} test', question: { title: 'Bosun: Run rm -rf dist', text: 'No rule allows it.' } }],
  ]
  it.each(rows)('%s', async (_why, tool, question, shown) => {
    expect(await setUp({ question }).tools.prepare(call(tool))).toEqual(shown)
  })
})

describe('what the editor gets of a result', () => {
  it('is texts and images', async () => {
    const attachment = { attachmentId: 'sha256:1', mediaType: 'image/png', bytes: 3 }
    const { tools, made } = setUp({ result: { isError: false, value: null, content: [...text('one'), { type: 'image', attachment }] } })
    expect(await tools.invoke(call('bash'))).toEqual([{ type: 'text', text: 'one' }, { type: 'image', bytes: new TextEncoder().encode('s1 sha256:1'), mediaType: 'image/png' }])
    expect(made).toEqual([call('bash')])
  })
  it('is an error with the reason', async () => await expect(setUp({ result: failed('It was refused.') }).tools.invoke(call('bash'))).rejects.toThrow(/^It was refused\.$/))
  it('is an error also where nothing was said', async () => await expect(setUp({ result: { isError: true, error: { message: '' }, content: [] } }).tools.invoke(call('bash'))).rejects.toThrow(/did not say why/))
})

describe('the tools for the editor', () => {
  it('fail to be written when one is not there', () => expect(() => languageModelTools(() => undefined)).toThrow(/There is no tool read/))
  it('are shown by the setting alone, those that change something only when it says all', () => {
    const entries = languageModelTools(() => ({ description: 'Does it.', parameters: { type: 'object' } }))
    expect(entries.map(({ name, when }) => [name, JSON.stringify(when).includes("'read'")])).toEqual(offeredTools.map(({ tool, from }) => [`bosun_${tool}`, from === 'read']))
    expect(entries.find(({ name }) => name === 'bosun_bash')).toMatchObject({ when: "config.bosun.editorChat.offerTools == 'all'", toolReferenceName: 'bosun_bash', canBeReferencedInPrompt: true, tags: ['bosun', 'run'], modelDescription: 'Does it.' })
  })
})
