import express from 'express';
import { canonicalAddressOf } from '@pasteflow/http-kit';
import { variable, type Variable } from '@pasteflow/runtime';
import type { Request } from 'express';

/**
 * The client's address in canonical form: that of the socket, or the one that the proxies named by TRUST_PROXY
 * report (Express's req.ip), with or without a port. When they report no valid address, the proxy's own
 * counts: nonsense is no new identity.
 */
export function clientAddressOf(req: Request): string {
  return canonicalAddressOf(req.ip ?? '') ?? canonicalAddressOf(req.socket.remoteAddress ?? '') ?? '';
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
