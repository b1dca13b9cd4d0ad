import { Emitter } from '../../base/emitter.ts'
import type { Clock } from '../../capabilities/clock.ts'
import type { Logger } from '../../capabilities/logger.ts'
import type { Machine } from '../../capabilities/machine.ts'
import { MESSAGE_SEQUENCE } from '../../capabilities/terminal-screen.ts'
import type { PersonTerminals } from '../../capabilities/person-terminals.ts'
import type { TerminalHost, TerminalProcess } from '../../capabilities/terminal.ts'
import type { TerminalProfile } from '../../capabilities/terminal-settings.ts'
import type { TerminalViews } from '../../capabilities/terminal-view.ts'
import type { CreateScreen } from '../../capabilities/terminal-screen.ts'
import type { Plugin } from '../../core/kernel/plugin.ts'
import type { EventDraft } from '../../core/log/event.ts'
import type { UserMessage } from '../../core/log/message.ts'
import { noticeSummary } from '../../core/log/notice.ts'
import type {} from '../../core/loop/points.ts'
import type { Agent } from '../../core/session/agent.ts'
import type {} from '../../core/tools/confinement.ts'
import type { CommandEnvironment } from '../command-environment/service.ts'
import { TerminalSessionError, type TerminalInfo, type Terminals } from './service.ts'
import { shellsOf } from './shells.ts'
import { SEND_DEADLINE_MS, TerminalSession } from './terminal-session.ts'

export interface TerminalsPluginNeeds {
  readonly terminals: TerminalHost
  readonly createScreen: CreateScreen
  /** Absent where nobody looks. */
  readonly views?: TerminalViews
  /** Absent where no editor is. */
  readonly personTerminals?: PersonTerminals
  /** The person lets agents ask for terminals of theirs. */
  readonly mayAdopt: () => boolean
  readonly clock: Clock
  readonly logger: Logger
  readonly machine: Pick<Machine, 'platform' | 'bash' | 'pwsh' | 'randomId'>
  /** The person's own choice of program; null: the machine's. */
  readonly shellPath: () => string | null
  readonly environment: CommandEnvironment
  /** Profiles of the person's that agents may use, beside the shells that are found. */
  readonly profiles?: () => readonly TerminalProfile[]
}

const TERMINAL_SIZE = { columns: 160, rows: 40 } as const
/** Terminals that one agent may have, ended ones that were not closed included. */
export const MAX_TERMINALS = 8

interface Start {
  readonly owner: Agent
  readonly type: string
  readonly name: string | undefined
  /** Null where nobody knows. */
  readonly cwd: string | null
  readonly isAdopted: boolean
  /** Absent where the shell itself says at each prompt where it stands. */
  readonly folderNow?: () => string | null
  readonly launch: (session: TerminalSession, nonce: string) => Promise<TerminalProcess>
}

