import { type Message, seal, textOfSealed } from '@pasteflow/sealed';
import { newRequestKeys, wrapKey } from '@pasteflow/sealed/wrapped-keys';
import { json, problem, type Bed, type Handler } from './bed.ts';

export const REQUEST = '3mVxQ9bTr5LkW2hYc8NfZd';

/** A user with a token. */
export const env = { PASTEFLOW_TOKEN: 'pf_of_the_asker' };

export interface Stored {
  readonly short_code: string;
  readonly wrapped_key: string;
  readonly content: string;
  readonly is_there?: boolean;
  readonly status?: string;
}

/** A deposit as a browser makes it. */
export async function depositFor(
  publicPart: string,
  message: Partial<Message>,
  { code = 'dEpos2Lm9X', request = REQUEST } = {},
): Promise<Stored> {
  const { document, key } = await seal({ text: '', attachments: [], title: null, syntax: null, ...message });
  return {
    short_code: code,
    wrapped_key: await wrapKey(key, request, publicPart),
    content: textOfSealed(document),
  };
}

/** A private link of which nobody has kept the key, and its public part. */
export async function newLinks(bed: Bed): Promise<{ own: string; publicPart: string; privatePart: string }> {
  const keys = await newRequestKeys();
  return { ...keys, own: `${bed.url}/my/requests/${REQUEST}#${keys.privatePart}` };
}

export function requestWith(bed: Bed, fields: object = {}): Record<string, unknown> {
  return {
    id: REQUEST,
    url: `${bed.url}/requests/${REQUEST}`,
    status: 'OPEN',
    message: null,
    deposits: 2,
    deposits_left: 2,
    created_at: '2026-11-22T12:00:00.000Z',
    expires_at: '2099-11-29T12:00:00.000Z',
    ...fields,
  };
}

/** Answers as a server that has one request with these deposits. */
export function serveRequest(bed: Bed, stored: readonly Stored[] = [], fields: object = {}): Handler {
  const request = requestWith(bed, fields);
  const open = {
    ...request,
    from: { name: 'Anna Adler', issuer: 'https://login.example.org' },
    max_bytes: 1e6,
  };
  const deposits = stored.map(({ short_code, wrapped_key, is_there = true, status = 'PROCESSED' }) => ({
    short_code,
    url: `${bed.url}/${short_code}`,
    wrapped_key,
    created_at: '2026-11-22T12:00:00.000Z',
    expires_at: null,
    status,
    size_bytes: 100,
    is_there,
  }));
  const routes: Record<string, Handler> = {
    'POST /v1/requests': json(201, request),
    'GET /v1/requests': json(200, { requests: [request], next_cursor: null }),
    [`GET /v1/requests/${REQUEST}`]: json(200, open),
    [`POST /v1/requests/${REQUEST}/cancel`]: json(200, { ...request, status: 'CANCELLED' }),
    [`GET /v1/requests/${REQUEST}/deposits`]: json(200, { deposits }),
    [`POST /v1/requests/${REQUEST}/deposits`]: json(201, { receipt: 'dEpos2Lm9X' }),
    ...Object.fromEntries(
      stored.map(({ short_code, content }) => [
        `GET /v1/pastes/${short_code}/content`,
        (_request, res) =>
          void res.writeHead(200, { 'content-length': String(Buffer.byteLength(content)) }).end(content),
      ]),
    ),
  };
  const works: Handler = (seen, res) => {
    const route = routes[`${seen.method} ${seen.path.split('?')[0]}`];
    return (route ?? problem(404, 'route_not_found', `There is no ${seen.path}.`))(seen, res);
  };
  bed.script(works);
  return works;
}
