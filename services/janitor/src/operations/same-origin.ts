import type { IncomingMessage } from 'node:http';
import type { OperationsConfig } from '../operations-env.ts';
import { isLoopback } from '@pasteflow/runtime';
import { Refusal } from './refusal.ts';

/**
 * The origin of the page for this request. A page of another site whose name was changed to this address (DNS rebinding) sends its own name
 * in Host, and is refused.
 * @throws Refusal 421
 */
export function originOf(req: IncomingMessage, { url }: Pick<OperationsConfig, 'url'>): string {
  const host = req.headers.host ?? '';
  if (url !== null && host === url.host) return url.origin;
  const own = URL.parse(`http://${host}`);
  const isOwn =
    own !== null &&
    own.host === host &&
    isLoopback(own.hostname.replaceAll(/[[\]]/g, '')) &&
    Number(own.port === '' ? 80 : own.port) === req.socket.localPort;
  if (isOwn) return own.origin;
  throw new Refusal(421, {
    title: 'Wrong host',
    detail: 'The operations page is not served under this name. Use its own address, or set OPS_URL.',
  });
}

/**
 * A write must come from the page itself. Browsers send the password of the page with every request, also with one that another site has
 * caused.
 * @throws Refusal 403
 */
export function assertSameOrigin(req: IncomingMessage, origin: string): void {
  const site = req.headers['sec-fetch-site'];
  if (req.headers.origin === origin && (site === undefined || site === 'same-origin')) return;
  throw new Refusal(403, {
    title: 'Another origin',
    detail: 'The request did not come from the operations page. Open the page and act there.',
  });
}
