import type { Caller } from '../http/callers/caller.ts';

/** Proxies close idle connections, often after 60 s, some after 30 s. */
const HEARTBEAT_MS = 15_000;

/** A stream that goes on for as long as its caller is good. */
export interface BeatingStream {
  readonly caller: Caller;
  /** Sends a byte, so that no proxy closes the connection. */
  beat(): void;
  /** Ends the stream, because its token or session is no longer good. */
  refuse(): void;
}

export interface HeartbeatOptions {
  readonly everyMs?: number | undefined;
  /** Those of these tokens and sessions that are good, by their hashes in hex. */
  readonly findGood: (hashes: readonly Buffer[]) => Promise<ReadonlySet<string>>;
  readonly onCheckFailed: (error: unknown) => void;
}

/**
 * The beats of all streams of this process, and with each beat the check of all their callers: no stream
 * outlives its token by more than a beat, while Postgres answers.
 */
export class Heartbeat {
  readonly #options: HeartbeatOptions;
  readonly #streams = new Set<BeatingStream>();
  #timer: NodeJS.Timeout | undefined;
  #isChecking = false;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
  }

  /** Call `remove` in the end. */
  add(stream: BeatingStream): void {
    this.#streams.add(stream);
    this.#timer ??= setInterval(() => this.#beat(), this.#options.everyMs ?? HEARTBEAT_MS);
  }

  remove(stream: BeatingStream): void {
    this.#streams.delete(stream);
    if (this.#streams.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #beat(): void {
    for (const stream of this.#streams) stream.beat();
    if (!this.#isChecking) void this.#check();
  }

  async #check(): Promise<void> {
    this.#isChecking = true;
    try {
      for (const stream of this.#streams) if (hasExpired(stream.caller)) stream.refuse();
      const streamsOf = Map.groupBy(this.#streams, ({ caller }) => hashOf(caller));
      const hashes = [...streamsOf.keys()].filter((hash) => hash !== null);
      if (hashes.length === 0) return;
      const good = await this.#options.findGood(hashes.map((hash) => Buffer.from(hash, 'hex')));
      const bad = hashes.filter((hash) => !good.has(hash));
      for (const stream of bad.flatMap((hash) => streamsOf.get(hash) ?? [])) stream.refuse();
    } catch (error) {
      this.#options.onCheckFailed(error); // without Postgres no stream gets events, and the next beat asks again
    } finally {
      this.#isChecking = false;
    }
  }
}

/** Of the token or session, in hex; null: the caller has none that Postgres knows. */
function hashOf(caller: Caller): string | null {
  return caller.kind === 'user' && caller.credential.kind === 'stored'
    ? caller.credential.hash.toString('hex')
    : null;
}

/** Whether a signed token has expired. */
function hasExpired(caller: Caller): boolean {
  return (
    caller.kind === 'user' &&
    caller.credential.kind === 'signed' &&
    caller.credential.expiresAtMs <= Date.now()
  );
}
