import createDOMPurify, { type WindowLike } from 'dompurify'
import { linkTarget, looksLikeFile } from './file-path.ts'

const tags = ['a', 'blockquote', 'br', 'code', 'del', 'div', 'em', 'h3', 'hr', 'img', 'li', 'ol', 'p', 'pre', 's', 'strong', 'sub', 'sup', 'table', 'tbody', 'td', 'th', 'thead', 'tr', 'ul']
const attributes = ['align', 'alt', 'class', 'data-target', 'dir', 'href', 'role', 'src', 'start', 'tabindex', 'title']
const classes = /^(?:table-scroll|file-link|heading-[1-6])$/
const directional = new Set(['P', 'LI', 'OL', 'UL', 'BLOCKQUOTE', 'TD', 'TH', 'H3'])

/**
 * HTML of a message as nodes that are safe to show.
 *
 * Nothing in it loads, runs or navigates by itself: links lose their address and carry it in `data-target`, where the click
 * handler finds it; images come from `data:` addresses alone.
 */
export function createSafeHtml(window: Window): (html: string) => DocumentFragment {
  // A browser's window has all that the library asks of one.
  const purify = createDOMPurify(window as unknown as WindowLike)
  purify.addHook('uponSanitizeAttribute', (_node, data) => {
    if (data.attrName === 'src' && !/^data:image\/(?:png|jpeg|gif|webp|bmp|avif);/i.test(data.attrValue)) data.keepAttr = false
    if (data.attrName === 'class' && !classes.test(data.attrValue)) data.keepAttr = false
  })
  purify.addHook('afterSanitizeAttributes', (node) => {
    if (node.nodeName === 'A') makeLink(node, node.getAttribute('href') ?? '')
    else if (node.nodeName === 'CODE' && node.closest('a, pre') === null && looksLikeFile(node.textContent)) makeFileLink(node)
    // Only the outermost: the browser judges `auto` by text whose own elements have no `dir`, so a list of items that had one would be left to right.
    else if (directional.has(node.nodeName) && node.closest('[dir]') === null) node.setAttribute('dir', 'auto')
  })
  return (html) =>
    purify.sanitize(html, {
      ALLOWED_TAGS: tags,
      ALLOWED_ATTR: attributes,
      ALLOW_DATA_ATTR: false,
      ALLOW_ARIA_ATTR: false,
      ALLOWED_URI_REGEXP: /^(?!(?:javascript|vbscript|data:text)).*/i,
      RETURN_DOM_FRAGMENT: true,
    })
}

function makeLink(node: Element, href: string): void {
  node.removeAttribute('href')
  if (linkTarget(href) === null) return
  node.setAttribute('data-target', href)
  node.setAttribute('role', 'link')
  node.setAttribute('tabindex', '0')
  if (!node.hasAttribute('title')) node.setAttribute('title', href)
}

function makeFileLink(node: Element): void {
  node.setAttribute('class', 'file-link')
  node.setAttribute('data-target', node.textContent)
  node.setAttribute('role', 'link')
  node.setAttribute('tabindex', '0')
}
