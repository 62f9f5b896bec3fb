/** For how long a claim holds without a heartbeat, in seconds. A dead worker's work is free after that (invariant 5: elsewhere within 10 s). */
export const DEFAULT_LEASE_SECONDS = 6;

/** A lease survives two missed heartbeats: with 6 s it is renewed every 2 s. Most puts end before the first renewal. */
export function heartbeatIntervalMs(leaseSeconds: number): number {
  return Math.round((leaseSeconds * 1000) / 3);
}

/**
 * For how long SQS hides a received message, in seconds: longer than the lease, so that a message comes back after the execution it
 * stands for can be taken over, and never while its worker still renews (the heartbeat extends both).
 */
export function messageVisibilitySeconds(leaseSeconds: number): number {
  return Math.ceil(leaseSeconds) + 4;
}
