/**
 * Make the children of `target` equal to those of `wanted`, changing as little as possible.
 *
 * Text that only grew gets the rest appended, so a selection in it survives; `wanted` is used up.
 */
export function morphChildren(target: Node, wanted: Node): void {
  let current = target.firstChild
  let next = wanted.firstChild
  while (next !== null) {
    const following = next.nextSibling
    if (current === null) {
      target.appendChild(next)
    } else if (isSameKind(current, next)) {
      morphNode(current, next)
      current = current.nextSibling
    } else {
      const replaced = current
      current = current.nextSibling
      target.replaceChild(next, replaced)
    }
    next = following
  }
  while (current !== null) {
    const removed = current
    current = current.nextSibling
    target.removeChild(removed)
  }
}

const isSameKind = (a: Node, b: Node): boolean => a.nodeType === b.nodeType && a.nodeName === b.nodeName

function morphNode(current: Node, wanted: Node): void {
  if (current.nodeType === 3) {
    const [had, wants] = [current.nodeValue ?? '', wanted.nodeValue ?? '']
    if (had === wants) return
    // Node type 3 is text.
    if (wants.startsWith(had)) (current as Text).appendData(wants.slice(had.length))
    else current.nodeValue = wants
    return
  }
  if (current.nodeType === 1) morphAttributes(current as Element, wanted as Element)
  morphChildren(current, wanted)
}

function morphAttributes(current: Element, wanted: Element): void {
  for (const { name } of [...current.attributes]) if (!wanted.hasAttribute(name)) current.removeAttribute(name)
  for (const { name, value } of [...wanted.attributes]) if (current.getAttribute(name) !== value) current.setAttribute(name, value)
}
