import { describe, expect, it } from 'vitest'
import type { EventDraft } from '../../../../extension/core/log/event.ts'
import type {} from '../../../../extension/features/dynamic-plugins/events.ts'
import { readJournal } from '../../../../extension/features/dynamic-plugins/journal.ts'
import type { DynamicRunState } from '../../../../extension/features/dynamic-plugins/service.ts'

const pack = (pluginId: string, packageId: string): EventDraft => ({ type: 'cordis/package', ignorable: true, data: { pluginId, packageId, name: 'n', purpose: 'p', halves: ['host'] } })
const run = (pluginId: string, packageId: string, runId: string, state: DynamicRunState): EventDraft => ({ type: 'cordis/run', ignorable: true, data: { pluginId, packageId, runId, state } })
const read = (...drafts: readonly EventDraft[]) => readJournal(drafts.map((draft, seq) => ({ ...draft, seq, time: 0 })))

describe('what a log says of plugins', () => {
  it('is nothing where it says nothing', () => expect(read()).toEqual({ plugins: new Map(), highest: { plugin: 0, run: 0, approval: 0, packages: new Map() } }))

  it('is each plugin with its packages, how its newest run stands and which package ran last', () => {
    const { plugins } = read(pack('a-1', 'pkg-1'), run('a-1', 'pkg-1', 'run-1', 'starting'), run('a-1', 'pkg-1', 'run-1', 'running'), pack('a-1', 'pkg-2'), run('a-1', 'pkg-2', 'run-2', 'starting'), run('a-1', 'pkg-2', 'run-2', 'failed'))
    expect(plugins.get('a-1')).toEqual({
      pluginId: 'a-1', currentPackageId: 'pkg-1', run: { runId: 'run-2', packageId: 'pkg-2', state: 'failed' },
      packages: [{ packageId: 'pkg-1', name: 'n', purpose: 'p', halves: ['host'] }, { packageId: 'pkg-2', name: 'n', purpose: 'p', halves: ['host'] }],
    })
  })

  it('takes the end of what was replaced for no news of what replaced it', () =>
    expect(read(pack('a-1', 'pkg-1'), run('a-1', 'pkg-1', 'run-2', 'running'), run('a-1', 'pkg-1', 'run-1', 'replaced')).plugins.get('a-1')?.run).toMatchObject({ runId: 'run-2', state: 'running' }))

  it('forgets what was removed and remembers its numbers, so that none is given twice', () => {
    const approval: EventDraft = { type: 'cordis/approval', ignorable: true, data: { approvalId: 'approval-4', pluginId: 'a-7', packageId: 'pkg-3', outcome: 'allowed' } }
    const { plugins, highest } = read(pack('a-7', 'pkg-3'), approval, run('a-7', 'pkg-3', 'run-9', 'running'), { type: 'cordis/removed', ignorable: true, data: { pluginId: 'a-7', wasRunning: true } })
    expect([plugins.size, highest]).toEqual([0, { plugin: 7, run: 9, approval: 4, packages: new Map([['a-7', 3]]) }])
  })

  it('gives the ids of what the person refused to nobody else', () => {
    const refused: EventDraft = { type: 'cordis/approval', ignorable: true, data: { approvalId: 'approval-1', pluginId: 'a-2', packageId: 'pkg-4', outcome: 'rejected', tool: 'cordis_define' } }
    expect(read(pack('a-1', 'pkg-1'), refused)).toMatchObject({ plugins: new Map([['a-1', expect.anything()]]), highest: { plugin: 2, approval: 1, packages: new Map([['a-1', 1], ['a-2', 4]]) } })
  })

  it('counts what is no id of ours as none', () => expect(read(pack('odd', 'first'), run('odd', 'first', 'run', 'running')).highest).toEqual({ plugin: 0, run: 0, approval: 0, packages: new Map([['odd', 0]]) }))
})
