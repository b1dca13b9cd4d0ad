import { expect, it } from 'vitest'
import { SkillScanner } from '../../../../extension/features/skills/scan.ts'
import { createFakeMachine } from '../../../support/fake-machine.ts'
import { MemoryFileSystem } from '../../../support/memory-file-system.ts'

const text = (name: string) => `---\nname: ${name}\ndescription: d\n---\nBody.\n`

function setUp(files: Readonly<Record<string, string>>) {
  const disk = new MemoryFileSystem(files)
  const counts = { reads: 0, open: 0, mostOpen: 0 }
  const scanner = new SkillScanner('/w', {
    files: {
      resolve: disk.resolve.bind(disk),
      stat: disk.stat.bind(disk),
      readDirectory: disk.readDirectory.bind(disk),
      async readText(...args) {
        counts.reads++
        counts.mostOpen = Math.max(counts.mostOpen, ++counts.open)
        try {
          return await disk.readText(...args)
        } finally {
          counts.open--
        }
      },
    },
    machine: createFakeMachine(),
    workspace: { folders: () => [{ name: 'w', path: '/w' }], isTrusted: () => true },
    options: () => ({ alsoRead: ['.claude/skills'], folders: [], rootMarkers: ['.git'], sensitivePaths: [] }),
  })
  const names = async () => (await scanner.scan()).found.map((one) => (one.kind === 'skill' ? one.facts.name : one.reason))
  return { disk, counts, names }
}

it('reads no file again that is as it was', async () => {
  const { names, counts } = setUp({ '/w/.bosun/skills/a.md': text('a'), '/home/person/.agents/skills/b/SKILL.md': text('b'), '/w/.claude/skills/c.md': 'broken' })
  await names()
  expect(counts.reads).toBe(3)
  expect(await names()).toEqual(['a', expect.stringContaining('no front matter'), 'b'])
  expect(counts.reads).toBe(3)
})
it('reads one that changed, alone', async () => {
  const { names, counts, disk } = setUp({ '/w/.bosun/skills/a.md': text('a'), '/w/.bosun/skills/b.md': text('b') })
  await names()
  disk.put('/w/.bosun/skills/b.md', text('other'))
  expect([await names(), counts.reads]).toEqual([['a', 'other'], 3])
})
it('opens a bounded number of files at once', async () => {
  const { names, counts } = setUp(Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`/w/.bosun/skills/s${at}.md`, text(`s${at}`)])))
  expect((await names()).length).toBe(300)
  expect(counts.mostOpen).toBeLessThanOrEqual(16)
})