/** Offers `terminals`, writes them into the log of their owner, ends them with it, and after a resume names those that did not outlive the last host. */
export function terminalsPlugin(needs: TerminalsPluginNeeds): Plugin {
  const { terminals: host, createScreen, views, personTerminals, mayAdopt, clock, logger, machine, shellPath, environment, profiles = () => [] } = needs
  return {
    name: 'terminals',
    apply(ctx) {
      const sessions = new Map<string, TerminalSession>()
      const changes = new Emitter<void>((error) => logger.error('A listener of the terminals failed.', { error: String(error) }))
      let lastNumber = 0
      let isDisposing = false
      const ownedBy = (owner: Agent) => [...sessions.values()].filter((one) => one.owner === owner)
      const find = (caller: Agent | undefined, id: string) => {
        const one = sessions.get(id)
        if (one === undefined) throw new TerminalSessionError('NO_SESSION', `There is no terminal ${id}. List the terminals there are with terminal_list.`)
        if (one.owner !== caller) throw new TerminalSessionError('FOREIGN_SESSION', `Terminal ${id} belongs to another session.`)
        return one
      }
      const shells = () => shellsOf(machine, shellPath(), profiles())
      /** Of the person's terminals those that an agent has. */
      const adopted = new Set<string>()
      const checkedOwner = (owner: Agent | undefined, name: string | undefined): Agent => {
        if (isDisposing) throw new TerminalSessionError('SERVICE_DISPOSING', 'Terminals are being closed; none can be opened.')
        if (owner === undefined || owner.isDisposed) throw new TerminalSessionError('OWNER_NOT_LIVE', 'A terminal belongs to a session, and this call has none that is live.')
        const own = ownedBy(owner)
        if (name !== undefined && own.some((one) => one.name === name)) throw new TerminalSessionError('DUPLICATE_NAME', `You have a terminal named ${name} already. Choose another name, or use that one.`)
        if (own.length >= MAX_TERMINALS) throw new TerminalSessionError('TERMINAL_LIMIT', `${own.length} terminals are open, and no more are allowed. Close one with terminal_close.`)
        return owner
      }
      const closeAll = (ended: readonly TerminalSession[]) =>
        Promise.all(
          ended.map(async (one) => {
            await one.close()
            sessions.delete(one.id)
          }),
        ).then(() => changes.emit())

      const service: Terminals = {
        maxTerminals: MAX_TERMINALS,
        sendDeadlineMs: SEND_DEADLINE_MS,
        get types() {
          return [...shells().keys()]
        },
        async open(owner, { type, name, cwd }) {
          const agent = checkedOwner(owner, name)
          ctx.get('confinement')?.checkUnconfined({ agent, token: { id: 'terminal' } }, 'A terminal')
          const shell = shells().get(type)
          if (shell === undefined) throw new TerminalSessionError('NO_BACKEND', `There is no terminal of the type ${type}. Choose one of ${service.types.join(', ')}.`)
          return start({
            owner: agent, type, name, cwd, isAdopted: false,
            launch: async (session, nonce) => host.open({ ...shell.program(nonce), cwd, size: TERMINAL_SIZE, onOutput: session.receive, env: await environment(agent, shell.env(nonce)) }),
          })
        },
        adoptable: () =>
          (mayAdopt() ? (personTerminals?.list() ?? []) : [])
            .filter(({ id, isReadable }) => isReadable && !adopted.has(id))
            .map(({ id, name, shell, folder }) => ({ id, name, type: shell ?? 'shell', ...(folder !== null && { folder }) })),
        async adopt(owner, id, name) {
          const agent = checkedOwner(owner, name)
          const there = service.adoptable().find((one) => one.id === id)
          if (personTerminals === undefined || there === undefined) throw new TerminalSessionError('NO_SESSION', `The person has no terminal ${id} that can be asked for. List those there are with terminal_list.`)
          adopted.add(id)
          try {
            return await start({
              owner: agent, type: there.type, name: name ?? there.name, cwd: null, isAdopted: true,
              folderNow: () => personTerminals.list().find((one) => one.id === id)?.folder ?? null,
              async launch(session, nonce) {
                const process = await personTerminals.adopt(id, {
                  onOutput: session.receive,
                  onCommand: () => session.leavePrompt(),
                  // As our own shells say it: in its place in the stream.
                  onPrompt: (exitCode) => session.receive(new TextEncoder().encode(`\u001b]${MESSAGE_SEQUENCE};${nonce};prompt;${exitCode ?? ''};\u0007`)),
                })
                void process.exit.then(() => adopted.delete(id))
                return process
              },
            })
          } catch (error) {
            adopted.delete(id)
            throw error
          }
        },
        async takeBack() {
          const lent = [...sessions.values()].filter(({ isAdopted, status }) => isAdopted && status.kind === 'running')
          for (const one of lent) one.endForPerson()
          return lent.length
        },
        send: async (caller, id, request) => find(caller, id).send(request),
        sendInBackground: (caller, id, request) => find(caller, id).sendInBackground(request),
        check: (caller, id) => void find(caller, id),
        async read(caller, id, range) {
          const one = find(caller, id)
          const { screen } = one
          await screen.settled()
          const personTyped = one.takePersonTyped()
          const { text, total, first, last, isLost } = screen.lines(range)
          return { text, totalLines: total, lineBegin: first, lineEnd: last, truncated: isLost, ...(personTyped !== '' && { personTyped }) }
        },
        async screen(caller, id) {
          const one = find(caller, id)
          await one.screen.settled()
          const personTyped = one.takePersonTyped()
          return { ...one.screen.snapshot(), ...(personTyped !== '' && { personTyped }) }
        },
        signal: async (caller, id, signal) => find(caller, id).signal(signal),
        async close(caller, id) {
          const one = find(caller, id)
          const outcome = await one.close()
          sessions.delete(id)
          changes.emit()
          return outcome === 'closed' && one.isAdopted ? 'given-back' : outcome
        },
        list: (caller) => [...sessions.values()].filter((one) => one.owner === caller).map(({ info }) => info),
        typingState: (id) => sessions.get(id)?.typing,
        onDidChange: (listener) => changes.listen(listener),
      }
      ctx.provide('terminals', service)
      ctx.on('agent/session-start', (agent, source) => {
        if (source === 'resume') reportOrphans(agent)
      })
      ctx.on('agent/disposing', (agent) => closeAll(ownedBy(agent)))
      return async () => {
        isDisposing = true
        await closeAll([...sessions.values()])
      }

      async function start({ owner, type, name, cwd, isAdopted, folderNow, launch }: Start): Promise<TerminalInfo & { readonly motd: string }> {
        const screen = await createScreen(TERMINAL_SIZE)
        const id = `pty-${++lastNumber}`
        const nonce = machine.randomId()
        let hasEnded = false
        const session = new TerminalSession({
          id, type, name, owner, folder: cwd, screen, clock, nonce,
          ...(isAdopted && { isAdopted }),
          ...(folderNow && { folderNow }),
          // The person looks at their own terminal already.
          ...(views && !isAdopted && { views }),
          onClosedByPerson({ isAwaited }) {
            if (!isAwaited) tell(owner, closedNotice(machine.randomId(), session.info))
          },
          onChange() {
            const { status } = session
            if (status.kind === 'exited' && !hasEnded) {
              hasEnded = true
              const { exitCode, signal } = status
              log(owner, { type: 'terminal/ended', data: { id, ...(exitCode !== null && { exitCode }), ...(signal !== null && { signal }) }, ignorable: true })
            }
            changes.emit()
          },
        })
        sessions.set(id, session)
        try {
          session.attach(await launch(session, nonce))
        } catch (error) {
          sessions.delete(id)
          await session.close()
          throw error
        }
        log(owner, { type: 'terminal/opened', data: { id, shell: type, ...(name !== undefined && { name }), ...(isAdopted && { isAdopted }) }, ignorable: true })
        changes.emit()
        const motd = isAdopted ? '' : await session.start()
        return { ...session.info, motd }
      }

      function reportOrphans(agent: Agent): void {
        const open = new Map<string, string>()
        for (const { type, data } of agent.session.events()) {
          if (type === 'terminal/opened') {
            open.set(data.id, `${data.id} [${data.shell}]${data.name === undefined ? '' : ` ${data.name}`}${data.isAdopted === true ? ' (the person’s own: it may go on, but is theirs alone again)' : ''}`)
            // The ids of a session that is back are taken; new ones go on after them.
            lastNumber = Math.max(lastNumber, Number(data.id.replace(/^pty-/, '')) || 0)
          } else if (type === 'terminal/ended') open.delete(data.id)
        }
        if (open.size === 0) return
        for (const id of open.keys()) log(agent, { type: 'terminal/ended', data: { id }, ignorable: true })
        agent.inject(orphanNotice(machine.randomId(), [...open.values()]))
      }
    },
  }

  /** It is told with the next step; nobody is woken for it. */
  function tell(owner: Agent, message: UserMessage): void {
    if (owner.isDisposed) return
    try {
      owner.inject(message)
    } catch (error) {
      logger.warn('The end of a terminal could not be told to its session.', { error: String(error) })
    }
  }

  /** A log that cannot take the event costs a notice after a resume, never the terminal. */
  function log(owner: Agent, event: EventDraft<'terminal/opened' | 'terminal/ended'>): void {
    try {
      owner.session.append(event)
    } catch (error) {
      logger.warn('A terminal could not be written into its session’s log.', { error: String(error) })
    }
  }
}

