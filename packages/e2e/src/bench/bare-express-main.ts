import { createHash } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import express from 'express';

/** What Express does without a service behind it: the control for each request that is measured. */
const content = Buffer.alloc(2048, 'x');
const etag = `"sha256:${createHash('sha256').update(content).digest('hex')}"`;
const app = express().disable('x-powered-by').disable('etag');
app.post('/v1/pastes', async (req, res) => {
  await buffer(req);
  res.status(201).json({ short_code: 'none' });
});
app.get('/content', (req, res) => {
  res.set('ETag', etag);
  if (req.get('If-None-Match') === etag) res.status(304).end();
  else res.type('text/plain').end(content);
});
const server = app.listen(0, '127.0.0.1', () => {
  process.stdout.write(`listening on ${(server.address() as AddressInfo).port}\n`);
});
