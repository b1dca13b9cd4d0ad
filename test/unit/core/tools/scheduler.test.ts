import { describe, expect, it } from 'vitest'
import type { EventDraft } from '../../../../extension/core/log/event.ts'
import type { UserMessage } from '../../../../extension/core/log/message.ts'
import type { Agent } from '../../../../extension/core/session/agent.ts'
import type { ExecutionRequest, ToolResult } from '../../../../extension/core/tools/definition.ts'
import { runToolBatch } from '../../../../extension/core/tools/scheduler.ts'

type Mode = 'parallel' | 'exclusive'
interface FakeCall {
  /** Absent: exclusive. May change from one question to the next. */
  readonly mode?: Mode | (() => Mode)
  readonly prepare?: () => Promise<void> | void
  readonly run?: (request: ExecutionRequest) => Promise<void> | void
  readonly commit?: () => Promise<ToolResult> | ToolResult
}

const ok = (text: string, more: Partial<ToolResult> = {}): ToolResult =>
  ({ isError: false, value: text, content: [{ type: 'text', text }], ...more }) as ToolResult
const note = (id: string): UserMessage => ({ id, role: 'user', content: [], source: { kind: 'plugin', plugin: 'test' } })
const settle = async () => {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve()
}
function gate() {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}

/** A batch over fake tools: `trace` holds what happened in order, events of the log among it. */
function setUp(tools: Record<string, FakeCall>, names: readonly string[], options: { maxParallel?: () => number } = {}) {
  const trace: string[] = []
  const drafts: EventDraft[] = []
  const controller = new AbortController()
  const requests: ExecutionRequest[] = []
  let ids = 0
  let onAppend = (_draft: EventDraft): void => {}
  const calls = names.map((name, index) => ({ type: 'tool-call' as const, id: `${name}${index}`, name, arguments: '{"n":1}' }))
  const done = () =>
    runToolBatch({
      calls,
      turn: 1,
      step: 2,
      agent: { id: 's' } as Agent,
      signal: controller.signal,
      maxParallel: options.maxParallel ?? (() => 10),
      newMessageId: () => `m${++ids}`,
      addContexts: (contexts) => void trace.push(`contexts ${contexts.map(({ id }) => id).join()}`),
      onProgress: (callId, text) => void trace.push(`progress ${callId} ${text}`),
      append: (draft) => {
        onAppend(draft as EventDraft)
        drafts.push(draft as EventDraft)
        if (draft.type === 'tool/call') trace.push(`call ${(draft.data as { callId: string }).callId}`)
        if (draft.type === 'tool/result')
          trace.push(`result ${(draft.data as { message: { source: { callId: string } } }).message.source.callId}`)
        return { ...draft, seq: drafts.length - 1, time: 0 } as never
      },
      tools: {
        get: () => undefined,
        executionMode: ({ name }) => {
          const mode = tools[name]?.mode ?? 'exclusive'
          return typeof mode === 'function' ? mode() : mode
        },
        begin: (request) => {
          const tool = tools[request.name] ?? {}
          requests.push(request)
          return {
            prepare: async () => {
              trace.push(`prepare ${request.callId}`)
              await tool.prepare?.()
            },
            run: async () => {
              trace.push(`run ${request.callId}`)
              await tool.run?.(request)
              trace.push(`ran ${request.callId}`)
            },
            commit: async () => (await tool.commit?.()) ?? ok(request.name),
          }
        },
      },
    })
  return {
    trace,
    drafts,
    controller,
    requests,
    done,
    failOn: (fails: (draft: EventDraft) => boolean) => {
      onAppend = (draft) => {
        if (fails(draft)) throw new Error('the log is broken')
      }
    },
  }
}

