import {
  type Answer,
  EXIT_FAILED,
  asJson,
  failed,
  formatMillisecond,
  formatTable,
  succeeded,
  toOneLine,
} from '@pasteflow/service-kit';
import type { TakedownClass } from '@pasteflow/domain';
import {
  blockContent,
  findPaste,
  listContentBlocks,
  unblockContent,
  type Database,
} from '@pasteflow/postgres';
import { operator } from './operator.ts';

/** A content by its hash, or by a paste that has it. */
export type BlockedContent =
  | { readonly kind: 'hash'; readonly contentHash: string }
  | { readonly kind: 'paste'; readonly shortCode: string };

export interface BlockOptions {
  readonly content: BlockedContent;
  readonly class: TakedownClass;
  readonly reason: string;
  readonly json: boolean;
}

/** Blocks a content, so that no paste with it is created (ADR 42). Older pastes stay. */
export async function runBlock(
  db: Database,
  { content, class: why, reason, json }: BlockOptions,
): Promise<Answer> {
  const hash = await hashOf(db, content);
  if (hash === null) return unknownPaste(content);
  const { isNew, takenDown } = await blockContent(db, hash, { actor: operator(), class: why, reason });
  if (json) return succeeded(asJson({ content_hash: hash, blocked: isNew, taken_down: takenDown }));
  const raced =
    takenDown.length > 0 ? ` Took down what was created at the same time: ${takenDown.join(', ')}.` : '';
  if (!isNew) return succeeded(`${hash} was blocked before.${raced}\n`);
  return succeeded(`Blocked ${hash}.${raced} Older pastes stay: take them down.\n`);
}

/** Lifts the block of a content. */
export async function runUnblock(
  db: Database,
  { content, reason, json }: Omit<BlockOptions, 'class'>,
): Promise<Answer> {
  const hash = await hashOf(db, content);
  if (hash === null) return unknownPaste(content);
  if (!(await unblockContent(db, hash, { actor: operator(), reason })))
    return failed(EXIT_FAILED, `ops: ${hash} is not blocked\n`);
  return succeeded(json ? asJson({ content_hash: hash, unblocked: true }) : `Unblocked ${hash}.\n`);
}

const MAX_LISTED = 1000;

/** The newest blocks that are in force. */
export async function runBlocks(db: Database, json: boolean): Promise<Answer> {
  const blocks = await listContentBlocks(db, MAX_LISTED);
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

/** null: there is no such paste. */
async function hashOf(db: Database, content: BlockedContent): Promise<string | null> {
  if (content.kind === 'hash') return content.contentHash;
  return (await findPaste(db, content.shortCode))?.content_hash ?? null;
}

function unknownPaste(content: BlockedContent): Answer {
  return failed(
    EXIT_FAILED,
    content.kind === 'paste' ? `ops: there is no paste ${content.shortCode}\n` : 'ops: unknown content\n',
  );
}
