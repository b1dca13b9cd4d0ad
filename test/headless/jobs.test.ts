import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { isRunning } from '../contract/process-runner.suite.ts'
import { createFolders, logsIn, readLog, runHeadless } from '../support/headless.ts'
import { startModelServer } from '../support/model-server.ts'

it.skipIf(!existsSync('/proc/self/stat'))('a job that outlived a host that was killed is ended when its session is resumed, the command that a call waited for too, and the model hears of it with the next words', async () => {
  const { paths, remove } = createFolders('work', 'store')
  const [work = '', store = ''] = paths
  mkdirSync(work)
  const bash = (id: string, command: string, more: object = {}) => ({ answer: { parts: [{ toolCalls: [{ id, name: 'bash', arguments: { command, description: 'x', ...more } }] }] } })
  const server = await startModelServer({
    steps: [bash('c1', 'echo $$ > pid.tmp; mv pid.tmp pid; exec sleep 1000', { run_in_background: true }), bash('c2', 'until test -e pid; do sleep 0.02; done; echo $$ > running.tmp; mv running.tmp running; while :; do sleep 0.05; done')],
  })
  const base = ['run', '--cwd', work, '--base-url', server.url, '--model', 'scripted', '--storage', store, '--permissions', 'allow']
  try {
    let kill: () => void = () => {}
    const first = runHeadless([...base, '--prompt', 'go'], { onLine: (_line, _count, end) => (kill = () => end('SIGKILL')) })
    await expect.poll(() => existsSync(join(work, 'running')), { timeout: 60_000 }).toBe(true)
    kill()
    expect((await first).signal).toBe('SIGKILL')
    const pid = Number(readFileSync(join(work, 'pid'), 'utf8'))
    const waitedFor = Number(readFileSync(join(work, 'running'), 'utf8'))
    expect([pid, waitedFor].map(isRunning)).toEqual([true, true])

    const [log = ''] = logsIn(store)
    server.play({ steps: [{ repeat: true, answer: { parts: [{ text: 'Fine.' }] } }] })
    const resumed = await runHeadless([...base, '--resume', String(readLog(log).header['id']), '--prompt', 'and now?'])
    expect(resumed.code, resumed.stderr).toBe(0)
    expect([pid, waitedFor].map(isRunning)).toEqual([false, false])
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
