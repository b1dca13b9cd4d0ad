import type { Plugin } from '../core/kernel/plugin.ts'
import type { EventType } from '../core/log/event.ts'
import type { EventTypeRules } from '../core/log/event-types.ts'
import type {} from './commands/events.ts'
import type {} from './jobs/service.ts'
import type {} from './observation/service.ts'
import type {} from './plan/service.ts'
import type {} from './questions/service.ts'
import type {} from './terminals/service.ts'
import type {} from './web/service.ts'

/** What the log holds the events of the features to. A build without a feature may skip them. */
export const featureEventTypes: Partial<Readonly<Record<EventType, EventTypeRules>>> = {
  'feedback/record': { isIgnorable: true, fields: { text: 'text' } },
  'fs/observed': { isIgnorable: true, fields: { path: 'text' } },
  'fs/before-image': { isIgnorable: true, fields: { callId: 'text', path: 'text' } },
  'job/started': { isIgnorable: true, fields: { id: 'text', kind: 'text', label: 'text', movedFromCall: 'text?', restartOf: 'text?' } },
  'job/program': { isIgnorable: true, fields: { id: 'text', pid: 'number', startedAt: 'number', birth: 'text?' } },
  'job/ended': { isIgnorable: true, fields: { id: 'text', status: 'text', detail: 'text?' } },
  'plan/mode': { fields: { active: 'boolean' } },
  'question/asked': { isIgnorable: true, fields: { id: 'text', callId: 'text?', questions: 'list' } },
  'web/deepseek-search-llm-request': { isIgnorable: true, fields: { callId: 'text', endpoint: 'text', apiVersion: 'text', body: 'object', model: 'text' } },
  'question/settled': { isIgnorable: true, fields: { id: 'text', outcome: 'text' } },
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
