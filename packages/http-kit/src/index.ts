export { Connections } from './connections.ts';
export { Cookies, hashOfSecret, newSecret } from './cookies.ts';
export { canonicalAddressOf, networkOf } from './network.ts';
export { isForeign, isOwn, ownPath } from './same-origin.ts';
export { readUrlForm, readWhole } from './url-form.ts';
