export { Connections, canonicalAddressOf, networkOf } from './connections.ts';
export { Cookies, hashOfSecret, newSecret } from './cookies.ts';
export { isForeign, isOwn, ownPath } from './same-origin.ts';
export { readUrlForm, readWhole } from './url-form.ts';
