import * as vscode from 'vscode'
import type { Json } from '../../base/json.ts'
import { messageOf } from '../../base/message-of.ts'
import type { Editor, PickOptions, VirtualText } from '../../capabilities/editor.ts'
import { FileError, type FileSystem } from '../../capabilities/file-system.ts'
import type { Localization } from '../../capabilities/localization.ts'
import type { EditorQuery, FileLocation } from '../../protocol/cards.ts'
import { pathOf, uriOf } from './address.ts'
import { FoundPick } from './found-pick.ts'
import { pickItem } from './pick-item.ts'
import { openAddress } from './open-address.ts'
import type { ChatViews } from './chat-views.ts'
import type { KeptFiles } from './kept-files.ts'

interface Parts {
  readonly files: Pick<FileSystem, 'resolve' | 'stat'>
  readonly kept: KeptFiles
  readonly views: ChatViews
  readonly l10n: Localization
  readonly statusCommand: string
  readonly reminderCommand: string
  readonly goalCommand: string
}

const OPEN_MERGE = '_open.mergeEditor'

/**
 * Shows things in the editor because the person asked: previews, native diffs, pick lists, the status bar item, the badge.
 *
 * A click on a place jumps there as in the editor's own lists; diffs and outputs open as previews, so no tabs pile up.
 */
export class VscodeEditor implements Editor {
  readonly #parts: Parts
  readonly #status = vscode.window.createStatusBarItem('bosun.status', vscode.StatusBarAlignment.Right, 110)
  /** Made with the first goal. */
  #goal: vscode.StatusBarItem | null = null

  readonly #reminder = vscode.window.createStatusBarItem('bosun.reminder', vscode.StatusBarAlignment.Right, 109)

  constructor(parts: Parts) {
    this.#parts = parts
    this.#reminder.name = 'Bosun Reminders'
    this.#reminder.command = parts.reminderCommand
    this.#status.name = 'Bosun'
    this.#status.command = parts.statusCommand
  }

  dispose(): void {
    this.#status.dispose()
    this.#reminder.dispose()
    this.#goal?.dispose()
  }

  async openLocation({ path, line, column = 1 }: FileLocation, cwd: string): Promise<string | null> {
    const { files, l10n } = this.#parts
    try {
      const target = await files.resolve(path, cwd)
      const { kind } = await files.stat(target)
      const uri = uriOf(target.path)
      if (kind === 'directory') {
        await vscode.commands.executeCommand('revealInExplorer', uri)
        return null
      }
      const at = line === undefined ? undefined : new vscode.Position(line - 1, column - 1)
      await vscode.commands.executeCommand('vscode.open', uri, { preview: true, ...(at === undefined ? {} : { selection: new vscode.Range(at, at) }) })
      return null
    } catch (error) {
      if (error instanceof FileError && error.code === 'FS_NOT_FOUND') return l10n.t('{path} is not there any more.', { path })
      return l10n.t('{path} could not be opened: {problem}', { path, problem: messageOf(error) })
    }
  }

