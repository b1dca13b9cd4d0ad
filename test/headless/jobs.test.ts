import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { isRunning } from '../contract/process-runner.suite.ts'
import { createFolders, runHeadless } from '../support/headless.ts'
import { logsIn, readLog } from '../support/stored-logs.ts'
import { startModelServer } from '../support/model-server.ts'
import { ownSeconds, programsWith } from '../support/programs-with.ts'

it.skipIf(!existsSync('/proc/self/stat'))('a job that outlived a host that was killed is ended when its session is resumed, the command that a call waited for too, and the model hears of it with the next words', async () => {
  const { paths, remove } = createFolders('work', 'store')
  const [work = '', store = ''] = paths
  mkdirSync(work)
  const bash = (id: string, command: string, more: object = {}) => ({ answer: { parts: [{ toolCalls: [{ id, name: 'bash', arguments: { command, description: 'x', ...more } }] }] } })
  const sleepers = [ownSeconds(), ownSeconds()]
  const server = await startModelServer({
    steps: [bash('c1', `touch pid; exec sleep ${sleepers[0]}`, { run_in_background: true }), bash('c2', `until test -e pid; do sleep 0.02; done; touch running; exec sleep ${sleepers[1]}`)],
  })
  const base = ['run', '--cwd', work, '--base-url', server.url, '--model', 'scripted', '--storage', store, '--permissions', 'allow']
  try {
    let kill: () => void = () => {}
    const first = runHeadless([...base, '--prompt', 'go'], { onLine: (_line, _count, end) => (kill = () => end('SIGKILL')) })
    await expect.poll(() => existsSync(join(work, 'running')), { timeout: 60_000 }).toBe(true)
    kill()
    expect((await first).signal).toBe('SIGKILL')
    // The program as the system knows it; in a sandbox the command sees another number.
    const program = readLog(logsIn(store)[0] ?? '').rows.find(({ type }) => type === 'job/program')
    const pid = Number((program?.['data'] as { readonly pid?: number } | undefined)?.pid)
    expect([isRunning(pid), ...(await Promise.all(sleepers.map(programsWith)))]).toEqual([true, 1, 1])

    const [log = ''] = logsIn(store)
    server.play({ steps: [{ repeat: true, answer: { parts: [{ text: 'Fine.' }] } }] })
    const resumed = await runHeadless([...base, '--resume', String(readLog(log).header['id']), '--prompt', 'and now?'])
    expect(resumed.code, resumed.stderr).toBe(0)
    expect([isRunning(pid), ...(await Promise.all(sleepers.map(programsWith)))]).toEqual([false, 0, 0])
    expect(readdirSync(join(store, 'hosts'))).toEqual([])
    const chats = server.chats()
    expect(chats.at(-1)?.body).toContain(`bash-1 (process ${pid}, started `)
    expect(chats.at(-1)?.body).toContain('it was still running and has been ended')
    expect(readLog(log).rows.filter(({ type }) => type === 'job/ended').map(({ data }) => data)).toEqual([{ id: 'bash-1', status: 'killed', detail: 'the window closed' }])
  } finally {
    await server.close()
    remove()
  }
}, 120_000)
