import { isShortCode, isUuid } from '@pasteflow/domain';
import {
  blockContent,
  cancelJob,
  countRetryable,
  countStanding,
  findBlocked,
  findJob,
  findPaste,
  retryFailed,
  takeDown,
  unblockContent,
  type Database,
} from '@pasteflow/postgres';
import { createQueue, deadLetterQueueName, queueCounts, type SqsClient } from '@pasteflow/sqs';
import type { QueueConfig } from '@pasteflow/service-kit';
import { retryDeadLetters } from '../ops/retry-dead-letters.ts';
import { retryFailedSince } from '../ops/retry-failed-since.ts';
import { takeDownUser } from '../ops/take-down-user.ts';
import type { SweepRunner } from '../sweeping/run-sweep.ts';
import { sweepOutcome } from '../sweeping/sweep-outcome.ts';
import { sweepNames, type SweepName, type Sweeps } from '../sweeping/sweep.ts';
import { counted, type Action } from './action.ts';

export interface ActionDependencies {
  readonly db: Database;
  readonly sqs: SqsClient;
  readonly queues: QueueConfig;
  readonly sweeps: Sweeps;
  readonly runner: Pick<SweepRunner, 'run'>;
}

/** The pastes that failed today can be retried: their rows and contents stay for 24 hours. */
const DAY_MS = 86_400_000;

