import { createHash } from 'node:crypto';

/**
 * Runs before anything is painted, so that no page flashes in other colours than those that its reader has
 * chosen. The policies name it by its hash.
 */
export const PREFERENCES_SCRIPT =
  "for(const k of['theme','wrap'])try{const v=localStorage.getItem('pasteflow-'+k);if(v)document.documentElement.dataset[k]=v}catch{}";

/** The one inline script of the pages, as a source of a policy. */
export const preferencesSource = hashSource(PREFERENCES_SCRIPT);

function hashSource(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

/** A page that has an image inside of it, as a `data:` URL. */
export function policyWithImage(policy: string): string {
  return policy.replace("img-src 'self'", "img-src 'self' data:");
}

/**
 * The Content-Security-Policy of the pages: everything comes from this origin, and nothing is inline but one
 * style sheet and one script, which hashes name. A paste in a page is text, and even markup that slipped through could not
 * run.
 * @param styles the text of that style sheet; null: none
 */
export function pagePolicyOf(styles: string | null): string {
  const hash = styles === null ? '' : ` ${hashSource(styles)}`;
  return [
    "default-src 'none'",
    `script-src 'self' ${preferencesSource}`,
    "worker-src 'self'",
    `style-src 'self'${hash}`,
    "connect-src 'self'",
    "img-src 'self'",
    "manifest-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
