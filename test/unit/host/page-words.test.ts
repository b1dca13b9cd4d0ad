import { expect, it } from 'vitest'
import { PageWords } from '../../../extension/host/page-words.ts'
import { fakeChannel } from './fake-channel.ts'

const say = (text: string) => ({ type: 'insert-text', text }) as const

it('says it to the page that is seen', () => {
  const [words, hidden, seen] = [new PageWords(), fakeChannel(), fakeChannel()]
  hidden.hide()
  words.ready(hidden.channel)
  words.ready(seen.channel)
  words.say(say('a'))
  expect([hidden.take(), seen.take()]).toEqual([[], [say('a')]])
})

it('keeps it for the first page that comes up', () => {
  const [words, page, later] = [new PageWords(), fakeChannel(), fakeChannel()]
  words.say(say('a'))
  words.ready(page.channel)
  words.ready(later.channel)
  expect([page.take(), later.take()]).toEqual([[say('a')], []])
})

it('waits for a page that was hidden to come up again', () => {
  const [words, page] = [new PageWords(), fakeChannel()]
  words.ready(page.channel)
  page.hide()
  words.forgetHidden()
  page.reveal()
  words.say(say('a'))
  expect(page.take()).toEqual([])
  words.ready(page.channel)
  expect(page.take()).toEqual([say('a')])
})

it('says nothing to a page that is gone', () => {
  const [words, page] = [new PageWords(), fakeChannel()]
  words.ready(page.channel)
  words.gone(page.channel)
  words.say(say('a'))
  expect(page.take()).toEqual([])
})
