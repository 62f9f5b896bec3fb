import type { IncomingMessage } from 'node:http';
import { RequestError } from '../errors/request-error.ts';

/** A name, an IPv4 address or an IPv6 address in brackets, and a port (RFC 9110, 7.2 and 4.2.1). */
const HOST = /^(?:(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})+|\[[\da-f:.]+\])(?::\d{0,5})?$/i;

/** A name in the DNS has at most 253 characters. */
const MAX_HOST_LENGTH = 260;

/**
 * RFC 9112, 3.2: two Host headers may mean one host to a proxy and another one to this server. Node keeps the
 * first and would answer a missing one itself, without problem details.
 * @throws RequestError malformed_request
 */
export function requireValidHost(req: IncomingMessage): void {
  const hosts = req.rawHeaders.filter((_, at, all) => at % 2 === 1 && /^host$/i.test(all[at - 1] ?? ''));
  const [host] = hosts;
  if (host === undefined && req.httpVersion === '1.0') return;
  if (host === undefined) throw malformed('Send a Host header with every HTTP/1.1 request.');
  if (hosts.length > 1) throw malformed('Send one Host header only.');
  if (host.length > MAX_HOST_LENGTH || !HOST.test(host))
    throw malformed('Send a Host header with a valid host, for example paste.example.org:8080.');
}

function malformed(message: string): RequestError {
  return new RequestError('malformed_request', message);
}
