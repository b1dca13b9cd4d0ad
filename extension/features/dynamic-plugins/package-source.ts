import * as z from 'zod'
import type { Json } from '../../base/json.ts'
import type { PackageSource } from './service.ts'

const packageSourceSchema = z.object({
  plugin: z.discriminatedUnion('kind', [z.object({ kind: z.literal('new'), idPrefix: z.string() }), z.object({ kind: z.literal('existing'), pluginId: z.string() })]),
  name: z.string(),
  purpose: z.string(),
  code: z.object({ host: z.string().optional(), client: z.string().optional() }),
})

/** What a call of `cordis_define` would define; undefined for arguments that say no such thing. */
export function packageSourceFrom(args: Json): PackageSource | undefined {
  const parsed = packageSourceSchema.safeParse(args)
  if (!parsed.success) return undefined
  const { plugin, name, purpose, code: { host, client } } = parsed.data
  return { plugin, name, purpose, code: { ...(host !== undefined && { host }), ...(client !== undefined && { client }) } }
}
