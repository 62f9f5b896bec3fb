import type { Paste } from '@pasteflow/client';
import { EXIT_DONE, type ExitCode, UsageError } from '../errors.ts';
import type { Session } from '../session.ts';
import { sizeText } from '../terminal/progress-bar.ts';
import { tableOf } from '../terminal/output.ts';

export interface LsOptions {
  readonly limit: string;
  readonly status?: string;
  readonly visibility?: string;
  readonly syntax?: string;
}

const STATUSES = ['IN_PROGRESS', 'PROCESSED', 'FAILED'] as const satisfies readonly Paste['status'][];
const VISIBILITIES = ['unlisted', 'private'] as const satisfies readonly Paste['visibility'][];

/** The API's maximum. */
const PAGE = 100;

/** `pasteflow ls`: the caller's own pastes, newest first. */
export async function ls({ client, output, signal }: Session, options: LsOptions): Promise<ExitCode> {
  const limit = limitOf(options.limit);
  const status = oneOf('--status', STATUSES, options.status?.toUpperCase());
  const visibility = oneOf('--visibility', VISIBILITIES, options.visibility);
  const { syntax } = options;
  const filter = {
    limit: Math.min(limit, PAGE),
    signal,
    ...(status !== undefined && { status }),
    ...(visibility !== undefined && { visibility }),
    ...(syntax !== undefined && { syntax }),
  };
  const pastes: Paste[] = [];
  let hasMore = false;
  for await (const { items, nextCursor } of client.pastes.list(filter).pages()) {
    pastes.push(...items);
    hasMore = nextCursor !== null || pastes.length > limit;
    if (pastes.length >= limit) break;
  }
  const shown = pastes.slice(0, limit);
  if (output.isJson) for (const paste of shown) output.result(paste, []);
  else output.result(null, tableOf(shown.map((paste) => rowOf(paste, Date.now()))));
  if (hasMore) output.note(`Listed: the first ${limit}. For more: pasteflow ls -n ${limit * 5}`);
  return EXIT_DONE;
}

function rowOf(paste: Paste, now: number): readonly string[] {
  const { short_code, status, size_bytes, created_at, expires_at, visibility, title } = paste;
  const expiry = expires_at === null ? 'never expires' : `expires ${timeFrom(now, expires_at)}`;
  return [
    short_code,
    status,
    sizeText(size_bytes),
    timeFrom(now, created_at),
    expiry,
    visibility,
    title ?? '',
  ];
}

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;

const relative = new Intl.RelativeTimeFormat('en');

/** `3 hours ago`, `in 30 days`. The clocks of server and client may differ by seconds, so seconds are `now`. */
export function timeFrom(now: number, time: string): string {
  const ms = Date.parse(time) - now;
  const [unit, size] = UNITS.find(([, each]) => Math.abs(ms) >= each) ?? [];
  return unit === undefined ? 'now' : relative.format(Math.round(ms / size), unit);
}

function limitOf(text: string): number {
  const limit = Number(text);
  if (!Number.isSafeInteger(limit) || limit < 1)
    throw new UsageError(`--limit takes a number from 1 on, not ${JSON.stringify(text)}.`);
  return limit;
}

function oneOf<Value extends string>(
  option: string,
  values: readonly Value[],
  text: string | undefined,
): Value | undefined {
  const value = values.find((each) => each === text);
  if (text !== undefined && value === undefined)
    throw new UsageError(`${option} takes one of ${values.join(', ')}.`);
  return value;
}
