/** Lines that are selected, from 1. */
export interface Selection {
  readonly first: number;
  readonly last: number;
}

/** The part of the address that selects lines. */
export function addressOf(selection: Selection | null): string {
  if (selection === null) return location.pathname + location.search;
  const { first, last } = selection;
  return first === last ? `#L${first}` : `#L${first}-L${last}`;
}

/** @returns null when the part of the address selects no lines */
export function selectionOf(hash: string): Selection | null {
  const [, from, to] = /^#L(\d{1,9})(?:-L?(\d{1,9}))?$/.exec(hash) ?? [];
  if (from === undefined) return null;
  const [a, b] = [Math.max(1, Number(from)), Math.max(1, Number(to ?? from))];
  return { first: Math.min(a, b), last: Math.max(a, b) };
}
