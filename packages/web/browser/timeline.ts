import { fillToken, showRelativeTimes } from './browser-facts.ts';

showRelativeTimes();
fillToken();
