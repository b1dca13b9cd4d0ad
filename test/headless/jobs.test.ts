import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { isRunning } from '../contract/process-runner.suite.ts'
import { createFolders, logsIn, readLog, runHeadless } from '../support/headless.ts'
import { startModelServer } from '../support/model-server.ts'

it.skipIf(!existsSync('/proc/self/stat'))('a job that outlived a host that was killed is ended when its session is resumed, and the model hears of it with the next words', async () => {
  const { paths, remove } = createFolders('work', 'store')
  const [work = '', store = ''] = paths
  mkdirSync(work)
  const bash = (id: string, command: string, more: object = {}) => ({ answer: { parts: [{ toolCalls: [{ id, name: 'bash', arguments: { command, description: 'x', ...more } }] }] } })
  const server = await startModelServer({
    steps: [bash('c1', 'echo $$ > pid.tmp; mv pid.tmp pid; exec sleep 1000', { run_in_background: true }), bash('c2', 'until test -e pid; do sleep 0.02; done; touch running; until test ! -e pid; do sleep 0.05; done')],
  })
  const base = ['run', '--cwd', work, '--base-url', server.url, '--model', 'scripted', '--storage', store, '--permissions', 'allow']
  try {
    let kill: () => void = () => {}
    const first = runHeadless([...base, '--prompt', 'go'], { onLine: (_line, _count, end) => (kill = () => end('SIGKILL')) })
    await expect.poll(() => existsSync(join(work, 'running')), { timeout: 60_000 }).toBe(true)
    kill()
    expect((await first).signal).toBe('SIGKILL')
    const pid = Number(readFileSync(join(work, 'pid'), 'utf8'))
    // The command that its call waited for ends by itself then.
    rmSync(join(work, 'pid'))
    expect(isRunning(pid)).toBe(true)

    const [log = ''] = logsIn(store)
    server.play({ steps: [{ repeat: true, answer: { parts: [{ text: 'Fine.' }] } }] })
    const resumed = await runHeadless([...base, '--resume', String(readLog(log).header['id']), '--prompt', 'and now?'])
    expect(resumed.code, resumed.stderr).toBe(0)
    expect(isRunning(pid)).toBe(false)
    const chats = server.chats()
    expect(chats.at(-1)?.body).toContain(`bash-1 (process ${pid}, started `)
    expect(chats.at(-1)?.body).toContain('it was still running and has been ended')
    expect(readLog(log).rows.filter(({ type }) => type === 'job/ended').map(({ data }) => data)).toEqual([{ id: 'bash-1', status: 'killed', detail: 'the window closed' }])
  } finally {
    await server.close()
    remove()
  }
}, 120_000)
