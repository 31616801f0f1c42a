type Attributes = Record<string, string | number | boolean | null | undefined>
export type Content = Node | string | number | null | false | undefined

/** Creates an element. An attribute that is false, null or undefined is left out, a true one is empty. Texts
 *  become text nodes, so that nothing from the network is ever read as markup. */
export function el<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...contents: Content[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name)
  for (const [key, value] of Object.entries(attributes))
    if (value !== false && value != null) element.setAttribute(key, value === true ? '' : String(value))
  element.append(...contents.flatMap((content) => (isShown(content) ? [toNode(content)] : [])))
  return element
}

const isShown = (content: Content): content is Node | string | number => content != null && content !== false
const toNode = (content: Node | string | number) => (typeof content === 'number' ? String(content) : content)

/** Replaces what is in an element. */
export const fill = (element: Element, ...contents: Content[]): void =>
  element.replaceChildren(...contents.filter(isShown).map(toNode))

let count = 0

/** New identifier of an element, to refer to it by. */
export const newId = (): string => `e${++count}`

const main = document.querySelector('main')
if (!main) throw new Error('the page has no main element')

/** Element that holds the view. Its data are the key and the channel's language. */
export const root: HTMLElement = main

/** Shows a view: the title of the page, and its contents. */
export function show(title: string, ...contents: Content[]): void {
  document.title = title
  root.removeAttribute('aria-busy')
  fill(root, ...contents)
}
