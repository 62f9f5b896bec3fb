import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { askNameServers, type Resolve } from '../../src/webhooks/endpoint-address.ts';

const A = 1;
const AAAA = 28;
const NO_SUCH_NAME = 3;

interface Answer {
  readonly code?: number;
  readonly addresses?: readonly Buffer[];
}

const sockets: Socket[] = [];
afterEach(async () => {
  await Promise.all(sockets.splice(0).map((socket) => new Promise<void>((resolve) => socket.close(resolve))));
});

/** A name server of RFC 1035. `answer` gives the answer to a question of this type. */
async function startNameServer(answer: (type: number) => Answer) {
  const socket = createSocket('udp4', (query, from) => {
    const type = query.readUInt16BE(query.indexOf(0, 12) + 1);
    send(query, type, answer(type), from);
  });
  function send(
    query: Buffer,
    type: number,
    { code = 0, addresses = [] }: Answer,
    { port, address }: RemoteInfo,
  ): void {
    const question = query.subarray(12, query.indexOf(0, 12) + 5);
    const header = Buffer.from(query.subarray(0, 12));
    header.writeUInt16BE(0x81_80 | code, 2);
    header.writeUInt16BE(addresses.length, 6);
    header.writeUInt32BE(0, 8);
    const records = addresses.map((each) => {
      const record = Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 60, 0, each.length]);
      return Buffer.concat([record, each]);
    });
    socket.send(Buffer.concat([header, question, ...records]), port, address);
  }
  sockets.push(socket);
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  const resolve: Resolve = askNameServers([`127.0.0.1:${socket.address().port}`]);
  return { resolve };
}

const v4 = Buffer.from([93, 184, 216, 34]);
const v6 = Buffer.from('26064700000000000000000000001111', 'hex');

describe('the name servers', () => {
  it('are asked for addresses of both families', async () => {
    const { resolve } = await startNameServer((type) => ({
      addresses: type === A ? [v4] : type === AAAA ? [v6] : [],
    }));
    expect(await resolve('hooks.example.com')).toEqual([
      { address: '93.184.216.34', family: 4 },
      { address: '2606:4700::1111', family: 6 },
    ]);
  });

  it.each([
    [A, { address: '93.184.216.34', family: 4 }],
    [AAAA, { address: '2606:4700::1111', family: 6 }],
  ])('may know one family alone (%i)', async (known, found) => {
    const { resolve } = await startNameServer((type) => ({
      addresses: type !== known ? [] : [type === A ? v4 : v6],
    }));
    expect(await resolve('hooks.example.com')).toEqual([found]);
  });

  it('may not know the name', async () => {
    const { resolve } = await startNameServer(() => ({ code: NO_SUCH_NAME }));
    await expect(resolve('hooks.example.com')).rejects.toMatchObject({ code: 'ENOTFOUND' });
  });

  it('are waited for by no thread of the process, so that a silent one stops no other look-up', async () => {
    const { resolve } = await startNameServer(() => ({ code: NO_SUCH_NAME }));
    const looks = Array.from({ length: 16 }, (_, n) => resolve(`hooks${n}.example.com`));
    expect(process.getActiveResourcesInfo()).not.toContain('GetAddrInfoReqWrap');
    await Promise.allSettled(looks);
    // What it would contain otherwise.
    const threaded = lookup('localhost');
    expect(process.getActiveResourcesInfo()).toContain('GetAddrInfoReqWrap');
    await threaded;
  });
});
