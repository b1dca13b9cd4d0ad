import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { Row } from '../../../extension/protocol/view-state.ts'
import { PROTOCOL_VERSION } from '../../../extension/protocol/messages.ts'
import { root } from '../../../scripts/root.ts'
import { baseState, prompt, text, tool, turnEnd } from './fixtures.ts'
import { openHarness, startBrowser, type HarnessPage } from './harness-page.ts'

/*
 * How fast the chat is, against the goals: bundle under 300 KB, 10 000 rows painted in 300 ms and scrolled without a
 * task over 50 ms, 2 000 tokens a second with every frame under 32 ms, view memory under 150 MB.
 *
 * Usage: `node test/webview/harness/measure.ts`; prints one JSON line. Times on the wall depend on what else the machine
 * does; `…CpuMs` is what the page's main thread used.
 */
const browser = await startBrowser()
const bundleKb = ['webview.js', 'webview.css'].map((name) => statSync(join(root, 'dist', name)).size / 1024)
console.log(JSON.stringify({ floorMs: await floor(), bundleKb: Math.round(bundleKb.reduce((a, b) => a + b)), ...(await longTalk()), ...(await stream()) }))
await browser.close()

/** A talk of 10 000 rows: time from its message to the frame that shows it, then a scroll through it. */
async function longTalk() {
  const harness = await openHarness(browser, { theme: 'dark-modern', width: 400, height: 800 })
  const rows = Array.from({ length: 2_000 }, (_, turn): readonly Row[] => [
    { ...prompt(`Question ${turn}`), turn },
    { ...tool('read', { card: 'generic', title: 'Read', kind: 'read', subject: `src/${turn}.ts` }, { card: 'read', path: `src/${turn}.ts`, offset: 1, lines: [], totalLines: 3 }), turn },
    { ...tool('bash', { card: 'terminal', title: 'npm test' }, { card: 'terminal', exitCode: 0, output: 'ok' }), turn },
    { ...text(`Answer ${turn} with **some** words and \`code\`.\n\n- one\n- two\n\n\`\`\`ts\nconst a = ${turn}\n\`\`\`\n`), turn },
    { ...turnEnd(), turn },
  ]).flat()
  const message = { type: 'snapshot', version: PROTOCOL_VERSION, frame: 1, state: { ...baseState, transcript: { rows, firstIndex: 0, total: rows.length } } }
  await harness.page.locator('.loading').waitFor()
  const [paintMs, paintCpuMs] = await cpuMs(harness, () => harness.page.evaluate(
    (message: unknown) =>
      new Promise<number>((resolve) => {
        const start = performance.now()
        window.dispatchEvent(new MessageEvent('message', { data: message, origin: window.origin }))
        const look = () => (document.querySelector('.log-row') === null ? requestAnimationFrame(look) : requestAnimationFrame(() => resolve(performance.now() - start)))
        requestAnimationFrame(look)
      }),
    message as unknown,
  ))
  const [scroll, scrollCpuMs] = await cpuMs(harness, () => harness.page.evaluate(async () => {
    const long: number[] = []
    new PerformanceObserver((list) => list.getEntries().forEach(({ duration }) => long.push(Math.round(duration)))).observe({ type: 'longtask' })
    const log = document.querySelector('.log')!
    const frames: number[] = []
    let last = performance.now()
    for (let step = 0; step < 240; step += 1) {
      // Two screens a frame back through the talk, with a jump now and then.
      log.scrollTop -= step % 40 === 39 ? 40_000 : 700
      await new Promise(requestAnimationFrame)
      frames.push(performance.now() - last)
      last = performance.now()
    }
    const sorted = frames.toSorted((a, b) => a - b)
    return { scrollFrameMs95: Math.round(sorted[Math.floor(sorted.length * 0.95)]!), scrollFrameMsMax: Math.round(sorted.at(-1)!), longTasks: long, drawnRows: document.querySelectorAll('.log-row').length }
  }))
  const memory = await harness.page.evaluate(() => Math.round((performance as unknown as { memory: { usedJSHeapSize: number } }).memory.usedJSHeapSize / 1e6))
  await harness.close()
  return { rows: rows.length, paintMs: Math.round(paintMs), paintCpuMs, ...scroll, scrollCpuMsPerFrame: scrollCpuMs / 240, heapMb: memory }
}

/** A plain loop in the page: about 25 ms on an idle machine of 2026. Times beside a higher one say little about the chat. */
async function floor(): Promise<number> {
  const page = await browser.newPage()
  const { ms } = await page.evaluate(() => {
    const start = performance.now()
    let sum = 0
    for (let index = 0; index < 2e7; index += 1) sum = (sum + index * 7) | 0
    return { ms: performance.now() - start, sum }
  })
  await page.close()
  return Math.round(ms)
}

/** CPU time of the page's main thread, in milliseconds, while `work` ran. */
async function cpuMs<T>(harness: HarnessPage, work: () => Promise<T>): Promise<readonly [T, number]> {
  const devtools = await harness.page.context().newCDPSession(harness.page)
  await devtools.send('Performance.enable', { timeDomain: 'threadTicks' })
  const read = async () => ((await devtools.send('Performance.getMetrics')).metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0) * 1_000
  const before = await read()
  const result = await work()
  const used = (await read()) - before
  await devtools.detach()
  return [result, Math.round(used)]
}

/** 2 000 tokens a second for five seconds, a patch of them every 16 ms, in a message of markdown. */
async function stream() {
  const harness = await openHarness(browser, { theme: 'dark-modern', width: 400, height: 800 })
  const row = text('', { isStreaming: true })
  await harness.snapshot({ ...baseState, transcript: { rows: [prompt('go'), row], firstIndex: 0, total: 2 } })
  await harness.page.locator('.composer').waitFor()
  const [result, streamCpuMs] = await cpuMs(harness, () => harness.page.evaluate(async (rowId) => {
    const words = 'The test builds its **expectation** in `local` time, so on CI the day is another one. '
    const chunk = (index: number) => (index % 60 === 0 ? '\n\n```ts\nconst a = 1\n' : index % 60 === 12 ? '\n```\n\n' : index % 20 === 7 ? '\n\n- ' : words.repeat(2).slice(0, 132))
    const frames: number[] = []
    const long: number[] = []
    new PerformanceObserver((list) => list.getEntries().forEach(({ duration }) => long.push(Math.round(duration)))).observe({ type: 'longtask' })
    let isOver = false
    let last = performance.now()
    const tick = () => {
      const now = performance.now()
      frames.push(now - last)
      last = now
      if (!isOver) requestAnimationFrame(tick)
    }
    requestAnimationFrame(tick)
    const start = performance.now()
    for (let index = 0; index < 312; index += 1) {
      window.dispatchEvent(new MessageEvent('message', { origin: window.origin, data: { type: 'patch', frame: 2 + index, changes: [{ change: 'append', rowId, field: 'text', text: chunk(index) }] } }))
      const wait = start + (index + 1) * 16 - performance.now()
      if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait))
    }
    isOver = true
    const sorted = frames.toSorted((a, b) => a - b)
    return {
      streamSeconds: Math.round((performance.now() - start) / 100) / 10,
      streamFrames: frames.length,
      streamFrameMs50: Math.round(sorted[Math.floor(sorted.length / 2)]!),
      streamFrameMs95: Math.round(sorted[Math.floor(sorted.length * 0.95)]!),
      streamFrameMsMax: Math.round(sorted.at(-1)!),
      streamLongTasks: long,
    }
  }, row.id))
  await harness.close()
  return { ...result, streamCpuMsPerFrame: streamCpuMs / result.streamFrames }
}
