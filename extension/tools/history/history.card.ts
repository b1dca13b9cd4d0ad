import type { ToolCallView } from '../../protocol/cards.ts'

// The cards of the five tools. Each is drawn from the arguments alone, also of old records.

export const searchCall = ({ query }: { readonly query: string }): ToolCallView => {
  const subject = query.replace(/\s+/g, ' ').trim()
  return { card: 'generic', title: `Search sessions for ${subject}`, doneTitle: `Searched sessions for ${subject}`, kind: 'search', subject, rawInput: query }
}

export const eventSearchCall = ({ query, session_id }: { readonly query: string; readonly session_id?: string | undefined }): ToolCallView => {
  const subject = query.replace(/\s+/g, ' ').trim()
  const place = session_id === undefined ? 'this session' : `session ${session_id}`
  return { card: 'generic', title: `Search ${place} for ${subject}`, doneTitle: `Searched ${place} for ${subject}`, kind: 'search', subject, rawInput: query }
}

export const traceCall = ({ session_id }: { readonly session_id?: string | undefined }): ToolCallView => ({
  card: 'generic',
  title: session_id === undefined ? 'Trace this session' : `Trace session ${session_id}`,
  doneTitle: session_id === undefined ? 'Traced this session' : `Traced session ${session_id}`,
  kind: 'read',
})

export const eventTraceCall = ({ seq, session_id }: { readonly seq: number; readonly session_id?: string | undefined }): ToolCallView => ({
  card: 'generic',
  title: `Trace event ${seq}${ofSession(session_id)}`,
  doneTitle: `Traced event ${seq}${ofSession(session_id)}`,
  kind: 'read',
})

export const eventReadCall = ({ seq, session_id }: { readonly seq: number; readonly session_id?: string | undefined }): ToolCallView => ({
  card: 'generic',
  title: `Read event ${seq}${ofSession(session_id)}`,
  kind: 'read',
})

const ofSession = (id: string | undefined): string => (id === undefined ? '' : ` of session ${id}`)
