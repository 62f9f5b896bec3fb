import type { Paste } from '@pasteflow/client';
import { EXIT_DONE, type ExitCode, UsageError } from '../errors.ts';
import type { Session } from '../session.ts';
import { sizeText } from '../terminal/progress-bar.ts';
import { tableOf } from '../terminal/output.ts';

export interface LsOptions {
  readonly limit: string;
  readonly status?: string;
}

const STATUSES = ['IN_PROGRESS', 'PROCESSED', 'FAILED'] as const satisfies readonly Paste['status'][];

/** The API's maximum. */
const PAGE = 100;

/** `pasteflow ls`: the caller's own pastes, newest first. */
export async function ls({ client, output, signal }: Session, options: LsOptions): Promise<ExitCode> {
  const limit = limitOf(options.limit);
  const status = statusOf(options.status);
  const filter = { limit: Math.min(limit, PAGE), signal, ...(status !== undefined && { status }) };
  const pastes: Paste[] = [];
  for await (const paste of client.pastes.list(filter)) {
    pastes.push(paste);
    if (pastes.length === limit) break;
  }
  if (output.isJson) for (const paste of pastes) output.result(paste, []);
  else output.result(null, tableOf(pastes.map(rowOf)));
  return EXIT_DONE;
}

function rowOf({ short_code, status, size_bytes, created_at, visibility, title }: Paste): readonly string[] {
  return [short_code, status, sizeText(size_bytes), created_at, visibility, title ?? ''];
}

function limitOf(text: string): number {
  const limit = Number(text);
  if (!Number.isSafeInteger(limit) || limit < 1)
    throw new UsageError(`--limit takes a number from 1 on, not ${JSON.stringify(text)}.`);
  return limit;
}

function statusOf(text: string | undefined): Paste['status'] | undefined {
  const status = STATUSES.find((each) => each === text?.toUpperCase());
  if (text !== undefined && status === undefined)
    throw new UsageError(`--status takes one of ${STATUSES.join(', ')}.`);
  return status;
}
