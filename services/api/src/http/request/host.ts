import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { RequestError } from '../answers/request-error.ts';
import { isProbe } from './request-context.ts';

/** A name, an IPv4 address or an IPv6 address in brackets, and a port (RFC 9110, 7.2 and 4.2.1). */
const HOST = /^(?:(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})+|\[[\da-f:.]+\])(?::\d{0,5})?$/i;

/** A name in the DNS has at most 253 characters. */
const MAX_HOST_LENGTH = 260;

/**
 * Checks the host of each request. With PUBLIC_URL it must be that one, because a page of another site whose
 * name was changed to this address (DNS rebinding) sends its own name. An address has no name to change. A
 * probe may use any name: its answer is no secret.
 * @param publicUrl PUBLIC_URL; undefined: not set
 */
export function createRequireHost(publicUrl: string | undefined): (req: IncomingMessage) => void {
  const publicHost = publicUrl === undefined ? undefined : hostnameOf(new URL(publicUrl).host);
  return (req) => {
    const host = validHostOf(req);
    if (host === undefined || publicHost === undefined || isProbe(req)) return;
    const name = hostnameOf(host);
    if (name === publicHost || name === 'localhost' || isIP(name) !== 0) return;
    throw malformed(
      `This service has the address ${publicUrl}, and the request names another host. Use that address; a proxy must pass on the Host header that it receives.`,
    );
  };
}

/** In the form in which browsers send it; empty: it is no host of a URL. */
function hostnameOf(host: string): string {
  const { hostname = '' } = URL.parse(`http://${host}`) ?? {};
  return hostname.replace(/\.$/, '').replaceAll(/[[\]]/g, '');
}

/**
 * The Host header; undefined: HTTP/1.0 without one. RFC 9112, 3.2: two Host headers may mean one host to a
 * proxy and another one to this server. Node keeps the first and would answer a missing one itself, without
 * problem details.
 * @throws RequestError malformed_request
 */
function validHostOf(req: IncomingMessage): string | undefined {
  const hosts = req.rawHeaders.filter((_, at, all) => at % 2 === 1 && /^host$/i.test(all[at - 1] ?? ''));
  const [host] = hosts;
  if (host === undefined && req.httpVersion === '1.0') return undefined;
  if (host === undefined) throw malformed('Send a Host header with every HTTP/1.1 request.');
  if (hosts.length > 1) throw malformed('Send one Host header only.');
  if (host.length > MAX_HOST_LENGTH || !HOST.test(host))
    throw malformed('Send a Host header with a valid host, for example paste.example.org:8080.');
  return host;
}

function malformed(message: string): RequestError {
  return new RequestError('malformed_request', message);
}
