import type { Counted } from '@pasteflow/postgres';

const digits = new Intl.NumberFormat('en');

/** `1,200` */
export function grouped(count: number): string {
  return digits.format(count);
}

/** `1 paste`, `1,200 pastes`. */
export function counted(count: number, noun: string): string {
  return `${grouped(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** `200+` for a count that has stopped there. */
export function atLeast({ count, approximate }: Counted, write = grouped): string {
  return `${write(count)}${approximate ? '+' : ''}`;
}
