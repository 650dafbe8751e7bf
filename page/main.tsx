/** Starts the work queue page in the browser. */
import { render } from 'preact';
import { App } from './app.tsx';
import { followAddress } from './base/route.ts';
import { startSession } from './shell/session.ts';

const place = document.getElementById('page');
if (!place) throw new Error('index.html has no place for the page');
// First of all: a token in the address is taken out of it.
void startSession();
followAddress();
render(<App />, place);
