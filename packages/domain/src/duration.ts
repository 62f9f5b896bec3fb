const SECONDS = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 } as const;

/** A time as people type it: `90` (seconds), `30m`, `12h`, `7d` or `4w`. */
export const DURATION = /^(\d{1,9})([smhdw]?)$/;

/** @returns whole seconds; null: the text is no time */
export function secondsOf(text: string): number | null {
  const [, count, unit = ''] = DURATION.exec(text) ?? [];
  return count === undefined ? null : Number(count) * SECONDS[(unit || 's') as keyof typeof SECONDS];
}
