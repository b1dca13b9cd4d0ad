import { expect, it } from 'vitest'
import { AgentInstructions } from '../../../../extension/features/instructions/agent-instructions.ts'
import { MAX_NESTED } from '../../../../extension/features/instructions/places.ts'
import { createFakeAgent } from '../../../support/fake-agent.ts'
import { createFakeMachine } from '../../../support/fake-machine.ts'
import { MemoryFileSystem } from '../../../support/memory-file-system.ts'

/** A session in `/w` over files in memory, whose every use is counted. What is told is not put into a talk, so all of it stays new. */
function setUp(content: Readonly<Record<string, string>>) {
  const disk = new MemoryFileSystem(content)
  const counts = { uses: 0, reads: 0 }
  const files = {
    resolve: (...args: Parameters<typeof disk.resolve>) => (counts.uses++, disk.resolve(...args)),
    stat: (...args: Parameters<typeof disk.stat>) => (counts.uses++, disk.stat(...args)),
    readText: (...args: Parameters<typeof disk.readText>) => (counts.uses++, counts.reads++, disk.readText(...args)),
    readDirectory: (...args: Parameters<typeof disk.readDirectory>) => (counts.uses++, disk.readDirectory(...args)),
  }
  const instructions = new AgentInstructions(createFakeAgent({ cwd: '/w' }).session, {
    files,
    machine: createFakeMachine(),
    workspace: { folders: () => [{ name: 'w', path: '/w' }], isTrusted: () => true },
    options: () => ({ files: ['AGENTS.md'], alsoRead: [], localFiles: [], maxBytes: 60_000, rootMarkers: ['.git'], sensitivePaths: [] }),
  })
  const used = async (work: () => unknown) => {
    counts.uses = 0
    counts.reads = 0
    await work()
    return { ...counts }
  }
  const next = async () => (await instructions.next(new AbortController().signal))?.content[0]
  return { disk, instructions, next, used }
}

it('costs nothing while nothing happens', async () => {
  const { next, used } = setUp({ '/w/AGENTS.md': 'a' })
  await next()
  expect(await used(next)).toEqual({ uses: 0, reads: 0 })
})
it('looks at the known files, and no more, after a tool that may have changed them', async () => {
  const { instructions, next, used, disk } = setUp({ '/w/AGENTS.md': 'a' })
  await next()
  instructions.noteEffect()
  expect(await used(next)).toEqual({ uses: 1, reads: 0 })
  disk.put('/w/AGENTS.md', 'b')
  instructions.noteEffect()
  expect((await used(next)).reads).toBe(1)
})
it('looks at a new folder only, however many are known', async () => {
  const { instructions, next, used } = setUp({ '/w/AGENTS.md': 'a' })
  for (let at = 0; at < 50; at++) instructions.noteFile(`/w/d${at}/x`)
  await next()
  instructions.noteFile('/w/new/x')
  instructions.noteFile('/w/new/y')
  expect(await used(next)).toEqual({ uses: 1, reads: 0 })
})
it('stops at a cap of folders, and says so', async () => {
  const { instructions } = setUp({ [`/w/d${MAX_NESTED - 1}/AGENTS.md`]: 'last', [`/w/d${MAX_NESTED}/AGENTS.md`]: 'over' })
  for (let at = 0; at <= MAX_NESTED; at++) instructions.noteFile(`/w/d${at}/x`)
  const { rows } = await instructions.report()
  expect(rows.map(({ path, state }) => [path, state])).toEqual([[`/w/d${MAX_NESTED - 1}/AGENTS.md`, 'pending'], ['/w', 'ignored']])
})
it('gives the reason of a cancel, and finds everything the next time', async () => {
  const { instructions, next } = setUp({ '/w/AGENTS.md': 'a' })
  await expect(instructions.next(AbortSignal.abort(new Error('stopped')))).rejects.toThrow('stopped')
  expect(await next()).toMatchObject({ text: expect.stringContaining('/w/AGENTS.md') })
})
it('answers two that ask at once alike', async () => {
  const { instructions, next } = setUp({ '/w/AGENTS.md': 'a', '/w/d/AGENTS.md': 'd' })
  instructions.noteFile('/w/d/x')
  const [message, report, again] = await Promise.all([next(), instructions.report(), next()])
  expect(report.rows.map(({ path }) => path)).toEqual(['/w/AGENTS.md', '/w/d/AGENTS.md'])
  expect(again).toEqual(message)
})
