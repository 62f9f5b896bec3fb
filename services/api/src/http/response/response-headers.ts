/**
 * Content of a paste is hostile: a browser must neither guess a type for it, nor run it, nor embed it
 * anywhere. They are on every answer, so that none is forgotten; `no-store` is replaced where an answer may
 * be kept.
 */
export const defaultHeaders: Readonly<Record<string, string>> = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
};
