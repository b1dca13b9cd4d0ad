import type { JsonObject } from '../../base/json.ts'
import type { SandboxMode } from '../../core/log/event.ts'
import { toolNameFor } from './match.ts'
import type { HookDialect, HookPoint } from './hook.ts'

/** A moment of a session at which hooks run, with what they are told of it. */
export type Moment =
  | { readonly point: 'SessionStart'; readonly source: string }
  | { readonly point: 'SessionEnd'; readonly reason: string }
  | { readonly point: 'UserPromptSubmit'; readonly prompt: string }
  | { readonly point: 'PreToolUse'; readonly tool: string; readonly input: unknown; readonly callId: string }
  | { readonly point: 'PostToolUse'; readonly tool: string; readonly input: unknown; readonly callId: string; readonly response: { readonly text: string; readonly isError: boolean } }
  | { readonly point: 'Stop' | 'SubagentStop'; readonly isContinued: boolean; readonly lastText: string }
  | { readonly point: 'SubagentStart'; readonly agentId: string }
  | { readonly point: 'PreCompact'; readonly trigger: 'manual' | 'auto' }

export interface HookPlace {
  readonly sessionId: string
  readonly transcriptPath: string
  readonly cwd: string
  readonly mode: SandboxMode
}

const permissionModes: Readonly<Record<SandboxMode, string>> = { 'read-only': 'plan', 'workspace-write': 'default', 'danger-full-access': 'bypassPermissions' }

/** What a hook reads on its standard input, in the words of its dialect. */
export function hookInput(dialect: HookDialect, moment: Moment, place: HookPlace): JsonObject {
  return {
    session_id: place.sessionId,
    transcript_path: place.transcriptPath,
    cwd: place.cwd,
    permission_mode: permissionModes[place.mode],
    hook_event_name: moment.point,
    // Arguments and results are lossless JSON already.
    ...(fieldsOf(dialect, moment) as JsonObject),
  }
}

function fieldsOf(dialect: HookDialect, moment: Moment): object {
  switch (moment.point) {
    case 'SessionStart':
      return { source: moment.source }
    case 'SessionEnd':
      return { reason: moment.reason }
    case 'UserPromptSubmit':
      return { prompt: moment.prompt }
    case 'PreToolUse':
      return { tool_name: toolNameFor(dialect, moment.tool), tool_input: moment.input, tool_use_id: moment.callId }
    case 'PostToolUse':
      return { tool_name: toolNameFor(dialect, moment.tool), tool_input: moment.input, tool_use_id: moment.callId, tool_response: moment.response }
    case 'Stop':
    case 'SubagentStop':
      return { stop_hook_active: moment.isContinued, last_assistant_message: moment.lastText }
    case 'SubagentStart':
      return { agent_id: moment.agentId }
    case 'PreCompact':
      return { trigger: moment.trigger }
    default:
      return moment satisfies never
  }
}

/** What a matcher is held against at a moment; empty: matchers mean nothing there. */
export function subjectOf(moment: Moment): string {
  switch (moment.point) {
    case 'SessionStart':
      return moment.source
    case 'PreToolUse':
    case 'PostToolUse':
      return moment.tool
    case 'PreCompact':
      return moment.trigger
    default:
      return ''
  }
}

/** A made-up moment for a dry run. */
export function sampleMoment(point: HookPoint, subject: string, input: object): Moment {
  switch (point) {
    case 'SessionStart':
      return { point, source: subject || 'startup' }
    case 'SessionEnd':
      return { point, reason: 'other' }
    case 'UserPromptSubmit':
      return { point, prompt: 'A prompt.' }
    case 'PreToolUse':
      return { point, tool: subject || 'bash', input, callId: 'call' }
    case 'PostToolUse':
      return { point, tool: subject || 'bash', input, callId: 'call', response: { text: '', isError: false } }
    case 'Stop':
    case 'SubagentStop':
      return { point, isContinued: false, lastText: '' }
    case 'SubagentStart':
      return { point, agentId: 'agent' }
    case 'PreCompact':
      return { point, trigger: subject === 'manual' ? 'manual' : 'auto' }
    default:
      return point satisfies never
  }
}
