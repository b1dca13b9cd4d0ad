/** Styles are bundled into one file that the page links; with `type: 'text'` a part of the script brings its own. */
declare module '*.css' {
  const text: string
  export default text
}
