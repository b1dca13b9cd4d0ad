import { describe, expect, it } from 'vitest'
import type { ToolResultView } from '../../../extension/protocol/cards.ts'
import type { ViewChannel } from '../../../extension/host/view-channel.ts'
import { imageBytes } from '../../support/image-bytes.ts'
import type { EventDraft } from '../../../extension/core/log/event.ts'
import { answered, called, draft, resulted, said, stepEnd, stepStart, turnEnd, turnStart, userMessage } from './session-events.ts'
import { presentCall as shellCard } from '../../../extension/tools/shell/shell.card.ts'
import { chatRig, realModel, tour } from './chat-rig.ts'

const talk = [turnStart(1), stepStart(1, 1), said('hello'), answered([{ type: 'text', text: 'Hi.' }]), stepEnd(1, 1), turnEnd(1)]
const keyed = { secrets: { DEEPSEEK_API_KEY: 'k' } }

describe('sending', () => {
  it('begins a session with the first message and remembers it', async () => {
    const rig = await chatRig(keyed)
    expect(rig.state().session).toBeNull()
    expect(await rig.send('fix it')).toBeNull()
    expect(rig.calls).toEqual([
      ['create', { cwd: '/project', agent: { provider: 'deepseek-official', model: 'deepseek-v4-pro' } }],
    ])
    expect(rig.agent('s1').received).toMatchObject([
      { verb: 'followup', message: { role: 'user', content: [{ type: 'text', text: 'fix it' }], source: { kind: 'user' } } },
    ])
    expect(rig.state().session).toMatchObject({ id: 's1', cwd: '/project', access: 'write', status: 'idle' })
    expect(rig.memento.get('openSession')).toBe('s1')
  })

  it('goes on in the open session and steers when asked', async () => {
    const rig = await chatRig(keyed)
    await rig.send('one')
    await rig.send('two', 'next-step')
    expect(rig.agent('s1').received.map(({ verb }) => verb)).toEqual(['followup', 'steer'])
    expect(rig.calls).toHaveLength(1)
  })

  it.each([
    ['  \n', 'There is nothing to send yet.'],
    ['x'.repeat(1_000_001), 'This message is too long. Put the text into a file and name the file instead.'],
  ])('refuses what cannot be sent', async (text, problem) => {
    const rig = await chatRig(keyed)
    expect(await rig.send(text)).toBe(problem)
    expect(rig.calls).toEqual([])
  })

  it('runs a command, keeps a wrong one in the box, and sends what two slashes begin', async () => {
    const rig = await chatRig(keyed)
    expect(await rig.send('/gone')).toBe('There is no command /gone.')
    expect(rig.state().session).toBeNull()
    expect(await rig.send('/model deep')).toBeNull()
    expect(rig.calls).toContainEqual(['command', 's1', '/model deep'])
    expect(await rig.send('//model is a word')).toBeNull()
    expect(await rig.send('/usr/bin/env is missing')).toBeNull()
    expect(rig.agent('s1').received.map(({ message }) => message.content)).toEqual([
      [{ type: 'text', text: '/model is a word' }],
      [{ type: 'text', text: '/usr/bin/env is missing' }],
    ])
  })

  it('runs a command from the palette, with what it wants to know', async () => {
    const rig = await chatRig(keyed)
    rig.editor.answers.push('model', 'deep')
    await rig.controller.run('run-command')
    await rig.settle()
    expect(rig.calls).toContainEqual(['command', 's1', '/model deep'])
  })

  it('asks for the folder once when several are open', async () => {
    const rig = await chatRig({ ...keyed, folders: ['/a', '/b'] })
    expect(await rig.send('x')).toBe('Choose a folder to work in, then send again.')
    rig.editor.answers.push('/b')
    expect(await rig.send('x')).toBeNull()
    expect(rig.calls).toMatchObject([['create', { cwd: '/b' }]])
  })

  it('needs a folder', async () => {
    const rig = await chatRig({ ...keyed, folders: [] })
    expect(rig.state().composer).toMatchObject({ canSend: false, blockedBy: 'Open a folder first: Bosun works on files.' })
    expect(await rig.send('x')).toBe('Open a folder first: Bosun works on files.')
    expect(rig.state().notices).toMatchObject([{ id: 'folder', actions: [{ label: 'Open a folder…' }] }])
    await rig.say({ type: 'notice-action', id: 'folder', action: 'open' })
    expect(rig.editor.shown).toContainEqual({ kind: 'folder', value: null })
  })

  it('shows the queue as what the person sent and the model has not seen', async () => {
    const rig = await chatRig(keyed)
    await rig.send('one')
    Object.assign(rig.agent('s1'), {
      inbox: {
        nextTurn: [
          { id: 'm1', role: 'user', content: [{ type: 'text', text: 'later' }], source: { kind: 'user' } },
          { id: 'm2', role: 'user', content: [{ type: 'text', text: 'a job ended' }], source: { kind: 'plugin', plugin: 'jobs' } },
        ],
        nextStep: [],
      },
    })
    rig.agent('s1').status = 'running'
    await rig.happen('s1', draft('agent/inbox/spliced', { target: 'next-turn', start: 0, inserted: [] }))
    expect(rig.state().queue).toEqual([{ id: 'm1', text: 'later', target: 'next-turn' }])
    await rig.say({ type: 'queue-edit', id: 'm1', text: 'sooner' })
    await rig.say({ type: 'queue-steer', id: 'm1' })
    await rig.say({ type: 'queue-delete', id: 'm1' })
    expect(rig.calls.slice(1)).toEqual([
      ['edit', 'm1', [{ type: 'text', text: 'sooner' }]],
      ['steerNow', 'm1'],
      ['remove', 'm1'],
    ])
  })

  it('shows the queue as it is after a change, which the inbox takes over once the log holds it', async () => {
    const rig = await chatRig(keyed)
    await rig.send('one')
    const waiting = { id: 'm1', role: 'user', content: [{ type: 'text', text: 'later' }], source: { kind: 'user' } }
    const agent = rig.agent('s1')
    Object.assign(agent, { inbox: { nextTurn: [waiting], nextStep: [] } })
    const told = rig.happen('s1', draft('agent/inbox/spliced', { target: 'next-turn', start: 0, removedCount: 1, inserted: [] }))
    Object.assign(agent, { inbox: { nextTurn: [], nextStep: [] } })
    await told
    expect(rig.state().queue).toEqual([])
  })

  it('stops without losing the queue, and goes on', async () => {
    const rig = await chatRig(keyed)
    await rig.send('one')
    await rig.say({ type: 'stop' })
    await rig.say({ type: 'continue' })
    await rig.say({ type: 'retry' })
    expect(rig.calls.slice(1)).toEqual([['cancel', { kind: 'user' }, { keepInbox: true }], ['go-on', 's1'], ['continue'], ['go-on', 's1'], ['continue']])
  })

  it('tries again at once, or with another model, while a request waits', async () => {
    const rig = await chatRig(keyed)
    await rig.send('one')
    rig.wait('s1')
    await rig.say({ type: 'retry' })
    rig.editor.answers.push('model:["deepseek-official","m1"]', 'effort:low')
    await rig.say({ type: 'pick-model' })
    expect(rig.calls.slice(1)).toEqual([['try now', 's1'], ['use now', 'deepseek-official', 'm1']])
  })
})

describe('drafts', () => {
  it('are kept per session over a reload and cleared by sending', async () => {
    const rig = await chatRig({ ...keyed, stored: { old: talk } })
    await rig.say({ type: 'draft', text: 'half a tho' })
    await rig.say({ type: 'session-open', id: 'old' })
    expect(rig.state().composer.draft).toBe('')
    await rig.say({ type: 'draft', text: 'other' })
    await rig.controller.dispose()
    expect(Object.fromEntries(rig.memento.values)).toMatchObject({ 'draft:': 'half a tho', 'draft:old': 'other', openSession: 'old' })

    const again = await chatRig({ ...keyed, stored: { old: talk }, memento: Object.fromEntries(rig.memento.values) })
    expect(again.state().composer.draft).toBe('other')
    await again.send('other')
    await again.controller.dispose()
    expect(again.memento.get('draft:old')).toBeUndefined()
  })

  it('are not told back to the page that typed', async () => {
    const rig = await chatRig(keyed)
    rig.page.take()
    rig.page.say({ type: 'draft', text: 'a' })
    rig.clock.advance(1000)
    expect(rig.page.take()).toEqual([])
  })
})

