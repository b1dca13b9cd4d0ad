import type { DynamicRunState } from './service.ts'

declare module '../../core/log/event.ts' {
  interface EventMap {
    /** `ignorable`. A package was defined, or defined anew from its files. Its code is in those and in the call. */
    'cordis/package': { readonly pluginId: string; readonly packageId: string; readonly name: string; readonly purpose: string; readonly halves: readonly ('host' | 'client')[]; readonly restoredFrom?: string }
    /** `ignorable`. What the person said about running a package. One that they refused at `cordis_define` was never defined, and its ids are not given again. */
    'cordis/approval': {
      readonly approvalId: string
      readonly pluginId: string
      readonly packageId: string
      readonly outcome: 'allowed' | 'rejected' | 'cancelled' | 'unavailable'
      /** By which call they were asked. Absent in older logs: `cordis_run`. */
      readonly tool?: string
      /** It holds for every version of the plugin, until the session ends. */
      readonly isForAllVersions?: true
    }
    /** `ignorable`. Where a run stands now. */
    'cordis/run': { readonly pluginId: string; readonly packageId: string; readonly runId: string; readonly state: DynamicRunState; readonly reason?: string }
    /** `ignorable`. Nobody holds the plugin any more; its files stay. */
    'cordis/removed': { readonly pluginId: string; readonly wasRunning: boolean }
  }
}
