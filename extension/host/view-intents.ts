import { assertNever } from '../base/assert-never.ts'
import type { HostMessage, ViewMessage } from '../protocol/messages.ts'
import { imageTypeOf } from './artifacts.ts'
import type { ChatCommands } from './chat-commands.ts'
import type { ChatRooms } from './chat-rooms.ts'
import type { ChatState, Shown } from './chat-state.ts'
import { seqOfRow } from './fork-points.ts'
import type { ViewChannel } from './view-channel.ts'

/** What a page asks for, message by message. */
export class ViewIntents {
  readonly #chat: ChatState
  readonly #rooms: ChatRooms
  readonly #commands: ChatCommands

  constructor(rooms: ChatRooms, commands: ChatCommands) {
    this.#chat = rooms.chat
    this.#rooms = rooms
    this.#commands = commands
  }

  async handle(message: ViewMessage, channel: ViewChannel, reply: (message: HostMessage) => void): Promise<void> {
    const shown = this.#chat.shown
    const opened = async (open: (shown: Shown) => Promise<string | null>) => {
      const problem = shown === null ? null : await open(shown)
      if (problem !== null) this.#chat.notice('open', 'warning', problem)
    }
    switch (message.type) {
      case 'ready':
        this.#rooms.words.ready(channel)
        return
      case 'need-snapshot':
      case 'load-older':
        return
      case 'send':
        reply({ type: 'sent', id: message.id, problem: await this.#rooms.sending.send(message.text, message.target) })
        return
      case 'completions':
        return await this.#rooms.completions.answer(message, { channel, reply, agent: shown?.agent ?? null, cwd: this.#chat.cwd() })
      case 'attach-image':
      case 'attach-selection':
      case 'detach':
      case 'mention':
        return await this.#rooms.attachments.handle(message, reply)
      case 'stop':
        this.#rooms.sending.stop()
        return
      case 'continue':
      case 'retry':
        if (shown?.agent != null && !this.#chat.services.retries.tryNow(shown.agent)) this.#rooms.sending.goOn(shown.agent)
        return
      case 'draft':
        this.#chat.keepDraft(message.text)
        return
      case 'queue-edit':
        try {
          return await this.#rooms.sending.editQueued(message.id, message.text)
        } catch (error) {
          reply({ type: 'insert-text', text: message.text })
          throw error
        }
      case 'queue-delete':
        this.#chat.worker()?.queue.remove(message.id)
        return
      case 'queue-steer':
        this.#chat.worker()?.queue.steerNow(message.id)
        return
      case 'approval':
        this.#rooms.waiting.answerApproval(message)
        return
      case 'approval-preview':
        await this.#rooms.waiting.preview(message.id, message.path)
        return
      case 'question':
        return await this.#rooms.waiting.answerQuestions(message.id, message.answers)
      case 'waiting-draft':
        this.#rooms.waiting.keepDraft(message.id, message.draft)
        return
      case 'task':
        this.#rooms.tasks.edit(message.edit)
        return
      case 'task-history':
        return await this.#rooms.tasks.showHistory()
      case 'plan':
        return await this.#rooms.plans.act(message.id, message.action)
      case 'plan-allow-once':
        if (shown?.agent != null) this.#chat.services.plan.allowOnce(shown.agent, message.callId)
        return
      case 'reminder':
        return await this.#rooms.reminders.act(message.action, message.id)
      case 'reminder-new':
        return await this.#rooms.reminders.run('new')
      case 'open-location':
        return await opened((at) => this.#rooms.artifacts.openLocation(at, message.location))
      case 'open-diff':
        return await opened((at) => this.#rooms.artifacts.openDiff(at, message.callId, message.path))
      case 'open-output':
        return await opened((at) => this.#rooms.artifacts.openOutput(at, message.callId))
      case 'open-input':
        return await opened((at) => this.#rooms.artifacts.openInput(at, message.callId))
      case 'open-search':
        return await opened((at) => this.#rooms.artifacts.openSearch(at, message.callId))
      case 'command':
        return await this.#rooms.jobs.act(message)
      case 'agent':
        return await this.#rooms.agents.act(message.id, message.action)
      case 'plugin-code':
      case 'plugin-call':
      case 'plugin-frame':
      case 'plugin-draw':
      case 'plugin-stop':
        return await this.#rooms.plugins.handle(message, channel, reply)
      case 'open-run':
        this.#rooms.workflows.openRun(message.runId)
        return
      case 'open-port':
        return await this.#rooms.jobs.openPort(message.jobId, message.port)
      case 'review-turn':
        return await opened((at) => this.#rooms.review.openTurn(at, message.turn, message.path))
      case 'review': {
        const target = 'callId' in message.what ? ({ kind: 'call', ...message.what } as const) : ({ kind: 'turn', ...message.what } as const)
        return await (message.verb === 'keep' ? this.#rooms.review.keep(target) : this.#rooms.review.undo(target))
      }
      case 'restore-to':
        return await this.#rooms.review.restoreTo(message.turn)
      case 'open-image':
        return await opened((at) => this.#rooms.artifacts.openImage(at, message.attachmentId))
      case 'need-image': {
        const waiting = await this.#rooms.attachments.bytes(message.attachmentId)
        const bytes = waiting ?? (shown === null ? null : await this.#rooms.artifacts.attachment(shown.session, message.attachmentId))
        const kind = bytes === null ? null : imageTypeOf(bytes)
        const uri = bytes === null || kind === null ? null : channel.imageUri(bytes, kind.mediaType)
        reply({ type: 'image', attachmentId: message.attachmentId, uri, byteLength: bytes?.length ?? 0 })
        return
      }
      case 'open-link': {
        const problem = await this.#rooms.artifacts.openLink(message.url)
        if (problem !== null) this.#chat.notice('open', 'warning', problem)
        return
      }
      case 'open-log':
        if (shown !== null) await this.#rooms.artifacts.openLog(shown)
        return
      case 'goal':
        return await this.#rooms.goal.act(message.action, message)
      case 'goal-create':
        return await this.#rooms.goal.create(message)
      case 'goal-edit':
        return await this.#rooms.goal.edit(message, message)
      case 'copy':
        await this.#chat.world.editor.copy(message.text)
        return
      case 'session-new':
        await this.#rooms.opening.showNothing()
        return
      case 'session-open':
        if (message.seq === undefined) await this.#rooms.opening.open(message.id)
        else await this.#rooms.search.openAt({ sessionId: message.id, seq: message.seq })
        return
      case 'session-find':
        return await this.#rooms.search.answer(message.query, message.id, reply)
      case 'session-rename':
        await this.#rooms.list.rename(message.id, message.title)
        return
      case 'session-delete':
        await this.#rooms.list.remove(message.id)
        return
      case 'session-export':
        await this.#commands.run('export-session')
        return
      case 'session-fork':
        if (shown !== null) await this.#rooms.actions.fork(shown.session, message.rowId)
        return
      case 'prompt-again':
        if (shown !== null) await this.#rooms.actions.askAgain(shown.session, seqOfRow(message.rowId) ?? -1)
        return
      case 'session-archive':
        await this.#rooms.list.archive(message.id, message.isArchived)
        return
      case 'pick-model':
        await this.#rooms.models.pick()
        return
      case 'pick-preset':
        await this.#rooms.modes.pickPreset()
        return
      case 'pick-permission':
        await this.#rooms.modes.pickPermission()
        return
      case 'rules-show':
      case 'rules-close':
        this.#rooms.modes.showRules(message.type === 'rules-show')
        return
      case 'rule-revoke':
        await this.#rooms.modes.revokeRule(message.id)
        this.#rooms.modes.showRules(true)
        return
      case 'manage-trust':
        await this.#chat.world.editor.manageTrust()
        return
      case 'open-settings':
        await this.#chat.world.editor.openSettings('bosun')
        return
      case 'reload-view':
        channel.reload()
        return
      case 'view-error':
        this.#chat.world.logger.error('The chat view reported a failure.', { text: message.text.slice(0, 4_000) })
        return
      case 'notice-action':
        await this.#chat.notices.run(message.id, message.action)
        return
      case 'notice-close':
        this.#chat.notices.close(message.id)
        return
      default:
        assertNever(message, 'message of the view')
    }
  }
}
