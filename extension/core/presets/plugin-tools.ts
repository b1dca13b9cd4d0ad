/** Tools by which a model writes plugins: there only while the person turned them on, in a folder that they trust. */
export const isPluginTool = (name: string): boolean => name.startsWith('cordis_')
