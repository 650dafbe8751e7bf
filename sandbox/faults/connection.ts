/** Faults of the connection before anything is posted. */
import { type ArrivalFault, beforePosting, parseWholeNumber, type RequestFault } from './fault.ts';

const resetOnArrival: ArrivalFault = {
  name: 'resetOnArrival',
  stage: 'arrival',
  what: 'resets the connection when the head of the request has come, before its body is read',
  async strike(exchange) {
    exchange.takeOver(null).socket.resetAndDestroy();
  },
};

export const CONNECTION_FAULTS: readonly RequestFault[] = [
  resetOnArrival,
  beforePosting('resetBeforePosting', 'reads the request, then resets the connection', async (exchange) => {
    exchange.takeOver(null).socket.resetAndDestroy();
    return 'done';
  }),
  beforePosting(
    'closeBeforePosting',
    'reads the request, then closes the connection (FIN) without a byte',
    async (exchange) => {
      exchange.takeOver(null).socket.destroySoon();
      return 'done';
    },
  ),
  beforePosting('hangBeforePosting', 'reads the request and never answers', async (exchange) => {
    exchange.takeOver(null);
    return 'done';
  }),
  beforePosting(
    'slowBeforePosting',
    'waits, then posts (even if the caller has gone) and answers properly',
    async (exchange, { delayMs }) => {
      await exchange.wait(Number(delayMs));
      return 'goOn';
    },
    { delayMs: parseWholeNumber('how long, in milliseconds', 1_500) },
  ),
];
