import ipaddr from 'ipaddr.js';
import express from 'express';
import { variable, type Variable } from '@pasteflow/runtime';
import type { Request } from 'express';

/**
 * The client's address in canonical form: that of the socket, or the one that the proxies named by TRUST_PROXY
 * report (Express's req.ip), with or without a port. When they report no valid address, the proxy's own
 * counts: nonsense is no new identity.
 */
export function clientAddressOf(req: Request): string {
  const address = parse(req.ip) ?? parse(req.socket.remoteAddress);
  return address?.toString() ?? '';
}

/**
 * The network that counts as one client: an IPv4 address, or an IPv6 network. A device has a /64.
 * @param address any text
 * @param bits a site can have a /48, with 65,536 networks of 64 bits
 */
export function networkOf(address: string, bits: 48 | 64 = 64): string {
  const parsed = parse(address);
  if (!(parsed instanceof ipaddr.IPv6)) return parsed?.toString() ?? address;
  const parts = parsed.parts.map((part, place) => (place < bits / 16 ? part : 0));
  return `${new ipaddr.IPv6(parts).toString()}/${bits}`;
}

/** An IPv6 address with its zone and port is shorter. */
const MAX_ADDRESS_LENGTH = 100;

function parse(text: string | undefined): ipaddr.IPv4 | ipaddr.IPv6 | null {
  if (text !== undefined && text.length > MAX_ADDRESS_LENGTH) return null;
  const [, bracketed, withPort] = text?.match(/^\[([^\]]*)\](?::\d+)?$|^(\d+\.\d+\.\d+\.\d+):\d+$/) ?? [];
  const bare = bracketed ?? withPort ?? text ?? '';
  return ipaddr.isValid(bare) ? ipaddr.process(bare) : null;
}

/** The trusted proxies: how many are in front of the api, or their addresses and subnets. */
export type TrustedProxies = number | readonly string[];

const WANTED =
  'the number of proxies in front of the api, or their addresses, subnets or loopback, linklocal and uniquelocal, separated by commas; ' +
  'never true: any client could then claim any address';

/** Reads TRUST_PROXY into the value of Express's `trust proxy`. */
export function trustedProxies(): Variable<TrustedProxies> {
  return variable(WANTED, (text) => {
    if (/^\d{1,3}$/.test(text)) return Number(text);
    const proxies = text.split(',').map((part) => part.trim());
    return isUnderstood(proxies) ? proxies : undefined;
  });
}

/** Whether the address of a connection is that of a trusted proxy, by Express's own rule. */
export function createIsTrustedProxy(proxies: TrustedProxies | undefined): (address: string) => boolean {
  const isTrusted = express()
    .set('trust proxy', proxies ?? false)
    .get('trust proxy fn') as (address: string, hop: number) => boolean;
  return (address) => isTrusted(address, 0);
}

/** Express refuses invalid addresses, `true` and 0.0.0.0/0, but reads `1` in a list as 0.0.0.1. */
function isUnderstood(proxies: readonly string[]): boolean {
  if (proxies.some((proxy) => /^\d+$/.test(proxy))) return false;
  try {
    express().set('trust proxy', proxies);
    return true;
  } catch {
    return false;
  }
}
