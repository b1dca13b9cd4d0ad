/** Names of programs and files stand as code: what is between backquotes. */
export const CodeText = ({ text }: { readonly text: string }) => <>{text.split('`').map((part, index) => (index % 2 === 0 ? part : <code dir="ltr">{part}</code>))}</>
