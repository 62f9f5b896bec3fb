export { Connections } from './connections.ts';
export { Cookies } from './cookies.ts';
export { networkOf, parseAddress } from './network.ts';
export { ownPath } from './own-path.ts';
export { hashOfSecret, newSecret } from './secret.ts';
