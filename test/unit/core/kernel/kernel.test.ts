import { describe, expect, it } from 'vitest'
import { createKernel } from '../../../../extension/core/kernel/kernel.ts'
import type { Context, Emit, Parallel, Plugin, Serial, Waterfall } from '../../../../extension/core/kernel/plugin.ts'
import { createRecordingLogger } from '../../../support/quiet-logger.ts'

interface Counter {
  add(word: string): () => void
}

declare module '../../../../extension/core/kernel/plugin.ts' {
  interface Services {
    testCounter: Counter
    testOther: { readonly name: string }
  }
  interface ExtensionPoints {
    'test/emit': Emit<[word: string]>
    'test/waterfall': Waterfall<[word: string], string>
    'test/serial': Serial<[word: string]>
    'test/parallel': Parallel<[word: string]>
  }
}

const setUp = () => {
  const logger = createRecordingLogger()
  return { logger, kernel: createKernel({ logger }) }
}

const plugin = (apply: (ctx: Context) => ReturnType<Plugin['apply']>, inject: Plugin['inject'] = []): Plugin => ({
  name: 'sample',
  inject,
  apply,
})

describe('plugins', () => {
  it('become active at once when nothing is missing', async () => {
    const { kernel } = setUp()
    const fiber = kernel.root.plugin(plugin(() => {}))
    await fiber.ready
    expect(fiber.state).toBe('active')
  })

  it('wait for a missing service, start when it comes, rest when it goes and come back with it', async () => {
    const { kernel } = setUp()
    const seen: string[] = []
    const fiber = kernel.root.plugin(
      plugin(
        (ctx) => {
          seen.push(`start ${ctx.testOther.name}`)
          return () => void seen.push('stop')
        },
        ['testOther'],
      ),
    )
    expect([fiber.state, fiber.reason]).toEqual(['pending', 'waits for testOther'])
    const withdraw = kernel.root.provide('testOther', { name: 'one' })
    await fiber.ready
    withdraw()
    await new Promise(setImmediate)
    expect(fiber.state).toBe('pending')
    kernel.root.provide('testOther', { name: 'two' })
    await new Promise(setImmediate)
    expect([fiber.state, ...seen]).toEqual(['active', 'start one', 'stop', 'start two'])
  })

  it('take everything back in reverse on disposal, each undo awaited', async () => {
    const { kernel } = setUp()
    const seen: string[] = []
    const fiber = kernel.root.plugin(
      plugin((ctx) => {
        ctx.effect(async () => {
          await new Promise(setImmediate)
          seen.push('first')
        })
        ctx.effect(() => void seen.push('second'))
        return () => void seen.push('own')
      }),
    )
    await fiber.dispose()
    await fiber.dispose()
    expect(seen).toEqual(['own', 'second', 'first'])
  })

  it('wait on disposal for an apply that still runs, and take its undo', async () => {
    const { kernel } = setUp()
    const seen: string[] = []
    const fiber = kernel.root.plugin(
      plugin(async () => {
        await new Promise(setImmediate)
        seen.push('applied')
        return () => void seen.push('undone')
      }),
    )
    await fiber.dispose()
    expect([fiber.state, ...seen]).toEqual(['disposed', 'applied', 'undone'])
  })

  it('dispose children with their parent', async () => {
    const { kernel } = setUp()
    const seen: string[] = []
    const fiber = kernel.root.plugin(
      plugin((ctx) => {
        ctx.plugin(plugin(() => () => void seen.push('child')))
      }),
    )
    await fiber.dispose()
    expect(seen).toEqual(['child'])
  })

  it('fail alone: a throw in apply takes its registrations back and leaves the others', async () => {
    const { kernel, logger } = setUp()
    const heard: string[] = []
    const failed = kernel.root.plugin(
      plugin((ctx) => {
        ctx.on('test/emit', (word) => void heard.push(word))
        throw new Error('no luck')
      }),
    )
    const good = kernel.root.plugin(plugin(() => {}))
    await expect(failed.ready).rejects.toThrow('no luck')
    kernel.dispatch.emit('test/emit', null, ['x'])
    expect([failed.state, failed.reason, good.state, heard]).toEqual(['failed', 'no luck', 'active', []])
    expect(logger.lines.map((line) => line.message)).toEqual(['Plugin sample failed to start.'])
  })

  it('cannot register after disposal', async () => {
    const { kernel } = setUp()
    let kept: Context | undefined
    const fiber = kernel.root.plugin(plugin((ctx) => void (kept = ctx)))
    await fiber.dispose()
    expect(() => kept?.on('test/emit', () => {})).toThrow('Plugin sample is disposed; it cannot register anything now.')
  })
})

describe('services', () => {
  it('are seen through one view a context, so that what is registered belongs to the plugin', async () => {
    const { kernel } = setUp()
    const words = new Set<string>()
    kernel.root.provide('testCounter', (ctx: Context) => ({
      add(word) {
        words.add(`${ctx.fiber.name}:${word}`)
        const early = ctx.effect(() => void words.delete(`${ctx.fiber.name}:${word}`))
        return () => void early()
      },
    }))
    const fiber = kernel.root.plugin(plugin((ctx) => void ctx.testCounter.add('a'), ['testCounter']))
    expect([...words]).toEqual(['sample:a'])
    await fiber.dispose()
    expect([...words]).toEqual([])
  })

  it('refuse a second provider and a read of one that is not there', () => {
    const { kernel } = setUp()
    const withdraw = kernel.root.provide('testOther', { name: 'x' })
    expect(() => kernel.root.provide('testOther', { name: 'y' })).toThrow('already provided')
    withdraw()
    expect([kernel.root.get('testOther'), kernel.root.get('testCounter')]).toEqual([undefined, undefined])
    expect(() => kernel.root.testOther).toThrow("Name it in the plugin's inject")
  })
})

