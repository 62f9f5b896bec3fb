/** A message on its way to SQS, followed by a trace. */
export interface Followed<Outgoing> {
  /** The message as it is to be sent: with the trace's context. */
  readonly message: Outgoing;
  /** @param sent the executions whose message SQS has taken of the request that this one was in */
  readonly ended: (sent: readonly string[], error?: unknown) => void;
}

/** Told of each message when it is handed over; not there unless somebody traces. */
export type Follow<Outgoing> = (message: Outgoing) => Followed<Outgoing>;

/** Sends messages that don't wait for others in a dispatcher. @throws what `send` throws */
export async function sendFollowed<Outgoing>(
  follow: Follow<Outgoing> | undefined,
  messages: readonly Outgoing[],
  send: (messages: readonly Outgoing[]) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  if (follow === undefined) return await send(messages);
  const followed = messages.map(follow);
  try {
    const sent = await send(followed.map(({ message }) => message));
    for (const { ended } of followed) ended(sent);
    return sent;
  } catch (error) {
    for (const { ended } of followed) ended([], error);
    throw error;
  }
}
