import { signal } from '@preact/signals'
import type { FunctionComponent } from 'preact'

/** A component whose code is read when it is first drawn; until then nothing is there. A failed reading is tried again with the next drawing. */
export function later<Props extends object>(load: () => Promise<FunctionComponent<Props>>): FunctionComponent<Props> {
  const loaded = signal<FunctionComponent<Props> | null>(null)
  let isLoading = false
  return (props) => {
    const Loaded = loaded.value
    if (Loaded !== null) return <Loaded {...props} />
    if (!isLoading) {
      isLoading = true
      void load()
        .then((component) => (loaded.value = component))
        .finally(() => (isLoading = false))
    }
    return null
  }
}
