import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { operationOf, outcomeOf, type Facts, type Operation, type Outcome } from './operations.ts';

/**
 * Writes two lines of JSON for each operation of a campaign: `invoke`, and later `ok`, `fail` or `unknown`.
 * All clients are in this process, so that one monotonic clock dates all lines. The checker in
 * `proofs/checker` reads them.
 */
export class History {
  readonly #descriptor: number;
  #operations = 0;

  constructor(file: string) {
    mkdirSync(dirname(file), { recursive: true });
    this.#descriptor = openSync(file, 'w');
  }

  /** Call the returned function with the outcome. An operation that never has one is `unknown`. */
  begin(operation: Operation): (outcome: Outcome) => void {
    const id = (this.#operations += 1);
    this.#write({ id, event: 'invoke', ...operation });
    return (outcome) => this.#write({ id, ...outcome });
  }

  /** An operation that is no request: `ok` with the facts that `run` returns, `unknown` if it rejects. */
  async record<T extends Facts | void>(operation: Operation, run: () => Promise<T>): Promise<T> {
    const end = this.begin(operation);
    try {
      const facts = await run();
      end({ event: 'ok', ...facts });
      return facts;
    } catch (error) {
      end({ event: 'unknown', error: String(error) });
      throw error;
    }
  }

  /** Sends the request, records it as one operation, and receives the whole answer. */
  readonly fetch = async (request: Request): Promise<Response> => {
    const sent = Buffer.from(await request.clone().arrayBuffer());
    const operation = operationOf(request, sent);
    const end = this.begin(operation);
    try {
      const { status, headers, body } = await fetch(request);
      const bytes = body === null ? Buffer.alloc(0) : Buffer.from(await new Response(body).arrayBuffer());
      end(outcomeOf(operation.op, { status, headers, bytes }));
      return new Response(body === null ? null : bytes, { status, headers });
    } catch (error) {
      end({ event: 'unknown', error: String(error) });
      throw error;
    }
  };

  close(): void {
    closeSync(this.#descriptor);
  }

  #write(line: Facts): void {
    writeSync(this.#descriptor, `${JSON.stringify({ ...line, at: Math.round(performance.now() * 1e6) })}\n`);
  }
}
