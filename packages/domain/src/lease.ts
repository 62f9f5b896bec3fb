/**
 * The time that a claim is valid without a heartbeat, in seconds. Another worker takes over after that,
 * within 10 s.
 */
export const DEFAULT_LEASE_SECONDS = 6;

/**
 * A lease survives two missed heartbeats: a lease of 6 s is renewed every 2 s. Most puts end before the first
 * renewal.
 */
export function heartbeatIntervalMs(leaseSeconds: number): number {
  return Math.round((leaseSeconds * 1000) / 3);
}

/**
 * The visibility timeout of a received message, in seconds. It is longer than the lease: when the message
 * becomes visible again, another worker can already take over its execution. The heartbeat of a live worker
 * extends both, so its messages stay hidden.
 */
export function messageVisibilitySeconds(leaseSeconds: number): number {
  return Math.ceil(leaseSeconds) + 4;
}
