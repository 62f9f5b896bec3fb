import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';

export interface ProblemBody {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly instance: string;
  readonly code: string;
  readonly errors?: readonly { readonly path: string; readonly message: string }[];
}

/** The problem details of an answer. @throws for any other answer */
export async function problemOf(response: Response): Promise<ProblemBody> {
  const type = response.headers.get('content-type');
  if (type !== 'application/problem+json')
    throw new Error(`${response.status} with ${type}: ${await response.text()}`);
  const problem = (await response.json()) as ProblemBody;
  if (problem.status !== response.status) throw new Error(`${problem.status} in a ${response.status}`);
  return problem;
}

/** Status and code of a problem: `404 paste_not_found`. @throws for any other answer */
export async function codeOf(answer: Promise<Response> | Response): Promise<string> {
  const { status, code } = await problemOf(await answer);
  return `${status} ${code}`;
}

export function postJson(
  url: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(`${url}/v1/pastes`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

export function postRaw(url: string, body: Uint8Array<ArrayBuffer> | string, query = ''): Promise<Response> {
  return fetch(`${url}/v1/pastes${query}`, {
    method: 'POST',
    headers: { 'content-type': 'application/octet-stream' },
    body,
  });
}

/** A TCP connection, for requests that fetch would not send. */
export async function dial(port: number, localAddress = '127.0.0.1'): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', localAddress, allowHalfOpen: true });
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  return socket;
}

export interface RawAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Everything that the server sends until it closes the connection, as one answer. */
export async function answerOn(socket: Socket): Promise<RawAnswer> {
  const answer = parseAnswer(await text(socket));
  socket.destroy();
  return answer;
}

/**
 * The answer to a request without its body. The server keeps the connection for five seconds more, because a
 * client may send the body before it reads: bodies.test.ts shows that.
 */
export async function refusalOn(socket: Socket): Promise<RawAnswer> {
  let received = '';
  for await (const text of socket.setEncoding('utf8')) {
    received += text as string;
    const { headers, body } = parseAnswer(received);
    if (Buffer.byteLength(body) === Number(headers['content-length'])) break; // which ends the connection
  }
  return parseAnswer(received);
}

export function parseAnswer(received: string): RawAnswer {
  const [head = '', ...body] = received.split('\r\n\r\n');
  const [statusLine = '', ...lines] = head.split('\r\n');
  return {
    status: Number(statusLine.split(' ')[1]),
    headers: Object.fromEntries(
      lines.map((line) => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
      }),
    ),
    body: body.join('\r\n\r\n'),
  };
}

/** Sends these bytes and nothing more, and reads the answer. */
export async function rawExchange(port: number, request: string | Buffer): Promise<RawAnswer> {
  const socket = await dial(port);
  socket.write(request);
  return await answerOn(socket);
}

/** The headers with which a browser sends the form of a page of this service. */
export function ownPage(url: string): Record<string, string> {
  return { 'sec-fetch-site': 'same-origin', origin: new URL(url).origin };
}

/** A form as a browser sends it from a page of this service. */
export function ownForm(url: string, fields: Readonly<Record<string, string>>): RequestInit {
  return { method: 'POST', headers: ownPage(url), body: new URLSearchParams(fields) };
}
