import {
  asJson,
  type CommandResult,
  EXIT_FAILED,
  failed,
  formatMillisecond,
  formatTable,
  succeeded,
  toOneLine,
} from '@pasteflow/service-kit';
import {
  type Database,
  listContentBlocks,
  listReported,
  listWorkKinds,
  type ReportedPaste,
} from '@pasteflow/postgres';
import type { ObjectStore } from '@pasteflow/s3';
import { readBeginning, readReported } from '../reports/read-reported.ts';
import { queueText, reportedText } from './reports-text.ts';
import { kindsText } from './status-text.ts';

const MAX_LISTED_BLOCKS = 1000;

/** The newest blocks that are in force. */
export async function showBlocks(db: Database, json: boolean): Promise<CommandResult> {
  const blocks = await listContentBlocks(db, MAX_LISTED_BLOCKS);
  if (json) return succeeded(asJson(blocks));
  if (blocks.length === 0) return succeeded('No content is blocked.\n');
  const rows = blocks.map(({ content_hash, class: why, blocked_at, actor, reason }) => [
    content_hash,
    why,
    formatMillisecond(blocked_at),
    actor,
    toOneLine(reason),
  ]);
  return succeeded(formatTable(['CONTENT', 'CLASS', 'SINCE', 'BY', 'WHY'], rows));
}

/** Every kind of work, paused or not. */
export async function showKinds(db: Database, json: boolean): Promise<CommandResult> {
  const kinds = await listWorkKinds(db);
  return succeeded(json ? asJson(kinds) : kindsText(kinds));
}

/** Pastes that one statement reads. */
const REPORTED_BATCH = 1000;

/** All pastes with open reports, those that have waited longest first. */
export async function showQueue(db: Database, json: boolean): Promise<CommandResult> {
  const pastes: ReportedPaste[] = [];
  for (let after: string | null | undefined; after !== null;) {
    const page = await listReported(db, {
      by: 'age',
      limit: REPORTED_BATCH,
      ...(after !== undefined && { after }),
    });
    pastes.push(...page.pastes);
    after = page.next;
  }
  if (!json) return succeeded(queueText(pastes));
  const shown = pastes.map(({ id: _id, shortCode, userId, oldestAt, heldAt, ...paste }) => ({
    short_code: shortCode,
    ...paste,
    user_id: userId,
    oldest_at: oldestAt,
    held_at: heldAt,
  }));
  return succeeded(asJson(shown));
}

/** How much of a content a terminal shows. */
const SHOWN_BYTES = 2048;

export async function showReports(
  db: Database,
  store: ObjectStore,
  code: string,
  json: boolean,
): Promise<CommandResult> {
  const reported = await readReported(db, code);
  if (reported === null) return failed(EXIT_FAILED, `ops: ${code} has no open report\n`);
  if (json) return succeeded(asJson(reported.reports));
  return succeeded(reportedText(reported, await readBeginning({ db, store }, reported.paste, SHOWN_BYTES)));
}
