import { batch, signal, type ReadonlySignal } from '@preact/signals'
import type { ScrollPlace } from '../../store/ui-state.ts'
import { RowOffsets } from './row-offsets.ts'

/** Rows that are drawn: `start` inclusive, `end` exclusive, and the room that the others take. */
export interface DrawnRange {
  readonly start: number
  readonly end: number
  readonly before: number
  readonly after: number
}

/** Drawn around the view, so that a scroll finds its rows there; drawn anew only when less than the second is left. */
const OVERSCAN_PX = 1_000
const MIN_OVERSCAN_PX = 300
/** A view that has no size yet: what would fill a tall one. */
const ASSUMED_HEIGHT_PX = 900
/** Nearer to the end than this is at the end. */
const END_PX = 3
/** For so long after a turn of the wheel upwards the view does not snap back to the end. */
const WHEEL_REST_MS = 200

/**
 * Keeps a long list of rows of any height in place.
 *
 * At the end it follows what is added. Elsewhere the row at the top of the view stays where it is, whatever grows, shrinks or
 * is loaded above it.
 */
export class ListEngine {
  readonly #offsets = new RowOffsets()
  readonly #range = signal<DrawnRange>({ start: 0, end: 0, before: 0, after: 0 })
  readonly #isAtEnd = signal(true)
  readonly #behind = signal(0)
  readonly #elements = new Map<string, HTMLElement>()
  readonly #keysOfElements = new WeakMap<Element, string>()
  /** Drawn and not yet measured: read together once all are drawn, since each reading after a change costs a layout. */
  readonly #unmeasured = new Set<HTMLElement>()
  readonly #observer: ResizeObserver
  readonly #onPlace: (place: ScrollPlace | null) => void
  readonly #onPerson: () => void
  #scroller: HTMLElement | null = null
  #anchor: ScrollPlace | null
  /**
   * The anchor was asked for, and stays until the person scrolls, also where the end is in view with it: a selector of what is wanted
   * within that row.
   */
  #held: string | null = null
  #lastTop = 0
  #lastHeight = 0
  #lastSeenKey: string | undefined
  #wheelUpAt = -Infinity

  /** `onPlace`: the view has another place. `onPerson`: the person moved it there. */
  constructor(place: ScrollPlace | null, onPlace: (place: ScrollPlace | null) => void, onPerson: () => void) {
    this.#anchor = place
    this.#onPlace = onPlace
    this.#onPerson = onPerson
    this.#isAtEnd.value = place === null
    this.#observer = new ResizeObserver((changes) => this.#resized(changes))
  }

  readonly range: ReadonlySignal<DrawnRange> = this.#range
  readonly isAtEnd: ReadonlySignal<boolean> = this.#isAtEnd
  /** Rows that came at the end since the view left it. */
  readonly behind: ReadonlySignal<number> = this.#behind

  attach(scroller: HTMLElement): () => void {
    this.#scroller = scroller
    const onScroll = () => this.#scrolled()
    const onWheel = ({ deltaY }: WheelEvent) => {
      if (deltaY >= 0 || scroller.scrollTop <= 0) return
      this.#wheelUpAt = performance.now()
      this.#isAtEnd.value = false
    }
    scroller.addEventListener('scroll', onScroll, { passive: true })
    scroller.addEventListener('wheel', onWheel, { passive: true })
    this.#observer.observe(scroller)
    return () => {
      scroller.removeEventListener('scroll', onScroll)
      scroller.removeEventListener('wheel', onWheel)
      this.#observer.disconnect()
      this.#scroller = null
    }
  }

  /** Take the rows before they are drawn. */
  setRows(keys: readonly string[], estimate: (index: number) => number): void {
    this.#moveAnchor(keys)
    this.#offsets.setKeys(keys, estimate)
    this.#updateRange()
    this.#updateBehind()
  }

