import type { ExtensionPoints, PointName } from './core/kernel/plugin.ts'
// The points that a composition has, by name.
import type {} from './core/commands/command.ts'
import type {} from './core/loop/points.ts'
import type {} from './core/policy/approval.ts'
import type {} from './core/presets/preset.ts'
import type {} from './core/prompt/system-prompt.ts'
import type {} from './core/session/retention.ts'
import type {} from './core/session/session.ts'
import type {} from './core/settings/settings.ts'
import type {} from './core/tools/service.ts'
import type {} from './features/command-environment/service.ts'
import type {} from './features/dynamic-plugins/service.ts'
import type {} from './features/goals/service.ts'
import type {} from './features/observation/service.ts'
import type {} from './features/skills/service.ts'
import type {} from './features/subagents/service.ts'
import type {} from './features/workflow/service.ts'

/** What becomes of a listener's throw. */
export type ThrowOutcome =
  /** Logged; the dispatcher and the other listeners go on. */
  | 'contained'
  /** The call's failed result, and post-execute does not run. */
  | 'final error of the call, skips post-execute'
  | 'final error of the call'
  /** The turn ends with an error; the loop lives on. */
  | 'the turn ends with an error'
  /** What was about to be published is taken back, and the throw reaches whoever asked for it. */
  | 'takes the publication back'
  | 'takes the registration back'
  /** The listeners' throw reaches the caller as it is. */
  | 'reaches the caller'
  | 'counts as unavailable, which denies'
  /** Nothing is left out of the log. */
  | 'original content logged'
  /** The barrier rejects, and the effect behind it does not happen. */
  | 'the barrier rejects: the effect does not happen'
  | 'the tool call fails'

export interface PointFacts<Name extends PointName> {
  readonly kind: ExtensionPoints[Name]['kind']
  readonly args: string
  /** What a listener may give back; absent for observers. */
  readonly result?: string
  readonly onThrow: ThrowOutcome
}

/**
 * Every extension point: where plugins join in. A point that is missing here, or of another kind than its type says, does not compile.
 *
 * Source: runtime specification 26. `docs/runtime-contract.md` is written from it.
 */
