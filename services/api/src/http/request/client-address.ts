import type { Request } from 'express';
import ipaddr from 'ipaddr.js';

/**
 * The client's address in canonical form; `::ffff:192.0.2.1` becomes 192.0.2.1. It is the address of the
 * socket, or the one that the proxies named by TRUST_PROXY report (Express's req.ip), with or without a port.
 * When they report no valid address, the proxy's own counts, so that a client can't get a new identity by
 * sending nonsense.
 */
export function clientAddressOf(req: Request): string {
  const address = parse(req.ip) ?? parse(req.socket.remoteAddress);
  return address?.toString() ?? '';
}

/**
 * The network that counts as one client: an IPv4 address, or the /64 network that an IPv6 subscriber has.
 * @param address any text
 */
export function networkOf(address: string): string {
  const parsed = parse(address);
  if (!(parsed instanceof ipaddr.IPv6)) return parsed?.toString() ?? address;
  return `${new ipaddr.IPv6([...parsed.parts.slice(0, 4), 0, 0, 0, 0]).toString()}/64`;
}

/** An IPv6 address with its zone and port is shorter. */
const MAX_ADDRESS_LENGTH = 100;

function parse(text: string | undefined): ipaddr.IPv4 | ipaddr.IPv6 | null {
  if (text !== undefined && text.length > MAX_ADDRESS_LENGTH) return null;
  const [, bracketed, withPort] = text?.match(/^\[([^\]]*)\](?::\d+)?$|^(\d+\.\d+\.\d+\.\d+):\d+$/) ?? [];
  const bare = bracketed ?? withPort ?? text ?? '';
  return ipaddr.isValid(bare) ? ipaddr.process(bare) : null;
}
