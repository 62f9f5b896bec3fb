import { stampDispatched, type Database } from '@pasteflow/postgres';
import { sqsBatches } from '@pasteflow/sqs';
import { inLanes } from '../sweep-runner/batches.ts';

/** Messages for executions that need one. */
export interface UnsentMessages {
  readonly count: number;
  /**
   * Sends them, 10 a request, and stamps the executions whose message SQS has accepted. A crash between the two leaves messages that will be
   * sent again, which does no harm.
   * @returns the number of messages that SQS has accepted
   * @throws DependencyUnavailableError after at most one failed request a lane
   */
  dispatch(signal: AbortSignal): Promise<number>;
}

/** Concurrent requests to SQS: after an outage thousands of messages must leave within seconds, at some 10 ms a request. */
const LANES = 4;

/** @param send sends up to 10 messages in one request. @returns the ids of the executions whose message SQS has accepted */
export function unsentMessages<Message>(
  db: Database,
  messages: readonly Message[],
  send: (batch: readonly Message[]) => Promise<readonly string[]>,
): UnsentMessages {
  return {
    count: messages.length,
    dispatch: async (signal) => {
      let accepted = 0;
      await inLanes(sqsBatches(messages), { lanes: LANES, signal }, async (batch) => {
        const sent = await send(batch);
        await stampDispatched(db, sent);
        accepted += sent.length;
      });
      return accepted;
    },
  };
}