describe('sessions', () => {
  it('open again after a reload with their rows, the interrupted turn among them', async () => {
    const cut = [...talk, turnStart(2), stepStart(2, 1), said('more'), stepEnd(2, 1), turnEnd(2, { kind: 'interrupted' })]
    const rig = await chatRig({ ...keyed, stored: { old: cut }, memento: { openSession: 'old' } })
    expect(rig.state().session?.id).toBe('old')
    expect(rig.state().transcript.rows.map((row) => row.kind)).toEqual(['prompt', 'text', 'turn-end', 'prompt', 'turn-end'])
    expect(rig.state().transcript.rows.at(-1)).toMatchObject({ outcome: 'interrupted', next: 'continue' })
  })

  it('that cannot be opened are named with the reason, and the chat stays usable', async () => {
    const rig = await chatRig({ ...keyed, memento: { openSession: 'gone' } })
    expect(rig.state().session).toBeNull()
    expect(rig.state().notices).toMatchObject([{ id: 'session', level: 'error', text: '“gone” could not be opened: There is no session gone.' }])
    expect(rig.memento.get('openSession')).toBeUndefined()
    expect(await rig.send('x')).toBeNull()
  })

  it('that another window writes can be read, say who writes, and are taken up when it is gone', async () => {
    const rig = await chatRig({ ...keyed, stored: { old: talk }, elsewhere: ['old'], memento: { openSession: 'old' } })
    expect(rig.state().session).toMatchObject({ id: 'old', access: 'read-only', writer: 'ship, process 7' })
    expect(rig.state().transcript.rows).toHaveLength(3)
    expect(rig.state().composer.canSend).toBe(false)
    expect(await rig.send('x')).toBe('Another window writes this session. Go on there, or close it and open the session here again.')
    expect(rig.state().notices).toMatchObject([{ id: 'writer', actions: [{ id: 'again' }] }])
    rig.elsewhere.delete('old')
    await rig.say({ type: 'notice-action', id: 'writer', action: 'again' })
    expect(rig.state().session).toMatchObject({ access: 'write' })
    expect(rig.state().notices).toEqual([])
    expect(await rig.send('x')).toBeNull()
  })

  it('that the disk does not let be written can be read, and say what to do', async () => {
    const problem = 'Session old cannot be written: ENOSPC. Make room on the disk.'
    const rig = await chatRig({ ...keyed, stored: { old: talk }, obstacles: { old: problem }, memento: { openSession: 'old' } })
    expect(rig.state().session).toMatchObject({ id: 'old', access: 'read-only' })
    expect(rig.state().session).not.toHaveProperty('writer')
    expect(rig.state().transcript.rows).toHaveLength(3)
    expect(await rig.send('x')).toBe(`This session can only be read here. ${problem}`)
    expect(rig.state().notices).toMatchObject([{ id: 'writer', level: 'warning', text: `This session can only be read here. ${problem}`, actions: [{ id: 'again' }] }])
  })

  it('are renamed, with a title that says something', async () => {
    const rig = await chatRig({ ...keyed, stored: { old: talk } })
    await rig.say({ type: 'session-rename', id: 'old', title: ' New name ' })
    expect(rig.state().sessions).toMatchObject([{ id: 'old', title: 'New name' }])
    await rig.say({ type: 'session-rename', id: 'old', title: ' ' })
    expect(rig.state().notices).toMatchObject([{ id: 'session', text: 'A session needs a title.' }])
  })

  it('are deleted only after a yes', async () => {
    const rig = await chatRig({ ...keyed, stored: { old: talk }, memento: { openSession: 'old' } })
    await rig.say({ type: 'session-delete', id: 'old' })
    expect(rig.calls).toEqual([['resume', 'old']])
    rig.editor.answers.push(true)
    await rig.say({ type: 'session-delete', id: 'old' })
    expect(rig.calls.slice(1)).toEqual([
      ['dispose', 'old'],
      ['remove-session', 'old'],
    ])
    expect(rig.state()).toMatchObject({ session: null, sessions: [] })
  })

  it('go with what their agents started, unless the person named it; what cannot go is told of', async () => {
    const rig = await chatRig({ ...keyed, stored: { old: talk, one: [], two: [], mine: [], 'of mine': [] }, children: { one: { parent: 'old', label: 'one' }, two: { parent: 'one', label: 'two' }, mine: { parent: 'old', label: 'mine', isNamed: true }, 'of mine': { parent: 'mine', label: 'of mine' } } })
    rig.editor.answers.push(true)
    await rig.say({ type: 'session-delete', id: 'old' })
    expect(rig.calls).toEqual([
      ['remove-session', 'old'],
      ['remove-session', 'two'],
      ['remove-session', 'one'],
    ])
    expect(rig.state().sessions.map(({ id }) => id)).toEqual(['mine'])
  })

  it('begin anew with a click', async () => {
    const rig = await chatRig({ ...keyed, stored: { old: talk }, memento: { openSession: 'old' } })
    await rig.say({ type: 'session-new' })
    expect(rig.state()).toMatchObject({ session: null, transcript: { rows: [], total: 0 } })
    expect(rig.memento.get('openSession')).toBeUndefined()
  })

  it('show live rows only while they are open', async () => {
    const rig = await chatRig({ ...keyed, stored: { a: [], b: [] }, memento: { openSession: 'a' } })
    await rig.say({ type: 'session-open', id: 'b' })
    await rig.happen('a', ...talk)
    expect(rig.state().transcript.rows).toEqual([])
    await rig.happen('b', ...talk)
    expect(rig.state().transcript.rows).toHaveLength(3)
    await rig.say({ type: 'session-open', id: 'a' })
    expect(rig.state().transcript.rows).toHaveLength(3)
  })
})

