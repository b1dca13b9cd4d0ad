import { brave } from './brave.ts'
import { deepseek } from './deepseek.ts'
import { exa } from './exa.ts'
import type { SearchProvider } from './provider.ts'
import { searxng } from './searxng.ts'
import { tavily } from './tavily.ts'

/** Every way to search the web. */
export const searchProviders: readonly SearchProvider[] = [searxng, brave, tavily, exa, deepseek]
