import type { Answer } from '@pasteflow/service-kit';
import type { Database } from '@pasteflow/postgres';
import type { BlockedContent } from './block-content.ts';
import type { OpsCommand } from './command-line.ts';
import type { RecordedCommand } from './record-action.ts';
import { recorded } from './recorded.ts';

/** Runs a command, and records it unless it only shows or counts. */
export async function recordedIfActing(
  db: Database,
  command: OpsCommand,
  run: () => Promise<Answer>,
): Promise<Answer> {
  const record = recordOf(command);
  return record === null ? await run() : await recorded(db, record, run);
}

/** What is recorded of a command; null: it changes nothing. */
function recordOf(command: OpsCommand): RecordedCommand | null {
  switch (command.kind) {
    case 'status':
    case 'timeline':
    case 'blocks':
      return null;
    case 'retry':
      return recordOfRetry(command);
    case 'cancel':
      return { action: 'cancel-job', subject: command.jobId, reason: command.reason };
    case 'takedown':
      return recordOfTakedown(command);
    case 'block':
    case 'unblock':
      return { action: command.kind, subject: textOf(command.content), reason: command.reason };
    case 'adopt-bucket':
      return command.yes ? withoutReason(command.kind) : null;
    case 'retry-dead-letters':
    case 'restore-objects':
      return withoutReason(command.kind);
    default:
      return command satisfies never;
  }
}

function recordOfRetry({ which, reason }: Extract<OpsCommand, { kind: 'retry' }>): RecordedCommand | null {
  if (which.kind === 'one') return { action: 'retry', subject: which.shortCode, reason };
  return which.yes ? { action: 'retry-failed', subject: `since ${which.since.toISOString()}`, reason } : null;
}

function recordOfTakedown({
  which,
  reason,
}: Extract<OpsCommand, { kind: 'takedown' }>): RecordedCommand | null {
  if (which.kind === 'one') return { action: 'takedown', subject: which.shortCode, reason };
  return which.yes ? { action: 'takedown-user', subject: which.userId, reason } : null;
}

function withoutReason(action: string): RecordedCommand {
  return { action, subject: null, reason: null };
}

function textOf(content: BlockedContent): string {
  return content.kind === 'hash' ? content.contentHash : content.shortCode;
}