describe('approvals', () => {
  const details = { effect: 'Run `npm test`', why: 'No rule allows it.', always: [{ label: 'Always allow npm test', rule: { tool: 'bash' } }] }

  it('stand in the chat, a notification, the badge and the status bar; an answer in one clears all', async () => {
    const rig = await chatRig(keyed)
    await rig.send('go')
    await rig.askApproval({ details })
    expect(rig.state().approvals).toMatchObject([{ id: 'q1', effect: 'Run `npm test`', why: 'No rule allows it.', always: ['Always allow npm test'], who: null }])
    expect(rig.attention.standing).toMatchObject([
      { text: 'Bosun: Run npm test', detail: 'No rule allows it.', buttons: [{ label: 'Allow once' }, { label: 'Always allow…' }, { label: 'Deny' }] },
    ])
    expect(rig.editor.badge).toEqual({ count: 1, tooltip: '1 waiting for you' })
    expect(rig.editor.status).toMatchObject({ isWarning: true })
    expect(rig.state().session?.status).toBe('waiting')
    await rig.say({ type: 'approval', id: 'q1', answer: 'allow' })
    expect(rig.calls.at(-1)).toEqual(['approval', 'q1', { outcome: 'allowed-once' }])
    expect([rig.state().approvals, rig.attention.standing, rig.editor.badge]).toEqual([[], [], null])
  })

  it.each([
    ['allow', { outcome: 'allowed-once' }],
    ['deny', { outcome: 'rejected' }],
  ])('are answered from the notification: %s', async (button, answer) => {
    const rig = await chatRig(keyed)
    await rig.send('go')
    await rig.askApproval({ details })
    rig.attention.click(button)
    await rig.settle()
    expect(rig.calls.at(-1)).toEqual(['approval', 'q1', answer])
    expect(rig.state().approvals).toEqual([])
  })

  it('keep a rule for "Always allow…", and ask again when the person backs out of the list', async () => {
    const rig = await chatRig(keyed)
    await rig.send('go')
    await rig.askApproval({ details })
    rig.attention.click('always')
    await rig.settle()
    expect(rig.attention.standing).toHaveLength(1)
    rig.editor.answers.push('0')
    rig.attention.click('always')
    await rig.settle()
    expect(rig.calls.at(-1)).toEqual(['approval', 'q1', { outcome: 'allowed-once', rule: { tool: 'bash' } }])
  })

  it('of a command in the background show all of its script, where it runs, and that it goes on', async () => {
    const rig = await chatRig({ ...keyed, presentCall: shellCard })
    await rig.send('go')
    await rig.askApproval({ details, arguments: { command: 'npm test\nrm -rf \u202Edist', description: 'Test', workdir: 'web', run_in_background: true } })
    expect(rig.state().approvals).toMatchObject([{ effect: 'Run `npm test`, in the background', card: { card: 'terminal', title: 'npm test\nrm -rf \\u{202e}dist', cwd: 'web' } }])
  })

  it('of a change to several files show all of it, in the chat and in one diff of the editor', async () => {
    const rig = await chatRig(keyed)
    await rig.send('go')
    const change = (path: string) => ({ path, target: `/project/${path}`, before: 'old\n', after: 'new\n', hunks: [{ oldStart: 1, newStart: 1, oldText: 'old\n', newText: 'new\n' }] })
    await rig.askApproval({ details: { ...details, effect: 'Rename `a → b` in 2 files', changes: ['x.ts', 'y.ts'].map(change) } })
    expect(rig.state().approvals).toMatchObject([
      { effect: 'Rename `a → b` in 2 files', canPreview: true, card: { card: 'diff', diffs: ['x.ts', 'y.ts'].map((path) => ({ path, oldText: 'old\n', newText: 'new\n', oldStart: 1, newStart: 1 })) } },
    ])
    const file = (path: string) => ({ path: `/project/${path}`, before: { name: path, text: 'old\n', side: 'q1-before' }, after: { name: path, text: 'new\n', side: 'q1-proposed' } })
    rig.editor.take()
    await rig.say({ type: 'approval-preview', id: 'q1' })
    await rig.say({ type: 'approval-preview', id: 'q1', path: 'y.ts' })
    await rig.say({ type: 'approval-preview', id: 'q1', path: 'other.ts' })
    await rig.say({ type: 'approval-preview', id: 'gone' })
    expect(rig.editor.take()).toEqual([
      { kind: 'diffs', value: { title: 'Rename a → b in 2 files (proposed)', files: [file('x.ts'), file('y.ts')] } },
      { kind: 'diff', value: { title: 'Rename a → b in 2 files (proposed)', ...file('y.ts') } },
    ])
    expect(rig.state().approvals).toHaveLength(1)
  })

  it.each(['answered', 'withdrawn'])('close what was opened for them when they are %s, and leave what is open for others', async (how) => {
    const rig = await chatRig(keyed)
    await rig.send('go')
    const change = { path: 'x.ts', target: '/project/x.ts', before: 'old\n', after: 'new\n', hunks: [] }
    await rig.askApproval({ details: { ...details, changes: [change] } })
    await rig.askApproval({ id: 'q2', details: { ...details, changes: [change] } })
    await rig.say({ type: 'approval-preview', id: 'q1' })
    expect(rig.editor.closed).toEqual([])
    if (how === 'answered') await rig.say({ type: 'approval', id: 'q1', answer: 'deny' })
    else rig.withdrawApproval('q1')
    await rig.settle()
    expect(rig.editor.closed).toEqual(['q1-before', 'q1-proposed'])
  })

  it('close also what opened only after the answer', async () => {
    const rig = await chatRig(keyed)
    await rig.send('go')
    const change = { path: 'x.ts', target: '/project/x.ts', before: 'old\n', after: 'new\n', hunks: [] }
    await rig.askApproval({ details: { ...details, changes: [change] } })
    const opened = Promise.withResolvers<void>()
    rig.editor.openDiff = () => opened.promise
    const saying = rig.say({ type: 'approval-preview', id: 'q1' })
    rig.withdrawApproval('q1')
    await rig.settle()
    expect(rig.editor.closed).toHaveLength(2)
    opened.resolve()
    await saying
    await rig.settle()
    expect(rig.editor.closed).toHaveLength(4)
  })

  it('carry a reason for the model when they are denied in the chat, and refuse a rule that is not offered', async () => {
    const rig = await chatRig(keyed)
    await rig.send('go')
    await rig.askApproval({ details })
    await rig.say({ type: 'approval', id: 'q1', answer: 'allow', always: 7 })
    expect(rig.state().approvals).toHaveLength(1)
    await rig.say({ type: 'approval', id: 'q1', answer: 'deny', note: 'Use pnpm.' })
    expect(rig.calls.at(-1)).toEqual(['approval', 'q1', { outcome: 'rejected', note: 'Use pnpm.' }])
  })

  it('run what the person wrote instead', async () => {
    const rig = await chatRig(keyed)
    await rig.send('go')
    await rig.askApproval({ details, arguments: { command: 'npm i', description: 'x' } })
    expect(rig.state().approvals[0]?.editable).toBe('npm i')
    await rig.say({ type: 'approval', id: 'q1', answer: 'allow', edited: 'npm ci' })
    expect(rig.calls.at(-1)).toEqual(['approval', 'q1', { outcome: 'allowed-once', arguments: { command: 'npm ci', description: 'x' } }])
  })

  it('read as what would run: nothing in them is hidden or turned around', async () => {
    const rig = await chatRig(keyed)
    await rig.send('go')
    await rig.askApproval({ details: { ...details, effect: 'Run `cat a\u202ebzp.x`', always: [{ label: 'Always allow `cat\u200b`', rule: {} }] }, arguments: { command: 'cat a\u202ebzp.x', description: 'x' } })
    expect(rig.state().approvals[0]).toMatchObject({ effect: 'Run `cat a\\u{202e}bzp.x`', always: ['Always allow `cat\\u{200b}`'], editable: 'cat a\u202ebzp.x' })
    expect(JSON.stringify(rig.attention.standing)).not.toContain('\u202e')
  })

  it('run nothing when what the person wrote has no place in the call, nor under a rule for other words', async () => {
    const rig = await chatRig(keyed)
    await rig.send('go')
    await rig.askApproval({ details })
    await rig.say({ type: 'approval', id: 'q1', answer: 'allow', edited: 'npm ci' })
    expect([rig.state().approvals.length, rig.calls.filter((call) => JSON.stringify(call).includes('"approval"'))]).toEqual([1, []])
    await rig.askApproval({ details, id: 'q2', arguments: { command: 'npm i', description: 'x' } })
    await rig.say({ type: 'approval', id: 'q2', answer: 'allow', edited: 'npm ci', always: 0 })
    expect([rig.state().approvals.length, rig.calls.filter((call) => JSON.stringify(call).includes('"approval"'))]).toEqual([2, []])
  })

  it('raise no notification when the person turned them off, and none offers a rule that is not there', async () => {
    const off = await chatRig({ ...keyed, settings: { 'notifications.whenHidden': [] } })
    await off.send('go')
    await off.askApproval()
    expect([off.attention.standing, off.state().approvals.length]).toEqual([[], 1])
    const bare = await chatRig(keyed)
    await bare.send('go')
    await bare.askApproval({ reason: 'It writes.' })
    expect(bare.attention.standing[0]).toMatchObject({ text: 'Bosun: Use bash', detail: 'It writes.', buttons: [{ id: 'allow' }, { id: 'deny' }] })
  })

  it('of code say what a yes covers by itself in the chat, after the reason elsewhere, and have the code on screen before the answers', async () => {
    const rig = await chatRig(keyed)
    await rig.send('go')
    const change = { target: '/w/host.js', path: 'hello-1/pkg-1/host.js', before: '', after: 'code', hunks: [{ oldStart: 1, newStart: 1, oldText: '', newText: 'code' }] }
    await rig.askApproval({ toolName: 'cordis_run', arguments: {}, details: { effect: 'Run it', why: 'It acts.', covers: 'It may run again.', changes: [change] } })
    expect(rig.state().approvals).toMatchObject([{ why: 'It acts.', covers: 'It may run again.', canPreview: true }])
    expect(rig.attention.standing).toMatchObject([{ detail: 'It acts. It may run again.', buttons: [{ label: 'Review' }, { label: 'Deny' }] }])
    rig.attention.click('review')
    await rig.settle()
    const shown = () => rig.editor.shown.filter(({ kind }) => kind === 'diff').length
    expect([shown(), rig.attention.standing[0]?.buttons.map(({ id }) => id)]).toEqual([1, ['allow', 'deny', 'review']])
    rig.editor.answers.push('allow')
    await rig.controller.run('approvals')
    expect([shown(), rig.calls.at(-1)]).toEqual([2, ['approval', 'q1', { outcome: 'allowed-once' }]])
  })

  it('can be answered from the palette', async () => {
    const rig = await chatRig(keyed)
    await rig.send('go')
    await rig.askApproval({ details })
    rig.editor.answers.push('deny')
    await rig.controller.run('approvals')
    expect(rig.calls.at(-1)).toEqual(['approval', 'q1', { outcome: 'rejected' }])
  })
})

