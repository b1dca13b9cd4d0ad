import type { Json } from '../base/json.ts'
import type { EditorQuery, FileLocation } from '../protocol/cards.ts'
import type { Undo } from '../base/undo.ts'

/** What the host asks the editor to show, always because the person clicked. Nothing here takes the focus by itself. */
export interface Editor {
  /** Open the file at the line, as a preview, against `cwd` for relative paths. Resolves to words for the person when it cannot. */
  openLocation(location: FileLocation, cwd: string): Promise<string | null>
  /** A native diff between a text kept by `key` (before) and the file as it is now, or between two kept texts. */
  openDiff(diff: {
    readonly title: string
    readonly path: string
    readonly before: VirtualText
    /** Absent: the file as it is now. */
    readonly after?: VirtualText
  }): Promise<void>
  /** The changes of several files in one native multi-file diff; `before` null: the file was not there. */
  openDiffs(diffs: { readonly title: string; readonly files: readonly { readonly path: string; readonly before: VirtualText | null; readonly after?: VirtualText }[] }): Promise<void>
  /**
   * The native merge editor: what `mine` and `theirs` made of `base`, to be settled in the file itself.
   *
   * Shape: false where the editor has none that can be opened.
   */
  openMerge(merge: { readonly path: string; readonly base: VirtualText; readonly mine: MergeSide; readonly theirs: MergeSide }): Promise<boolean>
  /** The editor's own view of searches, with this one begun. */
  openSearch(query: EditorQuery): Promise<void>
  /** A read-only editor for long output; a page in Markdown is shown as it is read, where the editor can. */
  openText(text: VirtualText): Promise<void>
  /** Close the tabs that show texts of these sides and that the person did not make their own: pinned, kept open or changed. */
  closeTexts(sides: readonly string[]): Promise<void>
  /** The editor's own viewer for the kind of file that `name` says, such as an image. */
  openBytes(file: { readonly name: string; readonly bytes: Uint8Array }): Promise<void>
  /** A native save dialog, then the bytes. Resolves to where they are, or null when the person backed out. Errors: `Error` when it cannot be written. */
  saveFile(file: { readonly title: string; readonly name: string; readonly kind: FileKind; readonly chunks: AsyncIterable<Uint8Array> }): Promise<string | null>
  /** A native open dialog for one file, read whole. Null when the person backed out. Errors: `Error` when it is larger than `maxBytes`, or cannot be read. */
  chooseFile(options: { readonly title: string; readonly kind: FileKind; readonly maxBytes: number }): Promise<{ readonly name: string; readonly bytes: Uint8Array } | null>
  openExternal(url: string): Promise<void>
  /** The address under which a browser of the person reaches `url` of this machine; where they are apart, a port is forwarded for it. */
  externalAddress(url: string): Promise<string>
  /** The editor's list of problems. */
  showProblems(): Promise<void>
  /** A name that conditions of the manifest's menus may ask for, with the product prefix. */
  setCondition(name: string, isTrue: boolean): void
  copy(text: string): Promise<void>
  /** A native pick list. Resolves to the chosen id or null. `stays`: it is open until the person closes it, also when they look elsewhere. */
  pick(options: PickOptions): Promise<string | null>
  /** The same for several; `isCurrent` ticks an item before. Null when the person backed out. */
  pickMany(options: PickOptions): Promise<readonly string[] | null>
  /**
   * The same with a list that `find` fills anew after each pause in typing; what it finds is shown as it is, in its order. A partial
   * answer is asked for again. `onFocus` hears of the row that the person moves onto; its signal fires when they move on. A failure of
   * `find` leaves the list as it was.
   */
  pickFound(options: {
    readonly title: string
    readonly placeholder: string
    readonly find: (typed: string, signal: AbortSignal) => Promise<FoundItems>
    readonly onFocus: (id: string, signal: AbortSignal) => void
  }): Promise<{ readonly id: string; readonly button: string | null } | null>
  /** As `openText`, beside what the person does: it takes no focus. */
  previewText(text: VirtualText): Promise<void>
  /** `check` says what is wrong with what is typed, and only what nothing is wrong with can be given. */
  input(options: { readonly title: string; readonly prompt: string; readonly value?: string; readonly isSecret?: boolean; readonly check?: (typed: string) => string | null }): Promise<string | null>
  /**
   * Delete a file by its absolute path: into the trash, or for good. False where there is no trash; nothing was deleted then.
   * Errors: `Error` in words for the person when it cannot be deleted.
   */
  deleteFile(path: string, options: { readonly isForGood: boolean }): Promise<boolean>
  /** True only after an explicit yes. */
  confirm(options: { readonly text: string; readonly detail?: string; readonly yes: string }): Promise<boolean>
  /** One status bar item. */
  setStatus(status: { readonly text: string; readonly tooltip: string; readonly isWarning: boolean }): void
  /** A second item, for the reminder that comes next; null takes it away. */
  setReminder(reminder: { readonly text: string; readonly tooltip: string } | null): void
  /** The item of the goal beside it, of its own, or none. `heading` and `lines` are plain words, shown one below the other. */
  setGoalStatus(status: GoalStatus | null): void
  setBadge(badge: { readonly count: number; readonly tooltip: string } | null): void
  /** Bring the chat before the person, with the focus in the composer: they asked for it. */
  showChat(): Promise<void>
  /** A command of the editor or of another extension, by its id. Errors: its own, and `Error` for one that nobody has. */
  runCommand(id: string, args?: Json): Promise<unknown>
  /** The editor's own dialogs and pages. */
  openFolder(): Promise<void>
  manageTrust(): Promise<void>
  openSettings(query: string): Promise<void>
  isChatVisible(): boolean
  /** The person looks at this window. */
  isWindowFocused(): boolean
  onDidChangeChatVisible(listener: () => void): Undo
}

export interface GoalStatus {
  readonly text: string
  readonly heading: string
  readonly lines: readonly string[]
  readonly isWarning: boolean
}

/** One side of a merge, with the words over it. */
export interface MergeSide {
  readonly text: VirtualText
  readonly title: string
}

/** A text the host can hand to the editor under a stable name; `language` is the editor's language id. */
export interface VirtualText {
  readonly name: string
  readonly text: string
  readonly language?: string
  /** Tells apart texts of one name, such as a file before and after: a short word of letters, digits and `-`. */
  readonly side?: string
}

/** Which files a dialog shows, by their endings without a dot. */
export interface FileKind {
  readonly label: string
  readonly endings: readonly string[]
}

export interface PickOptions {
  readonly title: string
  readonly placeholder?: string
  readonly items: readonly PickItem[]
  readonly stays?: boolean
  /** Of several lists in a row. */
  readonly step?: { readonly at: number; readonly of: number }
}

export interface PickItem {
  readonly id: string
  readonly label: string
  readonly description?: string
  readonly detail?: string
  readonly isCurrent?: boolean
  /** A heading; cannot be chosen. */
  readonly isSeparator?: boolean
}

export interface FoundItems {
  readonly items: readonly FoundItem[]
  /** More will be found when it is asked for again. */
  readonly isPartial: boolean
  /** A line for the person, over the list. */
  readonly note?: string
}

export interface FoundItem extends PickItem {
  readonly buttons?: readonly PickButton[]
}

export interface PickButton {
  readonly id: string
  /** A codicon. */
  readonly icon: string
  readonly label: string
}
