import { describe, expect, it } from 'vitest'
import type { Workspace } from '../../../../extension/capabilities/workspace.ts'
import { createKernel } from '../../../../extension/core/kernel/kernel.ts'
import type { EventDraft } from '../../../../extension/core/log/event.ts'
import type { ApprovalAnswer } from '../../../../extension/core/policy/approval.ts'
import { createApprovals } from '../../../../extension/core/policy/approvals.ts'
import { createPermissionBook } from '../../../../extension/core/policy/permissions-service.ts'
import type { ApprovalDetails } from '../../../../extension/core/tools/definition.ts'
import { createSettings } from '../../../../extension/core/settings/service.ts'
import { createFakeAgent } from '../../../support/fake-agent.ts'
import { createFakeMachine } from '../../../support/fake-machine.ts'
import { memorySettings } from '../../../support/memory-settings.ts'
import { createRecordingLogger } from '../../../support/quiet-logger.ts'

const workspace: Workspace = {
  folders: () => [],
  isTrusted: () => true,
  onDidChangeTrust: () => () => undefined,
  onDidChangeFolders: () => () => undefined,
  snapshot: () => Promise.resolve({ openEditors: [], unsavedFiles: [] }),
}
const openTurn: EventDraft = { type: 'turn/start', data: { turn: 1 } }

const setUp = (events: readonly EventDraft[] = [openTurn]) => {
  const logger = createRecordingLogger()
  const kernel = createKernel({ logger })
  const source = memorySettings()
  const machine = createFakeMachine()
  const book = createPermissionBook({ source, settings: createSettings({ source, logger }), workspace, machine, logger })
  const approvals = createApprovals({ dispatch: kernel.dispatch, machine, logger, book })
  const agent = createFakeAgent({ events })
  const cancel = new AbortController()
  const request = (details?: ApprovalDetails) => approvals.request({ agent, toolName: 'bash', callId: 'c1', reason: 'why', signal: cancel.signal, ...(details && { details }) })
  const audit = () => agent.log.filter(({ type }) => type.startsWith('approval/')).map(({ type, data }) => [type, data])
  return { kernel, approvals, agent, cancel, request, audit, source, logger, book }
}
const id = '00000000000000000000000000000001'
const asked = ['approval/asked', { id, toolName: 'bash', callId: 'c1', reason: 'why' }]
const decided = (outcome: string, more: object = {}) => ['approval/decided', { id, outcome, ...more }]
const offer = { label: 'Always', rule: { scope: 'always', rules: [{ tool: 'bash', match: 'npm test *', decision: 'allow' }] } }
const details: ApprovalDetails = { effect: 'Run', why: 'No rule.', always: [offer] }

