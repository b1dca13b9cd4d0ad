/** Ends what a command that is over has left running. */
export type EndLeft = () => Promise<void>

/** Of one session; whoever leaves more behind loses the oldest at once. */
const MAX_LEFT = 100

/** What commands have left running, such as a server started with `&`: it lives as long as its session. */
export class LeftPrograms {
  readonly #byOwner = new Map<string, EndLeft[]>()

  note(ownerId: string, end: EndLeft): void {
    const left = this.#byOwner.get(ownerId) ?? []
    this.#byOwner.set(ownerId, left)
    left.push(end)
    if (left.length > MAX_LEFT) void left.shift()?.()
  }

  /** Resolves when all of it is gone. */
  async endOwner(ownerId: string): Promise<void> {
    const left = this.#byOwner.get(ownerId) ?? []
    this.#byOwner.delete(ownerId)
    await Promise.all(left.map((end) => end()))
  }
}
