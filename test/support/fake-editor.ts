import type { Editor, GoalStatus } from '../../extension/capabilities/editor.ts'

type Asked = { readonly kind: string; readonly value: unknown }

export interface FakeEditor extends Editor {
  /** Everything it was asked to show, in order. */
  readonly shown: readonly Asked[]
  readonly take: () => readonly Asked[]
  /** Answers for the next picks, inputs and confirmations, in order; none left means dismissed. */
  readonly answers: (string | boolean | readonly string[] | null)[]
  /** What was saved, by name, and what can be chosen. */
  readonly files: Map<string, Uint8Array>
  /** What each command gives. */
  readonly commands: Map<string, unknown>
  setVisible(isVisible: boolean): void
  /** It has no editor for merges. */
  withoutMerge(): void
  /** It has no trash for files. */
  withoutTrash(): void
  readonly status: { readonly text: string; readonly tooltip: string; readonly isWarning: boolean } | null
  readonly reminder: { readonly text: string; readonly tooltip: string } | null
  focusWindow(isFocused: boolean): void
  readonly goalStatus: GoalStatus | null
  /** Conditions that hold. */
  readonly conditions: ReadonlySet<string>
  readonly badge: { readonly count: number; readonly tooltip: string } | null
  /** Sides whose tabs were closed. */
  readonly closed: readonly string[]
}

/** An editor that shows nothing and answers as a test says. */
export function createFakeEditor(): FakeEditor {
  const shown: Asked[] = []
  const closed: string[] = []
  const answers: (string | boolean | readonly string[] | null)[] = []
  const listeners = new Set<() => void>()
  let isVisible = true
  let hasMerge = true
  let hasTrash = true
  let status: FakeEditor['status'] = null
  let reminder: FakeEditor['reminder'] = null
  let isFocused = true
  let badge: FakeEditor['badge'] = null
  let goalStatus: GoalStatus | null = null
  const note = async (kind: string, value: unknown): Promise<void> => void shown.push({ kind, value })
  const ask = (kind: string, value: unknown) => {
    shown.push({ kind, value })
    return answers.shift() ?? null
  }
  const conditions = new Set<string>()
  const files = new Map<string, Uint8Array>()
  const commands = new Map<string, unknown>()
  return {
    shown,
    files,
    commands,
    conditions,
    take: () => shown.splice(0),
    answers,
    setVisible(next) {
      isVisible = next
      for (const listener of listeners) listener()
    },
    withoutMerge() {
      hasMerge = false
    },
    withoutTrash() {
      hasTrash = false
    },
    get status() {
      return status
    },
    get reminder() {
      return reminder
    },
    get goalStatus() {
      return goalStatus
    },
    get badge() {
      return badge
    },
    async openLocation(location, cwd) {
      await note('location', { location, cwd })
      return location.path.includes('missing') ? `${location.path} is not there.` : null
    },
    openDiff: (diff) => note('diff', diff),
    openDiffs: (diffs) => note('diffs', diffs),
    async openMerge(merge) {
      await note('merge', merge)
      return hasMerge
    },
    openSearch: (query) => note('search', query),
    async deleteFile(path, { isForGood }) {
      await note('delete', { path, isForGood })
      return isForGood || hasTrash
    },
    openText: (text) => note('text', text),
    closed,
    closeTexts: async (sides) => void closed.push(...sides),
    previewText: (text) => note('preview', text),
    // Answers: what is typed, then the row that is chosen, as its id with a button behind a blank bar, or its place among the rows.
    async pickFound({ find, onFocus, ...options }) {
      const typed = ask('find', options)
      if (typeof typed !== 'string') return null
      const { signal } = new AbortController()
      let found = await find(typed, signal)
      while (found.isPartial) found = await find(typed, signal)
      await note('found', found)
      const rows = found.items.filter(({ isSeparator }) => isSeparator !== true)
      const [row, button = null] = String(ask('choose-found', rows.map(({ id }) => id)) ?? '').split('|')
      const chosen = rows[Number(row)]
      if (row === '' || chosen === undefined) return null
      onFocus(chosen.id, signal)
      return { id: chosen.id, button }
    },
    openBytes: (file) => note('bytes', file),
    async saveFile({ chunks, ...file }) {
      const answer = ask('save', file)
      if (typeof answer !== 'string') return null
      const pieces: Uint8Array[] = []
      for await (const chunk of chunks) pieces.push(chunk)
      files.set(answer, Buffer.concat(pieces))
      return answer
    },
    async chooseFile(options) {
      const answer = ask('choose', options)
      const bytes = typeof answer === 'string' ? files.get(answer) : undefined
      return bytes === undefined ? null : { name: String(answer), bytes }
    },
    openExternal: (url) => note('external', url),
    externalAddress: async (url) => url.replace('localhost', 'forwarded.example'),
    showProblems: () => note('problems', null),
    setCondition: (name, isTrue) => void (isTrue ? conditions.add(name) : conditions.delete(name)),
    copy: (text) => note('copy', text),
    pick: async (options) => ask('pick', options) as string | null,
    pickMany: async (options) => ask('pick-many', options) as unknown as readonly string[] | null,
    input: async (options) => ask('input', options) as string | null,
    confirm: async (options) => ask('confirm', options) === true,
    setStatus: (next) => void (status = next),
    setReminder: (next) => void (reminder = next),
    isWindowFocused: () => isFocused,
    focusWindow: (next) => void (isFocused = next),
    setGoalStatus: (next) => void (goalStatus = next),
    setBadge: (next) => void (badge = next),
    showChat: () => note('chat', null),
    openFolder: () => note('folder', null),
    manageTrust: () => note('trust', null),
    async runCommand(id, args) {
      await note('command', args === undefined ? id : [id, args])
      if (!commands.has(id)) throw new Error(`command '${id}' not found`)
      return commands.get(id)
    },
    openSettings: (query) => note('settings', query),
    isChatVisible: () => isVisible,
    onDidChangeChatVisible(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
