import { showRelativeTimes } from './browser-facts.ts';

showRelativeTimes('td time');
