import type { EventFile } from '../../extension/capabilities/event-store.ts'
import { createMemoryDisk, createMemoryEventStore, type MemoryDisk, type MemoryEventStore } from './memory-event-store.ts'

/** The text of every log, as the disk held it at one moment. */
export type DiskImage = ReadonlyMap<string, string>

/** A store that keeps what the disk held after each write, for whoever dies after any of them. */
export function createRecordedStore(): { readonly store: MemoryEventStore; readonly images: readonly DiskImage[] } {
  const store = createMemoryEventStore()
  const images: DiskImage[] = []
  const watch = (file: EventFile): EventFile => {
    const flush = file.flush.bind(file)
    file.flush = async () => {
      await flush()
      const image = new Map([...store.disk.logs].map(([id, { text }]) => [id, text]))
      const last = images.at(-1)
      if (last === undefined || last.size !== image.size || [...image].some(([id, text]) => last.get(id) !== text)) images.push(image)
    }
    return file
  }
  return { images, store: { ...store, create: async (header) => watch(await store.create(header)), open: async (id, access) => watch(await store.open(id, access)) } }
}

/** A disk that a next start of the application finds: nobody holds anything, and nothing is noted beside the logs. */
export function diskOf(image: DiskImage): MemoryDisk {
  const disk = createMemoryDisk()
  for (const [id, text] of image) disk.logs.set(id, { text, cuts: new Map(), note: null, modifiedAt: 0, lease: null })
  return disk
}