describe('questions', () => {
  it('stand in the chat; a bad answer is refused with the reason and the question stays', async () => {
    const rig = await chatRig(keyed)
    await rig.send('go')
    await rig.askQuestion()
    expect(rig.state().questions).toMatchObject([{ id: 'k1', questions: [{ id: '1', question: 'Which?', isMultiSelect: false }] }])
    await rig.say({ type: 'question', id: 'k1', answers: [] })
    expect(rig.state().notices).toMatchObject([{ text: 'Answer each question.' }])
    await rig.say({ type: 'question', id: 'k1', answers: [{ id: '1', selected: ['A'] }] })
    expect(rig.calls.at(-1)).toEqual(['question', 'k1', [{ id: '1', selected: ['A'] }]])
    expect(rig.state().questions).toEqual([])
  })

  it('close the text that was opened for them in native lists with the answer, not with a list that is left', async () => {
    const rig = await chatRig(keyed)
    await rig.send('go')
    await rig.askQuestion({ questions: [{ id: '1', question: 'Which?', detail: 'Long.', options: [{ label: 'A' }] }] })
    await rig.controller.run('approvals')
    expect(rig.editor.shown).toContainEqual({ kind: 'text', value: { name: '1.md', text: 'Long.', side: 'k1-proposed', language: 'markdown' } })
    expect(rig.editor.closed).toEqual([])
    await rig.say({ type: 'question', id: 'k1', answers: [{ id: '1', selected: ['A'] }] })
    expect(rig.editor.closed).toEqual(['k1-before', 'k1-proposed'])
  })

  it('notify while the chat is hidden, and lead there', async () => {
    const rig = await chatRig(keyed)
    await rig.send('go')
    rig.editor.setVisible(false)
    await rig.askQuestion()
    expect(rig.attention.standing).toMatchObject([{ text: 'Bosun asks: Which?' }])
    rig.attention.click('open')
    await rig.settle()
    expect(rig.editor.shown).toContainEqual({ kind: 'chat', value: null })
  })

  const asked = async (set: Parameters<Awaited<ReturnType<typeof chatRig>>['askQuestion']>[0] = {}, options = {}) => {
    const rig = await chatRig({ ...keyed, ...options })
    await rig.send('go')
    rig.editor.setVisible(false)
    await rig.askQuestion(set)
    return rig
  }
  it.each([
    ['one short choice stands on the buttons', {}, { text: 'Bosun asks: Which?', buttons: [{ id: '0', label: 'A' }, { id: 'open', label: 'Other…' }] }],
    ['several questions can be skipped', { questions: [{ id: '1', question: 'Which?' }, { id: '2', question: 'Why?' }] }, { text: 'Bosun asks: Which?', detail: 'and 1 more', buttons: [{ id: 'open', label: 'Answer' }, { id: 'skip', label: 'Skip' }] }],
  ])('in a notification: %s', async (_name, set, shown) => expect((await asked(set)).attention.standing).toMatchObject([shown]))
  it('are answered on the buttons of a notification', async () => {
    const rig = await asked()
    rig.attention.click('0')
    await rig.settle()
    expect([rig.calls.at(-1), rig.state().questions, rig.editor.badge]).toEqual([['question', 'k1', [{ id: '1', selected: ['A'] }]], [], null])
  })
  it('are skipped there', async () => {
    const rig = await asked({ questions: [{ id: '1', question: 'Which?' }, { id: '2', question: 'Why?' }] })
    rig.attention.click('skip')
    await rig.settle()
    expect(rig.calls.at(-1)).toEqual(['question', 'k1', [{ id: '1', selected: [] }, { id: '2', selected: [] }]])
  })
  it.each([[['approvals', 'turnEnd'], {}], [['planReviews'], {}]])('are not notified of where only %j are', async (kinds, set) =>
    expect((await asked(set, { settings: { 'notifications.whenHidden': kinds } })).attention.standing).toEqual([]))

  it('keep what was filled in over a reload, and forget it with the answer', async () => {
    const rig = await asked()
    const draft = { filled: [{ selected: [], custom: 'half a th', isSkipped: false }], current: 0 }
    await rig.say({ type: 'waiting-draft', id: 'k1', draft })
    expect(rig.calls.at(-1)).toEqual(['touch', 'k1'])
    await rig.controller.dispose()
    expect(rig.memento.get('draft:waiting:k1')).toBe(JSON.stringify(draft))
    const next = await asked({}, { memento: { 'draft:waiting:k1': JSON.stringify(draft) } })
    expect(next.state().questions[0]?.draft).toEqual(draft)
    await next.say({ type: 'question', id: 'k1', answers: [{ id: '1', selected: ['A'] }] })
    await next.controller.dispose()
    expect(next.memento.get('draft:waiting:k1')).toBeUndefined()
  })
  it.each(['{"filled":[{"selected":["A"],"cus', '{"filled":1}', '7'])('begin anew where what was kept is broken: %s', async (kept) =>
    expect((await asked({}, { memento: { 'draft:waiting:k1': kept } })).state().questions[0]?.draft).toBeUndefined())

  it('bring along what an answer names; what cannot be looked up is said, and the question stays', async () => {
    const rig = await asked()
    await rig.say({ type: 'question', id: 'k1', answers: [{ id: '1', selected: [], custom: 'as in @terminal' }] })
    expect([rig.state().questions.length, rig.state().notices[0]?.text]).toEqual([1, '@terminal: nothing is selected in a terminal.'])
    await rig.say({ type: 'question', id: 'k1', answers: [{ id: '1', selected: [], custom: 'as in @changes' }] })
    expect(rig.calls.at(-1)).toMatchObject(['question', 'k1', [{ custom: 'as in @changes' }], [{ role: 'user', content: [{ text: 'the diff' }], source: { kind: 'plugin' } }]])
  })

  it('of another session say whose they are and lead there', async () => {
    const rig = await asked()
    await rig.say({ type: 'session-new' })
    expect(rig.state().questions).toMatchObject([{ id: 'k1', who: 'New session', sessionId: 's1' }])
    rig.attention.click('open')
    await rig.settle()
    expect(rig.state().session?.id).toBe('s1')
  })

  describe('from the palette', () => {
    const two = { questions: [{ id: '1', question: 'Which?', options: [{ label: 'A (Recommended)', description: 'small' }, { label: 'B' }] }, { id: '2', question: 'What else?', multi_select: true, options: [{ label: 'X' }, { label: 'Y' }] }, { id: '3', question: 'Why?' }] }
    const run = async (answers: (string | readonly string[] | null)[], set: Parameters<typeof asked>[0] = two) => {
      const rig = await asked(set)
      rig.editor.take()
      rig.editor.answers.push(...answers)
      await rig.controller.run('approvals')
      await rig.settle()
      return rig
    }
    it('go through one list after the other, with several choices, own words and a skip', async () => {
      const rig = await run(['0', ['1', 'other'], 'Z too', ''])
      expect(rig.calls.at(-1)).toEqual(['question', 'k1', [{ id: '1', selected: ['A (Recommended)'] }, { id: '2', selected: ['Y'], custom: 'Z too' }, { id: '3', selected: [] }]])
      expect(rig.editor.shown).toMatchObject([
        { kind: 'pick', value: { title: 'Which?', stays: true, step: { at: 1, of: 3 }, items: [{ label: 'A', description: 'Recommended', detail: 'small' }, { label: 'B' }, { label: 'Other…' }, { label: 'Skip' }] } },
        { kind: 'pick-many' },
        { kind: 'input', value: { title: 'What else? (2/3)' } },
        { kind: 'input', value: { title: 'Why? (3/3)' } },
      ])
    })
    it.each([
      ['an option', ['1'], [{ id: '1', selected: ['B'] }]],
      ['a skip', ['skip'], [{ id: '1', selected: [] }]],
      ['own words', ['other', ' mine '], [{ id: '1', selected: [], custom: 'mine' }]],
    ])('take %s', async (_name, answers, sent) => expect((await run(answers, { questions: [two.questions[0]!] })).calls.at(-1)).toEqual(['question', 'k1', sent]))
    it('go on waiting when a list is closed, with what was filled in', async () => {
      const rig = await run(['1', null])
      expect(rig.state().questions).toMatchObject([{ id: 'k1', draft: { current: 1, filled: [{ selected: ['B'] }, { selected: [] }, {}] } }])
      rig.editor.take()
      rig.editor.answers.push('1', [], 'because')
      await rig.controller.run('approvals')
      expect(rig.editor.shown[0]).toMatchObject({ value: { items: [{ label: 'A' }, { label: 'B', isCurrent: true }, {}, {}] } })
      expect(rig.calls.at(-1)).toEqual(['question', 'k1', [{ id: '1', selected: ['B'] }, { id: '2', selected: [] }, { id: '3', selected: [], custom: 'because' }]])
    })
    it('stand in one list with approvals', async () => {
      const rig = await asked()
      await rig.askApproval()
      rig.editor.take()
      rig.editor.answers.push('k1', '0')
      await rig.controller.run('approvals')
      expect([rig.editor.shown.length, rig.calls.at(-1)]).toEqual([2, ['question', 'k1', [{ id: '1', selected: ['A'] }]]])
      expect(rig.editor.badge?.count).toBe(1)
    })
    it('say when nothing waits', async () => {
      const rig = await chatRig(keyed)
      await rig.controller.run('approvals')
      await rig.settle()
      expect(rig.state().notices).toMatchObject([{ text: 'Nothing waits for you.' }])
    })
  })
})

describe('an agent that an agent started', () => {
  const children = { c: { parent: 's1', label: 'mend the tests' }, named: { parent: 's1', label: 'mine now', isNamed: true }, orphan: { parent: 'gone', label: 'of a session that was deleted' } } as const

  it('asks under its task, in the chat of the one that started it, in others’ and in a notification', async () => {
    const rig = await chatRig({ ...keyed, stored: { c: [], other: [] }, children })
    await rig.send('go')
    const agent = rig.wake('c')
    await rig.askApproval({ agent, details: { effect: 'Run `npm test`', why: 'No rule allows it.' } })
    expect(rig.state().approvals).toMatchObject([{ who: 'the agent “mend the tests”' }])
    expect(rig.attention.standing).toMatchObject([{ text: 'Bosun: Run npm test', detail: 'For the agent “mend the tests”. No rule allows it.' }])
    await rig.say({ type: 'session-open', id: 'other' })
    expect(rig.state().approvals).toMatchObject([{ who: 'the agent “mend the tests” of “New session”' }])
    await rig.say({ type: 'session-open', id: 'c' })
    expect(rig.state().approvals).toMatchObject([{ who: null }])
  })
  it('stands in the list only when the person named it, looks at it, or what started it is gone', async () => {
    const rig = await chatRig({ ...keyed, stored: { s1: [], c: [], named: [], orphan: [] }, children })
    expect(rig.state().sessions.map(({ id }) => id)).toEqual(['s1', 'named', 'orphan'])
    await rig.say({ type: 'session-open', id: 'c' })
    await rig.say({ type: 'session-rename', id: 's1', title: 'x' })
    expect(rig.state().sessions.map(({ id }) => id)).toEqual(['s1', 'c', 'named', 'orphan'])
  })
  it('ends its turns in silence: the one that started it goes on', async () => {
    const rig = await chatRig({ ...keyed, stored: { c: [] }, children })
    await rig.send('go')
    rig.wake('c')
    rig.editor.setVisible(false)
    await rig.happen('c', turnStart(1), turnEnd(1))
    expect(rig.attention.told).toEqual([])
  })
})

