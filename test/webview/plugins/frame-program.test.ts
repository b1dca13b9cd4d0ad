import { Window } from 'happy-dom'
import { afterEach, describe, expect, it } from 'vitest'
import type { FrameSays } from '../../../webview/plugins/frame-messages.ts'
import { frameDocument, frameProgram } from '../../../webview/plugins/frame-program.ts'

const theme = { classes: 'vscode-dark', language: 'de', variables: { '--vscode-foreground': '#ccc' } }

const windows: Window[] = []
afterEach(async () => {
  for (const window of windows.splice(0)) await window.happyDOM.close()
})

/** A page of its own in which the program has begun, as its text stands in the page of a frame. */
async function frame(code: string, slot = 'panel') {
  const window = new Window({ settings: { enableJavaScriptEvaluation: true, suppressInsecureJavaScriptEnvironmentWarning: true } })
  windows.push(window)
  const said: FrameSays[] = []
  Object.assign(window, { postMessage: (message: FrameSays) => void said.push(message) })
  window.eval(`(${frameProgram.toString()})()`)
  // Made inside, where the page around the frame is the window itself.
  const dispatch = window.eval(`(data, isOfPage) => window.dispatchEvent(new MessageEvent('message', { data, source: isOfPage ? window.parent : null }))`) as (data: unknown, isOfPage: boolean) => void
  const hear = async (message: unknown, isOfPage = true) => {
    dispatch(message, isOfPage)
    await window.happyDOM.waitUntilComplete()
  }
  await hear({ kind: 'start', slot, code, nonce: 'n', theme })
  const place = window.document.getElementById('slot')!
  return {
    window,
    hear,
    place,
    html: () => place.innerHTML,
    said: () => said.splice(0).filter(({ kind }) => kind !== 'height' && kind !== 'here'),
    async press(selector: string, type = 'click') {
      place.querySelector(selector)!.dispatchEvent(new window.Event(type, { bubbles: true }))
      await window.happyDOM.waitUntilComplete()
    },
  }
}

describe('a slot', () => {
  const check = async (render: string, html: string) => expect((await frame(`slot('panel', () => ${render})`)).html()).toBe(html)

  it('draws texts, numbers and lists of them', () => check(`['a', 1, null, false, ['b', undefined]]`, 'a1b'))
  it('draws elements with their attributes', () => check(`ui.h('p', { class: 'x', title: 'T', hidden: true, 'aria-label': null }, 'a')`, '<p class="x" title="T" hidden="">a</p>'))
  it('draws of objects their JSON', () => check(`[{ a: 1 }, ui.h('p', { title: { b: 2 } })]`, '{"a":1}<p title="{&quot;b&quot;:2}"></p>'))
  it('takes functions for elements', () => check(`ui.h(({ name, children }) => ui.h('b', null, name, children), { name: 'N' }, '!')`, '<b>N!</b>'))
  it('does not take text for markup', () => check(`ui.h('p', null, '<img src=x onerror=1>')`, '<p>&lt;img src=x onerror=1&gt;</p>'))

  it('is told to be drawn, with the theme of the page', async () => {
    const { said, window } = await frame(`slot('panel', () => ui.theme())`)
    expect(said()).toEqual([{ kind: 'ready', isDrawn: true }])
    expect([window.document.body.className, window.document.documentElement.lang, window.document.documentElement.style.getPropertyValue('--vscode-foreground')]).toEqual(['vscode-dark', 'de', '#ccc'])
  })

  it('follows the theme', async () => {
    const { hear, html, window } = await frame(`slot('panel', () => ui.theme())`)
    await hear({ kind: 'theme', theme: { classes: 'vscode-light', language: 'de', variables: {} } })
    expect([html(), window.document.documentElement.style.getPropertyValue('--vscode-foreground')]).toEqual(['vscode-light', ''])
  })

  it('answers its page that it is still there', async () => {
    const { said, hear } = await frame(`slot('panel', () => 'now')`)
    said()
    await hear({ kind: 'ping' })
    expect(said()).toEqual([{ kind: 'pong' }])
  })

  it('of another name draws nothing here', async () => {
    const { said, html } = await frame(`slot('header', () => 'there')`)
    expect([said(), html()]).toEqual([[{ kind: 'ready', isDrawn: false }], ''])
  })

  it('may come later', async () => {
    const { said, html, hear } = await frame(`host.on('go', () => slot('panel', () => 'now'))`)
    await hear({ kind: 'event', name: 'go', payload: null })
    expect([said(), html()]).toEqual([[{ kind: 'ready', isDrawn: false }, { kind: 'ready', isDrawn: true }], 'now'])
  })
})

