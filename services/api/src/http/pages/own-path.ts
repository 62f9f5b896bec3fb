import type { IncomingMessage } from 'node:http';
import { ownPath as pathOfService } from '@pasteflow/http-kit';

/**
 * A path of this service to go to after signing in, from any text. A text that leads elsewhere becomes the
 * path of the user's pastes.
 * @param base the path of PUBLIC_URL
 */
export function ownPath(text: string | null | undefined, base: string): string {
  return pathOfService(text, base, `${base}/my/pastes`);
}

/** Where to go after signing in at the page of this request. The result of a form can't be shown again. */
export function nextAfter(req: IncomingMessage, base: string): string {
  return ownPath(req.method === 'GET' ? base + (req.url ?? '') : null, base);
}