describe('when the window opens', () => {
  it('sessions of its folders that wait for the person wait again, and those that were only cut off are left alone', async () => {
    const asks: EventDraft = { type: 'approval/asked', data: { id: 'a', toolName: 'bash', callId: 'c' } }
    const open = { cwd: '/project', isTurnOpen: true } as const
    const rig = await chatRig({
      ...keyed,
      stored: { waits: [turnStart(1), asks], cut: [turnStart(1)], answered: [turnStart(1), asks, { type: 'approval/decided', data: { id: 'a', outcome: 'rejected' } }], done: [], elsewhere: [], child: [], put: [], broken: [] },
      waits: ['waits'],
      summaries: { waits: open, cut: open, answered: open, done: { cwd: '/project' }, elsewhere: { ...open, cwd: '/other' }, child: { ...open, startedBy: 'waits' }, put: { ...open, isArchived: true }, broken: { ...open, problem: 'torn' } },
    })
    await rig.settle()
    expect(rig.calls.filter((one) => /resume|dispose/.test(JSON.stringify(one)))).toEqual([['resume', 'waits']])
  })
})

describe('a session that another window writes', () => {
  const calls: readonly EventDraft[] = [
    turnStart(1),
    { type: 'step/start', data: { turn: 1, step: 1 } },
    { type: 'tool/call', data: { turn: 1, step: 1, callId: 'c1', name: 'bash', arguments: '{}' } },
    { type: 'approval/asked', data: { id: 'a1', toolName: 'bash', callId: 'c1' } },
  ]
  const follows = ({ calls: made }: { readonly calls: readonly unknown[] }) => made.filter((one) => /follow/.test(JSON.stringify(one)))
  it('is followed while it is on screen, and says where what waits is answered', async () => {
    const rig = await chatRig({ ...keyed, elsewhere: ['s9'], stored: { s9: [turnStart(1)] } })
    await rig.say({ type: 'session-open', id: 's9' })
    const agent = rig.agent('s9')
    expect(rig.state().notices).toMatchObject([{ id: 'writer', text: 'Another window writes this session (ship, process 7); here it is shown as it goes on, and can only be read.' }])
    expect(follows(rig)).toEqual([['follow', 's9']])
    for (const draft of calls.slice(1)) rig.controller.noteMirrored(agent.session, agent.session.append(draft))
    await rig.settle()
    expect(rig.state().notices).toMatchObject([{ text: 'Another window writes this session (ship, process 7), and it waits for you there. Answer in that window.' }])
    expect([rig.state().approvals, rig.editor.badge]).toEqual([[], null])
    await rig.say({ type: 'session-new' })
    expect(follows(rig).slice(1)).toEqual([['unfollow', 's9']])
  })
})

describe('the end of a turn', () => {
  it.each([
    [turnEnd(1), [{ level: 'info', text: 'Bosun has finished: New session' }]],
    [turnEnd(1, { kind: 'error', failure: { code: 'AUTH', message: 'The key was refused.' } }), [{ level: 'error', text: 'Bosun stopped: The key was refused.' }]],
    [turnEnd(1, { kind: 'paused', cap: 'steps', limit: 2 }), [{ level: 'warning', text: 'Bosun paused: New session' }]],
    [turnEnd(1, { kind: 'aborted', reason: { kind: 'user' } }), []],
  ])('is told while the chat is hidden', async (end, told) => {
    const rig = await chatRig(keyed)
    await rig.send('go')
    await rig.happen('s1', ...talk.slice(0, -1), end)
    expect(rig.attention.told).toEqual([])
    rig.editor.setVisible(false)
    await rig.happen('s1', turnStart(2), end)
    expect(rig.attention.told).toEqual(told)
  })
})

describe('models', () => {
  it('play the scripted tour, and say so, while nothing is set up', async () => {
    const rig = await chatRig()
    expect(rig.state().composer.model).toMatchObject({ provider: 'tour', label: 'Tour', isScripted: true })
    expect(rig.state().notices).toMatchObject([
      { id: 'model', level: 'info', text: 'No model is set up yet. Bosun plays a scripted tour, which is no model: it answers the same to everything.' },
    ])
    await rig.send('start')
    expect(rig.calls).toMatchObject([['create', { agent: { provider: 'tour', model: 'm1' } }]])
  })

  it('are those of the settings once there is a key', async () => {
    const rig = await chatRig()
    rig.editor.answers.push('sk-1 ')
    await rig.say({ type: 'notice-action', id: 'model', action: 'key' })
    expect(rig.state().composer.model).toMatchObject({ provider: 'deepseek-official', isScripted: false })
    expect(rig.state().notices).toMatchObject([{ id: 'connection', level: 'info' }])
  })

  it('of a provider that has just got its key are chosen from next', async () => {
    const other = { ...realModel, provider: { id: 'other', name: 'Other', keyName: 'OTHER_API_KEY', isPreset: true as const } }
    const rig = await chatRig({ adapters: [realModel, other, tour] })
    rig.editor.answers.push('other', 'sk-2', 'model:["other","m1"]', 'effort:low')
    await rig.say({ type: 'notice-action', id: 'model', action: 'key' })
    expect(rig.state().composer.model).toMatchObject({ provider: 'other', model: 'm1', reasoningEffort: 'low' })
    expect(rig.source.user).toMatchObject({ 'model.provider': 'other' })
    const picks = rig.editor.shown.filter(({ kind }) => kind === 'pick').map(({ value }) => (value as { items: { id: string }[] }).items.map(({ id }) => id))
    expect(picks[1]).toEqual(['separator:other', 'model:["other","m1"]', 'separator', 'key'])
  })

  it('of a preset are not offered before it has a key', async () => {
    const other = { ...realModel, provider: { id: 'other', name: 'Other', keyName: 'OTHER_API_KEY', isPreset: true as const } }
    const rig = await chatRig({ adapters: [other, tour] })
    await rig.say({ type: 'pick-model' })
    const { items } = rig.editor.shown.find(({ kind }) => kind === 'pick')!.value as { items: { id: string; detail?: string }[] }
    expect(items.map(({ id }) => id)).toEqual(['separator:tour', 'model:["tour","m1"]', 'separator', 'key'])
    expect(items.at(-1)?.detail).toBe('The models of Other come with a key')
  })

  it('have nothing to do with the key of a web search, which is set in the same place', async () => {
    const rig = await chatRig()
    rig.editor.answers.push('search:exa', ' k1 ')
    await rig.controller.run('set-api-key')
    await rig.settle()
    const { items } = rig.editor.shown.find(({ kind }) => kind === 'pick')!.value as { items: { id: string; label: string }[] }
    expect(items.map(({ id, label }) => [id, label])).toContainEqual(['search:exa', 'Exa (web search)'])
    expect([await rig.secrets.get('EXA_API_KEY'), rig.state().notices.some(({ id }) => id === 'connection')]).toMatchObject([{ value: 'k1' }, false])
  })

  it('keep a key of the environment, which shows as read-only', async () => {
    const rig = await chatRig({ adapters: [realModel, { ...realModel, provider: { id: 'b', name: 'B', keyName: 'B_KEY' } }, tour], environment: { B_KEY: 'x' } })
    rig.editor.answers.push('b')
    await rig.controller.run('set-api-key')
    await rig.settle()
    const { items } = rig.editor.shown.find(({ kind }) => kind === 'pick')!.value as { items: { id: string; description: string }[] }
    expect(items.map(({ description }) => description)).toEqual(['DEEPSEEK_API_KEY', 'B_KEY · from the environment, read-only', 'EXA_API_KEY'])
    expect(rig.editor.shown.some(({ kind }) => kind === 'input')).toBe(false)
    expect(rig.state().notices).toEqual(expect.arrayContaining([expect.objectContaining({ id: 'failure', text: expect.stringContaining('environment variable B_KEY, which wins') })]))
  })

  it('of servers on this machine are offered to a person who has none', async () => {
    const local = { ...realModel, provider: { id: 'ollama', name: 'Ollama', isLocal: true as const } }
    const rig = await chatRig({ adapters: [realModel, local, tour] })
    expect(rig.state().notices).toMatchObject([{ id: 'model', text: expect.stringContaining('Ollama runs on this machine with Deep.'), actions: [{ id: 'use:ollama', label: 'Use Ollama' }, { id: 'key' }, { id: 'model' }] }])
    await rig.say({ type: 'notice-action', id: 'model', action: 'use:ollama' })
    expect(rig.state().composer.model).toMatchObject({ provider: 'ollama', model: 'm1' })
    expect(rig.state().notices).toEqual([])
  })

  it('on this machine are not looked for once a model is set up', async () => {
    let asked = 0
    const local = { ...realModel, provider: { id: 'ollama', name: 'Ollama', isLocal: true as const }, listModels: () => Promise.resolve((asked++, [])) }
    const rig = await chatRig({ ...keyed, adapters: [realModel, local, tour] })
    await rig.settle()
    expect(asked).toBe(0)
  })

  it('stay as chosen even without a key', async () => {
    const rig = await chatRig({ settings: { 'model.provider': 'deepseek-official', 'model.name': 'x' } })
    expect(rig.state().composer.model).toMatchObject({ provider: 'deepseek-official', model: 'x' })
    expect(rig.state().notices).toEqual([])
  })

  it('that are not there are named', async () => {
    const rig = await chatRig({ settings: { 'model.provider': 'nobody' } })
    expect(rig.state().composer.model).toBeNull()
    expect(rig.state().notices).toMatchObject([{ id: 'model', level: 'warning' }])
  })

  it('are picked with how hard they think, for the open session and for later ones', async () => {
    const rig = await chatRig(keyed)
    await rig.send('go')
    rig.editor.answers.push('model:["deepseek-official","m1"]', 'effort:low')
    await rig.say({ type: 'pick-model' })
    expect(rig.optionsOf('s1')).toEqual({ provider: 'deepseek-official', model: 'm1', reasoningEffort: 'low' })
    expect(rig.source.user).toMatchObject({ 'model.provider': 'deepseek-official', 'model.name': 'm1', 'model.reasoningEffort': 'low' })
    expect(rig.state().composer.model).toMatchObject({ label: 'Deep', reasoningEffort: 'low' })
  })

  it('of a provider that cannot list hide no other, and say why', async () => {
    const broken = { ...realModel, provider: { id: 'b', name: 'Broken' }, listModels: () => Promise.reject(new Error('The server refused.')) }
    const rig = await chatRig({ adapters: [broken, tour] })
    await rig.say({ type: 'pick-model' })
    const { items } = rig.editor.shown.find(({ kind }) => kind === 'pick')!.value as { items: { id: string; detail?: string }[] }
    expect(items.map(({ id }) => id)).toEqual(['separator:b', 'problem:b', 'separator:tour', 'model:["tour","m1"]', 'separator', 'key'])
    expect(items[1]?.detail).toBe('The server refused.')
    rig.editor.answers.push('problem:b')
    await rig.say({ type: 'pick-model' })
    expect(rig.state().notices).toMatchObject([{ id: 'model' }, { id: 'connection', text: 'A script always answers.' }])
  })

  it('are checked with words that say what to do', async () => {
    const bad = { ...realModel, check: async () => ({ isOk: false, code: 'AUTH' as const, message: 'The key was refused. Set another one.' }) }
    const rig = await chatRig({ ...keyed, adapters: [bad, tour] })
    await rig.controller.run('check-connection')
    await rig.settle()
    expect(rig.state().notices).toMatchObject([{ id: 'connection', level: 'error', text: 'The key was refused. Set another one.', actions: [{ id: 'key' }, { id: 'model' }] }])
    rig.editor.answers.push('model:["tour","m1"]')
    await rig.say({ type: 'pick-model' })
    expect(rig.state().notices).toEqual([])
  })
})

