import type { NoticeView } from '../protocol/view-state.ts'

export interface NoticeAction {
  readonly id: string
  readonly label: string
  readonly run: () => void | Promise<void>
}

/** Lines over the composer that stay until they are mended or closed; one per id. */
export class Notices {
  readonly #shown = new Map<string, { readonly view: NoticeView; readonly actions: readonly NoticeAction[] }>()
  readonly #onChange: (views: readonly NoticeView[]) => void

  constructor(onChange: (views: readonly NoticeView[]) => void) {
    this.#onChange = onChange
  }

  show(notice: { readonly id: string; readonly level: NoticeView['level']; readonly text: string; readonly actions?: readonly NoticeAction[] }): void {
    const actions = notice.actions ?? []
    const view = { id: notice.id, level: notice.level, text: notice.text, actions: actions.map(({ id, label }) => ({ id, label })) }
    this.#shown.set(notice.id, { view, actions })
    this.#tell()
  }

  has(id: string): boolean {
    return this.#shown.has(id)
  }

  close(id: string): void {
    if (this.#shown.delete(id)) this.#tell()
  }

  async run(id: string, action: string): Promise<void> {
    await this.#shown.get(id)?.actions.find((entry) => entry.id === action)?.run()
  }

  #tell(): void {
    this.#onChange([...this.#shown.values()].map(({ view }) => view))
  }
}
