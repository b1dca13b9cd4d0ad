import { expect, it } from 'vitest'
import { mergeEnvironment, scrubEnvironment } from '../../../../extension/platform/node/environment.ts'

it('names that hold secrets leave the environment, in any case', () =>
  expect(
    scrubEnvironment({ PATH: '/bin', GITHUB_TOKEN: 'x', monkey: 'x', Db_Password: 'x', my_secret: 'x', BOSUN_SHELL: '1', VSCODE_PID: '1', ELECTRON_RUN_AS_NODE: '1', EMPTY: '', GONE: undefined }),
  ).toEqual({ PATH: '/bin', EMPTY: '' }))

it('on Windows an entry takes the place of one that differs by case', () => {
  expect(mergeEnvironment({ Path: 'a', B: 'b' }, { PATH: 'c', b: null }, true)).toEqual({ PATH: 'c' })
  expect(mergeEnvironment({ Path: 'a' }, { PATH: 'c' }, false)).toEqual({ Path: 'a', PATH: 'c' })
})
