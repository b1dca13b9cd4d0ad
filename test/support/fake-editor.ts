import type { Editor } from '../../extension/capabilities/editor.ts'

type Asked = { readonly kind: string; readonly value: unknown }

export interface FakeEditor extends Editor {
  /** Everything it was asked to show, in order. */
  readonly shown: readonly Asked[]
  readonly take: () => readonly Asked[]
  /** Answers for the next picks, inputs and confirmations, in order; none left means dismissed. */
  readonly answers: (string | boolean | null)[]
  /** What was saved, by name, and what can be chosen. */
  readonly files: Map<string, Uint8Array>
  setVisible(isVisible: boolean): void
  /** It has no editor for merges. */
  withoutMerge(): void
  readonly status: { readonly text: string; readonly tooltip: string; readonly isWarning: boolean } | null
  /** Conditions that hold. */
  readonly conditions: ReadonlySet<string>
  readonly badge: { readonly count: number; readonly tooltip: string } | null
}

/** An editor that shows nothing and answers as a test says. */
export function createFakeEditor(): FakeEditor {
  const shown: Asked[] = []
  const answers: (string | boolean | null)[] = []
  const listeners = new Set<() => void>()
  let isVisible = true
  let hasMerge = true
  let status: FakeEditor['status'] = null
  let badge: FakeEditor['badge'] = null
  const note = async (kind: string, value: unknown): Promise<void> => void shown.push({ kind, value })
  const ask = (kind: string, value: unknown) => {
    shown.push({ kind, value })
    return answers.shift() ?? null
  }
  const conditions = new Set<string>()
  const files = new Map<string, Uint8Array>()
  return {
    shown,
    files,
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
    get status() {
      return status
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
    openText: (text) => note('text', text),
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
    input: async (options) => ask('input', options) as string | null,
    confirm: async (options) => ask('confirm', options) === true,
    setStatus: (next) => void (status = next),
    setBadge: (next) => void (badge = next),
    showChat: () => note('chat', null),
    openFolder: () => note('folder', null),
    manageTrust: () => note('trust', null),
    openSettings: (query) => note('settings', query),
    isChatVisible: () => isVisible,
    onDidChangeChatVisible(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