describe('presets and permissions', () => {
  it('chosen before the first message hold for it', async () => {
    const rig = await chatRig(keyed)
    rig.editor.answers.push('ask')
    await rig.say({ type: 'pick-preset' })
    rig.editor.answers.push('read-only')
    await rig.say({ type: 'pick-permission' })
    expect(rig.state().composer).toMatchObject({ preset: 'ask', permission: 'read-only', presets: [{ id: 'editor' }, { id: 'ask' }] })
    await rig.send('go')
    expect([rig.presetOf('s1'), rig.modeOf('s1')]).toEqual(['ask', 'read-only'])
  })

  it('show before the first message what the preset lets a session begin with', async () => {
    const rig = await chatRig({ ...keyed, readingPresets: ['ask'] })
    const before = rig.state().composer.permission
    rig.editor.answers.push('ask')
    await rig.say({ type: 'pick-preset' })
    expect([before, rig.state().composer.permission]).toEqual(['workspace-write', 'read-only'])
  })

  it('give full access only after an explicit yes', async () => {
    const rig = await chatRig(keyed)
    await rig.send('go')
    rig.editor.answers.push('danger-full-access', false)
    await rig.say({ type: 'pick-permission' })
    expect(rig.modeOf('s1')).toBeUndefined()
    rig.editor.answers.push('danger-full-access', true)
    await rig.say({ type: 'pick-permission' })
    expect(rig.modeOf('s1')).toBe('danger-full-access')
  })

  it('a plan that is chosen before the first message holds for it, and is left from the same list', async () => {
    const rig = await chatRig(keyed)
    rig.editor.answers.push('plan')
    await rig.say({ type: 'pick-permission' })
    expect(rig.state().composer).toMatchObject({ permission: 'workspace-write', isPlanning: true })
    await rig.send('go')
    expect(rig.state().composer.isPlanning).toBe(true)
    rig.editor.answers.push('workspace-write')
    await rig.say({ type: 'pick-permission' })
    expect(rig.state().composer.isPlanning).toBeUndefined()
  })

  it('the page of rules opens from the list, and closes', async () => {
    const rig = await chatRig(keyed)
    rig.editor.answers.push('rules')
    await rig.say({ type: 'pick-permission' })
    expect(rig.state().rules).toEqual({ rules: [] })
    await rig.say({ type: 'rules-close' })
    expect(rig.state().rules).toBeNull()
  })

  it('of the settings that stands in a file is read before the first message, and one that comes with Bosun needs no look', async () => {
    const rigs = [await chatRig(keyed), await chatRig({ ...keyed, defaultPreset: { id: 'mine', isFile: true } })]
    expect(rigs.map(({ calls }) => calls.filter((call) => (call as readonly unknown[])[0] === 'discover').length)).toEqual([0, 1])
    expect(rigs.map((rig) => rig.state().composer.preset)).toEqual(['editor', 'mine'])
  })

  it('that cannot be used leave the commands where they are', async () => {
    const rig = await chatRig({ ...keyed, defaultPreset: { id: 'gone', isFile: false } })
    rig.editor.answers.push(null)
    await rig.controller.run('run-command')
    expect(rig.editor.shown.map(({ kind }) => kind)).toContain('pick')
    expect(rig.state().notices).toEqual([])
  })

  it('say why a preset cannot be chosen', async () => {
    const rig = await chatRig(keyed)
    rig.editor.answers.push('team')
    await rig.say({ type: 'pick-preset' })
    expect(rig.state().notices).toMatchObject([{ id: 'preset', text: 'Teams are not there.' }])
    rig.editor.answers.push('ask')
    await rig.say({ type: 'pick-preset' })
    expect(rig.state().notices).toEqual([])
  })

  it('follow the trust in the folder', async () => {
    const rig = await chatRig({ ...keyed, isTrusted: false })
    expect(rig.state()).toMatchObject({ isTrusted: false, composer: { permission: 'read-only' } })
    await rig.trust(true)
    expect(rig.state()).toMatchObject({ isTrusted: true, composer: { permission: 'workspace-write' } })
  })
})