  async openDiff({ title, path, before, after }: Parameters<Editor['openDiff']>[0]): Promise<void> {
    await vscode.commands.executeCommand('vscode.diff', this.#keep(before), (await this.#after(path, after)) ?? this.#keep({ name: `gone/${path}`, text: '' }), title, { preview: true })
  }

  async openDiffs({ title, files }: Parameters<Editor['openDiffs']>[0]): Promise<void> {
    const resources = await Promise.all(
      files.map(async ({ path, before, after }) => {
        const now = await this.#after(path, after)
        const like = now ?? uriOf((await this.#parts.files.resolve(path, '/')).path)
        // Named by the file, also where both sides are texts that are kept.
        return [like, before === null ? undefined : after === undefined ? this.#parts.kept.keep(before.name, before.text, { like }) : this.#keep(before), now] as const
      }),
    )
    await vscode.commands.executeCommand('vscode.changes', title, resources)
  }

  /** Source: the arguments of the command in VS Code, `searchActionsFind.ts`, `IFindInFilesArgs`. */
  async openSearch({ pattern, isCaseSensitive, files, isMultiline, includesIgnored }: EditorQuery): Promise<void> {
    // A plain path would match at any depth there; one from the root is led by a dot.
    const filesToInclude = files === undefined || files === '.' ? '' : /^([\\/.*{[]|[a-z]:)/i.test(files) || !files.includes('/') ? files : `./${files}`
    await vscode.commands.executeCommand('workbench.action.findInFiles', {
      query: pattern,
      isRegex: true,
      isCaseSensitive,
      matchWholeWord: false,
      isMultiline: isMultiline === true,
      filesToInclude,
      filesToExclude: '',
      useExcludeSettingsAndIgnoreFiles: includesIgnored !== true,
      triggerSearch: true,
    })
  }

  /**
   * The command is the editor's own and not documented, and has had this form since it came; its git support and other extensions open
   * merges by it. Source: VS Code `mergeEditor/browser/commands/commands.ts`, `OpenMergeEditor`.
   */
  async openMerge({ path, base, mine, theirs }: Parameters<Editor['openMerge']>[0]): Promise<boolean> {
    const output = await this.#after(path, undefined)
    const commands = await vscode.commands.getCommands(false)
    if (output === undefined || !commands.includes(OPEN_MERGE)) return false
    const [input1, input2] = [mine, theirs].map(({ text, title }) => ({ uri: this.#keep(text), title }))
    await vscode.commands.executeCommand(OPEN_MERGE, { base: this.#keep(base), input1, input2, output })
    return true
  }

  async openText(text: VirtualText): Promise<void> {
    if (text.language === 'markdown' && vscode.extensions.getExtension('vscode.markdown-language-features') !== undefined) {
      await vscode.commands.executeCommand('vscode.openWith', this.#keep(text), 'vscode.markdown.preview.editor', { preview: true })
      return
    }
    const document = await vscode.workspace.openTextDocument(this.#keep(text))
    if (text.language !== undefined) await vscode.languages.setTextDocumentLanguage(document, text.language)
    await vscode.window.showTextDocument(document, { preview: true })
  }

  async closeTexts(sides: readonly string[]): Promise<void> {
    // Where the person wants no previews, no tab is one, and that says nothing about this one.
    const hasPreviews = vscode.workspace.getConfiguration('workbench.editor').get('enablePreview') !== false
    const tabs = vscode.window.tabGroups.all
      .flatMap((group) => group.tabs)
      .filter((tab) => !tab.isPinned && !tab.isDirty && (tab.isPreview || !hasPreviews) && shownBy(tab).some(({ authority }) => sides.includes(authority)) && shownBy(tab).every(({ scheme }) => scheme === this.#parts.kept.scheme))
    if (tabs.length > 0) await vscode.window.tabGroups.close(tabs, true)
  }

  async openBytes({ name, bytes }: { readonly name: string; readonly bytes: Uint8Array }): Promise<void> {
    await vscode.commands.executeCommand('vscode.open', this.#parts.kept.keep(name, bytes), { preview: true })
  }

  async saveFile({ title, name, kind, chunks }: Parameters<Editor['saveFile']>[0]): Promise<string | null> {
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri
    const uri = await vscode.window.showSaveDialog({
      title,
      filters: { [kind.label]: [...kind.endings] },
      ...(folder === undefined ? {} : { defaultUri: vscode.Uri.joinPath(folder, name) }),
    })
    if (uri === undefined) return null
    const pieces: Uint8Array[] = []
    for await (const chunk of chunks) pieces.push(chunk)
    await vscode.workspace.fs.writeFile(uri, Buffer.concat(pieces))
    return pathOf(uri)
  }

  async chooseFile({ title, kind, maxBytes }: Parameters<Editor['chooseFile']>[0]): Promise<{ readonly name: string; readonly bytes: Uint8Array } | null> {
    const [uri] = (await vscode.window.showOpenDialog({ title, filters: { [kind.label]: [...kind.endings] }, canSelectMany: false })) ?? []
    if (uri === undefined) return null
    const name = uri.path.split('/').at(-1) ?? uri.path
    const { size } = await vscode.workspace.fs.stat(uri)
    if (size > maxBytes) throw new Error(this.#parts.l10n.t('{name} has {size} MB, at most {max} MB are taken.', { name, size: Math.ceil(size / 1e6), max: Math.floor(maxBytes / 1e6) }))
    return { name, bytes: await vscode.workspace.fs.readFile(uri) }
  }

  /** The editor asks by itself before it opens a host that the person has not trusted. Source: VS Code "Outgoing link protection". */
  async openExternal(url: string): Promise<void> {
    await openAddress(url)
  }

  async externalAddress(url: string): Promise<string> {
    return (await vscode.env.asExternalUri(vscode.Uri.parse(url, true))).toString(true)
  }

  async showProblems(): Promise<void> {
    await vscode.commands.executeCommand('workbench.actions.view.problems')
  }

  setCondition(name: string, isTrue: boolean): void {
    void vscode.commands.executeCommand('setContext', name, isTrue)
  }

  async copy(text: string): Promise<void> {
    await vscode.env.clipboard.writeText(text)
  }

  async pick(options: PickOptions): Promise<string | null> {
    const [chosen = null] = (await this.#chosen(options, false)) ?? []
    return chosen
  }

  pickMany(options: PickOptions): Promise<readonly string[] | null> {
    return this.#chosen(options, true)
  }

  async #chosen({ title, placeholder, items, stays = false, step }: PickOptions, isMany: boolean): Promise<readonly string[] | null> {
    const list = vscode.window.createQuickPick<vscode.QuickPickItem & { readonly id: string }>()
    try {
      list.title = title
      list.placeholder = placeholder ?? ''
      list.matchOnDescription = true
      list.matchOnDetail = true
      list.ignoreFocusOut = stays
      list.canSelectMany = isMany
      if (step !== undefined) [list.step, list.totalSteps] = [step.at, step.of]
      list.items = items.map(pickItem)
      // An empty list of active rows would take the mark off the first one, and Enter would choose nothing.
      const current = list.items.filter(({ id }) => items.some((item) => item.id === id && item.isCurrent === true))
      if (isMany) list.selectedItems = current
      else if (current.length > 0) list.activeItems = current
      return await new Promise((resolve) => {
        list.onDidAccept(() => resolve(list.selectedItems.map(({ id }) => id)))
        list.onDidHide(() => resolve(null))
        list.show()
      })
    } finally {
      list.dispose()
    }
  }

  async pickFound(options: Parameters<Editor['pickFound']>[0]): ReturnType<Editor['pickFound']> {
    return await new FoundPick(options).show()
  }

  async previewText(text: VirtualText): Promise<void> {
    const document = await vscode.workspace.openTextDocument(this.#keep(text))
    await vscode.window.showTextDocument(document, { preview: true, preserveFocus: true })
  }

  async input({ title, prompt, value, isSecret, check }: Parameters<Editor['input']>[0]): Promise<string | null> {
    const given = await vscode.window.showInputBox({ title, prompt, ...(value === undefined ? {} : { value }), password: isSecret === true, ignoreFocusOut: true, ...(check === undefined ? {} : { validateInput: check }) })
    return given ?? null
  }

  async deleteFile(path: string, { isForGood }: { readonly isForGood: boolean }): Promise<boolean> {
    const uri = uriOf(path)
    try {
      await vscode.workspace.fs.delete(uri, { useTrash: !isForGood })
      return true
    } catch (error) {
      // A file system without a trash refuses without a code of its own; it says what it is about a file that is not there.
      if (!isForGood && !(error instanceof vscode.FileSystemError && error.code === 'FileNotFound')) return false
      throw new Error(this.#parts.l10n.t('{path} could not be deleted: {reason}', { path, reason: messageOf(error) }), { cause: error })
    }
  }

  async confirm({ text, detail, yes }: Parameters<Editor['confirm']>[0]): Promise<boolean> {
    return (await vscode.window.showWarningMessage(text, { modal: true, ...(detail === undefined ? {} : { detail }) }, yes)) === yes
  }

  setStatus({ text, tooltip, isWarning }: Parameters<Editor['setStatus']>[0]): void {
    this.#status.text = text
    this.#status.tooltip = tooltip
    this.#status.accessibilityInformation = { label: tooltip.replaceAll('\n', ', ') }
    this.#status.backgroundColor = isWarning ? new vscode.ThemeColor('statusBarItem.warningBackground') : undefined
    this.#status.show()
  }

  setReminder(reminder: Parameters<Editor['setReminder']>[0]): void {
    if (reminder === null) return this.#reminder.hide()
    this.#reminder.text = reminder.text
    this.#reminder.tooltip = reminder.tooltip
    this.#reminder.accessibilityInformation = { label: reminder.tooltip.replaceAll('\n', ', ') }
    this.#reminder.show()
  }

  isWindowFocused(): boolean {
    return vscode.window.state.focused
  }

  setGoalStatus(status: Parameters<Editor['setGoalStatus']>[0]): void {
    if (status === null) return this.#goal?.hide()
    this.#goal ??= this.#newGoalItem()
    const { text, heading, lines, isWarning } = status
    const tooltip = new vscode.MarkdownString()
    // What a person or a model wrote is text, never Markdown of its own.
    tooltip.appendMarkdown('**').appendText(heading).appendMarkdown('**')
    for (const line of lines) tooltip.appendMarkdown('\n\n').appendText(line)
    this.#goal.text = text
    this.#goal.tooltip = tooltip
    this.#goal.accessibilityInformation = { label: [heading, ...lines].join(', ') }
    this.#goal.backgroundColor = isWarning ? new vscode.ThemeColor('statusBarItem.warningBackground') : undefined
    this.#goal.show()
  }

  #newGoalItem(): vscode.StatusBarItem {
    const item = vscode.window.createStatusBarItem('bosun.goal', vscode.StatusBarAlignment.Right, 109)
    item.name = this.#parts.l10n.t('Bosun goal')
    item.command = this.#parts.goalCommand
    return item
  }

  setBadge(badge: Parameters<Editor['setBadge']>[0]): void {
    this.#parts.views.setBadge(badge)
  }

  async showChat(): Promise<void> {
    await this.#parts.views.show()
  }

  async runCommand(id: string, args?: Json): Promise<unknown> {
    return await vscode.commands.executeCommand(id, ...(args === undefined ? [] : [args]))
  }

  async openFolder(): Promise<void> {
    await vscode.commands.executeCommand('workbench.action.files.openFolder')
  }

  async manageTrust(): Promise<void> {
    await vscode.commands.executeCommand('workbench.trust.manage')
  }

  async openSettings(query: string): Promise<void> {
    await vscode.commands.executeCommand('workbench.action.openSettings', query)
  }

  isChatVisible(): boolean {
    return this.#parts.views.isVisible()
  }

  onDidChangeChatVisible(listener: () => void): () => void {
    return this.#parts.views.onDidChangeVisible(listener)
  }

  #keep({ name, text, side }: VirtualText): vscode.Uri {
    return this.#parts.kept.keep(name, text, side === undefined ? {} : { side })
  }

  /** The file as it is now; nothing where it is gone. */
  async #after(path: string, after: VirtualText | undefined): Promise<vscode.Uri | undefined> {
    if (after !== undefined) return this.#keep(after)
    const target = await this.#parts.files.resolve(path, '/')
    return target.exists ? uriOf(target.path) : undefined
  }
}

/** The addresses of a tab. That of a multi-file diff is the editor's own, not yet in its types. Source: VS Code `vscode.proposed.tabInputMultiDiff.d.ts`. */
function shownBy({ input }: vscode.Tab): readonly vscode.Uri[] {
  if (input instanceof vscode.TabInputText || input instanceof vscode.TabInputCustom) return [input.uri]
  if (input instanceof vscode.TabInputTextDiff) return [input.original, input.modified]
  const { textDiffs = [] } = (input ?? {}) as { readonly textDiffs?: readonly { readonly original: vscode.Uri; readonly modified: vscode.Uri }[] }
  return textDiffs.flatMap(({ original, modified }) => [original, modified])
}
