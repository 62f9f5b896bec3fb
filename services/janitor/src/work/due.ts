import { SQS_BATCH_SIZE } from '@pasteflow/domain';
import { stampDispatched, type Database } from '@pasteflow/postgres';
import { inLanes } from '../sweeping/in-lanes.ts';

/** Executions that want a message. */
export interface Due {
  readonly count: number;
  /**
   * Sends their messages, 10 a request, and stamps what SQS has taken. Killed between the two it leaves messages that will be sent again,
   * which does no harm.
   * @returns how many SQS has taken
   * @throws DependencyUnavailableError after at most one failed request a lane
   */
  dispatch(signal: AbortSignal): Promise<number>;
}

/** Requests to SQS at once: after an outage thousands of messages have to leave within seconds, at some 10 ms a request. */
const LANES = 4;

/** @param send up to 10 in one request. @returns the ids of the executions whose message was taken */
export function dueBy<Message>(
  db: Database,
  messages: readonly Message[],
  send: (batch: readonly Message[]) => Promise<readonly string[]>,
): Due {
  return {
    count: messages.length,
    dispatch: async (signal) => {
      let taken = 0;
      await inLanes(inBatches(messages), { lanes: LANES, signal }, async (batch) => {
        const sent = await send(batch);
        await stampDispatched(db, sent);
        taken += sent.length;
      });
      return taken;
    },
  };
}

function inBatches<Message>(messages: readonly Message[]): readonly (readonly Message[])[] {
  const count = Math.ceil(messages.length / SQS_BATCH_SIZE);
  return Array.from({ length: count }, (_, n) =>
    messages.slice(n * SQS_BATCH_SIZE, (n + 1) * SQS_BATCH_SIZE),
  );
}
