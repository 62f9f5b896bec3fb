import { fillToken, showRelativeTimes } from './browser-facts.ts';
import { optional } from './element.ts';

showRelativeTimes();
fillToken();
const link = optional('copy-link', HTMLButtonElement);
if (link !== null) void import('./link.ts').then(({ startLink }) => startLink(link));
