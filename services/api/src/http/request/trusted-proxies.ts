import { variable, type Variable } from '@pasteflow/runtime';
import express from 'express';

/** How many proxies stand in front of the api, or their addresses and subnets: whose X-Forwarded-For is believed. */
export type TrustedProxies = number | readonly string[];

const WANTED =
  'the number of proxies in front of the api, or their addresses, subnets or loopback, linklocal and uniquelocal, separated by commas; ' +
  'never true: then any client could name itself as it likes';

/** TRUST_PROXY, in what Express understands as `trust proxy`. */
export function trustedProxies(): Variable<TrustedProxies> {
  return variable(WANTED, (text) => {
    if (/^\d{1,3}$/.test(text)) return Number(text);
    const proxies = text.split(',').map((part) => part.trim());
    return isUnderstood(proxies) ? proxies : undefined;
  });
}

/** Express refuses what is no address or subnet, `true` and 0.0.0.0/0 included; but `1` in a list it takes for 0.0.0.1. */
function isUnderstood(proxies: readonly string[]): boolean {
  if (proxies.some((proxy) => /^\d+$/.test(proxy))) return false;
  try {
    express().set('trust proxy', proxies);
    return true;
  } catch {
    return false;
  }
}
