/**
 * The content of a paste is hostile: a browser must not guess its type, run it or embed it. Every answer has
 * these headers, so that none is forgotten. An answer that may be cached replaces `no-store`.
 */
export const defaultHeaders: Readonly<Record<string, string>> = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
};
