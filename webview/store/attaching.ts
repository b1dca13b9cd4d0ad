import { signal, type ReadonlySignal } from '@preact/signals'
import { messageOf } from '../../extension/base/message-of.ts'
import type { FittedImage } from '../images/fit-image.ts'
import { t } from '../l10n.ts'

/** Images on their way into the message: read, made to fit, told to the host. What the host has taken is its state, not this. */
export interface Attaching {
  /** Nothing is sent while one is on its way. */
  readonly pending: ReadonlySignal<readonly { readonly id: string; readonly name: string }[]>
  /** Why the last one was not taken. */
  readonly problem: ReadonlySignal<string | null>
  add(files: readonly File[]): void
  attached(id: string, problem: string | null): void
  /** Say why something that was dropped is not taken. */
  refuse(reason: string): void
  closeProblem(): void
}

interface Deps {
  readonly fit: (bytes: Uint8Array<ArrayBuffer>) => Promise<FittedImage>
  readonly attachImage: (id: string, name: string, data: string) => void
  readonly newId: () => string
}

/** Bytes of one file that are read at all. */
const MAX_FILE_BYTES = 100_000_000

export function createAttaching({ fit, attachImage, newId }: Deps): Attaching {
  const pending = signal<readonly { readonly id: string; readonly name: string }[]>([])
  const problem = signal<string | null>(null)
  /** One after the other: a large picture takes much memory while it is drawn. */
  let queue = Promise.resolve()

  return {
    pending,
    problem,
    add(files) {
      problem.value = null
      for (const file of files) {
        const id = newId()
        const name = isMadeUp(file.name) ? '' : file.name
        pending.value = [...pending.peek(), { id, name }]
        queue = queue.then(() => prepare(id, name, file))
      }
    },
    attached(id, reason) {
      pending.value = pending.peek().filter((image) => image.id !== id)
      if (reason !== null) problem.value = reason
    },
    refuse: (reason) => void (problem.value = reason),
    closeProblem: () => void (problem.value = null),
  }

  /** Never rejects. */
  async function prepare(id: string, name: string, file: File): Promise<void> {
    const shown = name === '' ? t('The image') : name
    try {
      if (file.size > MAX_FILE_BYTES) return giveUp(id, t('{0} is too large to be attached.', shown))
      const fitted = await fit(new Uint8Array(await file.arrayBuffer()))
      if (fitted.ok) attachImage(id, name, await base64From(fitted.bytes))
      else giveUp(id, t(reasons[fitted.reason], shown))
    } catch (error) {
      giveUp(id, t('{0} could not be read: {1}', shown, messageOf(error)))
    }
  }

  function giveUp(id: string, reason: string): void {
    pending.value = pending.peek().filter((image) => image.id !== id)
    problem.value = reason
  }
}

const reasons = {
  'not-an-image': '{0} is no image that a model can read. Name a file with @ instead.',
  'too-many-pixels': '{0} has too many pixels: 40 million is the most. Make it smaller first.',
  'too-large': '{0} is too large to be attached.',
} as const

/** Browsers call what comes from the clipboard so. */
const isMadeUp = (name: string): boolean => /^image\.(png|jpe?g|gif|webp)$/i.test(name)

/** The browser encodes many times faster than any loop here. */
function base64From(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.addEventListener('load', () => {
      const uri = typeof reader.result === 'string' ? reader.result : ''
      resolve(uri.slice(uri.indexOf(',') + 1))
    })
    reader.addEventListener('error', () => reject(reader.error ?? new Error('unknown')))
    reader.readAsDataURL(new Blob([bytes]))
  })
}
