/** A message that carries the context of a span, and how to end that span. */
export interface TracedMessage<Outgoing> {
  readonly message: Outgoing;
  /** @param sent the executions whose message SQS accepted in the request that sent this message */
  readonly ended: (sent: readonly string[], error?: unknown) => void;
}

/** Starts the span of a message. */
export type TraceMessage<Outgoing> = (message: Outgoing) => TracedMessage<Outgoing>;

/** Sends and traces messages without a dispatcher. @throws what `send` throws */
export async function sendTraced<Outgoing>(
  trace: TraceMessage<Outgoing>,
  messages: readonly Outgoing[],
  send: (messages: readonly Outgoing[]) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  const traced = messages.map(trace);
  try {
    const sent = await send(traced.map(({ message }) => message));
    for (const { ended } of traced) ended(sent);
    return sent;
  } catch (error) {
    for (const { ended } of traced) ended([], error);
    throw error;
  }
}