describe('what the chat opens', () => {
  const diff = { hunks: [], fileChanges: [{ path: '/project/src/a.ts', before: 'd' }] }
  const edited = (before: string) => [
    turnStart(1),
    stepStart(1, 1),
    answered([{ type: 'tool-call', id: 'c1', name: 'edit', arguments: '{}' }]),
    called('c1', 'edit', '{}'),
    resulted('c1', '\u001b[31mred\u001b[0m', { meta: { ...diff, fileChanges: [{ path: '/project/src/a.ts', before }] } }),
    stepEnd(1, 1),
    turnEnd(1),
  ]
  /** What an editor was handed, with its content. */
  const opened = (value: unknown): readonly { readonly name: string; readonly content: unknown }[] => {
    const { name, text, bytes, before } = value as { name?: string; text?: string; bytes?: Uint8Array; before?: { name: string; text: string } }
    if (before !== undefined) return [{ name: before.name, content: before.text }]
    return name === undefined ? [] : [{ name, content: bytes ?? text }]
  }
  const open = async (presentResult?: () => ToolResultView) => {
    const rig = await chatRig({ ...keyed, stored: { s: [] }, ...(presentResult && { presentResult }) })
    const { digest } = await rig.blobs.putBeforeImage('s', new TextEncoder().encode('old text\n'))
    await rig.say({ type: 'session-open', id: 's' })
    await rig.happen('s', ...edited(digest!))
    rig.editor.take()
    return rig
  }

  it('is a location against the session’s folder, or words when it is not there', async () => {
    const rig = await open()
    await rig.say({ type: 'open-location', location: { path: 'a.ts', line: 3 } })
    expect(rig.editor.take()).toEqual([{ kind: 'location', value: { location: { path: 'a.ts', line: 3 }, cwd: '/project' } }])
    await rig.say({ type: 'open-location', location: { path: 'missing.ts' } })
    expect(rig.state().notices).toMatchObject([{ text: 'missing.ts is not there.' }])
  })

  it('is the text before a call against the file as it is now', async () => {
    const rig = await open()
    await rig.say({ type: 'open-diff', callId: 'c1', path: 'src/a.ts' })
    expect(rig.editor.take()).toEqual([
      { kind: 'diff', value: { title: 'a.ts (before and now)', path: '/project/src/a.ts', before: { name: expect.stringMatching(/^before\/s\/c1\/[0-9a-f]{64}\/a\.ts$/), text: 'old text\n' } } },
    ])
    await rig.say({ type: 'review-turn', turn: 1 })
    expect(rig.editor.take()).toMatchObject([{ kind: 'diff', value: { path: '/project/src/a.ts' } }])
  })

  it('is the output as text without terminal colours', async () => {
    const rig = await open()
    await rig.say({ type: 'open-output', callId: 'c1' })
    expect(rig.editor.take()).toEqual([{ kind: 'text', value: { name: 'output/s/c1/edit.txt', text: 'red' } }])
  })

  it('is all that a call was given', async () => {
    const rig = await open()
    await rig.say({ type: 'open-input', callId: 'c1' })
    expect(rig.editor.take()).toEqual([{ kind: 'text', value: { name: 'input/s/c1/edit.json', text: '{}' } }])
    await rig.say({ type: 'open-input', callId: 'gone' })
    expect(rig.state().notices).toMatchObject([{ text: 'This call is not in the conversation any more.' }])
  })

  it('is a search in the editor’s own view', async () => {
    const query = { pattern: 'a+', isCaseSensitive: true, files: 'src' }
    const rig = await open(() => ({ card: 'search', shape: 'matches', files: [], total: 0, truncated: false, query }))
    await rig.say({ type: 'open-search', callId: 'c1' })
    expect(rig.editor.take()).toEqual([{ kind: 'search', value: query }])
    await rig.say({ type: 'open-search', callId: 'gone' })
    expect(rig.state().notices).toMatchObject([{ text: 'This call has no search to show.' }])
  })

  it('says so when nothing is kept', async () => {
    const rig = await open()
    await rig.say({ type: 'open-diff', callId: 'unknown' })
    await rig.say({ type: 'review-turn', turn: 9 })
    expect(rig.state().notices).toMatchObject([{ id: 'open', text: 'Nothing of this turn’s changes is kept.' }])
    expect(rig.editor.take()).toEqual([])
  })

  it('is an image, to the page and in the editor', async () => {
    const rig = await open()
    const png = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 1)
    const { attachmentId } = await rig.blobs.putAttachment('s', png, { mediaType: 'image/png' })
    await rig.say({ type: 'need-image', attachmentId })
    await rig.say({ type: 'need-image', attachmentId: 'sha256:none' })
    expect(rig.replies).toEqual([
      { type: 'image', attachmentId, uri: 'data:image/png;bytes=5', byteLength: 5 },
      { type: 'image', attachmentId: 'sha256:none', uri: null, byteLength: 0 },
    ])
    await rig.say({ type: 'open-image', attachmentId })
    expect(rig.editor.take()).toMatchObject([{ kind: 'bytes', value: { name: expect.stringMatching(/^image\/s\/[0-9a-f]{64}\/[0-9a-f]{12}\.png$/), bytes: png } }])
  })

  it('is drawn again from its name alone, as when the window brings its tabs back', async () => {
    const rig = await open()
    const png = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 1)
    const { attachmentId } = await rig.blobs.putAttachment('s', png, { mediaType: 'image/png' })
    await rig.say({ type: 'open-output', callId: 'c1' })
    await rig.say({ type: 'open-input', callId: 'c1' })
    await rig.say({ type: 'open-diff', callId: 'c1', path: 'src/a.ts' })
    await rig.say({ type: 'open-image', attachmentId })
    await rig.say({ type: 'open-log' })
    for (const command of ['show-skills', 'show-instructions', 'review-hooks'] as const) await rig.controller.run(command)
    const shown = rig.editor.take().flatMap(({ value }) => opened(value))
    expect(shown.map(({ name }) => name.split('/')[0])).toEqual(['output', 'input', 'before', 'image', 'log', 'skills', 'instructions', 'hooks'])
    for (const { name, content } of shown) expect([name, await rig.controller.redraw(name)]).toEqual([name, content])
    expect(await rig.controller.redraw('gone//project/a.ts')).toBe('')
  })

  it('that was asked for and never done is drawn again on both sides, whatever the model calls its call', async () => {
    const id = 'a/b%2F?'
    const rig = await chatRig({ ...keyed, stored: { s: [] }, presentCall: () => ({ card: 'diff', title: 'Edit', diffs: [{ path: 'src/a.ts', oldText: 'one', newText: 'two' }] }) })
    await rig.say({ type: 'session-open', id: 's' })
    await rig.happen('s', turnStart(1), stepStart(1, 1), answered([{ type: 'tool-call', id, name: 'edit', arguments: '{}' }]), called(id, 'edit', '{}'))
    rig.editor.take()
    await rig.say({ type: 'open-diff', callId: id })
    const { before, after } = rig.editor.take()[0]!.value as Record<'before' | 'after', { name: string; text: string }>
    expect([before.text, after.text]).toEqual(['one', 'two'])
    for (const { name, text } of [before, after]) expect(await rig.controller.redraw(name)).toBe(text)
  })

  it('is a page that says how to open it again, where it cannot be drawn', async () => {
    const rig = await chatRig({ ...keyed, stored: { s: [] } })
    const cannot = 'This page was open before the window was loaded again, and cannot be drawn now.'
    for (const name of ['output/s/c1/bash.txt', 'log/s/events.jsonl', 'skills/s/Skills.md', 'asked/s/c1/before/a.ts', `before/s/c1/${'0'.repeat(64)}/a.ts`])
      expect([name, await rig.controller.redraw(name)]).toEqual([name, `${cannot}\n\nOpen the session “s” with “Bosun: Open Session…”, then open this again from where it stood in the chat.\n`])
    expect(await rig.controller.redraw('output/deleted/c1/bash.txt')).toContain('Its session is not there any more.')
    expect(await rig.controller.redraw('before/..%2F..%2Fetc/c1/passwd/a.ts')).toContain('Its session is not there any more.')
    expect(await rig.controller.redraw('c1/bash.txt')).toContain('Open it again from where it stood in the chat.')
    await expect(rig.controller.redraw('image/../passwd/a.png')).rejects.toThrow('not kept any more')
    await expect(rig.controller.redraw(`image/s/${'0'.repeat(64)}/0.png`)).rejects.toThrow('The stored attachment')
  })

  it('is a link, but only of the web or mail', async () => {
    const rig = await open()
    await rig.say({ type: 'open-link', url: 'https://example.com/a' })
    await rig.say({ type: 'open-link', url: 'command:workbench.action.quit' })
    await rig.say({ type: 'open-link', url: 'file:///etc/passwd' })
    expect(rig.editor.take()).toEqual([{ kind: 'external', value: 'https://example.com/a' }])
    expect(rig.state().notices).toMatchObject([{ text: 'Bosun opens web and mail addresses only, not file:///etc/passwd.' }])
  })

  it('is the log of the session', async () => {
    const rig = await open()
    await rig.say({ type: 'open-log' })
    const { text } = rig.editor.take()[0]!.value as { text: string }
    expect(text.trim().split('\n').map((line) => (JSON.parse(line) as { type?: string }).type)).toEqual([
      undefined, 'turn/start', 'step/start', 'assistant/message', 'tool/call', 'tool/result', 'step/end', 'turn/end',
    ])
  })
})

describe('bad input', () => {
  it('from a page is refused with a notice and changes nothing', async () => {
    const rig = await chatRig(keyed)
    rig.page.sayRaw({ type: 'send', text: 5 })
    await rig.settle()
    expect(rig.state().notices).toMatchObject([{ id: 'refused', level: 'warning' }])
    expect(rig.calls).toEqual([])
    await rig.say({ type: 'notice-close', id: 'refused' })
    expect(rig.state().notices).toEqual([])
  })

  it('in the settings is named once, with a way to mend it', async () => {
    const rig = await chatRig({ ...keyed, settings: { 'agent.maxStepsPerTurn': 'many' } })
    expect(rig.state().notices).toMatchObject([{ id: 'settings', level: 'warning', actions: [{ id: 'open' }] }])
    await rig.source.set('agent.maxStepsPerTurn', 5, 'user')
    await rig.settle()
    expect(rig.state().notices).toEqual([])
  })

  it('a failing service is told and the chat goes on', async () => {
    const rig = await chatRig({ ...keyed, stored: { old: talk } })
    rig.editor.answers.push('x')
    Object.assign(rig.editor, { copy: () => Promise.reject(new Error('No clipboard here.')) })
    await rig.say({ type: 'copy', text: 'x' })
    expect(rig.state().notices).toMatchObject([{ id: 'failure', level: 'error', text: 'No clipboard here.' }])
    await rig.say({ type: 'session-open', id: 'old' })
    expect(rig.state().session?.id).toBe('old')
  })
})