describe('starting', () => {
  it('runs calls one at a time unless they are declared to overlap', async () => {
    const { trace, done } = setUp({ a: {}, b: {} }, ['a', 'b'])
    await done()
    expect(trace).toEqual([
      'call a0', 'prepare a0', 'run a0', 'ran a0', 'result a0',
      'call b1', 'prepare b1', 'run b1', 'ran b1', 'result b1',
    ])
  })

  it('lets bodies of neighbours overlap and still awaits policy in model order', async () => {
    const approval = gate()
    const body = gate()
    const { trace, done } = setUp(
      { p: { mode: 'parallel', run: () => body.opened }, q: { mode: 'parallel', prepare: () => approval.opened } },
      ['p', 'q', 'p'],
    )
    const batch = done()
    await settle()
    expect(trace).toEqual(['call p0', 'prepare p0', 'run p0', 'call q1', 'prepare q1'])
    approval.open()
    await settle()
    expect(trace.slice(5)).toEqual(['run q1', 'ran q1', 'call p2', 'prepare p2', 'run p2'])
    body.open()
    await batch
    expect(trace.filter((line) => line.startsWith('result'))).toEqual(['result p0', 'result q1', 'result p2'])
  })

  it('makes an exclusive call a barrier: it waits for the pool and for its commits, and what follows waits for it', async () => {
    const slow = gate()
    const { trace, done } = setUp({ p: { mode: 'parallel', run: () => slow.opened }, x: {} }, ['p', 'p', 'x', 'p'])
    const batch = done()
    await settle()
    expect(trace.filter((line) => line.startsWith('call'))).toEqual(['call p0', 'call p1'])
    slow.open()
    await batch
    expect(trace.indexOf('call x2')).toBeGreaterThan(trace.indexOf('result p1'))
    expect(trace.indexOf('call p3')).toBeGreaterThan(trace.indexOf('result x2'))
  })

  it('never runs more bodies than the cap, and refills as one ends', async () => {
    let running = 0
    let most = 0
    const body = async () => {
      most = Math.max(most, ++running)
      await settle()
      running--
    }
    const { trace, done } = setUp({ p: { mode: 'parallel', run: body } }, Array(7).fill('p'), { maxParallel: () => 3 })
    await done()
    expect(most).toBe(3)
    expect(trace.filter((line) => line.startsWith('result'))).toEqual([0, 1, 2, 3, 4, 5, 6].map((n) => `result p${n}`))
  })

  it('is serial at a cap of 1', async () => {
    const { trace, done } = setUp({ p: { mode: 'parallel' } }, ['p', 'p'], { maxParallel: () => 1 })
    await done()
    expect(trace.indexOf('call p1')).toBeGreaterThan(trace.indexOf('ran p0'))
  })

  it('reads the cap anew for each group', async () => {
    const caps = [1, 2]
    const asked: number[] = []
    const { done } = setUp({ p: { mode: 'parallel' }, x: {} }, ['p', 'p', 'x', 'p', 'p'], {
      maxParallel: () => {
        const cap = caps.shift() ?? 9
        asked.push(cap)
        return cap
      },
    })
    await done()
    expect(asked).toEqual([1, 2])
  })

  it('asks for the mode again right before a start and after ordered commits, so that a registration change is honoured', async () => {
    let mode: Mode = 'exclusive'
    const asked: Mode[] = []
    const slow = gate()
    const { trace, done } = setUp(
      {
        p: { mode: 'parallel', run: () => slow.opened, commit: () => ((mode = 'parallel'), ok('p')) },
        q: { mode: () => (asked.push(mode), mode) },
      },
      ['p', 'q', 'q'],
    )
    const batch = done()
    await settle()
    slow.open()
    await batch
    expect(asked).toEqual(['exclusive', 'parallel', 'parallel', 'parallel'])
    expect(trace.filter((line) => line.startsWith('result'))).toEqual(['result p0', 'result q1', 'result q2'])
  })
})

describe('committing', () => {
  it('keeps results in model order while a later body ends first, with later calls between them', async () => {
    const slow = gate()
    const { trace, done } = setUp(
      { s: { mode: 'parallel', run: () => slow.opened }, f: { mode: 'parallel' } },
      ['s', 'f', 'f'],
    )
    const batch = done()
    await settle()
    expect(trace.filter((line) => line.startsWith('result'))).toEqual([])
    slow.open()
    await batch
    expect(trace.filter((line) => line.startsWith('result'))).toEqual(['result s0', 'result f1', 'result f2'])
  })

  it('puts contexts of a result right after it', async () => {
    const { trace, done } = setUp({ a: { commit: () => ok('a', { additionalContexts: [note('c1'), note('c2')] }) } }, ['a', 'b'])
    await done()
    expect(trace.slice(4, 7)).toEqual(['result a0', 'contexts c1,c2', 'call b1'])
  })

  it('says that the turn concludes when a successful call wants it', async () => {
    const { done } = setUp({ a: { commit: () => ok('a', { concludesTurn: true }) } }, ['a', 'b'])
    expect(await done()).toEqual({ concludesTurn: true })
    expect(await setUp({}, ['a']).done()).toEqual({ concludesTurn: false })
  })

  it('writes error identity and card facts but never the canonical value', async () => {
    const failed: ToolResult = {
      isError: true,
      error: { message: 'no', info: { name: 'ToolError', code: 'DENIED' } },
      content: [{ type: 'text', text: 'Error: no' }],
      meta: { lines: 1 },
    }
    const { drafts, done } = setUp({ a: { commit: () => failed } }, ['a'])
    await done()
    expect(drafts[1]).toEqual({
      type: 'tool/result',
      surfaceOp: 'append',
      data: {
        turn: 1,
        step: 2,
        message: {
          id: 'm1',
          role: 'tool',
          content: [{ type: 'tool-result', callId: 'a0', content: [{ type: 'text', text: 'Error: no' }], isError: true }],
          source: { kind: 'tool', callId: 'a0' },
        },
        error: { name: 'ToolError', code: 'DENIED' },
        meta: { lines: 1 },
      },
    })
  })

  it('passes progress on under the call', async () => {
    const { trace, done } = setUp({ a: { run: (request) => request.onProgress?.('50%') } }, ['a'])
    await done()
    expect(trace).toContain('progress a0 50%')
  })
})

