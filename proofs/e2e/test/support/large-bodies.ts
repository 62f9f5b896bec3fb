import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import type { Service } from '../../src/index.ts';

const MIB = 1024 * 1024;

/**
 * What an api process with a limit of 512 MiB has: its heap, its budgets, and the setting of malloc of its
 * image.
 */
export const HALF_GIB = {
  TRUST_PROXY: '1', // each caller has an address of its own, so that the limits of a caller do not help
  ANONYMOUS_PASTES: 'allow',
  MAX_BODY_BYTES_IN_FLIGHT: String(64 * MIB),
  MAX_DOWNLOAD_BYTES_IN_FLIGHT: String(32 * MIB),
  NODE_OPTIONS: '--max-heap-size=256',
  MALLOC_MMAP_THRESHOLD_: String(MIB),
};

/** What such a process may take. It would be killed at 512 MiB. */
export const MAX_RESIDENT_MIB = 400;

const CALLERS = 200;

/** An address of its own for each caller, as a proxy would name it. */
export function addressOf(caller: number): string {
  return `192.0.${Math.floor(caller / 200)}.${caller % 200}`;
}

export interface LargeBody {
  readonly path: string;
  readonly type: string;
  readonly bytes: Buffer;
}

/** As large as a paste may be. */
const CONTENT = Buffer.alloc(10 * MIB, 'pasteflow\n');

/** The forms in which a paste can be sent. */
export const largeBodies: Readonly<Record<'raw' | 'multipart' | 'JSON', () => LargeBody>> = {
  raw: () => ({ path: '/', type: 'text/plain', bytes: CONTENT }),
  multipart: () => ({ path: '/', type: 'multipart/form-data; boundary=part', bytes: formWith(CONTENT) }),
  JSON: () => ({
    path: '/v1/pastes',
    type: 'application/json',
    bytes: Buffer.from(JSON.stringify({ content: CONTENT.toString() })),
  }),
};

function formWith(content: Buffer): Buffer {
  return Buffer.concat([
    Buffer.from('--part\r\nContent-Disposition: form-data; name="content"\r\n\r\n'),
    content,
    Buffer.from('\r\n--part--\r\n'),
  ]);
}

/**
 * 200 callers send a body at the same time.
 * @returns the status of each answer; 0: the api cut the connection while the body was sent
 */
export async function sendByAllCallers(api: Service, body: LargeBody): Promise<readonly number[]> {
  return await Promise.all(Array.from({ length: CALLERS }, (_, caller) => send(api, caller, body)));
}

async function send(api: Service, caller: number, { path, type, bytes }: LargeBody): Promise<number> {
  const sending = request(`http://127.0.0.1:${api.env.API_PORT}${path}`, {
    method: 'POST',
    agent: false,
    headers: {
      'content-type': type,
      'content-length': bytes.length,
      'x-forwarded-for': addressOf(caller),
    },
  });
  sending.end(bytes);
  try {
    const [answer] = (await once(sending, 'response')) as [IncomingMessage];
    sending.on('error', () => {}); // the rest of a refused body
    answer.resume();
    return answer.statusCode ?? 0;
  } catch {
    return 0;
  }
}
