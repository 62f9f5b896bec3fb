const DAY = 86_400;

/** PrivateBin's names of lifetimes, in seconds; null: never. */
export const expirations = {
  '5min': 300,
  '10min': 600,
  '1hour': 3600,
  '1day': DAY,
  '1week': 7 * DAY,
  '1month': 30 * DAY,
  '1year': 365 * DAY,
  never: null,
} as const satisfies Readonly<Record<string, number | null>>;

export type Expiration = keyof typeof expirations;
