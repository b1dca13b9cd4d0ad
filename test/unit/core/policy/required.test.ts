import { readdir } from 'node:fs/promises'
import { afterEach, expect, it } from 'vitest'
import { policyRequired } from '../../../../extension/core/policy/required.ts'
import { createPipelineBench, echoTool } from '../../../support/pipeline-bench.ts'
import { wholeApplication, type WholeApplication } from '../../../support/whole-application.ts'

let application: WholeApplication | undefined
afterEach(() => application?.dispose())

it('nothing runs while the policy is not there, and everything may be judged once it is', async () => {
  const { kernel, tools, request } = createPipelineBench()
  kernel.root.plugin(policyRequired)
  tools.register(echoTool())
  const call = async () => {
    const result = await tools.execute(request('echo', { word: 'hi' }))
    return result.isError ? result.error.info?.code : 'ok'
  }
  const before = await call()
  const policy = kernel.root.plugin({ name: 'policy', apply: (ctx) => void ctx.provide('permissions', {} as never) })
  const during = await call()
  await policy.dispose()
  expect([before, during, await call()]).toEqual(['DENIED', 'ok', 'DENIED'])
})

it('a policy that fails to start leaves an application that changes nothing', async () => {
  let asked = 0
  application = await wholeApplication({
    alter: (world) => ({
      ...world,
      workspace: {
        ...world.workspace,
        onDidChangeTrust(listener) {
          if (++asked === 1) throw new Error('the editor is not ready')
          return world.workspace.onDidChangeTrust(listener)
        },
      },
    }),
  })
  const { ctx, folder, kernel } = application
  expect(kernel.fibers().find(({ name }) => name === 'policy')?.state).toBe('failed')
  const agent = await ctx.agents.create({ cwd: folder })
  const result = await ctx.tools.execute({ callId: 'a', name: 'write', arguments: { file_path: 'a', content: 'x' }, agent, signal: AbortSignal.timeout(5000) })
  expect([result.isError && result.error.info?.code, await readdir(folder)]).toEqual(['DENIED', []])
})
