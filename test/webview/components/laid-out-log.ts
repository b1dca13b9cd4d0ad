import { act } from 'preact/test-utils'

type HearSizes = (changes: readonly { readonly target: Element; readonly borderBoxSize: readonly { readonly blockSize: number }[] }[]) => void

/** Units: CSS pixels. */
export const VIEW_PX = 400
export const LINE_PX = 40

/**
 * Give the list of the talk the layout that a browser would, which the page of these tests has not: each row is a line high, or what
 * `heights` says of the words in it. As in a browser, a scroll is heard of later, in `frame`, whoever made it.
 */
export function layOutLog(heights: ReadonlyMap<string, number>) {
  const tops = new WeakMap<Element, number>()
  const unheard = new Set<Element>()
  const observers = new Set<FakeResizeObserver>()
  const isLog = (element: Element) => element.classList.contains('log')
  const heightOf = (element: Element): number => {
    if (element.classList.contains('log-room')) return Number.parseFloat((element as HTMLElement).style.height)
    return [...heights].find(([words]) => (element.textContent ?? '').includes(words))?.[1] ?? LINE_PX
  }
  const contentHeight = (log: Element) => [...log.children].reduce((sum, child) => sum + heightOf(child), 0)
  const clamped = (log: Element, top: number) => Math.max(0, Math.min(top, contentHeight(log) - VIEW_PX))

  class FakeResizeObserver {
    readonly #elements = new Map<Element, number>()
    readonly #hear: HearSizes
    constructor(hear: HearSizes) {
      this.#hear = hear
      observers.add(this)
    }
    observe(element: Element) {
      this.#elements.set(element, isLog(element) ? VIEW_PX : heightOf(element))
    }
    unobserve(element: Element) {
      this.#elements.delete(element)
    }
    disconnect() {
      observers.delete(this)
    }
    look() {
      const changed = [...this.#elements].filter(([element, before]) => !isLog(element) && heightOf(element) !== before).map(([target]) => ({ target, borderBoxSize: [{ blockSize: heightOf(target) }] }))
      for (const { target, borderBoxSize } of changed) this.#elements.set(target, borderBoxSize[0]!.blockSize)
      if (changed.length > 0) this.#hear(changed)
    }
  }

  const replaced = [
    replace(HTMLElement.prototype, 'clientHeight', { get: (element) => (isLog(element) ? VIEW_PX : 0) }),
    replace(HTMLElement.prototype, 'scrollHeight', { get: (element) => (isLog(element) ? Math.max(VIEW_PX, contentHeight(element)) : 0) }),
    replace(HTMLElement.prototype, 'scrollTop', {
      get: (element) => clamped(element, tops.get(element) ?? 0),
      set: (element, top) => {
        const next = clamped(element, top)
        if (next !== clamped(element, tops.get(element) ?? 0)) unheard.add(element)
        tops.set(element, next)
      },
    }),
    replace(HTMLElement.prototype, 'getBoundingClientRect', { get: (element) => () => ({ height: heightOf(element) }) }),
    replace(globalThis, 'ResizeObserver', { get: () => FakeResizeObserver }),
  ]
  return {
    /** What a browser does between two paintings: what scrolled is told, and then what has another size. */
    frame: () =>
      act(() => {
        const scrolled = [...unheard]
        unheard.clear()
        for (const element of scrolled) element.dispatchEvent(new Event('scroll'))
        for (const observer of [...observers]) observer.look()
      }),
    restore: () => replaced.forEach((undo) => undo()),
  }
}

function replace(holder: object, name: string, { get, set }: { readonly get: (element: HTMLElement) => unknown; readonly set?: (element: HTMLElement, value: number) => void }): () => void {
  const before = Object.getOwnPropertyDescriptor(holder, name)
  Object.defineProperty(holder, name, {
    configurable: true,
    get(this: HTMLElement) {
      return get(this)
    },
    set(this: HTMLElement, value: number) {
      set?.(this, value)
    },
  })
  return () => {
    if (before === undefined) Reflect.deleteProperty(holder, name)
    else Object.defineProperty(holder, name, before)
  }
}
