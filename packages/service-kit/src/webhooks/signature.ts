import { createHmac, hkdfSync } from 'node:crypto';
import { WEBHOOK_ROTATION_SECONDS } from '@pasteflow/domain';
import type { Metrics } from '@pasteflow/runtime';
import type { WebhookSettings } from '../settings.ts';

const SECRET_BYTES = 32;

/**
 * The secret of an endpoint, as Standard Webhooks write it: `whsec_` and 32 bytes in base64. It is HKDF-SHA256 (RFC 5869) of
 * the key of the service, so that no row has it.
 * @param generation how often the secret was changed, from 1
 */
export function webhookSecret(key: string, endpointId: string, generation: number): string {
  return `whsec_${secretBytes(key, endpointId, generation).toString('base64')}`;
}

/**
 * Shows by which key this process signs, without showing the key: a number from 0 to 2^48, the same for the same key.
 * Nothing is shown where webhooks are off.
 */
export function showWebhookKey(metrics: Metrics, webhooks: WebhookSettings | null): void {
  if (webhooks === null) return;
  const check = Buffer.from(
    hkdfSync('sha256', webhooks.key, Buffer.alloc(0), 'pasteflow webhook key check', 6),
  );
  metrics
    .gauge({
      name: 'pasteflow_webhook_key',
      help: 'A number that is the same in all processes with the same WEBHOOK_KEY.',
    })
    .set(check.readUIntBE(0, 6));
}

function secretBytes(key: string, endpointId: string, generation: number): Buffer {
  const info = `pasteflow webhook ${endpointId} ${generation}`;
  return Buffer.from(hkdfSync('sha256', key, Buffer.alloc(0), info, SECRET_BYTES));
}

export interface SignedEndpoint {
  readonly endpointId: string;
  readonly generation: number;
  /** null: never. */
  readonly rotatedAt: Date | null;
}

/**
 * The headers of a delivery by the specification of Standard Webhooks, version 1.0: the signature is HMAC-SHA256 of
 * `ID.TIMESTAMP.BODY`. For a day after a rotation there is a signature by the secret before as well.
 * @param now the time of this attempt
 */
export function signatureHeaders(
  key: string,
  { endpointId, generation, rotatedAt }: SignedEndpoint,
  { eventId, body, now }: { readonly eventId: string; readonly body: string; readonly now: Date },
): Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string> {
  const timestamp = Math.floor(now.getTime() / 1000).toString();
  const isRotating =
    rotatedAt !== null && now.getTime() - rotatedAt.getTime() < WEBHOOK_ROTATION_SECONDS * 1000;
  const generations = isRotating && generation > 1 ? [generation, generation - 1] : [generation];
  const signatures = generations.map((each) => {
    const hmac = createHmac('sha256', secretBytes(key, endpointId, each));
    return `v1,${hmac.update(`${eventId}.${timestamp}.${body}`).digest('base64')}`;
  });
  return {
    'webhook-id': eventId,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  };
}
