import { assertNever } from '../base/assert-never.ts'
import type { PointedAt } from '../capabilities/review-surface.ts'
import type { HostMessage } from '../protocol/messages.ts'
import type { ChatRooms } from './chat-rooms.ts'
import type { ChatState } from './chat-state.ts'
import { pickLanguageServer } from './language-servers.ts'

/** What the palette, the status bar and the keys can ask for. */
export type ChatCommand =
  | 'new-session'
  | 'open-session'
  | 'search-sessions'
  | 'show-trace'
  | 'rename-session'
  | 'delete-session'
  | 'fork-session'
  | 'rewind-session'
  | 'archive-session'
  | 'export-session'
  | 'import-session'
  | 'run-command'
  | 'compact'
  | 'stop'
  | 'continue'
  | 'choose-model'
  | 'choose-preset'
  | 'copy-preset'
  | 'edit-preset'
  | 'delete-preset'
  | 'choose-permission'
  | 'show-permissions'
  | 'toggle-plan'
  | 'approve-plan'
  | 'refuse-plan'
  | 'discuss-plan'
  | 'open-plan'
  | 'add-task'
  | 'task-history'
  | 'set-api-key'
  | 'check-connection'
  | 'approvals'
  | 'show-instructions'
  | 'show-skills'
  | 'show-storage'
  | 'review-hooks'
  | 'show-language-servers'
  | 'ask-about-selection'
  | 'ask-about-terminal'
  | 'add-files'
  | 'take-back-terminals'
  | 'review-changes'
  | 'review-child-work'
  | 'show-team-board'
  | 'keep-all'
  | 'undo-all'
  | 'open-file-changes'
  | 'keep-file'
  | 'undo-file'
  | 'keep-change'
  | 'undo-change'
  | 'menu'

/** The commands of the palette, the status bar and the keys. */
export class ChatCommands {
  readonly #chat: ChatState
  readonly #rooms: ChatRooms

  constructor(rooms: ChatRooms) {
    this.#chat = rooms.chat
    this.#rooms = rooms
  }