/** Tells the model that the person closed one of its terminals. */
function closedNotice(id: string, { sessionId, type, name, isAdopted }: TerminalInfo): UserMessage {
  const shown = name === undefined ? sessionId : `${sessionId} (${name})`
  const text = isAdopted
    ? `The person took their terminal ${shown} back: you can neither read nor type there any more. What it showed meanwhile can still be read with terminal_read. Do not ask for it again unless they say so.`
    : `The person closed your ${type} terminal ${shown}, which ended everything that ran at it. What it had shown can still be read with terminal_read. Do not open it again unless it is needed.`
  return {
    id,
    role: 'user',
    content: [{ type: 'text', text }],
    source: { kind: 'plugin', plugin: 'terminals', form: 'notice', summary: noticeSummary(isAdopted ? `Your terminal ${name ?? sessionId} is yours alone again` : `Terminal ${shown} was closed by the person`) },
  }
}

/** Tells the model of a resumed session that terminals did not outlive the last host. */
function orphanNotice(id: string, terminals: readonly string[]): UserMessage {
  const list = terminals.map((one) => `- ${one}`).join('\n')
  return {
    id,
    role: 'user',
    content: [{ type: 'text', text: `These terminals were closed, with everything that ran at them, when the window closed or reloaded. Open new ones if they are still needed.\n${list}` }],
    source: { kind: 'plugin', plugin: 'terminals', form: 'notice', summary: noticeSummary(`${terminals.length} ${terminals.length === 1 ? 'terminal' : 'terminals'} ended with the window`) },
  }
}