  /** When the row at the top goes away, the next one that stays keeps the place. */
  #moveAnchor(keys: readonly string[]): void {
    const anchor = this.#anchor
    const index = anchor === null ? -1 : this.#offsets.indexOf(anchor.itemId)
    if (anchor === null || index < 0) return
    const staying = new Set(keys)
    if (staying.has(anchor.itemId)) return
    const top = this.#offsets.topOf(index) + anchor.offsetPx
    for (let next = index + 1; next < this.#offsets.count; next += 1) {
      const itemId = this.#offsets.keyAt(next)!
      if (!staying.has(itemId)) continue
      this.#anchor = { itemId, offsetPx: top - this.#offsets.topOf(next) }
      this.#held = null
      return
    }
  }

  /** A row has been drawn; the result forgets it. */
  mount(key: string, element: HTMLElement): () => void {
    this.#elements.set(key, element)
    this.#keysOfElements.set(element, key)
    this.#unmeasured.add(element)
    this.#observer.observe(element)
    return () => {
      this.#unmeasured.delete(element)
      this.#observer.unobserve(element)
      if (this.#elements.get(key) === element) this.#elements.delete(key)
    }
  }

  /** Put the view where it belongs, after rows were drawn or changed their height. */
  settle(): void {
    const scroller = this.#scroller
    if (scroller === null) return
    this.#measure()
    if (this.#isFollowing) {
      const end = scroller.scrollHeight - scroller.clientHeight
      if (Math.abs(scroller.scrollTop - end) > 0.5) scroller.scrollTop = end
    } else if (this.#anchor !== null) {
      if (this.#held !== null) this.#anchor = { itemId: this.#anchor.itemId, offsetPx: this.#offsetIn(this.#anchor.itemId, this.#held) }
      const index = this.#offsets.indexOf(this.#anchor.itemId)
      const top = this.#offsets.topOf(index) + this.#anchor.offsetPx
      if (index >= 0 && Math.abs(scroller.scrollTop - top) > 0.5) scroller.scrollTop = top
      if (this.#held !== null) this.#isAtEnd.value = this.#belowPx(scroller) <= END_PX
    }
    if (this.#isAtEnd.peek()) this.#lastSeenKey = this.#offsets.keyAt(this.#offsets.count - 1)
    this.#lastTop = scroller.scrollTop
    this.#lastHeight = scroller.clientHeight
    this.#updateRange()
  }

  scrollToEnd(): void {
    this.#wheelUpAt = -Infinity
    this.#isAtEnd.value = true
    this.#held = null
    this.#anchor = null
    this.#onPlace(null)
    this.#onPerson()
    this.#updateRange()
    this.settle()
    this.#updateBehind()
  }

  /** Bring what the selector finds in a row, or else the row, to the top of the view, and keep it there until the person scrolls. */
  scrollTo(key: string, inside: string): void {
    if (this.#offsets.indexOf(key) < 0) return
    this.#isAtEnd.value = false
    this.#held = inside
    this.#anchor = { itemId: key, offsetPx: 0 }
    this.#onPlace(this.#anchor)
    this.settle()
    // Nothing moves where all of it is in view, so no scrolling says that the end is.
    if (this.#scroller !== null && this.#scroller.scrollHeight <= this.#scroller.clientHeight) this.scrollToEnd()
  }

  get #isFollowing(): boolean {
    return this.#isAtEnd.peek() && this.#held === null
  }

  /** 0 while it is not drawn, or hidden. */
  #offsetIn(key: string, inside: string): number {
    const element = this.#elements.get(key)
    const found = element?.querySelector<HTMLElement>(inside)
    return element && found ? Math.max(0, found.offsetTop - element.offsetTop) : 0
  }

  #belowPx({ scrollHeight, clientHeight, scrollTop }: HTMLElement): number {
    return scrollHeight - clientHeight - scrollTop
  }

  #scrolled(): void {
    const scroller = this.#scroller
    if (scroller === null) return
    // A dock that shrinks and grows again moves the view too, and is heard of here before its new height is.
    if ((this.#isAtEnd.peek() || this.#held !== null) && scroller.clientHeight !== this.#lastHeight) return this.settle()
    const top = scroller.scrollTop
    // Heard late, of what the list itself did.
    const isOwn = Math.abs(top - this.#lastTop) < 1
    if (isOwn && this.#held !== null) return
    if (!isOwn) this.#onPerson()
    this.#held = null
    const distance = this.#belowPx(scroller)
    batch(() => {
      if (distance <= END_PX && performance.now() - this.#wheelUpAt > WHEEL_REST_MS) this.#isAtEnd.value = true
      // Following only ever moves down: up, and away from the end, was the person.
      else if (top < this.#lastTop - 1 && distance > END_PX) this.#isAtEnd.value = false
      this.#lastTop = top
      this.#anchor = this.#isAtEnd.peek() ? null : this.#placeAt(top)
      this.#updateRange()
      this.#updateBehind()
    })
    this.#onPlace(this.#anchor)
  }

  #placeAt(top: number): ScrollPlace | null {
    const index = this.#offsets.indexAt(top)
    const itemId = this.#offsets.keyAt(index)
    return itemId === undefined ? null : { itemId, offsetPx: top - this.#offsets.topOf(index) }
  }

  #resized(changes: readonly ResizeObserverEntry[]): void {
    let isChanged = false
    for (const { target, borderBoxSize } of changes) {
      const key = this.#keysOfElements.get(target)
      if (key === undefined) isChanged = true
      else if (this.#elements.get(key) === target) isChanged = this.#offsets.setHeight(key, borderBoxSize[0]?.blockSize ?? 0) || isChanged
    }
    if (isChanged) this.settle()
  }

  #measure(): void {
    for (const element of this.#unmeasured) {
      const key = this.#keysOfElements.get(element)
      if (key !== undefined) this.#offsets.setHeight(key, element.getBoundingClientRect().height)
    }
    this.#unmeasured.clear()
  }

  #updateRange(): void {
    const height = this.#scroller?.clientHeight || ASSUMED_HEIGHT_PX
    const offsets = this.#offsets
    const top = this.#viewTop(height)
    const { start, end } = this.#range.peek()
    const needsStart = offsets.indexAt(Math.max(0, top - MIN_OVERSCAN_PX))
    const needsEnd = offsets.indexAt(top + height + MIN_OVERSCAN_PX) + 1
    const isEnough = start <= needsStart && end >= needsEnd && end <= offsets.count
    const next = isEnough
      ? { start, end }
      : { start: Math.max(0, offsets.indexAt(Math.max(0, top - OVERSCAN_PX))), end: offsets.indexAt(top + height + OVERSCAN_PX) + 1 }
    this.#setRange({ ...next, before: offsets.topOf(next.start), after: offsets.totalHeight - offsets.topOf(next.end) })
  }

  #viewTop(height: number): number {
    if (this.#isFollowing) return Math.max(0, this.#offsets.totalHeight - height)
    const anchor = this.#anchor
    const index = anchor === null ? -1 : this.#offsets.indexOf(anchor.itemId)
    return index >= 0 && anchor !== null ? this.#offsets.topOf(index) + anchor.offsetPx : (this.#scroller?.scrollTop ?? 0)
  }

  #setRange(next: DrawnRange): void {
    const held = this.#range.peek()
    if (held.start !== next.start || held.end !== next.end || held.before !== next.before || held.after !== next.after) this.#range.value = next
  }

  #updateBehind(): void {
    const seen = this.#lastSeenKey === undefined ? -1 : this.#offsets.indexOf(this.#lastSeenKey)
    this.#behind.value = this.#isAtEnd.peek() || seen < 0 ? 0 : this.#offsets.count - 1 - seen
  }
}
