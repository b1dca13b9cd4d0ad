import { defineConfig } from 'vitest/config'

/** Everything that needs neither a browser nor an editor. `test/editor` and `test/e2e` have their own runners. */
export default defineConfig({
  test: {
    restoreMocks: true,
    testTimeout: 20_000,
    hookTimeout: 20_000,
    passWithNoTests: false,
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          environment: 'node',
          include: ['test/{unit,contract,golden,spec,architecture}/**/*.test.{ts,tsx}'],
        },
      },
      {
        extends: true,
        oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
        test: {
          name: 'webview',
          environment: 'happy-dom',
          include: ['test/webview/**/*.test.{ts,tsx}'],
        },
      },
    ],
  },
})