describe('an approval', () => {
  it('asks the person, and the first answer wins', async () => {
    const { approvals, request, audit } = setUp()
    approvals.attach()
    let changes = 0
    const leave = approvals.onDidChange(() => (changes += 1))
    const answer = request()
    await expect.poll(() => approvals.pending().map(({ id, toolName, callId }) => [id, toolName, callId])).toEqual([[id, 'bash', 'c1']])
    expect(audit()).toEqual([asked])
    expect([approvals.answer(id, { outcome: 'allowed-once' }), approvals.answer(id, { outcome: 'rejected' }), approvals.answer('other', { outcome: 'rejected' })]).toEqual([true, false, false])
    expect([await answer, approvals.pending(), audit()]).toEqual([{ outcome: 'allowed-once' }, [], [asked, decided('allowed-once')]])
    expect(changes).toBe(2)
    leave()
  })

  it('gives the words of a refusal to the one who asked and to the log', async () => {
    const { approvals, request, audit } = setUp()
    approvals.attach()
    const answer = request()
    await expect.poll(() => approvals.answer(id, { outcome: 'rejected', note: 'Use make.' })).toBe(true)
    expect([await answer, audit()]).toEqual([{ outcome: 'rejected', note: 'Use make.' }, [asked, decided('rejected', { note: 'Use make.' })]])
  })

  it('is unavailable when nobody could answer', async () => {
    const { approvals, request, audit } = setUp()
    approvals.attach()()
    expect([await request(), audit()]).toEqual([{ outcome: 'unavailable' }, [asked, decided('unavailable')]])
  })

  it('is cancelled with its call, before and while it waits', async () => {
    const { approvals, request, cancel, audit } = setUp()
    approvals.attach()
    const answer = request()
    await expect.poll(() => approvals.pending().length).toBe(1)
    cancel.abort()
    expect([await answer, approvals.pending(), audit()]).toEqual([{ outcome: 'cancelled' }, [], [asked, decided('cancelled')]])
    expect(await request()).toEqual({ outcome: 'cancelled' })
  })

  it('that is cancelled takes no answer any more, not even in the same moment', async () => {
    const { approvals, request, cancel, audit } = setUp()
    approvals.attach()
    const answer = request()
    await expect.poll(() => approvals.pending().length).toBe(1)
    cancel.abort()
    expect(approvals.answer(id, { outcome: 'allowed-once' })).toBe(false)
    expect([await answer, audit()]).toEqual([{ outcome: 'cancelled' }, [asked, decided('cancelled')]])
  })

  it('whose call is cancelled in the moment of its answer is cancelled, and keeps no rule', async () => {
    const { approvals, request, cancel, audit, source } = setUp()
    approvals.attach()
    const answer = request(details)
    await expect.poll(() => approvals.pending().length).toBe(1)
    approvals.answer(id, { outcome: 'allowed-once', rule: offer.rule })
    cancel.abort()
    expect([await answer, audit(), source.get('permissions.rules')]).toEqual([{ outcome: 'cancelled' }, [asked, decided('cancelled')], undefined])
  })

  it('answered twice keeps the rule of the first answer alone', async () => {
    const { approvals, request, source, audit } = setUp()
    approvals.attach()
    const answer = request(details)
    await expect.poll(() => approvals.pending().length).toBe(1)
    expect([approvals.answer(id, { outcome: 'rejected' }), approvals.answer(id, { outcome: 'allowed-once', rule: offer.rule })]).toEqual([true, false])
    expect([await answer, audit(), source.get('permissions.rules')]).toEqual([{ outcome: 'rejected' }, [asked, decided('rejected')], undefined])
  })

  const listeners: readonly [name: string, answer: () => unknown, outcome: string][] = [
    ['answers', () => ({ outcome: 'allowed-once' }), 'allowed-once'],
    ['throws', () => Promise.reject(new Error('broken')), 'unavailable'],
    ['says something unknown', () => ({ outcome: 'maybe' }), 'unavailable'],
    ['says nothing', () => undefined, 'unavailable'],
    ['makes up a rule', () => ({ outcome: 'allowed-once', rule: { scope: 'always', rules: [{ tool: '*', decision: 'allow' }] } }), 'unavailable'],
  ]
  it.each(listeners)('may be answered by a listener: one that %s', async (_name, answer, outcome) => {
    const { kernel, request, audit } = setUp()
    kernel.root.on('approval/request', answer as () => ApprovalAnswer)
    expect([(await request(details)).outcome, audit()]).toEqual([outcome, [asked, decided(outcome)]])
  })

  it('goes on to the person when a listener leaves it to others', async () => {
    const { kernel, approvals, request } = setUp()
    kernel.root.on('approval/request', (_request, next) => next())
    approvals.attach()
    const answer = request()
    await expect.poll(() => approvals.answer(id, { outcome: 'allowed-once' })).toBe(true)
    expect(await answer).toEqual({ outcome: 'allowed-once' })
  })

  it('outside of a turn is an error and asks nobody', async () => {
    const { request, audit } = setUp([openTurn, { type: 'turn/end', data: { turn: 1, reason: { kind: 'completed' } } }])
    await expect(request()).rejects.toThrow('outside of a turn')
    expect(audit()).toEqual([])
  })

  it('that cannot be written down is an error', async () => {
    const { approvals, agent, request } = setUp()
    approvals.attach()
    const { append } = agent.session
    const answer = request()
    await expect.poll(() => approvals.pending().length).toBe(1)
    agent.session.append = () => {
      throw new Error('the disk is full')
    }
    approvals.answer(id, { outcome: 'allowed-once' })
    await expect(answer).rejects.toThrow('the disk is full')
    await expect(request()).rejects.toThrow('the disk is full')
    agent.session.append = append
    expect(approvals.pending()).toEqual([])
  })

  it('asks nobody where the session says never, except what throws work away', async () => {
    const { approvals, request, audit } = setUp([openTurn, { type: 'approval/policy', data: { policy: 'never' } }])
    approvals.attach()
    expect((await request()).outcome).toBe('rejected')
    expect(audit().at(-1)).toEqual(decided('rejected', { note: expect.stringContaining('nobody is to be asked') }))
    const answer = request({ ...details, mustAsk: true })
    await expect.poll(() => approvals.pending().length).toBe(1)
    approvals.answer(approvals.pending()[0]?.id ?? '', { outcome: 'allowed-once' })
    expect((await answer).outcome).toBe('allowed-once')
  })

  it('keeps the rule it came with, in the settings and in the log', async () => {
    const { approvals, request, audit, source, agent, book } = setUp()
    approvals.attach()
    const answer = request(details)
    await expect.poll(() => approvals.answer(id, { outcome: 'allowed-once', rule: offer.rule })).toBe(true)
    await answer
    expect(source.user['permissions.rules']).toEqual(offer.rule.rules)
    expect(audit().at(-1)).toEqual(decided('allowed-once', { rule: JSON.stringify(offer.rule) }))
    expect(book.rulesIn(agent.session).map(({ tool, command }) => [tool, command])).toEqual([['bash', { words: ['npm', 'test'], isPrefix: true }]])
  })

  it('stands though its rule cannot be saved', async () => {
    const { approvals, request, source, logger } = setUp()
    source.set = () => Promise.reject(new Error('read-only'))
    approvals.attach()
    const answer = request(details)
    await expect.poll(() => approvals.answer(id, { outcome: 'allowed-once', rule: offer.rule })).toBe(true)
    expect((await answer).outcome).toBe('allowed-once')
    expect(logger.lines.map(({ message }) => message)).toEqual([expect.stringContaining('could not be saved')])
  })
})
