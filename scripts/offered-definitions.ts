import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compose, type Capabilities } from '../extension/compose.ts'
import type { ToolDefinition } from '../extension/core/tools/definition.ts'
import type {} from '../extension/features/jobs/service.ts'
import type {} from '../extension/features/web/service.ts'
import { createHeadlessWorld } from '../extension/headless-world.ts'

/** The tools of a composition that knows nothing of this machine's person and cannot confine anything, so that they are the same everywhere. */
export async function toolDefinitions(): Promise<ReadonlyMap<string, ToolDefinition>> {
  const home = await mkdtemp(join(tmpdir(), 'bosun-manifest-'))
  const { dispose, sandbox: _, ...world } = await createHeadlessWorld({ cwd: home, storage: home, settings: {}, hasEveryTool: true })
  const application = compose(world satisfies Capabilities)
  try {
    await application.ctx.plugin({ name: 'manifest', inject: ['tools', 'jobs', 'settings', 'web'], apply: () => {} }).ready
    return new Map(application.ctx.tools.list(null).map((definition) => [definition.name, definition]))
  } finally {
    await application.dispose()
    await dispose()
    await rm(home, { recursive: true, force: true })
  }
}
