import { HarnessError } from '../../base/harness-error.ts'

export type SessionQueryErrorCode =
  | 'SESSION_QUERY_TOOL_MISSING_AGENT'
  | 'SESSION_QUERY_TOOL_UNAUTHORIZED'
  | 'SESSION_QUERY_TOOL_FAILED'
  | 'SESSION_QUERY_TOOL_NO_CURRENT_STEP'
  | 'SESSION_QUERY_INVALID_QUERY'
  | 'SESSION_QUERY_INVALID_FILTER'
  | 'SESSION_QUERY_INVALID_WINDOW'
  | 'SESSION_QUERY_EVENT_NOT_FOUND'
  | 'SESSION_QUERY_SESSION_NOT_FOUND'
  | 'SESSION_QUERY_INVALID_LINEAGE'
  | 'SESSION_QUERY_INVALID_SURFACE'
  | 'SESSION_QUERY_CORRUPT_SESSION'
  | 'SESSION_QUERY_PERSISTENCE_FAILED'
  | 'SESSION_QUERY_INDEX_FAILED'
  | 'SESSION_QUERY_STALE_CURSOR'
  | 'SESSION_QUERY_INVALID_CURSOR'
  | 'SESSION_QUERY_SEARCH_DISABLED'

/** What a query of sessions came to grief over. Its message is fixed for its code, so that a model reads nothing of other sessions in it; the cause stays here. */
export class SessionQueryError extends HarnessError<SessionQueryErrorCode> {}

const messages: Readonly<Record<SessionQueryErrorCode, string>> = {
  SESSION_QUERY_TOOL_MISSING_AGENT: 'Sessions are only queried by an agent. Call this from a session.',
  SESSION_QUERY_TOOL_UNAUTHORIZED: 'There is no such session in this workspace. Find one with session_search.',
  SESSION_QUERY_TOOL_FAILED: 'The query failed inside Bosun. Go on without it, or try once more.',
  SESSION_QUERY_TOOL_NO_CURRENT_STEP: 'The own session is only searched from within a step, up to its beginning, and none is open.',
  SESSION_QUERY_INVALID_QUERY: 'query needs at least one letter or digit, no NUL, and at most 1000 characters.',
  SESSION_QUERY_INVALID_FILTER: 'A filter cannot be used: leave empty lists out, give ranges in order, numbers from 0, and times such as 2026-01-31T09:00:00Z.',
  SESSION_QUERY_INVALID_WINDOW: 'seq must be a whole number from 0; before and after whole numbers from 0 to 50.',
  SESSION_QUERY_EVENT_NOT_FOUND: 'The session has no event of this number.',
  SESSION_QUERY_SESSION_NOT_FOUND: 'The session is gone.',
  SESSION_QUERY_INVALID_LINEAGE: 'The sessions name each other as parents in a circle, so there is no lineage to tell.',
  SESSION_QUERY_INVALID_SURFACE: 'The log of the session replaces messages that are not there, so what it shows a model cannot be told.',
  SESSION_QUERY_CORRUPT_SESSION: 'The log of the session cannot be read.',
  SESSION_QUERY_PERSISTENCE_FAILED: 'The stored sessions could not be read from the disk. Try again.',
  SESSION_QUERY_INDEX_FAILED: 'The index of sessions failed. Try again; it is made anew when it is broken.',
  SESSION_QUERY_STALE_CURSOR: 'Sessions changed while they were searched. Make the whole call again.',
  SESSION_QUERY_INVALID_CURSOR: 'The place to go on from is not of this search. Make the whole call again.',
  SESSION_QUERY_SEARCH_DISABLED: 'Searching sessions is turned off by the setting history.index.',
}

export const queryError = (code: SessionQueryErrorCode, cause?: unknown): SessionQueryError => new SessionQueryError(code, messages[code], { cause })
