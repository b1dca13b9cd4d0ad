import type { HostMessage } from '../protocol/messages.ts'
import type { ViewChannel } from './view-channel.ts'

/** More is nothing that a person asked for. */
const MAX_WAITING = 20

/** Says things to the page before the person. When none is up yet, the first that comes gets them. */
export class PageWords {
  readonly #ready = new Set<ViewChannel>()
  readonly #waiting: HostMessage[] = []

  /** A page has come up, perhaps again. */
  ready(channel: ViewChannel): void {
    this.#ready.add(channel)
    for (const message of this.#waiting.splice(0)) channel.post(message)
  }

  gone(channel: ViewChannel): void {
    this.#ready.delete(channel)
  }

  /** Before a page is brought up: one that is hidden now has to come up again first. */
  forgetHidden(): void {
    for (const channel of [...this.#ready]) if (!channel.isVisible()) this.#ready.delete(channel)
  }

  say(message: HostMessage): void {
    const page = [...this.#ready].find((channel) => channel.isVisible())
    if (page !== undefined) page.post(message)
    else if (this.#waiting.length < MAX_WAITING) this.#waiting.push(message)
  }
}
