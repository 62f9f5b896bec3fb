export { Connections } from './connections.ts';
export { networkOf, parseAddress } from './network.ts';
