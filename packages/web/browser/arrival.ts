// The address must differ before it is replaced: a browser that is at `/CODE#KEY` would only look for the part KEY.
const { href } = location;
history.replaceState(null, '', '?on');
location.replace(href);
