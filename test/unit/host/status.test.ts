import { describe, expect, it } from 'vitest'
import { fillIn } from '../../../extension/base/fill-in.ts'
import { statusOf, type StatusFacts } from '../../../extension/host/status.ts'

const l10n = { t: fillIn }

const facts: StatusFacts = { state: 'idle', waiting: 0, running: 0, jobs: 0, model: 'sonnet', isScripted: false, contextShare: 0.341, details: ['$0.12 so far'], title: 'Tides' }

const check = (more: Partial<StatusFacts>, text: string, tooltip: readonly string[], isWarning = false) =>
  expect(statusOf({ ...facts, ...more }, l10n)).toEqual({ text, tooltip: tooltip.join('\n'), isWarning })

const end = ['Model: sonnet', '34% of the model’s window in use', '$0.12 so far']

describe('the status bar item', () => {
  it('says the model and how full its window is', () => check({}, '$(comment-discussion) sonnet 34%', ['Bosun: Tides', 'Ready', ...end]))

  it('turns while one works', () => check({ state: 'running', running: 1 }, '$(loading~spin) sonnet 34%', ['Bosun: Tides', 'Working', ...end]))

  it('counts those that work when it is not one', () => check({ state: 'running', running: 3 }, '$(loading~spin) sonnet 34% 3 working', ['Bosun: Tides', '3 working', ...end]))

  it('says first that something waits, and then that others work', () =>
    check({ state: 'waiting', waiting: 2, running: 3 }, '$(bell-dot) sonnet 34% 3 working', ['Bosun: Tides', '2 waiting for you', '3 working', ...end], true))

  it('says how many commands run in the background', () => check({ jobs: 2 }, '$(comment-discussion) sonnet 34%', ['Bosun: Tides', 'Ready', ...end.slice(0, 2), '2 jobs run in the background', '$0.12 so far']))

  it('says of a script that it is one', () => check({ isScripted: true, contextShare: null, details: [], model: 'Tour' }, '$(comment-discussion) Tour', ['Bosun: Tides', 'Ready', 'Plays a script: Tour']))

  it('is called Bosun while there is neither model nor session', () => check({ model: null, contextShare: null, title: null, details: [] }, '$(comment-discussion) Bosun', ['Bosun', 'Ready']))
})
