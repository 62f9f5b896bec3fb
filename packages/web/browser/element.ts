/** The element with this id. @throws Error when the page and its module don't fit together */
export function element<T extends HTMLElement>(id: string, type: new () => T): T {
  const found = document.getElementById(id);
  if (found instanceof type) return found;
  throw new Error(`The page has no ${type.name} #${id}.`);
}

/** The element with this id; null when this page has none. */
export function optional<T extends HTMLElement>(id: string, type: new () => T): T | null {
  const found = document.getElementById(id);
  return found instanceof type ? found : null;
}
