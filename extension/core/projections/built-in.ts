import { contextBreakdownProjection } from './context-breakdown.ts'
import { contextPressureProjection } from './context-pressure.ts'
import { imageLimitsProjection } from './image-limits.ts'
import { permissionsProjection } from './permissions.ts'
import type { Projection } from './projection.ts'
import { sessionListMetadataProjection } from './session-list-metadata.ts'
import { sessionStatsProjection } from './session-stats.ts'
import { titleProjection } from './title.ts'
import { tokenUsageProjection } from './token-usage.ts'

/** The units every session has; features register theirs. */
export const builtInProjections: readonly Projection[] = [
  titleProjection, tokenUsageProjection, sessionStatsProjection, sessionListMetadataProjection, contextPressureProjection, contextBreakdownProjection,
  permissionsProjection, imageLimitsProjection,
]
