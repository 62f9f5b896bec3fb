/**
 * The Content-Security-Policy of the pages: everything comes from this origin, and nothing is inline. A paste
 * in a page is text, and even markup that slipped through could not run.
 */
export const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "worker-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');