describe('an event', () => {
  it('draws again, and what stands is kept with its state', async () => {
    const { press, html, place } = await frame(`let n = 0; slot('panel', () => [ui.h('input', { id: 'in' }), ui.h('button', { onclick: () => { n += 1 } }, 'Pressed ', n)])`)
    const input = place.querySelector('input')!
    input.value = 'typed'
    await press('button')
    expect([html(), place.querySelector('input') === input, input.value]).toEqual(['<input id="in"><button>Pressed 1</button>', true, 'typed'])
  })

  it('keeps elements with a key apart', async () => {
    const { press, place } = await frame(`let key = 'a'; slot('panel', () => ui.h('p', { key, onclick: () => { key = 'b' } }, key))`)
    const before = place.querySelector('p')
    await press('p')
    expect([place.innerHTML, place.querySelector('p') === before]).toEqual(['<p>b</p>', false])
  })

  it('hears with the newest listener only, and with none when it is taken away', async () => {
    const { press, html } = await frame(`let n = 0; slot('panel', () => ui.h('p', { onclick: n < 2 ? () => { n += 1 } : null }, n))`)
    for (let count = 0; count < 4; count += 1) await press('p')
    expect(html()).toBe('<p>2</p>')
  })

  it('that fails is told and harms nothing', async () => {
    const { press, said, html } = await frame(`slot('panel', () => ui.h('p', { onclick: async () => { throw new Error('no luck') } }, 'a'))`)
    said()
    await press('p')
    expect([said(), html()]).toEqual([[{ kind: 'trouble', message: 'no luck' }], '<p>a</p>'])
  })

  it('of the host is heard until the listener is taken away', async () => {
    const { hear, html } = await frame(`let heard = []; const off = host.on('tick', (n) => { heard.push(n); if (n === 2) off() }); slot('panel', () => heard.join())`)
    for (const payload of [1, 2, 3]) await hear({ kind: 'event', name: 'tick', payload })
    expect(html()).toBe('1,2')
  })
})

describe('a call', () => {
  const code = `let text = '-'; slot('panel', () => ui.h('p', { onclick: async () => { try { text = await host.call('count', { a: 1, b: undefined, c: () => 1 }) } catch (error) { text = error.code + ': ' + error.message } } }, text))`

  it('says JSON and gives what the host answers', async () => {
    const { press, said, hear, html } = await frame(code)
    said()
    await press('p')
    expect(said()).toEqual([{ kind: 'call', id: 1, method: 'count', payload: { a: 1 } }])
    await hear({ kind: 'reply', id: 1, value: 'two' })
    expect(html()).toBe('<p>two</p>')
  })

  it('is refused with a code', async () => {
    const { press, hear, html } = await frame(code)
    await press('p')
    await hear({ kind: 'refusal', id: 1, code: 'method-not-found', message: 'No count.' })
    expect(html()).toBe('<p>method-not-found: No count.</p>')
  })

  it('is not answered by another window', async () => {
    const { press, hear, html } = await frame(code)
    await press('p')
    await hear({ kind: 'reply', id: 1, value: 'forged' }, false)
    expect(html()).toBe('<p>-</p>')
  })
})

describe('code that cannot be drawn', () => {
  const check = async (code: string, message: string | RegExp) => {
    const { said } = await frame(code)
    const all = said()
    expect(all).toHaveLength(1)
    expect(all[0]).toEqual({ kind: 'failed', message: typeof message === 'string' ? message : expect.stringMatching(message) })
  }
  it('says what was thrown at once', () => check(`throw new Error('not today')`, 'not today'))
  it('says what was thrown while drawing', () => check(`slot('panel', () => { throw new Error('no ink') })`, 'no ink'))
  it('says what a promise was refused with', () => check(`return Promise.reject(new Error('later no'))`, 'later no'))
  it('says that it is no JavaScript', () => check(`let let = 1`, /./))
  it('says what a slot needs', () => check(`slot('panel', 'text')`, /needs a function/))
  it('says what an element needs', () => check(`slot('panel', () => ui.h('a b'))`, /name of an element/))

  it('says it once, and draws no more', async () => {
    const { said, press, html } = await frame(`let n = 0; slot('panel', () => { if (n > 0) throw new Error('broke'); return ui.h('p', { onclick: () => { n += 1 } }, 'a') })`)
    said()
    for (let count = 0; count < 3; count += 1) await press('p')
    expect([said(), html()]).toEqual([[{ kind: 'failed', message: 'broke' }], '<p>a</p>'])
  })
})

it('the Escape key leaves the frame, unless the plugin has a use for it', async () => {
  const { said, window, place } = await frame(`slot('panel', () => ui.h('input', { onkeydown: (event) => event.preventDefault() }))`)
  said()
  const press = (target: { dispatchEvent(event: never): void }) => target.dispatchEvent(new window.KeyboardEvent('keydown', { key: 'Escape', bubbles: true, cancelable: true }) as never)
  press(place.querySelector('input')!)
  expect(said()).toEqual([])
  press(place)
  expect(said()).toEqual([{ kind: 'leave' }])
})

it('the page of a frame lets nothing in but scripts with its nonce', () => {
  const page = frameDocument('n0nce')
  expect(page.match(/content="([^"]*)"/g)).toEqual([`content="default-src 'none'; script-src 'nonce-n0nce'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"`, `content="script-src 'unsafe-inline'"`])
  // Its program ends where it should.
  expect(page.match(/<\/script>/g)).toHaveLength(1)
})
