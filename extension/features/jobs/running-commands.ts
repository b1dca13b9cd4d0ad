import { Emitter } from '../../base/emitter.ts'
import type { Clock } from '../../capabilities/clock.ts'
import { OutputLines } from './output-lines.ts'
import { JobError, type CommandTracking, type RunningCommand, type RunningCommands, type TrackedCommand } from './service.ts'
import { TreeWatch } from './tree-watch.ts'

/** The book of commands that calls wait for. */
export function createRunningCommands({ clock, onError }: { readonly clock: Clock; readonly onError: (error: unknown) => void }): RunningCommands {
  const commands = new Map<string, { readonly tracked: TrackedCommand; readonly startedAt: number; pid?: number; waitsForInput?: 'known' | 'likely' }>()
  const changes = new Emitter<void>(onError)
  const keyOf = (sessionId: string, callId: string) => JSON.stringify([sessionId, callId])
  const find = (sessionId: string, callId: string) => {
    const one = commands.get(keyOf(sessionId, callId))
    if (one === undefined) throw new JobError('UNKNOWN_COMMAND', 'This command has ended already.')
    return one
  }
  return {
    list: (sessionId) =>
      [...commands.values()].flatMap(({ tracked, startedAt, pid, waitsForInput }): readonly RunningCommand[] => {
        if (sessionId !== undefined && sessionId !== tracked.sessionId) return []
        const { callId, label, cwd, sendInput, moveToBackground } = tracked
        return [
          {
            sessionId: tracked.sessionId, callId, label, cwd, startedAt,
            ...(pid !== undefined && { pid }),
            ...(sendInput && { takesInput: true }),
            ...(waitsForInput && { waitsForInput }),
            ...(moveToBackground && { canMove: true }),
          },
        ]
      }),
    stop(sessionId, callId) {
      const one = commands.get(keyOf(sessionId, callId))
      one?.tracked.stop()
      return one !== undefined
    },
    moveToBackground(sessionId, callId) {
      const { moveToBackground } = find(sessionId, callId).tracked
      if (moveToBackground === undefined) throw new JobError('NOT_MOVABLE', 'This command cannot go on as a background job here.')
      return moveToBackground()
    },
    async sendInput(sessionId, callId, text) {
      const { sendInput } = find(sessionId, callId).tracked
      if (sendInput === undefined) throw new JobError('NO_INPUT', 'This command was started without a standard input to type to.')
      await sendInput(text)
    },
    onDidChange: (listener) => changes.listen(listener),
    track(tracked): CommandTracking {
      const key = keyOf(tracked.sessionId, tracked.callId)
      const record: { tracked: TrackedCommand; startedAt: number; pid?: number; waitsForInput?: 'known' | 'likely' } = { tracked, startedAt: clock.now() }
      const lines = new OutputLines()
      let hasTold = false
      const watch = new TreeWatch({
        clock,
        takesInput: tracked.sendInput !== undefined,
        lastLine: () => lines.unfinished,
        onWaits(how) {
          if (how === undefined) delete record.waitsForInput
          else record.waitsForInput = how
          if (commands.get(key) !== record) return
          changes.emit()
          if (how === undefined || hasTold) return
          hasTold = true
          tracked.onWaitsForInput?.(how)
        },
      })
      commands.set(key, record)
      changes.emit()
      return {
        started(program) {
          record.pid = program.pid
          watch.started(program)
          changes.emit()
        },
        output(text) {
          lines.push(text, 0)
          watch.noteActivity()
        },
        end() {
          if (commands.get(key) === record) commands.delete(key)
          watch.end()
          changes.emit()
        },
      }
    },
  }
}