describe('extension points', () => {
  it('waterfall: listeners in order, next supplies the rest, prepend goes first', async () => {
    const { kernel } = setUp()
    kernel.root.on('test/waterfall', async (word, next) => `a(${word} ${await next()})`)
    kernel.root.on('test/waterfall', async (word, next) => `b(${word} ${await next()})`)
    kernel.root.on('test/waterfall', async (word, next) => `first(${await next()})`, { prepend: true })
    expect(await kernel.dispatch.waterfall('test/waterfall', null, ['w'], async () => 'last')).toBe('first(a(w b(w last)))')
  })

  it('waterfall: a listener may answer itself, a throw reaches the dispatcher', async () => {
    const { kernel } = setUp()
    const undo = kernel.root.on('test/waterfall', () => 'short')
    kernel.root.on('test/waterfall', () => {
      throw new Error('never reached')
    })
    expect(await kernel.dispatch.waterfall('test/waterfall', null, ['w'], async () => 'last')).toBe('short')
    undo()
    await expect(kernel.dispatch.waterfall('test/waterfall', null, ['w'], async () => 'last')).rejects.toThrow('never reached')
  })

  it('emit contains a throw and a rejection, so one bad listener starves nobody', async () => {
    const { kernel, logger } = setUp()
    const heard: string[] = []
    kernel.root.on('test/emit', () => {
      throw new Error('bad')
    })
    // A listener that is async against its type, as untyped plugins may be.
    kernel.root.on('test/emit', () => Promise.reject(new Error('async bad')) as unknown as void)
    kernel.root.on('test/emit', (word) => void heard.push(word))
    kernel.dispatch.emit('test/emit', null, ['x'])
    await new Promise(setImmediate)
    expect([heard, logger.lines.map((line) => line.facts?.['error'])]).toEqual([['x'], ['Error: bad', 'Error: async bad']])
    expect(() => kernel.dispatch.emitStrict('test/emit', null, ['x'])).toThrow('bad')
  })

  it('serial awaits one by one; parallel starts all and rejects with the first failure', async () => {
    const { kernel } = setUp()
    const seen: string[] = []
    const listen = (point: 'test/serial' | 'test/parallel', name: string) =>
      kernel.root.on(point, async () => {
        seen.push(`${name} in`)
        await new Promise(setImmediate)
        seen.push(`${name} out`)
      })
    listen('test/serial', 'a')
    listen('test/serial', 'b')
    await kernel.dispatch.serial('test/serial', null, ['x'])
    listen('test/parallel', 'c')
    listen('test/parallel', 'd')
    kernel.root.on('test/parallel', async () => {
      throw new Error('flush failed')
    })
    await expect(kernel.dispatch.parallel('test/parallel', null, ['x'])).rejects.toThrow('flush failed')
    expect(seen).toEqual(['a in', 'a out', 'b in', 'b out', 'c in', 'd in', 'c out', 'd out'])
  })
})

describe('layers', () => {
  const layered = () => {
    const { kernel } = setUp()
    const preset = kernel.createScope('preset', null)
    const sibling = kernel.createScope('sibling', null)
    const agent = kernel.createScope('agent', preset)
    return { kernel, preset, sibling, agent }
  }

  it('a scoped listener hears agents at or below its layer; one without a layer hears all', () => {
    const { kernel, preset, sibling, agent } = layered()
    const heard: string[] = []
    const listen = (name: string, ctx: Context) => ctx.on('test/emit', (word) => void heard.push(`${name} ${word}`))
    listen('global', kernel.root)
    listen('preset', kernel.root.scoped(preset))
    listen('agent', kernel.root.scoped(agent))
    listen('sibling', kernel.root.scoped(sibling))
    for (const [word, scope] of [['to-agent', agent], ['to-preset', preset], ['to-nobody', null]] as const) {
      kernel.dispatch.emit('test/emit', scope, [word])
    }
    expect(heard).toEqual([
      'global to-agent', 'preset to-agent', 'agent to-agent', 'global to-preset', 'preset to-preset', 'global to-nobody',
    ])
  })

  it('disposing a layer takes back what was filed into it and refuses new registrations', async () => {
    const { kernel, agent } = layered()
    const heard: string[] = []
    const ctx = kernel.root.scoped(agent)
    ctx.on('test/emit', (word) => void heard.push(word))
    ctx.plugin(plugin(() => () => void heard.push('plugin stopped')))
    await kernel.disposeScope(agent)
    kernel.dispatch.emit('test/emit', agent, ['x'])
    expect(heard).toEqual(['plugin stopped'])
    expect(() => ctx.on('test/emit', () => {})).toThrow('Layer agent is disposed')
  })

  it('a layer may be bound anew but never below itself', () => {
    const { kernel, preset, sibling, agent } = layered()
    kernel.rebindScope(agent, sibling)
    expect(agent.parent).toBe(sibling)
    expect(() => kernel.rebindScope(sibling, agent)).toThrow('below itself')
    expect(preset.parent).toBeNull()
  })
})

it('disposing the kernel stops every plugin in reverse order', async () => {
  const { kernel } = setUp()
  const seen: string[] = []
  for (const name of ['a', 'b']) kernel.root.plugin({ name, apply: () => () => void seen.push(name) })
  await kernel.dispose()
  expect(seen).toEqual(['b', 'a'])
})
