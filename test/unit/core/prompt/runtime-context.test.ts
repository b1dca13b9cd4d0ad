import { expect, it } from 'vitest'
import type { UserMessage } from '../../../../extension/core/log/message.ts'
import { RuntimeContextWatch } from '../../../../extension/core/prompt/runtime-context.ts'
import type { Session, Surface } from '../../../../extension/core/session/session.ts'

function setUp() {
  let nodes: Surface['nodes'] = []
  let generation = 0
  let ids = 0
  const watch = new RuntimeContextWatch({ surface: () => ({ nodes, generation }) } as Session)
  const add = (message: UserMessage) => {
    nodes = [...nodes, { seq: nodes.length, event: { type: 'user/message', seq: nodes.length, time: 0, surfaceOp: 'append', data: message } }]
  }
  return {
    /** The text that is added for these facts, or null. */
    tell(text: string) {
      const message = watch.next({ text, sections: text === '' ? [] : ['a'] }, () => `m${++ids}`)
      if (message) add(message)
      return message ?? null
    },
    prompt: (text: string) => add({ id: text, role: 'user', content: [{ type: 'text', text }], source: { kind: 'user' } }),
    shadowAll() {
      nodes = []
      generation++
    },
  }
}

it('is one message that says it takes the place of earlier ones and names its parts', () => {
  expect(setUp().tell('branch main')).toEqual({
    id: 'm1',
    role: 'user',
    content: [{ type: 'text', text: '<surroundings>\nThese facts take the place of earlier ones.\n\nbranch main\n</surroundings>' }],
    source: { kind: 'plugin', plugin: 'system-prompt', form: 'snapshot', sections: ['a'] },
  })
})
it('is told again only when it differs from the last one the model still sees', () => {
  const { tell, prompt } = setUp()
  expect([tell('a') !== null, tell('a'), prompt('hi'), tell('a'), tell('b') !== null, tell('a') !== null]).toEqual([true, null, undefined, null, true, true])
})
it('is cleared once when it becomes empty', () => {
  const { tell } = setUp()
  tell('a')
  expect(tell('')?.content).toEqual([{ type: 'text', text: '<surroundings>\nThe facts given earlier hold no longer; there are none now.\n</surroundings>' }])
  expect([tell(''), tell('a') !== null]).toEqual([null, true])
})
it('is nothing at all when there never was anything to tell', () => expect(setUp().tell('')).toBeNull())
it('is told again when a compaction took it away', () => {
  const { tell, shadowAll } = setUp()
  tell('a')
  shadowAll()
  expect([tell('a') !== null, tell('a')]).toEqual([true, null])
})
