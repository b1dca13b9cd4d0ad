const both = [
  { name: 'dark', theme: 'Default Dark Modern' },
  { name: 'light', theme: 'Default Light Modern' },
] as const

/** The themes in which a flow through the window is played: the dark one, or as `BOSUN_TEST_THEME` says (`dark`, `light`, `both`), for whoever looks at the pictures. */
export const windowThemes = both.filter(({ name }) => ['both', name].includes(process.env['BOSUN_TEST_THEME'] ?? 'dark'))
