import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { callbackify } from 'node:util';
import { MAX_WEBHOOK_URL_CHARACTERS } from '@pasteflow/domain';
import ipaddr from 'ipaddr.js';

/** All that is public of IPv6. Below it is `::7f00:1` too, which a host may take for 127.0.0.1. */
const PUBLIC_V6 = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * Whether an address is one of the public internet: `unicast`, in an IPv4 address that an IPv6 one contains as well.
 * Everything else is loopback, private, link-local (the metadata of a cloud), multicast or reserved.
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  return parsed.range() === 'unicast' && (parsed instanceof ipaddr.IPv4 || parsed.match(PUBLIC_V6));
}

/** Why an address is refused: the message names no address, because the name was chosen by a stranger. */
export class ForbiddenAddressError extends Error {
  override readonly name = 'ForbiddenAddressError';
}

/** All addresses of a name. @throws the error of node:dns when it has none */
export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>;

/**
 * Asks the name servers themselves. `lookup` of node:dns would keep one of the four threads of the process for as long as
 * a name server is silent, so that four names of a stranger could stop all other lookups.
 * @param servers default: those of the system
 */
export function askNameServers(servers?: readonly string[]): Resolve {
  return async (hostname) => {
    const resolver = new Resolver({ timeout: 2000, tries: 2 });
    if (servers !== undefined) resolver.setServers(servers);
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    if (v4.status === 'rejected' && v6.status === 'rejected') throw v4.reason;
    return [v4, v6].flatMap((found, n) =>
      found.status === 'rejected' ? [] : found.value.map((address) => ({ address, family: n === 0 ? 4 : 6 })),
    );
  };
}

/**
 * The `lookup` of a connection that reaches only public addresses: it fails unless every address of the name is one. The
 * connection uses what was looked at, so that a name that answers differently the second time finds nothing.
 */
export function publicLookup(resolve: Resolve = askNameServers()): LookupFunction {
  const find = callbackify(resolve);
  return (hostname, options, callback) => {
    find(hostname, (error, addresses) => {
      if (error !== null) return callback(error, '', 0);
      const [first] = addresses;
      if (first === undefined || !addresses.every(({ address }) => isPublicAddress(address)))
        return callback(new ForbiddenAddressError('The name has an address that is not public.'), '', 0);
      if (options.all === true) return callback(null, [...addresses]);
      callback(null, first.address, first.family);
    });
  };
}

/** What is wrong with the URL of an endpoint: the words say what to do. */
export type EndpointUrlProblem =
  | 'is not a URL'
  | 'is too long'
  | 'has a user name or a password'
  | 'has a fragment'
  | 'is not https on port 443'
  | 'is not public';

/** An URL to which events may be sent. */
export interface EndpointUrl {
  readonly url: URL;
  /** The operator has named its origin: no rule about addresses holds. */
  readonly isListed: boolean;
}

/**
 * Reads the URL of an endpoint: https on port 443, with a name or a public address, or with an origin that the operator has
 * listed. That a name has public addresses is looked at when it is connected to.
 */
export function readEndpointUrl(
  text: string,
  listedOrigins: ReadonlySet<string>,
): EndpointUrl | EndpointUrlProblem {
  if (text.length > MAX_WEBHOOK_URL_CHARACTERS) return 'is too long';
  const url = URL.parse(text);
  if (url === null) return 'is not a URL';
  // An IDN and what is percent-encoded are longer than they were.
  if (url.href.length > MAX_WEBHOOK_URL_CHARACTERS) return 'is too long';
  if (url.username !== '' || url.password !== '') return 'has a user name or a password';
  if (url.hash !== '') return 'has a fragment';
  // The origin of a blob: URL is that of the URL in it.
  if (url.protocol !== 'blob:' && listedOrigins.has(url.origin)) return { url, isListed: true };
  if (url.protocol !== 'https:' || url.port !== '') return 'is not https on port 443';
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
  if (isIP(host) !== 0) return isPublicAddress(host) ? { url, isListed: false } : 'is not public';
  // A name without a dot is one of the local network, and so are these.
  if (!host.includes('.') || /\.(?:localhost|local|internal|home\.arpa)$/i.test(host)) return 'is not public';
  return { url, isListed: false };
}
