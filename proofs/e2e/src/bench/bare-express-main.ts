import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import express from 'express';

/** What Express does for a POST without a service behind it. */
const app = express().disable('x-powered-by').disable('etag');
app.post('/v1/pastes', async (req, res) => {
  await buffer(req);
  res.status(201).json({ short_code: 'none' });
});
const server = app.listen(0, '127.0.0.1', () => {
  process.stdout.write(`listening on ${(server.address() as AddressInfo).port}\n`);
});
