import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

/** Everything that needs neither a browser nor an editor. `test/editor` and `test/e2e` have their own runners. */
export default defineConfig({
  test: {
    restoreMocks: true,
    // A limit is there to end what hangs, not to time what runs beside other work.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 50_000 } },
    passWithNoTests: false,
    // Tests wait for programs more than they compute, so two cores are for two workers, not for one and the main thread.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    // Real programs on a starved machine may miss a moment; a test that fails twice is wrong. At one's desk every failure shows.
    retry: process.env['CI'] ? 1 : 0,
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          environment: 'node',
          // Modules keep no state, so files can share one worker; starting one for each costs more than the tests.
          isolate: false,
          include: ['test/{unit,contract,spec,architecture}/**/*.test.{ts,tsx}'],
        },
      },
      {
        extends: true,
        test: {
          name: 'headless',
          environment: 'node',
          include: ['test/headless/**/*.test.ts'],
          globalSetup: ['test/support/build-headless.ts'],
          testTimeout: 60_000,
        },
      },
      {
        extends: true,
        oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
        test: {
          name: 'webview',
          environment: 'happy-dom',
          // One page for all files of a worker; each file takes away what it draws.
          isolate: false,
          include: ['test/webview/**/*.test.{ts,tsx}'],
        },
      },
    ],
  },
})
