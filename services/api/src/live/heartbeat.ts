import type { Caller, Credential } from '../http/request/caller.ts';

/** Proxies close idle connections, often after 60 s, some after 30 s. */
const HEARTBEAT_MS = 15_000;

/** For one statement: an api with 10,000 streams sends ten every 15 s. */
const MAX_CHECKED = 1000;

/** A stream that goes on for as long as its caller is good. */
export interface BeatingStream {
  readonly caller: Caller;
  /** Sends a byte, so that no proxy closes the connection. */
  beat(): void;
  /** Ends the stream, because the token of its caller has expired or was revoked, or the session has ended. */
  refuse(): void;
}

export interface HeartbeatOptions {
  readonly everyMs?: number | undefined;
  /** Those of these tokens and sessions that are good, by their hashes in hex. */
  readonly findGood: (hashes: readonly Buffer[]) => Promise<ReadonlySet<string>>;
  readonly onCheckFailed: (error: unknown) => void;
}

/** The beats of all streams of this process, and with each beat the check of all their callers: no stream outlives its token by more than a beat. */
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
      const stored = new Map<string, Buffer>();
      for (const { caller } of this.#streams) {
        const hash = hashOf(credentialOf(caller));
        if (hash !== null) stored.set(hash.toString('hex'), hash);
      }
      const hashes = [...stored.values()];
      for (let from = 0; from < hashes.length; from += MAX_CHECKED) {
        const asked = hashes.slice(from, from + MAX_CHECKED);
        const good = await this.#options.findGood(asked);
        for (const hash of asked) if (good.has(hash.toString('hex'))) stored.delete(hash.toString('hex'));
      }
      for (const stream of this.#streams) if (isBad(credentialOf(stream.caller), stored)) stream.refuse();
    } catch (error) {
      this.#options.onCheckFailed(error); // without Postgres no stream gets events, and the next beat asks again
    } finally {
      this.#isChecking = false;
    }
  }
}

function credentialOf(caller: Caller): Credential | null {
  return caller.kind === 'user' ? caller.credential : null;
}

function hashOf(credential: Credential | null): Buffer | null {
  return credential?.kind === 'stored' ? credential.hash : null;
}

/** @param bad the hashes of tokens and sessions that were asked for and not found */
function isBad(credential: Credential | null, bad: ReadonlyMap<string, unknown>): boolean {
  switch (credential?.kind) {
    case undefined:
      return false;
    case 'stored':
      return bad.has(credential.hash.toString('hex'));
    case 'signed':
      return credential.expiresAtMs <= Date.now();
  }
}
