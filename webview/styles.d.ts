/** Styles are bundled into one file that the page links. */
declare module '*.css'
