import { deepEqual, equal } from 'node:assert/strict'
import * as vscode from 'vscode'
import type { TalkRequest, TalkResult, TalkStream } from '../../extension/capabilities/editor-chat.ts'
import { createRequestHandler } from '../../extension/platform/vscode/chat-participant.ts'

/** What the editor hands to a participant, of which the handler reads only this. */
const requestOf = (more: object) => ({ prompt: 'see it', command: undefined, references: [], toolReferences: [], model: { vendor: 'acme', id: 'one' }, ...more }) as unknown as vscode.ChatRequest
const turn = (participant: string, bosunSession: unknown) => ({ participant, response: [], result: { metadata: { bosunSession } } })

async function handled(request: object, { history = [], talk = async () => ({ sessionId: 's1', problem: null }), token = new vscode.CancellationTokenSource().token }: { readonly history?: readonly unknown[]; readonly talk?: (request: TalkRequest, stream: TalkStream) => Promise<TalkResult>; readonly token?: vscode.CancellationToken } = {}) {
  const shown: unknown[] = []
  const asked: TalkRequest[] = []
  const stream = { markdown: (text: unknown) => shown.push(text), progress: (text: unknown) => shown.push(['progress', text]), button: (command: unknown) => shown.push(command) } as unknown as vscode.ChatResponseStream
  const handler = createRequestHandler({
    id: 'bosun.chat',
    openCommand: 'open.it',
    start: async () => ({
      answer: async (given, to) => {
        asked.push(given)
        return await talk(given, to)
      },
    }),
  })
  const result = await handler(requestOf(request), { history } as unknown as vscode.ChatContext, stream, token)
  return { result, shown, asked }
}

describe('the participant of the editor’s chat', () => {
  const file = vscode.Uri.file('/w/a.ts')
  it('hands on words, model, and what they point at', async () => {
    const references = [
      { id: 'f', value: file, range: [0, 3] },
      { id: 'l', value: new vscode.Location(file, new vscode.Range(2, 0, 4, 1)) },
      { id: 't', value: 'a text', modelDescription: 'Words' },
      { id: 'i', value: { mimeType: 'image/png', data: async () => Uint8Array.of(1) } },
      { id: 'o', value: 7 },
    ]
    const { asked } = await handled({ references })
    const { signal: _, ...request } = asked[0]!
    deepEqual(request, {
      text: 'see it',
      sessionId: null,
      model: 'acme/one',
      references: [
        { kind: 'file', path: '/w/a.ts', lines: null, range: [0, 3] },
        { kind: 'file', path: '/w/a.ts', lines: [3, 5], range: null },
        { kind: 'text', name: 'Words', text: 'a text', range: null },
        { kind: 'image', bytes: Uint8Array.of(1), mediaType: 'image/png', range: null },
        { kind: 'other', name: 'o', range: null },
      ],
    })
  })
  it('goes on with the session of its last answer, but not after /new', async () => {
    const history = [turn('bosun.chat', 's0'), turn('bosun.chat', 's1'), turn('somebody', 's2'), { participant: 'bosun.chat', prompt: 'a request' }]
    equal((await handled({}, { history })).asked[0]?.sessionId, 's1')
    equal((await handled({ command: 'new' }, { history })).asked[0]?.sessionId, null)
    equal((await handled({}, { history: [turn('bosun.chat', 7)] })).asked[0]?.sessionId, null)
  })
  it('shows what comes, and keeps the session with the answer', async () => {
    const { result, shown } = await handled({}, {
      talk: async (_request, stream) => {
        stream.progress('Read a.ts')
        stream.text('Done.')
        stream.open('s1', 'Open in Bosun')
        return { sessionId: 's1', problem: null }
      },
    })
    deepEqual([shown, result], [[['progress', 'Read a.ts'], 'Done.', { command: 'open.it', title: 'Open in Bosun', arguments: ['s1'] }], { metadata: { bosunSession: 's1' } }])
  })
  it('says what went wrong, and keeps the session for the next try', async () => {
    deepEqual((await handled({}, { talk: async () => ({ sessionId: 's1', problem: 'No model.' }) })).result, { metadata: { bosunSession: 's1' }, errorDetails: { message: 'No model.' } })
    const failing = async () => Promise.reject(new Error('It broke.'))
    deepEqual((await handled({}, { history: [turn('bosun.chat', 's0')], talk: failing })).result, { metadata: { bosunSession: 's0' }, errorDetails: { message: 'It broke.' } })
  })
  it('stops with the editor’s token', async () => {
    const cancel = new vscode.CancellationTokenSource()
    const { asked } = await handled({}, {
      token: cancel.token,
      talk: async ({ signal }) => {
        cancel.cancel()
        return { sessionId: null, problem: signal.aborted ? 'stopped' : 'goes on' }
      },
    })
    equal(asked[0]?.signal.aborted, true)
  })
})
