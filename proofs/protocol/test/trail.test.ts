import { describe, expect, it } from '@jest/globals';
import { problemOfTrail, type TrailEntry } from '../src/index.ts';

/** `1 RUNNING attempt 1`: an execution; `PROCESSED`: the paste. */
const execution = (id: string, attempt: number, losses: number) => {
  const of = { machine: 'task_execution', execution: { id, attempt, losses } };
  return {
    claimed: { ...of, from: 'PENDING', to: 'RUNNING', reason: 'claimed' },
    succeeded: { ...of, from: 'RUNNING', to: 'SUCCEEDED', reason: null },
    failed: (reason: string) => ({ ...of, from: 'RUNNING', to: 'FAILED', reason }),
  };
};
const S3 = 'storage unavailable: S3 answered 500';
const paste = { reason: null, execution: null };
const upload = { machine: 'paste_upload', from: 'IN_PROGRESS', ...paste };
const processed = { ...upload, to: 'PROCESSED' };
const failed = { ...upload, to: 'FAILED' };
const deletion = (from: string, to: string): TrailEntry => ({
  machine: 'paste_deletion',
  from,
  to,
  ...paste,
});
const claimed = deletion('NOT_EXPIRED', 'DELETION_IN_PROGRESS');
const released = deletion('DELETION_IN_PROGRESS', 'NOT_EXPIRED');
const deleted = deletion('DELETION_IN_PROGRESS', 'DELETED');

const stored = { status: 'PROCESSED', deletion: 'NOT_EXPIRED' };
const first = execution('a', 1, 0);
const atOnce = [first.claimed, first.succeeded, processed];

describe('the model leaves the trail of a paste', () => {
  const sixFailures = [1, 2, 3, 4, 5, 6].flatMap((attempt) => {
    const { claimed: begun, failed: ended } = execution(`${attempt}`, attempt, 0);
    return [begun, ended(S3)];
  });
  const second = execution('b', 2, 0);
  const third = execution('c', 2, 1);
  const fourth = execution('d', 2, 1);

  it.each<[string, readonly TrailEntry[], { status: string; deletion: string }]>([
    ['that is stored at once', atOnce, stored],
    ['that failed six times', [...sixFailures, failed], { status: 'FAILED', deletion: 'NOT_EXPIRED' }],
    [
      'after a failure, a loss and a stop',
      [
        first.claimed,
        first.failed(S3),
        second.claimed,
        second.failed('worker lost: w1'),
        third.claimed,
        third.failed('interrupted'),
        fourth.claimed,
        fourth.succeeded,
        processed,
      ],
      stored,
    ],
    [
      'whose deletion was released',
      [...atOnce, claimed, released, claimed, deleted],
      { status: 'PROCESSED', deletion: 'DELETED' },
    ],
  ])('%s', (_, trail, present) => {
    expect(problemOfTrail(trail, present)).toBeNull();
  });
});

describe('no trace of the model leaves a trail', () => {
  const again = execution('b', 1, 0);
  const skipped = execution('b', 3, 0);
  const counted = execution('b', 2, 1);

  it.each<[string, readonly TrailEntry[], string]>([
    [
      'whose attempt does not count',
      [first.claimed, first.failed(S3), again.claimed, again.succeeded, processed],
      'recorded instead of',
    ],
    [
      'that leaves an attempt out',
      [first.claimed, first.failed(S3), skipped.claimed, skipped.succeeded, processed],
      'recorded instead of',
    ],
    [
      'in which a loss spends an attempt',
      [first.claimed, first.failed('worker lost: w1'), counted.claimed, counted.succeeded, processed],
      'recorded instead of',
    ],
    [
      'of two claims at once',
      [first.claimed, execution('b', 1, 0).claimed, first.succeeded, processed],
      `can't follow`,
    ],
    [
      'that ends an execution twice',
      [first.claimed, first.succeeded, processed, first.succeeded],
      `can't follow`,
    ],
    ['that ends another execution', [first.claimed, again.succeeded, processed], 'recorded instead of'],
    ['of a paste that is stored without an execution', [processed], 'recorded instead of'],
    [
      'of a paste that fails after one failure',
      [first.claimed, first.failed(S3), failed],
      'recorded instead of',
    ],
    ['without the end of the upload', [first.claimed, first.succeeded], 'is not recorded'],
    ['without the end of the execution', [first.claimed], 'no end'],
    [
      'of a deletion during the upload',
      [first.claimed, claimed, deleted, first.succeeded, processed],
      `can't follow`,
    ],
    ['of a deletion without a claim', [...atOnce, deleted], `can't follow`],
    ['of a paste that changed without a transition', [...atOnce, claimed, deleted], 'instead of'],
  ])('%s', (_, trail, problem) => {
    expect(problemOfTrail(trail, stored)).toContain(problem);
  });
});