describe('cancel', () => {
  it('drains and commits what started and gives every skipped call a pair', async () => {
    const slow = gate()
    const { trace, drafts, controller, done } = setUp({ p: { mode: 'parallel', run: () => slow.opened }, x: {} }, ['p', 'x', 'p'])
    const batch = done()
    await settle()
    controller.abort()
    slow.open()
    await batch
    expect(trace).toEqual([
      'call p0', 'prepare p0', 'run p0', 'ran p0', 'result p0',
      'call x1', 'result x1', 'call p2', 'result p2',
    ])
    expect(drafts[3]).toMatchObject({ data: { error: { name: 'ToolError', code: 'ABORTED_BEFORE_DISPATCH' }, message: { content: [{ isError: true }] } } })
  })

  it('skips everything when it comes before the first start', async () => {
    const { trace, controller, done } = setUp({}, ['a', 'b'])
    controller.abort()
    await done()
    expect(trace).toEqual(['call a0', 'result a0', 'call b1', 'result b1'])
  })

  it('during approval commits the call that asked and starts no other', async () => {
    const approval = gate()
    const { trace, controller, done } = setUp({ a: { prepare: () => approval.opened } }, ['a', 'b'])
    const batch = done()
    await settle()
    controller.abort()
    approval.open()
    await batch
    expect(trace).toEqual(['call a0', 'prepare a0', 'run a0', 'ran a0', 'result a0', 'call b1', 'result b1'])
  })
})

describe('a defect of the machinery', () => {
  const defect = new Error('defect')
  const throwDefect = () => {
    throw defect
  }
  const rows: readonly [string, Record<string, FakeCall>, readonly string[]][] = [
    ['in prepare', { bad: { mode: 'parallel', prepare: throwDefect } }, ['result p0']],
    ['under a body', { bad: { mode: 'parallel', run: throwDefect } }, ['result p0']],
    ['in a commit', { bad: { mode: 'parallel', commit: throwDefect } }, ['result p0']],
    ['in classification', { bad: { mode: throwDefect } }, ['result p0']],
  ]
  it.each(rows)('%s stops starts, waits for what runs, is thrown and fabricates nothing', async (_where, tools, results) => {
    const slow = gate()
    const { trace, done } = setUp({ p: { mode: 'parallel', run: () => slow.opened }, x: {}, ...tools }, ['p', 'bad', 'x'])
    let isOver = false
    const batch = done().then(
      () => 'resolved',
      (error: unknown) => {
        isOver = true
        return error
      },
    )
    await settle()
    expect(isOver).toBe(false)
    slow.open()
    expect(await batch).toBe(defect)
    expect(trace.filter((line) => line.startsWith('result'))).toEqual(results)
    expect(trace).not.toContain('call x2')
  })

  it('throws the first of several', async () => {
    const { done } = setUp({ bad: { mode: 'parallel', run: throwDefect }, worse: { mode: 'parallel', run: () => Promise.reject(new Error('later')) } }, ['bad', 'worse'])
    await expect(done()).rejects.toBe(defect)
  })

  it('covers a log that takes no more events', async () => {
    const batch = setUp({}, ['a', 'b'])
    batch.failOn((draft) => draft.type === 'tool/result')
    await expect(batch.done()).rejects.toThrow('the log is broken')
    expect(batch.trace).not.toContain('call b1')
  })
})

describe('arguments', () => {
  it('reach the pipeline', async () => {
    const { requests, done } = setUp({}, ['a'])
    await done()
    expect(requests[0]).toMatchObject({ callId: 'a0', name: 'a', arguments: { n: 1 } })
  })
})
