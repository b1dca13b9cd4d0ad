import { setTimeout as delay } from 'node:timers/promises'

/** What a contract needs of the runner it runs under: Vitest in Node, or mocha inside the editor's extension host. */
export interface SuiteEnv<World> {
  readonly describe: (name: string, body: () => void) => void
  readonly it: (name: string, body: () => Promise<void>) => void
  /** A provider of its own for each test, and what a test does to it. */
  readonly create: () => Promise<World>
}

/** Does work in a world of its own, which is disposed of however the work ends. */
export async function inWorld<World extends { dispose(): Promise<void> }>(create: () => Promise<World>, body: (world: World) => Promise<void>): Promise<void> {
  const world = await create()
  try {
    await body(world)
  } finally {
    await world.dispose()
  }
}

/** Resolves when it is so. Errors: `Error` after five seconds. */
export async function until(what: string, isSo: () => boolean): Promise<void> {
  for (let looks = 0; !isSo(); looks++) {
    if (looks === 2_000) throw new Error(`Not so within 40 s: ${what}`)
    await delay(20)
  }
}

/** A PNG of one transparent dot: the editor looks into images. */
export const dot = Uint8Array.from(Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==', 'base64'))
