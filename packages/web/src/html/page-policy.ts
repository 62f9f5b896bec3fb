import { createHash } from 'node:crypto';

/**
 * The Content-Security-Policy of the pages: everything comes from this origin, and nothing is inline but one
 * style sheet, which a hash names. A paste in a page is text, and even markup that slipped through could not
 * run.
 * @param styles the text of that style sheet; null: none
 */
export function pagePolicyOf(styles: string | null): string {
  const hash = styles === null ? '' : ` 'sha256-${createHash('sha256').update(styles).digest('base64')}'`;
  return [
    "default-src 'none'",
    "script-src 'self'",
    "worker-src 'self'",
    `style-src 'self'${hash}`,
    "connect-src 'self'",
    "img-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
