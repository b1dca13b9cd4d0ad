import { expect, it } from 'vitest'
import { createSessionFinder } from '../../../webview/store/session-finder.ts'

const rig = () => {
  const asked: (readonly [string, string])[] = []
  const timers: { work: () => void; delayMs: number; isOff: boolean }[] = []
  let ids = 0
  const finder = createSessionFinder({
    ask: (id, query) => asked.push([id, query]),
    newId: () => `q${(ids += 1)}`,
    later(work, delayMs) {
      const timer = { work, delayMs, isOff: false }
      timers.push(timer)
      return () => (timer.isOff = true)
    },
  })
  return { finder, asked, timers, fire: () => timers.splice(0).forEach(({ work, isOff }) => (isOff ? undefined : work())) }
}
const hits = [{ sessionId: 'a', seq: 1, snippet: 's' }]

it('asks once for what was typed in one go', () => {
  const { finder, asked, fire } = rig()
  finder.find('ne')
  finder.find('need')
  fire()
  expect(asked).toEqual([['q1', 'need']])
})
it('does not ask for one letter, and forgets what was found', () => {
  const { finder, asked, fire } = rig()
  finder.find('need')
  fire()
  finder.found({ type: 'sessions-found', id: 'q1', hits, isPartial: false })
  expect([finder.hits.value?.get('a')?.seq, finder.isBusy.value]).toEqual([1, false])
  finder.find('n')
  fire()
  expect([asked.length, finder.hits.value, finder.isBusy.value]).toEqual([1, null, false])
})
it('takes no answer to words that were typed over', () => {
  const { finder, fire } = rig()
  finder.find('need')
  fire()
  finder.find('thread')
  finder.found({ type: 'sessions-found', id: 'q1', hits, isPartial: false })
  expect([finder.hits.value, finder.isBusy.value]).toEqual([null, true])
})
it('asks again for an answer that is not whole', () => {
  const { finder, asked, fire } = rig()
  finder.find('need')
  fire()
  finder.found({ type: 'sessions-found', id: 'q1', hits, isPartial: true })
  fire()
  expect([asked, finder.isBusy.value]).toEqual([[['q1', 'need'], ['q2', 'need']], true])
})