describe('forking and going back', () => {
  const twoTurns = [turnStart(1), stepStart(1, 1), said('hello'), answered([{ type: 'text', text: 'Hi.' }]), stepEnd(1, 1), turnEnd(1), turnStart(2), stepStart(2, 1), said('again'), stepEnd(2, 1), turnEnd(2)]
  const opened = async () => {
    const rig = await chatRig({ ...keyed, stored: { a: twoTurns } })
    await rig.say({ type: 'session-open', id: 'a' })
    return rig
  }

  it('goes on in a copy that ends with the turn of the row', async () => {
    const rig = await opened()
    await rig.say({ type: 'session-fork', rowId: 'e2' })
    expect(rig.calls).toContainEqual(['fork', 'a', 5])
    expect([rig.state().session?.id, rig.state().sessions.find(({ id }) => id === 'a-fork')?.forkedFrom]).toEqual(['a-fork', 'a'])
  })
  it('forks at the last whole turn from the palette', async () => {
    const rig = await opened()
    await rig.controller.run('fork-session')
    expect(rig.calls).toContainEqual(['fork', 'a', 10])
  })
  it('puts the words of a message into the box of a copy that ends before its turn', async () => {
    const rig = await opened()
    await rig.say({ type: 'prompt-again', rowId: 'e8' })
    expect(rig.calls).toContainEqual(['fork', 'a', 5])
    expect([rig.state().session?.id, rig.state().composer.draft]).toEqual(['a-fork', 'again'])
  })
  it('has the words there when a page first hears of the copy, however slow the disk is', async () => {
    const rig = await opened()
    const kept = Promise.withResolvers<undefined>()
    rig.memento.set = () => kept.promise
    rig.page.say({ type: 'prompt-again', rowId: 'e8' })
    await rig.settle()
    rig.controller.noteStatus()
    await rig.settle()
    expect([rig.state().session?.id, rig.state().composer.draft]).toEqual(['a-fork', 'again'])
    kept.resolve(undefined)
    await rig.settle()
  })
  it('puts the images of the message beside the words, and says when one is gone', async () => {
    const rig = await chatRig({ ...keyed, stored: { a: twoTurns } })
    const { attachmentId } = await rig.blobs.putAttachment('a', imageBytes('png', 2, 3), { mediaType: 'image/png', name: 'a.png' })
    const image = (id: string) => ({ type: 'image' as const, attachment: { attachmentId: id, mediaType: 'image/png', bytes: 1, name: 'a.png' } })
    const shown = { ...userMessage('look'), content: [...userMessage('look').content, image(attachmentId), image(`sha256:${'0'.repeat(64)}`)] }
    await rig.say({ type: 'session-open', id: 'a' })
    await rig.happen('a', turnStart(3), draft('user/message', shown), turnEnd(3))
    await rig.say({ type: 'prompt-again', rowId: 'e12' })
    await rig.settle()
    expect(rig.state().composer).toMatchObject({ draft: 'look', attachments: [{ kind: 'image', label: 'a.png' }] })
    expect(rig.state().notices).toMatchObject([{ level: 'warning', text: 'An image of that message could not be put into the box. Add it again if it is still wanted.' }])
  })
  it('begins anew for the very first message', async () => {
    const rig = await opened()
    await rig.say({ type: 'draft', text: '' })
    await rig.say({ type: 'prompt-again', rowId: 'e2' })
    expect([rig.state().session, rig.state().composer.draft]).toEqual([null, 'hello'])
  })
  it('lets the person choose the message to go back to', async () => {
    const rig = await opened()
    rig.editor.answers.push('8')
    await rig.controller.run('rewind-session')
    await rig.settle()
    expect(rig.state().composer.draft).toBe('again')
  })
  it('says why it cannot fork yet', async () => {
    const rig = await chatRig({ ...keyed, stored: { a: [turnStart(1), stepStart(1, 1), said('hello')] } })
    await rig.say({ type: 'session-open', id: 'a' })
    await rig.say({ type: 'session-fork', rowId: 'e2' })
    expect(rig.state().notices).toMatchObject([{ level: 'error', text: 'There is no finished turn to fork at yet. Wait for its end, or stop it, then fork.' }])
  })
  it.each([
    ['whole', 'talk.zip', 'zip whole'],
    ['masked', 'talk.zip', 'zip masked'],
    ['document', 'talk.md', 'document masked'],
  ])('saves a session %s where the person says', async (form, name, content) => {
    const rig = await opened()
    rig.editor.answers.push(form, `/home/${name}`)
    await rig.controller.run('export-session')
    await rig.settle()
    expect(rig.editor.shown).toContainEqual({ kind: 'save', value: expect.objectContaining({ name }) as unknown })
    expect(new TextDecoder().decode(rig.editor.files.get(`/home/${name}`))).toBe(content)
    expect(rig.state().notices).toMatchObject([{ text: `Saved to /home/${name}.` }])
  })
  it('saves nothing when the person backs out', async () => {
    const rig = await opened()
    await rig.controller.run('export-session')
    rig.editor.answers.push('whole')
    await rig.controller.run('export-session')
    expect([rig.editor.files.size, rig.state().notices]).toEqual([0, []])
  })
  it('opens what was imported', async () => {
    const rig = await opened()
    rig.editor.files.set('a.zip', new Uint8Array([1]))
    rig.editor.answers.push('a.zip')
    await rig.controller.run('import-session')
    await rig.settle()
    expect(rig.state().session?.id).toBe('imported')
    expect(rig.state().notices.map(({ text }) => text)).toEqual([expect.stringMatching(/ was imported\. Its session goes on in project\.$/)])
  })
  it('/clear begins a new session with the model and preset of this one, and never with what it was allowed', async () => {
    const rig = await opened()
    const clear = rig.controller.sessionActions.commands().find(({ name }) => name === 'clear')!
    await clear.run({ commandId: 'c', agent: rig.agent('a'), args: '', images: [], signal: new AbortController().signal, send: () => {} })
    await rig.settle()
    expect(rig.state().session).toBeNull()
    await rig.send('and now')
    expect(rig.calls.find((call) => (call as readonly unknown[])[0] === 'create')).toEqual(['create', { cwd: '/project', preset: 'editor', agent: { provider: 'deepseek-official', model: 'deepseek-v4-pro' }, isCleared: true }])
  })
  it('archives and brings back', async () => {
    const rig = await opened()
    await rig.say({ type: 'session-archive', id: 'a', isArchived: true })
    expect(rig.state().sessions).toMatchObject([{ id: 'a', isArchived: true }])
    await rig.say({ type: 'session-archive', id: 'a', isArchived: false })
    expect(rig.state().sessions).toMatchObject([{ id: 'a', isArchived: false }])
  })
})

describe('the status bar item', () => {
  it('shows state, model and share of the window; its menu acts', async () => {
    const rig = await chatRig(keyed)
    expect(rig.editor.status).toMatchObject({ text: '$(comment-discussion) Deep', isWarning: false })
    await rig.send('go')
    rig.agent('s1').status = 'running'
    rig.controller.noteStatus()
    expect(rig.editor.status?.text).toMatch(/^\$\(loading~spin\) Deep/)
    rig.editor.answers.push('stop')
    await rig.controller.run('menu')
    expect(rig.calls.at(-1)).toEqual(['cancel', { kind: 'user' }, { keepInbox: true }])
  })
  it('does not count as working what waits for the person', async () => {
    const rig = await chatRig(keyed)
    await rig.send('go')
    rig.agent('s1').status = 'running'
    await rig.askApproval()
    expect([rig.editor.status?.tooltip.split('\n')[1], rig.editor.status?.tooltip.includes('Working')]).toEqual(['1 waiting for you', false])
  })
})

it('lets go of everything when it is disposed', async () => {
  const rig = await chatRig(keyed)
  expect(rig.attached()).toBe(1)
  await rig.controller.dispose()
  expect([rig.attached(), rig.page.listenerCount(), rig.clock.waiting]).toEqual([0, 0, 0])
})

it('lets go of a page when the page goes, once, and of those that are left in the end', async () => {
  const rig = await chatRig(keyed)
  const ended: string[] = []
  const page = (name: string): ViewChannel => ({ ...rig.page.channel, onMessage: () => () => void ended.push(name) })
  const detach = rig.controller.attach(page('chat'))
  rig.controller.attachPage({ kind: 'team', sessionId: 's1', id: 't' }, { ...page('team'), post: () => {} })
  detach()
  detach()
  expect(ended).toEqual(['chat'])
  await rig.controller.dispose()
  expect(ended.toSorted()).toEqual(['chat', 'team'])
})
