import { expect, it } from '@jest/globals';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { portError, takePorts, withPort } from '../src/ports.ts';

const setting = 'STACK_POSTGRES_PORT';

function listen(port: number): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', (error) => reject(portError({ port, setting }, error)));
    server.listen(port, '127.0.0.1', () => resolve(server));
  });
}

/** A start before which another program takes the port, so many times. */
function startAfter(thefts: number): { ports: number[]; thieves: Server[]; start: typeof listen } {
  const [ports, thieves]: [number[], Server[]] = [[], []];
  const start = async (port: number): Promise<Server> => {
    ports.push(port);
    if (thieves.length < thefts) thieves.push(await listen(port));
    return listen(port);
  };
  return { ports, thieves, start };
}

it('a server whose free port is taken before it listens gets another one', async () => {
  const { ports, thieves, start } = startAfter(2);
  const server = await withPort({ port: 0, setting }, start);
  expect((server.address() as AddressInfo).port).toBe(ports[2]);
  for (const each of [...thieves, server]) each.close();
  expect(new Set(ports).size).toBe(3);
});

it('a server on a port of its own starts once, and so does one that fails for another reason', async () => {
  const free = await withPort({ port: 0, setting }, (port) => Promise.resolve(port));
  const { ports, thieves, start } = startAfter(1);
  await expect(withPort({ port: free, setting }, start)).rejects.toMatchObject({ code: 'port-in-use' });
  for (const thief of thieves) thief.close();
  expect(ports).toEqual([free]);
  let starts = 0;
  const broken = withPort({ port: 0, setting }, () => Promise.reject(new Error(`broken ${(starts += 1)}`)));
  await expect(broken).rejects.toThrow('broken 1');
});

it('free ports for services that start later are different, and none that the system gives to outgoing connections', async () => {
  const ports = await takePorts(Array.from({ length: 20 }, () => ({ port: 0, setting })));
  for (const port of ports) {
    expect(port).toBeGreaterThanOrEqual(10_000);
    expect(port).toBeLessThan(12_000);
  }
  expect(new Set(ports).size).toBe(20);
});

it.each([
  ['API_PORT', 'or set API_HOST to another one'],
  ['OPS_PORT', 'or set OPS_HOST to another one'],
  ['METRICS_PORT', 'or set METRICS_HOST to another one'],
  ['STACK_POSTGRES_PORT', 'Give its loopback interface that address.'],
])('an address that the machine has not is no fault of %s', async (setting, advice) => {
  // As 127.0.0.1 where the loopback interface knows IPv6 only. 192.0.2.1 is an address of documents.
  const taken = takePorts([{ host: '192.0.2.1', port: 3000, setting }]);
  await expect(taken).rejects.toMatchObject({
    code: 'port-unusable',
    message: expect.stringContaining(advice),
  });
  await expect(taken).rejects.toThrow('This machine has no address 192.0.2.1');
});
