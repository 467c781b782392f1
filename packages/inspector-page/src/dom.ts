/**
 * The few things that the page does with the document. Nothing is written that is there already: a
 * life changes some times per second, most of the page does not.
 */

/** The element of `index.html` with this id. */
export function element<T extends Element = HTMLElement>(id: string): T {
  const found = document.getElementById(id)
  if (!found) throw new Error(`index.html has no #${id}`)
  return found as unknown as T
}

export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  className = '',
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag)
  if (className !== '') made.className = className
  made.append(...children)
  return made
}

export function setText(node: Node, text: string): void {
  if (node.textContent !== text) node.textContent = text
}

/** Sets an attribute; undefined takes it away. */
export function setAttribute(node: Element, name: string, value: string | undefined): void {
  if (value === undefined) node.removeAttribute(name)
  else if (node.getAttribute(name) !== value) node.setAttribute(name, value)
}

/**
 * Sets a property of the style by script, which the policy of the page's content allows, as opposed
 * to an attribute.
 */
export function setStyle(node: HTMLElement | SVGElement, name: string, value: string): void {
  if (node.style.getPropertyValue(name) !== value) node.style.setProperty(name, value)
}

/**
 * How wide texts are in the font of an element, which may change with the size of the window: asked
 * for when that changes, because asking makes the browser work out all styles.
 */
export class Font {
  readonly #probe: Element
  readonly #context = document.createElement('canvas').getContext('2d')
  #set = ''
  #widths = new Map<string, number>()

  constructor(probe: Element) {
    this.#probe = probe
  }

  refresh(): void {
    // Not `font`, which is empty where a part of it, such as tabular digits, cannot stand in it.
    const { fontStyle, fontWeight, fontSize, fontFamily } = getComputedStyle(this.#probe)
    const font = `${fontStyle} ${fontWeight} ${fontSize} ${fontFamily}`
    if (!this.#context || this.#set === font) return
    this.#set = font
    this.#context.font = font
    this.#widths = new Map()
  }

  /** The width in pixels. */
  width(text: string): number {
    const known = this.#widths.get(text)
    if (known !== undefined) return known
    const width = this.#context?.measureText(text).width ?? 0
    this.#widths.set(text, width)
    return width
  }
}

const SVG = 'http://www.w3.org/2000/svg'

export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Readonly<Record<string, string>> = {},
): SVGElementTagNameMap[K] {
  const made = document.createElementNS(SVG, tag)
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value)
  return made
}

/** A shape of the sprite in `index.html`; what it means stands beside it as text. */
export class Icon {
  readonly node: SVGSVGElement
  readonly #use = svg('use')

  constructor(shape: string) {
    this.node = svg('svg', { class: 'icon', 'aria-hidden': 'true' })
    this.node.append(this.#use)
    this.show(shape)
  }

  show(shape: string): void {
    setAttribute(this.#use, 'href', `#i-${shape}`)
    setAttribute(this.node, 'data-shape', shape)
  }
}

/** What stands for one item. */
export interface Part<T> {
  readonly node: Element
  readonly show: (item: T) => void
}

/**
 * The children of an element, one per item, after those that it has when this is made. An item
 * keeps its element, and with it the focus, for as long as it has its key.
 */
export class KeyedParts<T> {
  readonly #parent: Element
  readonly #keyOf: (item: T) => string
  readonly #create: (item: T) => Part<T>
  readonly #after: Element | null
  #parts = new Map<string, Part<T>>()

  constructor(parent: Element, keyOf: (item: T) => string, create: (item: T) => Part<T>) {
    this.#parent = parent
    this.#keyOf = keyOf
    this.#create = create
    this.#after = parent.lastElementChild
  }

  show(items: readonly T[]): void {
    const parts = new Map<string, Part<T>>()
    let before = this.#after
    for (const item of items) {
      const key = this.#keyOf(item)
      const part = this.#parts.get(key) ?? this.#create(item)
      part.show(item)
      parts.set(key, part)
    }
    for (const [key, { node }] of this.#parts) if (!parts.has(key)) node.remove()
    for (const { node } of parts.values()) {
      const place: Element | null = before === null ? this.#parent.firstElementChild : before.nextElementSibling
      if (place !== node) this.#parent.insertBefore(node, place)
      before = node
    }
    this.#parts = parts
  }
}
