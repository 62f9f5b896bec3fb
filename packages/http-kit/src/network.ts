import ipaddr from 'ipaddr.js';

/**
 * The network that counts as one client: an IPv4 address, or an IPv6 network. A device has a /64.
 * @param address any text
 * @param bits a site can have a /48, with 65,536 networks of 64 bits
 */
export function networkOf(address: string, bits: 48 | 64 = 64): string {
  const parsed = parseAddress(address);
  if (!(parsed instanceof ipaddr.IPv6)) return parsed?.toString() ?? address;
  const parts = parsed.parts.map((part, place) => (place < bits / 16 ? part : 0));
  return `${new ipaddr.IPv6(parts).toString()}/${bits}`;
}

/** An IPv6 address with its zone and port is shorter. */
const MAX_ADDRESS_LENGTH = 100;

/** @returns null for what is no address */
export function parseAddress(text: string | undefined): ipaddr.IPv4 | ipaddr.IPv6 | null {
  if (text !== undefined && text.length > MAX_ADDRESS_LENGTH) return null;
  const [, bracketed, withPort] = text?.match(/^\[([^\]]*)\](?::\d+)?$|^(\d+\.\d+\.\d+\.\d+):\d+$/) ?? [];
  const bare = bracketed ?? withPort ?? text ?? '';
  return ipaddr.isValid(bare) ? ipaddr.process(bare) : null;
}
