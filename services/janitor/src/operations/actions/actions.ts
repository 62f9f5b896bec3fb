import type { Action } from './action.ts';
import { block, unblock } from './blocks.ts';
import { cancelJob, retryJob } from './jobs.ts';
import { closeRequest } from './close-request.ts';
import { retryDeadLetters } from './dead-letters.ts';
import { erase } from './erase.ts';
import { reject, uphold } from './judge-reports.ts';
import { pause, resume } from './pauses.ts';
import { retry, retryFailed } from './retry.ts';
import { runSweep } from './run-sweep.ts';
import { takedown, takedownUser } from './takedown.ts';
import { removeWebhook, switchOffWebhook, switchOnWebhook } from './webhooks.ts';

/** All actions, in the order in which the command line lists them. */
export const actions: readonly Action[] = [
  retry,
  retryJob,
  retryFailed,
  cancelJob,
  retryDeadLetters,
  takedown,
  takedownUser,
  closeRequest,
  switchOffWebhook,
  switchOnWebhook,
  removeWebhook,
  block,
  unblock,
  uphold,
  reject,
  pause,
  resume,
  erase,
  runSweep,
];

export function findAction(name: string): Action | undefined {
  return actions.find((each) => each.name === name);
}