export const extensionPoints = {
  'tools/pre-execute': { kind: 'waterfall', args: 'execution', result: 'allow, deny, ask, or rewrite with other arguments', onThrow: 'final error of the call, skips post-execute' },
  'tools/execute': { kind: 'waterfall', args: 'execution, whose signal may be replaced', result: 'result', onThrow: 'final error of the call, skips post-execute' },
  'tools/post-execute': { kind: 'waterfall', args: 'execution, result', result: 'accept (with content or value, contexts) or block', onThrow: 'final error of the call' },
  'tools/result': { kind: 'emit', args: 'execution, result', onThrow: 'contained' },
  'tools/change': { kind: 'emit', args: '', onThrow: 'takes the registration back' },

  'agent/pre-step': { kind: 'waterfall', args: '{agent, messages, turn, step, signal}', result: 'enter with messages, or reject', onThrow: 'the turn ends with an error' },
  'agent/request': { kind: 'waterfall', args: '{agent, turn, step, signal}', result: 'configuration of the call', onThrow: 'the turn ends with an error' },
  'agent/request-error': { kind: 'waterfall', args: '{agent, turn, step, provider, failure, retryPolicy?, signal}', result: 'retry, or fail with the failure to tell', onThrow: 'the turn ends with an error' },
  'agent/turn-stopping': { kind: 'serial', args: '{agent, turn, signal}', onThrow: 'the turn ends with an error' },
  'tools/code-dispatch-log': { kind: 'waterfall', args: '{agent, rootCallId, subCallId, name, isError, content}', result: 'content blocks for the log', onThrow: 'original content logged' },
  'llm/stream': { kind: 'waterfall', args: 'request', result: 'stream of chunks', onThrow: 'reaches the caller' },
  'system-prompt/assemble': { kind: 'waterfall', args: 'sections, context', result: 'sections', onThrow: 'the turn ends with an error' },
  'approval/request': { kind: 'waterfall', args: 'request', result: 'outcome', onThrow: 'counts as unavailable, which denies' },

  'shell/environment': { kind: 'waterfall', args: '{agent?}', result: 'names and values for a command; null deletes', onThrow: 'the tool call fails' },

  'session/flush': { kind: 'parallel', args: 'session', onThrow: 'the barrier rejects: the effect does not happen' },
  'session/created': { kind: 'emit', args: 'session', onThrow: 'takes the publication back' },
  'session/disposed': { kind: 'emit', args: 'session', onThrow: 'contained' },
  'session/removed': { kind: 'emit', args: 'id of a session that is gone for good', onThrow: 'contained' },
  'session/event': { kind: 'emit', args: 'session, event', onThrow: 'contained' },
  'session/mirrored': { kind: 'emit', args: 'session, event', onThrow: 'contained' },
  'session/access': { kind: 'emit', args: 'session', onThrow: 'contained' },
  'session/expired': { kind: 'emit', args: 'sessions (id, title) that retention deleted', onThrow: 'contained' },
  'session/spill-dropped': { kind: 'emit', args: 'bytes and sessions whose spilled output retention deleted', onThrow: 'contained' },

  'agent/created': { kind: 'emit', args: 'agent', onThrow: 'takes the publication back' },
  'agent/disposing': { kind: 'parallel', args: 'agent', onThrow: 'contained' },
  'agent/disposed': { kind: 'emit', args: 'agent', onThrow: 'contained' },
  'agent/session-start': { kind: 'emit', args: 'agent, source (startup, resume, clear, compact)', onThrow: 'contained' },
  'agent/status': { kind: 'emit', args: 'agent, idle or running', onThrow: 'contained' },
  'agent/inbox/inserted': { kind: 'emit', args: '{agent, message}', onThrow: 'contained' },
  'agent/inbox/claimed': { kind: 'emit', args: '{agent, message, turn}', onThrow: 'contained' },
  'agent/inbox/discarded': { kind: 'emit', args: '{agent, message}', onThrow: 'contained' },
  'agent/error': { kind: 'emit', args: '{agent, turn, step, error}', onThrow: 'contained' },
  'agent/progress': { kind: 'emit', args: '{agent, callId, progress}', onThrow: 'contained' },

  'agent-loop/config-start-failed': { kind: 'emit', args: '{sessionId, error}', onThrow: 'contained' },
  'agent-preset/selected': { kind: 'emit', args: 'session id, preset', onThrow: 'contained' },
  'llm/adapters-updated': { kind: 'emit', args: '', onThrow: 'contained' },
  'credentials/updated': { kind: 'emit', args: 'name of the key', onThrow: 'contained' },
  'system-prompt/change': { kind: 'emit', args: '', onThrow: 'contained' },
  'commands/change': { kind: 'emit', args: '', onThrow: 'contained' },
  'skills/change': { kind: 'emit', args: '', onThrow: 'contained' },
  'settings/updated': { kind: 'emit', args: 'key, next, previous, source (document or update)', onThrow: 'contained' },
  'settings/document-updated': { kind: 'emit', args: 'namespace, revision', onThrow: 'contained' },
  'fs/write-intent': { kind: 'waterfall', args: '{agent?, target, stat or null}', result: 'absent or the version it builds on', onThrow: 'the tool call fails' },
  'fs/edit-intent': { kind: 'waterfall', args: '{agent?, target}', result: 'the version it builds on', onThrow: 'the tool call fails' },
  'goal/changed': { kind: 'emit', args: 'agent, {operation, ref, goal?}', onThrow: 'contained' },
  'subagent/start': { kind: 'emit', args: '{parent, runId, provider, id, local}', onThrow: 'contained' },
  'subagent/end': { kind: 'emit', args: '{parent, runId, provider, id, stopReason, lastAssistantMessage?}', onThrow: 'contained' },
  'workflow/start': { kind: 'emit', args: '{id, agent, meta}', onThrow: 'contained' },
  'workflow/phase': { kind: 'emit', args: '{id, agent, title}', onThrow: 'contained' },
  'workflow/log': { kind: 'emit', args: '{id, agent, message}', onThrow: 'contained' },
  'workflow/agent-start': { kind: 'emit', args: '{id, agent, seq, label, phase?, childId}', onThrow: 'contained' },
  'workflow/agent-end': { kind: 'emit', args: '{id, agent, seq, label, phase?, childId, outcome}', onThrow: 'contained' },
  'workflow/end': { kind: 'emit', args: '{id, agent, stopReason, error?, agentsStarted}', onThrow: 'contained' },
  'cordis/request-run': { kind: 'emit', args: '{agent, approvalId, pluginId, packageId}', onThrow: 'contained' },
  'cordis/request-run-resolved': { kind: 'emit', args: '{agent, approvalId, pluginId, packageId, outcome}', onThrow: 'contained' },
  'cordis/dynamic-package': { kind: 'emit', args: '{agent, pluginId, packageId, runId}', onThrow: 'contained' },
  'cordis/dynamic-retract': { kind: 'emit', args: '{agent, pluginId, packageId, runId}', onThrow: 'contained' },
  'cordis/inspect-query': { kind: 'emit', args: '{agent, platform, provider, method}', onThrow: 'contained' },
  'cordis/inspect-query-resolved': { kind: 'emit', args: '{agent, platform, provider, method, isError}', onThrow: 'contained' },
  'fs/observed': { kind: 'emit', args: '{agent?, target, version or null}', onThrow: 'contained' },
} as const satisfies { readonly [Name in PointName]: PointFacts<Name> }
