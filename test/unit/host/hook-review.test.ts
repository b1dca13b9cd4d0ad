import { describe, expect, it } from 'vitest'
import { fillIn } from '../../../extension/base/fill-in.ts'
import { createHookReview, hookDocument } from '../../../extension/host/hook-review.ts'
import type { HookReport, Hooks } from '../../../extension/features/hooks/service.ts'
import { createFakeEditor } from '../../support/fake-editor.ts'

const l10n = { t: fillIn }
const workspace = { folders: () => [{ name: 'w', path: '/w' }] }
const world = { l10n, workspace }
const file = (state: 'runs' | 'waits', command = 'npm run lint') =>
  ({ path: '/w/.claude/settings.json', dialect: 'claude', digest: 'd1', skipped: [], state, hooks: [{ id: 'x', dialect: 'claude', point: 'PreToolUse', matcher: 'Bash|Edit', command, path: '/w' }] }) as const

function setUp(report: HookReport, answer: boolean) {
  const editor = createFakeEditor()
  editor.answers.push(answer)
  const allowed: string[] = []
  const hooks: Hooks = {
    report: async () => (allowed.length === 0 ? report : { ...report, files: report.files.map((one) => ({ ...one, state: 'runs' as const })) }),
    dryRun: async () => [],
    allow: async (files) => void allowed.push(...files.map(({ digest }) => digest)),
    onDidChange: () => () => undefined,
  }
  return { editor, allowed, review: createHookReview({ hooks, editor, ...world }) }
}

describe('a review of hooks', () => {
  it.each([
    ['lets run what waits after a yes', file('waits'), true, true, ['d1']],
    ['leaves it after a no', file('waits'), false, false, []],
    ['asks nothing when all run already', file('runs'), true, false, []],
  ] as const)('%s', async (_name, one, answer, outcome, digests) => {
    const { review, allowed, editor } = setUp({ files: [one], skipped: [] }, answer)
    expect([await review.review('/w'), allowed]).toEqual([outcome, digests])
    const question = editor.shown.find(({ kind }) => kind === 'confirm')?.value
    const pages = editor.shown.flatMap(({ kind, value }) => (kind === 'text' ? [(value as { readonly text: string }).text.includes('These run.')] : []))
    expect(pages.at(-1), 'the page that stays open says how it is now').toBe(one.state === 'runs' || answer)
    expect(question).toEqual(one.state === 'runs' ? undefined : expect.objectContaining({ text: 'Let this command run by itself during sessions?', detail: expect.stringContaining('PreToolUse (Bash|Edit): npm run lint') as string }))
  })
})

describe('the page of hooks', () => {
  it('says what runs when, what waits, and what does not run and why', () => {
    const text = hookDocument({ files: [file('waits', 'a | b')], skipped: [{ path: '/w/x.json', at: 'Stop[0]', reason: 'It has no command.' }], note: 'A note.' }, world)
    expect(text).toContain('| PreToolUse | Bash\\|Edit | a \\| b |')
    expect(text).toContain('| x.json | Stop\\[0\\] | It has no command. |')
    expect(text).toContain('These wait for you')
    expect(text).toContain('A note.')
  })
  it('says which folder of the window a file belongs to', () => {
    const of = (label?: string) => hookDocument({ files: [{ ...file('runs'), root: { path: '/w', ...(label !== undefined && { label }) } }], skipped: [] }, world)
    expect(of('app | web')).toContain('Of the folder app \\| web.\n')
    expect(of()).not.toContain('Of the folder')
  })
  it('says that there are none', () => expect(hookDocument({ files: [], skipped: [] }, world)).toContain('There are none.'))
})
