import * as vscode from 'vscode'
import { messageOf } from '../../base/message-of.ts'
import type { EditorChatTalk, TalkReference, TalkStream } from '../../capabilities/editor-chat.ts'
import { pathOf } from './address.ts'
import { linkedSignal } from './linked-signal.ts'

interface Parts {
  readonly id: string
  /** Opens the session that its argument names in Bosun's own view. */
  readonly openCommand: string
  readonly icon: vscode.Uri
  readonly start: () => Promise<EditorChatTalk>
}

/** `@bosun` in the editor's own chat. Bosun is composed with the first message; nothing in editors without such a chat. */
export function createParticipant({ id, icon, ...parts }: Parts): vscode.Disposable {
  const { chat } = vscode as Partial<typeof vscode>
  if (typeof chat?.createChatParticipant !== 'function') return { dispose() {} }
  const participant = chat.createChatParticipant(id, createRequestHandler({ id, ...parts }))
  participant.iconPath = icon
  return participant
}

/** What answers the requests of the editor's chat. Errors: none; what goes wrong is the result's. */
export function createRequestHandler({ id, openCommand, start }: Omit<Parts, 'icon'>): vscode.ChatRequestHandler {
  return async (request, context, response, token): Promise<vscode.ChatResult> => {
    const { signal, dispose } = linkedSignal(token)
    const before = sessionIn(context.history, id)
    try {
      const talk = await start()
      const { sessionId, problem } = await talk.answer(
        {
          text: request.prompt,
          references: await Promise.all(request.references.map(referenceFrom)),
          sessionId: request.command === 'new' ? null : before,
          model: modelId(request),
          signal,
        },
        streamOver(response, openCommand),
      )
      return resultOf(sessionId, problem)
    } catch (error) {
      return resultOf(before, messageOf(error))
    } finally {
      dispose()
    }
  }
}

const resultOf = (sessionId: string | null, problem: string | null): vscode.ChatResult => ({
  ...(sessionId !== null && { metadata: { bosunSession: sessionId } }),
  ...(problem !== null && { errorDetails: { message: problem } }),
})

/** The session that the last answer of the thread belongs to. */
function sessionIn(history: vscode.ChatContext['history'], id: string): string | null {
  const last = history.findLast((turn): turn is vscode.ChatResponseTurn => 'result' in turn && turn.participant === id)
  const session: unknown = last?.result.metadata?.['bosunSession']
  return typeof session === 'string' ? session : null
}

/** Editors may have a request without a model. */
function modelId({ model }: vscode.ChatRequest): string | null {
  const picked = model as vscode.LanguageModelChat | undefined
  return picked === undefined ? null : `${picked.vendor}/${picked.id}`
}

function streamOver(response: vscode.ChatResponseStream, openCommand: string): TalkStream {
  return {
    text: (markdown) => response.markdown(markdown),
    progress: (words) => response.progress(words),
    open: (sessionId, title) => response.button({ command: openCommand, title, arguments: [sessionId] }),
  }
}

async function referenceFrom({ id, range, value, modelDescription }: vscode.ChatPromptReference): Promise<TalkReference> {
  const place = { range: range ?? null }
  if (value instanceof vscode.Uri) return { kind: 'file', path: pathOf(value), lines: null, ...place }
  if (value instanceof vscode.Location) return { kind: 'file', path: pathOf(value.uri), lines: [value.range.start.line + 1, value.range.end.line + 1], ...place }
  const name = modelDescription ?? id
  if (typeof value === 'string') return { kind: 'text', name, text: value, ...place }
  if (isBinary(value) && value.mimeType.startsWith('image/')) return { kind: 'image', bytes: await value.data(), mediaType: value.mimeType, ...place }
  return { kind: 'other', name, ...place }
}

/** Pasted images come so; no published type says it. */
const isBinary = (value: unknown): value is { readonly mimeType: string; readonly data: () => Thenable<Uint8Array> } =>
  typeof value === 'object' && value !== null && 'mimeType' in value && typeof value.mimeType === 'string' && 'data' in value && typeof value.data === 'function'
