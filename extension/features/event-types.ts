import type { Plugin } from '../core/kernel/plugin.ts'
import type { EventType } from '../core/log/event.ts'
import { blockText, textUnder } from '../core/log/event-text.ts'
import type { EventPair, EventTypeRules } from '../core/log/event-types.ts'
import type {} from '../core/tools/code-dispatch.ts'
import type {} from './commands/events.ts'
import type {} from './dynamic-plugins/events.ts'
import type {} from './goals/events.ts'
import type {} from './jobs/service.ts'
import type {} from './observation/service.ts'
import type {} from './plan/service.ts'
import type {} from './questions/service.ts'
import type {} from './subagents/service.ts'
import type {} from './subagents/worktree/service.ts'
import type {} from './schedule/events.ts'
import type {} from './teams/events.ts'
import type {} from './terminals/service.ts'
import type {} from './web/service.ts'
import type {} from './workflow/events.ts'

const codeDispatch: EventPair = { name: 'code-dispatch', by: ['subCallId'] }
const dispatchPlace = { rootCallId: 'text', parentCallId: 'text', subCallId: 'text', name: 'text', from: 'text?' } as const

/** What the log holds the events of the features to. A build without a feature may skip them. */
export const featureEventTypes: Partial<Readonly<Record<EventType, EventTypeRules>>> = {
  'cordis/package': { isIgnorable: true, fields: { pluginId: 'text', packageId: 'text', name: 'text', purpose: 'text', halves: 'list', restoredFrom: 'text?' }, searchText: textUnder('pluginId', 'name', 'purpose') },
  'cordis/approval': { isIgnorable: true, fields: { approvalId: 'text', pluginId: 'text', packageId: 'text', outcome: 'text', tool: 'text?', isForAllVersions: 'boolean?' } },
  'cordis/run': { isIgnorable: true, fields: { pluginId: 'text', packageId: 'text', runId: 'text', state: 'text', reason: 'text?' }, searchText: textUnder('pluginId', 'reason') },
  'cordis/removed': { isIgnorable: true, fields: { pluginId: 'text', wasRunning: 'boolean' } },
  'feedback/record': { isIgnorable: true, fields: { text: 'text' } },
  'fs/observed': { isIgnorable: true, fields: { path: 'text' } },
  'fs/before-image': { isIgnorable: true, fields: { callId: 'text', path: 'text' } },
  'goal/change': { fields: { kind: 'text', version: 'count', operation: 'text' }, searchText: textUnder('operation', 'objective', 'message') },
  'goal/terms': { isIgnorable: true, fields: { goalId: 'text', maxTokens: 'number?', maxCost: 'number?', maxMinutes: 'number?', checks: 'list' }, searchText: textUnder('checks') },
  'goal/baseline': { isIgnorable: true, fields: { goalId: 'text', started: 'object', errors: 'list?' } },
  'goal/checked': { isIgnorable: true, fields: { goalId: 'text', results: 'list' }, searchText: textUnder('check', 'outcome', 'output') },
  'goal/strike': { isIgnorable: true, fields: { goalId: 'text', round: 'count' } },
  'job/started': { isIgnorable: true, fields: { id: 'text', kind: 'text', label: 'text', movedFromCall: 'text?', restartOf: 'text?' } },
  'job/program': { isIgnorable: true, fields: { id: 'text', pid: 'number', startedAt: 'number', birth: 'text?' } },
  'job/ended': { isIgnorable: true, fields: { id: 'text', status: 'text', detail: 'text?' } },
  'plan/mode': { fields: { active: 'boolean' } },
  'plan/selected': { isIgnorable: true, fields: { active: 'boolean', isSilent: 'boolean?' } },
  'plan/edited': { isIgnorable: true, fields: { callId: 'text', plan: 'text', comments: 'list' }, searchText: textUnder('plan', 'text') },
  'plan/approved': { isIgnorable: true, fields: { callId: 'text', plan: 'text', isEdited: 'boolean', comments: 'list', steps: 'list' }, searchText: textUnder('plan', 'text') },
  'plan/exception': { isIgnorable: true, fields: { callId: 'text', tool: 'text' } },
  'question/asked': { isIgnorable: true, asksForCall: true, fields: { id: 'text', callId: 'text?', server: 'text?', questions: 'list' }, searchText: textUnder('header', 'question', 'label') },
  'web/deepseek-search-llm-request': { isIgnorable: true, fields: { callId: 'text', endpoint: 'text', apiVersion: 'text', body: 'object', model: 'text' } },
  'question/settled': { isIgnorable: true, fields: { id: 'text', outcome: 'text', answers: 'list?' } },
  'subagent/descriptor': { fields: { version: 'number', mode: 'text', provider: 'text', label: 'text?' }, searchText: textUnder('label') },
  'subagent/promoted': { isIgnorable: true, fields: {} },
  // What is right in them is for the fold to say, which tells of a corrupt log rather than losing the session.
  'worktree/opened': { isIgnorable: true, fields: { id: 'text', label: 'text', runId: 'text', callId: 'text?', mayReturn: 'boolean?', repository: 'text', root: 'text', gitDir: 'text', branch: 'text', base: 'text' } },
  'worktree/waiting': { isIgnorable: true, fields: { id: 'text', files: 'number', commit: 'text?', problem: 'text?' } },
  'worktree/closed': { isIgnorable: true, fields: { id: 'text', how: 'text' } },
  'schedule/change': { searchText: textUnder('operation', 'prompt') },
  'schedule/adjust': { searchText: textUnder('operation', 'prompt') },
  'tool/code-dispatch-start': { isIgnorable: true, opens: codeDispatch, fields: dispatchPlace },
  'tool/code-dispatch': { isIgnorable: true, closes: codeDispatch, fields: { ...dispatchPlace, isError: 'boolean', content: 'list', error: 'object?', policy: 'object?' }, searchText: ({ content }) => blockText(content) },
  'tool-workflow/run-start': { isIgnorable: true, fields: { runId: 'text', name: 'text' }, searchText: textUnder('name') },
  'tool-workflow/agent-start': { isIgnorable: true, fields: { runId: 'text', seq: 'count', label: 'text', phase: 'text?', childId: 'text', isReused: 'boolean?' }, searchText: textUnder('label') },
  'tool-workflow/agent-end': { isIgnorable: true, fields: { runId: 'text', seq: 'count', outcome: 'text' } },
  'tool-workflow/changes': { isIgnorable: true, fields: { runId: 'text', seq: 'count', files: 'count' } },
  'tool-workflow/run-end': { isIgnorable: true, fields: { runId: 'text', stopReason: 'text', error: 'text?' }, searchText: textUnder('error') },
  'tool-workflow/plan': { isIgnorable: true, fields: { runId: 'text', kind: 'text', meta: 'object', script: 'text', callId: 'text?', resumedFrom: 'text?' }, searchText: textUnder('description', 'title', 'script') },
  'tool-workflow/phase': { isIgnorable: true, fields: { runId: 'text', title: 'text' }, searchText: textUnder('title') },
  'tool-workflow/log': { isIgnorable: true, fields: { runId: 'text', message: 'text' }, searchText: textUnder('message') },
  'tool-workflow/journal': { isIgnorable: true, fields: { runId: 'text', seq: 'count', key: 'text' } },
  // What is right in them is for the fold to say, which tells of a corrupt log rather than losing the session.
  'team/member': { searchText: textUnder('name', 'description', 'error') },
  'team/task': { searchText: textUnder('subject', 'description') },
  'team/message/queued': { searchText: textUnder('senderName', 'text') },
  'team/message/delivered': {},
  'terminal/opened': { isIgnorable: true, fields: { id: 'text', shell: 'text', name: 'text?', isAdopted: 'boolean?' } },
  'terminal/ended': { isIgnorable: true, fields: { id: 'text', exitCode: 'number?', signal: 'text?' } },
}

/** Makes the events of the features known, before any session is opened. */
export const featureEvents: Plugin = {
  name: 'feature-events',
  inject: ['eventTypes'],
  apply(ctx) {
    for (const [type, rule] of Object.entries(featureEventTypes)) ctx.effect(ctx.eventTypes.register(type as EventType, rule))
  },
}
