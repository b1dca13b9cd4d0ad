import type { FrameHears, FrameSays, FrameTheme } from './frame-messages.ts'

type Render = () => unknown
type Body = (...given: readonly unknown[]) => Promise<unknown>
interface Element_ {
  readonly tag: string
  readonly props: Readonly<Record<string, unknown>>
  readonly children: readonly unknown[]
}

/**
 * What runs inside the frame of a plugin, before and around the plugin's own code.
 *
 * Its text is put into the frame's page, so it stands alone: nothing outside of this function exists there.
 *
 * The code of a plugin is the body of an `async` function that is given
 * - `slot(name, render)`: what to draw there; `render` gives a node, a text or a list of them, and is called again after each event;
 * - `ui.h(tag, props, ...children)`: a node; `tag` may be a function of props. `ui.redraw()`: draw again. `ui.theme()`: classes of the theme;
 * - `host.call(method, payload)`: a promise of what the host half answers, refused with an error that has a `code`;
 *   `host.on(name, listener)`: hear `harness.emit`; gives a function that ends it;
 * - `styles(css)`: rules for the frame. The editor's colours are there as `var(--vscode-…)`.
 */
export function frameProgram(): void {
  const baseStyles = `
    :root { color-scheme: light dark; }
    html, body { margin: 0; padding: 0; background: transparent; }
    body { overflow: auto; color: var(--vscode-foreground); font: var(--vscode-font-weight, normal) var(--vscode-font-size, 13px)/1.5 var(--vscode-font-family, sans-serif); overflow-wrap: anywhere; }
    *, *::before, *::after { box-sizing: border-box; }
    #slot { display: flow-root; padding: 2px; }
    h1, h2, h3, h4 { margin: 0 0 4px; font-size: inherit; font-weight: 600; }
    p, ul, ol, pre { margin: 0 0 4px; }
    ul, ol { padding-inline-start: 20px; }
    a { color: var(--vscode-textLink-foreground); }
    code, pre { font-family: var(--vscode-editor-font-family, monospace); font-size: calc(var(--vscode-font-size, 13px) - 1px); }
    button, input, textarea, select { margin-block: 1px; }
    button { padding: 2px 10px; border: 1px solid var(--vscode-button-border, transparent); border-radius: 4px; background: var(--vscode-button-background); color: var(--vscode-button-foreground); font: inherit; cursor: pointer; }
    button:hover { background: var(--vscode-button-hoverBackground); }
    button:disabled { opacity: 0.5; cursor: default; }
    input, textarea, select { max-width: 100%; padding: 2px 6px; border: 1px solid var(--vscode-input-border, var(--vscode-widget-border, transparent)); border-radius: 4px; background: var(--vscode-input-background); color: var(--vscode-input-foreground); font: inherit; }
    input::placeholder, textarea::placeholder { color: var(--vscode-input-placeholderForeground); }
    input[type='checkbox'], input[type='radio'] { accent-color: var(--vscode-button-background); }
    table { border-collapse: collapse; }
    th, td { padding: 2px 8px 2px 0; text-align: start; }
    progress { accent-color: var(--vscode-progressBar-background); }
    :focus-visible { outline: 1px solid var(--vscode-focusBorder); outline-offset: 1px; }`
  const page = window.parent
  const place = document.createElement('div')
  const listeners = new Map<string, Set<(payload: unknown) => unknown>>()
  const waiting = new Map<number, { readonly resolve: (value: unknown) => void; readonly reject: (error: Error) => void }>()
  const propsOf = new WeakMap<Element, Readonly<Record<string, unknown>>>()
  const handlersOf = new WeakMap<Element, Map<string, EventListener>>()
  let ownSlot = ''
  let classes = ''
  let variables: readonly string[] = []
  let render: Render | null = null
  let isRunning = false
  let isDrawn = false
  let isDrawing = false
  let isOver = false
  let calls = 0

  document.body.append(place)
  place.id = 'slot'
  adopt(baseStyles)
  // What could reach a network without being held by the policy of the page.
  for (const name of ['RTCPeerConnection', 'webkitRTCPeerConnection', 'RTCDataChannel']) Reflect.deleteProperty(window, name)
  window.addEventListener('message', ({ source, data }: MessageEvent<FrameHears>) => {
    if (source === page && typeof data === 'object' && (data as unknown) !== null) hear(data)
  })
  window.addEventListener('error', ({ message, error }) => trouble(error ?? message))
  window.addEventListener('unhandledrejection', ({ reason }) => trouble(reason))
  window.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && !event.defaultPrevented) say({ kind: 'leave' })
  })
  new ResizeObserver(() => say({ kind: 'height', px: Math.ceil(place.getBoundingClientRect().height) })).observe(place)
  say({ kind: 'here' })

  function say(message: FrameSays): void {
    // The frame has no origin of its own, and its page may be any.
    page.postMessage(message, '*')
  }

  function hear(message: FrameHears): void {
    switch (message.kind) {
      case 'start':
        return start(message)
      case 'theme':
        dress(message.theme)
        return redraw()
      case 'ping':
        return say({ kind: 'pong' })
      case 'event':
        for (const listener of [...(listeners.get(message.name) ?? [])]) follow(() => listener(message.payload))
        return undefined
      case 'reply':
        return take(message.id)?.resolve(message.value)
      case 'refusal':
        return take(message.id)?.reject(Object.assign(new Error(message.message), { code: message.code }))
    }
  }

  function take(id: number) {
    const call = waiting.get(id)
    waiting.delete(id)
    return call
  }

  function start({ slot: wanted, code, nonce, theme }: Extract<FrameHears, { kind: 'start' }>): void {
    if (ownSlot !== '') return
    ownSlot = wanted
    dress(theme)
    let body: Body | null = null
    const keep = (value: typeof body): void => {
      body = value
    }
    Object.defineProperty(window, 'bosunPlugin', { configurable: true, set: keep })
    const script = document.createElement('script')
    script.nonce = nonce
    script.textContent = `bosunPlugin = async function (ui, host, slot, styles) {\n${code}\n}\n//# sourceURL=plugin-client.js\n`
    document.head.append(script)
    // Gone with the nonce, so that the code adds no script of its own.
    for (const each of document.querySelectorAll('script')) each.remove()
    Reflect.deleteProperty(window, 'bosunPlugin')
    if (isOver) return
    if (body === null) return fail(new Error('The code could not be read.'))
    isRunning = true
    ;(body as Body)(Object.freeze({ h, redraw, theme: () => classes }), Object.freeze({ call, on }), slot, adopt).then(stand, fail)
  }

  function stand(): void {
    isDrawn = true
    if (draw()) say({ kind: 'ready', isDrawn: render !== null })
  }

  // What the code is given

  function h(tag: unknown, props?: Readonly<Record<string, unknown>> | null, ...children: readonly unknown[]): unknown {
    if (typeof tag === 'function') return (tag as (props: object) => unknown)({ ...props, children })
    if (typeof tag !== 'string' || !/^[a-z][a-z0-9-]*$/i.test(tag)) throw new Error(`ui.h needs the name of an element or a function, not ${String(tag)}.`)
    return { tag, props: props ?? {}, children } satisfies Element_
  }

  function call(method: unknown, payload: unknown = null): Promise<unknown> {
    return new Promise((resolve, reject) => {
      calls += 1
      waiting.set(calls, { resolve, reject })
      const json = JSON.stringify(payload) as string | undefined
      // A copy as JSON has it: what JSON cannot say is not sent.
      say({ kind: 'call', id: calls, method: String(method), payload: json === undefined ? null : JSON.parse(json) })
    })
  }

  function on(name: string, listener: (payload: unknown) => unknown): () => void {
    const all = listeners.get(name) ?? new Set()
    listeners.set(name, all.add(listener))
    return () => void all.delete(listener)
  }

  function slot(name: string, draws: Render): void {
    if (typeof draws !== 'function') throw new Error(`slot('${name}', render) needs a function that gives what to draw.`)
    if (name !== ownSlot) return
    // Later than the first drawing it is told anew that there is something.
    const isLate = render === null && isDrawn
    render = draws
    if (isLate) stand()
    else redraw()
  }

  function adopt(css: string): void {
    const sheet = new CSSStyleSheet()
    sheet.replaceSync(css)
    document.adoptedStyleSheets.push(sheet)
  }

  function redraw(): void {
    if (!isRunning || isDrawing || isOver) return
    isDrawing = true
    queueMicrotask(() => {
      isDrawing = false
      draw()
    })
  }

  // Drawing: what stands is changed into what is wanted, so that focus and what was typed stay

  function draw(): boolean {
    if (render === null || isOver) return !isOver
    try {
      put(place, flat([render()]))
      return true
    } catch (error) {
      fail(error)
      return false
    }
  }

  function flat(nodes: readonly unknown[]): readonly (string | Element_)[] {
    return nodes.flatMap((node): readonly (string | Element_)[] => {
      if (node === null || node === undefined || typeof node === 'boolean') return []
      if (Array.isArray(node)) return flat(node)
      return typeof node === 'object' && 'tag' in node ? [node as Element_] : [shown(node)]
    })
  }

  function put(parent: Element, wanted: readonly (string | Element_)[]): void {
    for (let index = 0; index < wanted.length; index += 1) {
      const item = wanted[index]!
      const old = parent.childNodes[index]
      if (typeof item === 'string') {
        if (old instanceof Text) {
          if (old.data !== item) old.data = item
        } else if (old === undefined) parent.append(item)
        else old.replaceWith(item)
        continue
      }
      const isSame = old instanceof Element && old.localName === item.tag.toLowerCase() && propsOf.get(old)?.['key'] === item.props['key']
      const element = isSame ? old : item.tag === 'svg' || parent.namespaceURI === 'http://www.w3.org/2000/svg' ? document.createElementNS('http://www.w3.org/2000/svg', item.tag) : document.createElement(item.tag)
      if (old === undefined) parent.append(element)
      else if (!isSame) old.replaceWith(element)
      setProps(element, item.props)
      put(element, flat(item.children))
    }
    while (parent.childNodes.length > wanted.length) parent.lastChild?.remove()
  }

  function setProps(element: Element, props: Readonly<Record<string, unknown>>): void {
    const before = propsOf.get(element) ?? {}
    propsOf.set(element, props)
    for (const name of Object.keys({ ...before, ...props })) {
      if (name === 'key' || name === 'children') continue
      if (/^on[a-z]/i.test(name)) setHandler(element, name.slice(2).toLowerCase(), props[name])
      else if (before[name] !== props[name] || name === 'value' || name === 'checked') setProp(element, name === 'className' ? 'class' : name === 'htmlFor' ? 'for' : name, props[name])
    }
  }

  function setHandler(element: Element, type: string, handler: unknown): void {
    const handlers = handlersOf.get(element) ?? new Map<string, EventListener>()
    handlersOf.set(element, handlers)
    const old = handlers.get(type)
    if (old !== undefined) element.removeEventListener(type, old)
    handlers.delete(type)
    if (typeof handler !== 'function') return
    const listener = (event: Event) => follow(() => (handler as (event: Event) => unknown)(event))
    handlers.set(type, listener)
    element.addEventListener(type, listener)
  }

  function setProp(element: Element, name: string, value: unknown): void {
    if (name === 'style' && element instanceof HTMLElement) {
      // By the object: the policy of the page forbids styles in attributes.
      element.style.cssText = typeof value === 'string' ? value : ''
      if (typeof value === 'object') for (const [key, part] of Object.entries(value ?? {})) element.style.setProperty(key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`), String(part))
    } else if ((name === 'value' || name === 'checked' || name === 'disabled' || name === 'selected') && name in element) {
      const next = name === 'value' ? (value ?? '') : value === true
      if ((element as unknown as Record<string, unknown>)[name] !== next) (element as unknown as Record<string, unknown>)[name] = next
    } else if (value === undefined || value === null || value === false) element.removeAttribute(name)
    else element.setAttribute(name, value === true ? '' : shown(value))
  }

  /** Text of a value; of an object its JSON, since its name says nothing. */
  function shown(value: unknown): string {
    if (typeof value === 'string') return value
    const json: string | undefined = JSON.stringify(value)
    return json ?? typeof value
  }

  /** Do something of the code's, and draw what has become of it. */
  function follow(work: () => unknown): void {
    try {
      const made = work()
      if (made instanceof Promise) made.then(redraw, (error: unknown) => (trouble(error), redraw()))
    } catch (error) {
      trouble(error)
    }
    redraw()
  }

  function dress(theme: FrameTheme): void {
    classes = theme.classes
    document.body.className = theme.classes
    document.documentElement.lang = theme.language
    const { style } = document.documentElement
    for (const name of variables) if (!(name in theme.variables)) style.removeProperty(name)
    variables = Object.keys(theme.variables)
    for (const [name, value] of Object.entries(theme.variables)) if (style.getPropertyValue(name) !== value) style.setProperty(name, value)
  }

  function fail(error: unknown): void {
    if (isOver) return
    isOver = true
    say({ kind: 'failed', message: textOf(error) })
  }

  function trouble(error: unknown): void {
    if (isRunning) say({ kind: 'trouble', message: textOf(error) })
    else fail(error)
  }

  function textOf(error: unknown): string {
    try {
      return String(error instanceof Error ? error.message || error.name : error).slice(0, 1_000)
    } catch {
      return 'A value without text was thrown.'
    }
  }
}

/**
 * The page of a frame. Two policies hold it, and that of the page around it: scripts need the nonce, and come from nowhere else whatever
 * nonce they have; nothing is fetched, and pictures are `data:` alone.
 */
export const frameDocument = (nonce: string): string => `<!doctype html>
<html>
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'nonce-${nonce}'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'">
<meta http-equiv="Content-Security-Policy" content="script-src 'unsafe-inline'">
</head>
<body>
<script nonce="${nonce}">addEventListener('DOMContentLoaded', ${frameProgram.toString()})</script>
</body>
</html>`
