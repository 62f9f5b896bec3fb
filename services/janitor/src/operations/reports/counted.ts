const digits = new Intl.NumberFormat('en');

/** `1 paste`, `1,200 pastes`. */
export function counted(count: number, noun: string): string {
  return `${digits.format(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** `~1,200,000` */
export function inDigits({
  count,
  approximate,
}: {
  readonly count: number;
  readonly approximate: boolean;
}): string {
  return `${approximate ? '~' : ''}${digits.format(count)}`;
}
