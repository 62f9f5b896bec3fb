import type { Request } from 'express';
import ipaddr from 'ipaddr.js';

/**
 * The client's address in the one way to write it, an IPv4 one as such also where a socket says `::ffff:192.0.2.1`. It is the socket's, or
 * what the proxies that TRUST_PROXY names say (Express's req.ip). What they say may have a port; where it is no address at all, the proxy's
 * own counts, so that nobody gets a new name by sending nonsense.
 */
export function clientAddressOf(req: Request): string {
  const address = parse(req.ip) ?? parse(req.socket.remoteAddress);
  return address?.toString() ?? '';
}

/** Who counts as one: an IPv4 address, or an IPv6 network of 64 bits, which is what one subscriber has. @param address any text */
export function networkOf(address: string): string {
  const parsed = parse(address);
  if (!(parsed instanceof ipaddr.IPv6)) return parsed?.toString() ?? address;
  return `${new ipaddr.IPv6([...parsed.parts.slice(0, 4), 0, 0, 0, 0]).toString()}/64`;
}

function parse(text: string | undefined): ipaddr.IPv4 | ipaddr.IPv6 | null {
  const [, bracketed, withPort] = text?.match(/^\[([^\]]*)\](?::\d+)?$|^(\d+\.\d+\.\d+\.\d+):\d+$/) ?? [];
  const bare = bracketed ?? withPort ?? text ?? '';
  return ipaddr.isValid(bare) ? ipaddr.process(bare) : null;
}
