import { describe, expect, it } from 'vitest'
import type { SandboxMode } from '../../../extension/core/log/event.ts'
import type { Permissions } from '../../../extension/core/policy/permissions.ts'
import { createPermissionChoice, type PermissionState } from '../../../extension/host/permission-choice.ts'
import { createFakeAgent } from '../../support/fake-agent.ts'

function setUp({ picks = null, isSure = true }: { readonly picks?: string | null; readonly isSure?: boolean } = {}) {
  const calls: unknown[] = []
  const state = { mode: 'workspace-write' as SandboxMode, isPlanning: false }
  const noted = <T>(what: unknown, value: T): T => {
    calls.push(what)
    return value
  }
  const choice = createPermissionChoice({
    // The choice asks for these two alone.
    permissions: { presetOf: () => state.mode, select: (_id: string, mode: SandboxMode) => void calls.push(['select', mode]) } as unknown as Permissions,
    plan: {
      isActive: () => state.isPlanning,
      pending: () => null,
      isHeld: () => state.isPlanning,
      allowOnce: () => false,
      set: (_agent, target) => noted(target ? 'plan' : 'off', 'committed' as const),
      onDidChange: () => () => undefined,
    },
    editor: { pick: async () => picks, confirm: async () => noted('confirm', isSure) },
    l10n: { t: (text) => text },
  })
  return { choice, calls, state }
}

describe('what Bosun may do is chosen from one list', () => {
  const asking: PermissionState = { mode: 'workspace-write', isPlanning: false }
  const planning: PermissionState = { mode: 'workspace-write', isPlanning: true }
  const rows: readonly [current: PermissionState, picks: string | null, picked: unknown, asked: readonly unknown[]][] = [
    [asking, null, null, []],
    [asking, 'workspace-write', null, []],
    [asking, 'read-only', { mode: 'read-only', isPlanning: false }, []],
    [asking, 'plan', planning, []],
    [planning, 'plan', null, []],
    [planning, 'workspace-write', asking, []],
    [asking, 'danger-full-access', { mode: 'danger-full-access', isPlanning: false }, ['confirm']],
    [{ mode: 'danger-full-access', isPlanning: true }, 'danger-full-access', { mode: 'danger-full-access', isPlanning: false }, []],
    [asking, 'rules', 'rules', []],
    [asking, 'nonsense', null, []],
  ]
  it.each(rows)('from %j, %s gives %j', async (current, picks, picked, asked) => {
    const { choice, calls } = setUp({ picks })
    expect([await choice.pick(current), calls]).toEqual([picked, asked])
  })
  it('full access needs an explicit yes', async () => expect(await setUp({ picks: 'danger-full-access', isSure: false }).choice.pick(asking)).toBeNull())
  it('a choice that is kept sets what differs', () => {
    const { choice, calls } = setUp()
    choice.apply(createFakeAgent(), { mode: 'workspace-write', isPlanning: true })
    choice.apply(createFakeAgent(), { mode: 'read-only', isPlanning: false })
    expect(calls).toEqual(['plan', ['select', 'read-only'], 'off'])
  })
  it('the plan is toggled', () => {
    const { choice, calls, state } = setUp()
    choice.togglePlan(createFakeAgent())
    state.isPlanning = true
    choice.togglePlan(createFakeAgent())
    expect(calls).toEqual(['plan', 'off'])
  })
})
