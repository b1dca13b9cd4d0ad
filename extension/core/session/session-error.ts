import { SessionError } from './session.ts'

export const sessionReadOnly = (id: string, obstacle?: string) =>
  new SessionError('READ_ONLY', `Session ${id} is open for reading only${obstacle === undefined ? ', because another window writes it. Close it there, then open it again here.' : `: ${obstacle}`}`)

export const sessionClosed = (id: string) => new SessionError('CLOSED', `Session ${id} is closed. Open it again to go on.`)

export const sessionNotLive = (id: string) => new SessionError('SESSION_NOT_LIVE', `Session ${id} is not open. Open it first.`)

export const reentrantAppend = (type: string) =>
  new SessionError('REENTRANT', `${type} cannot be appended while another event of the session is being told. Append it afterwards, from a microtask.`)

export const notJson = (cause: Error) => new SessionError('NOT_JSON', `The log carries lossless JSON only: ${cause.message}`, { cause })
/** A rule of the log that an event would break. Nothing is appended. */
export const brokenRule = (rule: string, type: string, problem: string) =>
  new SessionError('INVARIANT', `The log refuses ${type}: ${problem} (rule ${rule}).`)

export const unsupportedVersion = (id: string, version: unknown) =>
  new SessionError(
    'UNSUPPORTED_VERSION',
    `Session ${id} is stored in format version ${JSON.stringify(version)}; this Bosun reads version 0. Open it with the Bosun that wrote it. Its file was left as it is.`,
  )

export const unknownEvent = (id: string, type: string, seq: number) =>
  new SessionError(
    'UNKNOWN_EVENT',
    `Session ${id} holds an event of the unknown type ${JSON.stringify(type)} (number ${seq}). Update Bosun, or enable the plugin that wrote it. Its file was left as it is.`,
  )

export const unknownDraft = (type: string) =>
  new SessionError('UNKNOWN_EVENT', `Nobody registered the event type ${JSON.stringify(type)}. Register it with eventTypes.register, or mark the event ignorable.`)
