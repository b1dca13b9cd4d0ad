import { expect, it } from 'vitest'
import { createWindowsTree } from '../../../../extension/platform/node/process-tree.ts'

it('on Windows a tree is ended by taskkill, by force', async () => {
  const calls: unknown[] = []
  const tree = createWindowsTree(async (...call) => void calls.push(call))
  await tree.signal(12, 'SIGTERM')
  tree.signalNow(13, 'SIGKILL')
  expect(calls).toEqual([
    ['taskkill', ['/PID', '12', '/T', '/F']],
    ['taskkill', ['/PID', '13', '/T', '/F']],
  ])
  expect([tree.mayLive(12), await tree.isAlive(12)]).toEqual([false, false])
})
