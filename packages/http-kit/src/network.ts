import ipaddr from 'ipaddr.js';

/** An IPv6 address with its zone and port is shorter. */
const MAX_ADDRESS_LENGTH = 100;

const MAX_REMEMBERED = 1000;

/** Of one text, which a client sends with each request: parsing it each time would be 5 % of a short request. */
function remembering<Found>(find: (address: string) => Found): (address: string) => Found {
  const known = new Map<string, Found>();
  return (address) => {
    const before = known.get(address);
    if (before !== undefined) return before;
    const found = find(address);
    if (known.size >= MAX_REMEMBERED) known.clear();
    if (address.length <= MAX_ADDRESS_LENGTH) known.set(address, found);
    return found;
  };
}

const device = remembering((address) => findNetwork(address, 64));
const site = remembering((address) => findNetwork(address, 48));

/**
 * The network that counts as one client: an IPv4 address, or an IPv6 network. A device has a /64.
 * @param address any text
 * @param bits a site can have a /48, with 65,536 networks of 64 bits
 */
export function networkOf(address: string, bits: 48 | 64 = 64): string {
  return bits === 64 ? device(address) : site(address);
}

function findNetwork(address: string, bits: 48 | 64): string {
  const parsed = parseAddress(address);
  if (!(parsed instanceof ipaddr.IPv6)) return parsed?.toString() ?? address;
  const parts = parsed.parts.map((part, place) => (place < bits / 16 ? part : 0));
  return `${new ipaddr.IPv6(parts).toString()}/${bits}`;
}

/** An address, with or without a port, in canonical form; null for what is no address. */
export const canonicalAddressOf: (text: string) => string | null = remembering(
  (text) => parseAddress(text)?.toString() ?? null,
);

/** @returns null for what is no address */
function parseAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  if (text.length > MAX_ADDRESS_LENGTH) return null;
  const [, bracketed, withPort] = text.match(/^\[([^\]]*)\](?::\d+)?$|^(\d+\.\d+\.\d+\.\d+):\d+$/) ?? [];
  const bare = bracketed ?? withPort ?? text;
  return ipaddr.isValid(bare) ? ipaddr.process(bare) : null;
}