  async run(command: ChatCommand, paths: readonly string[] = [], at: PointedAt | null = null): Promise<void> {
    switch (command) {
      case 'new-session':
        await this.#rooms.opening.showNothing()
        await this.#chat.world.editor.showChat()
        return
      case 'open-session':
        await this.#rooms.list.pick()
        return
      case 'search-sessions':
        return await this.#rooms.search.pick()
      case 'show-trace':
        return await this.#rooms.search.showTrace()
      case 'rename-session':
        if (this.#chat.shown !== null) await this.#rooms.list.rename(this.#chat.shown.session.id, null)
        return
      case 'delete-session':
        if (this.#chat.shown !== null) await this.#rooms.list.remove(this.#chat.shown.session.id)
        return
      case 'fork-session':
        if (this.#chat.shown !== null) await this.#rooms.actions.fork(this.#chat.shown.session, null)
        return
      case 'rewind-session':
        if (this.#chat.shown !== null) await this.#rooms.actions.rewind(this.#chat.shown.session)
        return
      case 'archive-session':
        if (this.#chat.shown !== null) await this.#rooms.list.archive(this.#chat.shown.session.id, true)
        return
      case 'export-session': {
        const saved = this.#chat.shown === null ? null : await this.#rooms.actions.export(this.#chat.shown.session.id)
        if (saved !== null) this.#chat.notice('session', 'info', saved)
        return
      }
      case 'import-session':
        await this.#rooms.actions.import()
        return
      case 'run-command':
        await this.#rooms.sending.pickCommand()
        return
      case 'compact': {
        const problem = this.#chat.blockedBy() ?? (await this.#rooms.sending.runCommand('/compact'))
        if (problem !== null) this.#chat.notice('command', 'warning', problem)
        return
      }
      case 'stop':
        this.#rooms.sending.stop()
        return
      case 'continue':
        if (this.#chat.shown?.agent != null) this.#rooms.sending.goOn(this.#chat.shown.agent)
        return
      case 'choose-model':
        await this.#rooms.models.pick()
        return
      case 'choose-preset':
        await this.#rooms.modes.pickPreset()
        return
      case 'copy-preset':
        await this.#rooms.modes.copyPreset()
        return
      case 'edit-preset':
        await this.#rooms.modes.editPreset()
        return
      case 'delete-preset':
        await this.#rooms.modes.deletePreset()
        return
      case 'choose-permission':
        await this.#rooms.modes.pickPermission()
        return
      case 'show-permissions':
        this.#rooms.modes.showRules(true)
        return
      case 'toggle-plan':
        this.#rooms.modes.togglePlan()
        return
      case 'approve-plan':
        return await this.#rooms.plans.run('approve', paths[0])
      case 'refuse-plan':
        return await this.#rooms.plans.run('refuse', paths[0])
      case 'discuss-plan':
        return await this.#rooms.plans.run('discuss', paths[0])
      case 'open-plan':
        return await this.#rooms.plans.run('open', undefined)
      case 'add-task':
        return await this.#rooms.tasks.add()
      case 'task-history':
        return await this.#rooms.tasks.showHistory()
      case 'set-api-key':
        await this.#rooms.models.setKey(this.#chat.services.web.keys())
        return
      case 'check-connection':
        await this.#rooms.models.checkConnection()
        return
      case 'approvals':
        await this.#rooms.waiting.pick()
        return
      case 'show-instructions':
        await this.#rooms.configuration.showInstructions()
        return
      case 'show-skills':
        await this.#rooms.configuration.showSkills()
        return
      case 'show-storage':
        await this.#rooms.configuration.showStorage()
        return
      case 'show-language-servers':
        await pickLanguageServer(this.#chat.world)
        return
      case 'review-hooks':
        await this.#rooms.configuration.reviewHooks()
        return
      case 'ask-about-selection':
        await this.#rooms.attachments.attachSelection()
        return await this.#toChat({ type: 'focus-composer' })
      case 'ask-about-terminal':
        return await this.#toChat({ type: 'insert-text', text: '@terminal ' })
      case 'add-files':
        return await this.#toChat({ type: 'insert-text', text: paths.length === 0 ? '@' : this.#rooms.attachments.mentions(paths) })
      case 'take-back-terminals':
        await this.#takeBackTerminals()
        return
      case 'review-changes':
        return await this.#rooms.review.openAll()
      case 'show-team-board':
        this.#rooms.teams.openBoard()
        return
      case 'review-child-work':
        return await this.#rooms.childWork.review()
      case 'keep-all':
        return await this.#rooms.review.keep({ kind: 'all' })
      case 'undo-all':
        return await this.#rooms.review.undoAll()
      case 'open-file-changes':
        return await this.#rooms.review.file('open', paths[0])
      case 'keep-file':
        return await this.#rooms.review.file('keep', paths[0])
      case 'undo-file':
        return await this.#rooms.review.file('undo', paths[0])
      case 'keep-change':
        return await this.#rooms.review.region('keep', paths[0], at)
      case 'undo-change':
        return await this.#rooms.review.region('undo', paths[0], at)
      case 'menu':
        await this.#menu()
        return
      default:
        assertNever(command, 'command')
    }
  }

  async #toChat(message: HostMessage): Promise<void> {
    this.#rooms.words.forgetHidden()
    await this.#chat.world.editor.showChat()
    this.#rooms.words.say(message)
  }

  async #takeBackTerminals(): Promise<void> {
    const { l10n } = this.#chat.world
    const count = (await this.#chat.services.get('terminals')?.takeBack()) ?? 0
    const text =
      count === 0
        ? l10n.t('Bosun has none of your terminals.')
        : count === 1
          ? l10n.t('Your terminal is yours alone again.')
          : l10n.t('Your {count} terminals are yours alone again.', { count })
    this.#chat.notice('terminals', 'info', text)
  }

  async #menu(): Promise<void> {
    const { editor, l10n } = this.#chat.world
    const { t } = l10n
    const waiting = this.#chat.services.approvals.pending().length
    const agents = this.#rooms.agents.workingCount()
    const jobs = this.#rooms.jobs.liveCount()
    const picked = await editor.pick({
      title: t('Bosun'),
      items: [
        { id: 'chat', label: t('Open the chat') },
        ...(this.#chat.shown?.agent?.status === 'running' ? [{ id: 'stop', label: t('Stop') }] : []),
        { id: 'new-session', label: t('New session') },
        ...(waiting > 0 ? [{ id: 'approvals', label: t('Approvals ({count})', { count: waiting }) }] : []),
        ...(agents > 0 ? [{ id: 'agents', label: t('Agents ({count} at work)', { count: agents }) }] : []),
        { id: 'jobs', label: jobs === 0 ? t('Jobs') : t('Jobs ({count} running)', { count: jobs }) },
        { id: 'open-session', label: t('Sessions…') },
        { id: 'search-sessions', label: t('Search sessions…') },
        { id: 'choose-model', label: t('Choose a model…') },
        { id: 'check-connection', label: t('Check the connection') },
      ],
    })
    if (picked === 'chat') await editor.showChat()
    else if (picked === 'agents') await this.#rooms.agents.focus()
    else if (picked === 'jobs') await this.#rooms.jobs.focus()
    else if (picked !== null) await this.run(picked as ChatCommand)
  }
}