/** What operators can do on the page, by the name in the path. */
export function createActions({
  db,
  sqs,
  queues,
  sweeps,
  runner,
}: ActionDependencies): ReadonlyMap<string, Action> {
  const takedown: Action = {
    title: 'Take down the paste',
    hasClass: true,
    meant: async (code) => {
      const paste = code !== null && isShortCode(code) ? await findPaste(db, code) : null;
      if (paste === null) return null;
      const count = paste.taken_down_for === null ? 1 : 0;
      const sentence = `This takes down ${counted(count, 'paste')}. Its readers get 451, and its content is deleted for ever.`;
      return { count, sentence };
    },
    run: async (code, by) => {
      const { takenDown } = await takeDown(db, code === null ? [] : [code], by);
      return `Took ${counted(takenDown.length, 'paste')} down.`;
    },
  };

  const takedownUser: Action = {
    title: 'Take down all pastes of the user',
    hasClass: true,
    meant: async (id) => {
      if (id === null || !isUuid(id)) return null;
      const count = await countStanding(db, id);
      const sentence = `This takes down ${counted(count, 'paste')}. Their readers get 451, and their content is deleted for ever.`;
      return { count, sentence };
    },
    run: async (id, by, signal) => {
      let soFar = 0;
      try {
        await takeDownUser(db, id ?? '', by, { signal, onBatch: (done) => (soFar = done) });
        return `Took ${counted(soFar, 'paste')} down.`;
      } catch (error) {
        throw new Error(`Took ${counted(soFar, 'paste')} down, and then failed. Do it again.`, {
          cause: error,
        });
      }
    },
  };

  const block: Action = {
    title: 'Block the content',
    hasClass: true,
    meant: async (hash) => {
      if (hash === null || !isContentHash(hash)) return null;
      const isBlocked = (await findBlocked(db, [hash])).size > 0;
      const sentence = isBlocked
        ? 'The content is blocked already. This takes down what was created while it was blocked, if that was interrupted.'
        : 'This blocks 1 content: no paste with it is created any more.';
      return { count: 1, sentence };
    },
    run: async (hash, by) => {
      const { isNew, takenDown } = await blockContent(db, hash ?? '', by);
      const raced =
        takenDown.length === 0
          ? ''
          : ` Took ${counted(takenDown.length, 'paste')} down, created at the same time.`;
      return `${isNew ? 'Blocked the content.' : 'The content was blocked already.'}${raced}`;
    },
  };

  const unblock: Action = {
    title: 'Unblock the content',
    hasClass: false,
    meant: async (hash) => {
      if (hash === null || !isContentHash(hash)) return null;
      const { size } = await findBlocked(db, [hash]);
      return {
        count: size,
        sentence: `This lifts ${counted(size, 'block')}: everybody can paste the content again.`,
      };
    },
    run: async (hash, by) =>
      (await unblockContent(db, hash ?? '', by)) ? 'Unblocked the content.' : 'The content was not blocked.',
  };

  const retry: Action = {
    title: 'Retry the upload',
    hasClass: false,
    meant: async (code) => {
      const paste = code !== null && isShortCode(code) ? await findPaste(db, code) : null;
      if (paste === null) return null;
      const count = paste.status === 'FAILED' && !paste.gone ? 1 : 0;
      return { count, sentence: `This uploads ${counted(count, 'FAILED paste')} again.` };
    },
    run: async (code, by) => {
      const { length } = await retryFailed(db, code === null ? [] : [code], by);
      return length === 1
        ? 'Retried 1 paste.'
        : 'The paste cannot be retried: it is not FAILED, or its payload is gone.';
    },
  };

  const retryToday: Action = {
    title: 'Retry the pastes that failed today',
    hasClass: false,
    meant: async () => {
      const count = await countRetryable(db, yesterday());
      return {
        count,
        sentence: `This uploads ${counted(count, 'FAILED paste')} of the last 24 hours again.`,
      };
    },
    run: async (_subject, by, signal) => {
      const { retried, skipped } = await retryFailedSince(db, yesterday(), by, { signal });
      return `Retried ${counted(retried, 'paste')}, skipped ${skipped}.`;
    },
  };

  const cancel: Action = {
    title: 'Cancel the job',
    hasClass: false,
    isReasonForOwner: true,
    meant: async (id) => {
      const job = id !== null && isUuid(id) ? await findJob(db, id) : null;
      if (job === null) return null;
      const count = job.completed_at === null ? 1 : 0;
      return { count, sentence: `This cancels ${counted(count, 'job')}. Its owner reads the reason.` };
    },
    run: async (id, { actor, reason }) => {
      const from = await cancelJob(db, { jobId: id ?? '', actor, by: `an operator: ${reason}` });
      return from === null
        ? 'There was nothing to cancel: the job has ended.'
        : `Cancelled the job, which was ${from}.`;
    },
  };

  const moveDeadLetters: Action = {
    title: 'Move dead letters back',
    hasClass: false,
    meant: async () => {
      const counts = await Promise.all(
        [queues.uploads, queues.jobs].map((name) =>
          queueCounts(sqs, createQueue(sqs, deadLetterQueueName(name))),
        ),
      );
      const count = counts.reduce((sum, { visible }) => sum + visible, 0);
      return {
        count,
        sentence: `This moves about ${counted(count, 'dead letter')} back to the queues that they came from.`,
      };
    },
    run: async () => {
      const moved = await retryDeadLetters(sqs, queues);
      const parts = moved.map(
        (each) =>
          `${each.queue}: moved ${each.moved}, refused ${each.refused}, unreadable ${each.unreadable.length}`,
      );
      return `${parts.join('; ')}.`;
    },
  };

  const runSweep: Action = {
    title: 'Run the sweep',
    hasClass: false,
    meant: (name) =>
      Promise.resolve(
        sweepOf(name) === null
          ? null
          : { count: 1, sentence: 'This runs 1 sweep now, unless it is running already.' },
      ),
    run: async (name, _by, signal) => {
      const sweep = sweepOf(name);
      const counts = sweep === null ? null : await runner.run(sweeps[sweep], signal);
      return sweepOutcome(counts, signal);
    },
  };

  return new Map([
    ['takedown', takedown],
    ['takedown-user', takedownUser],
    ['block', block],
    ['unblock', unblock],
    ['retry', retry],
    ['cancel-job', cancel],
    ['retry-failed', retryToday],
    ['retry-dead-letters', moveDeadLetters],
    ['run-sweep', runSweep],
  ]);
}

function yesterday(): Date {
  return new Date(Date.now() - DAY_MS);
}

function isContentHash(text: string): boolean {
  return /^sha256:[0-9a-f]{64}$/.test(text);
}

function sweepOf(name: string | null): SweepName | null {
  return sweepNames.find((each) => each === name) ?? null;
}
