/** Faults of the connection before anything is posted. */
import { type ArrivalFault, type Exchange, numberOf, type PrePostingFault } from './fault.ts';

async function reset(exchange: Exchange): Promise<void> {
  exchange.takeOver(null).socket.resetAndDestroy();
}

const resetOnArrival: ArrivalFault = {
  name: 'resetOnArrival',
  stage: 'arrival',
  what: 'resets the connection when the head of the request has come, before its body is read',
  strike: reset,
};

const resetBeforePosting: PrePostingFault = {
  name: 'resetBeforePosting',
  stage: 'beforePosting',
  what: 'reads the request, then resets the connection',
  async strike(exchange) {
    await reset(exchange);
    return 'done';
  },
};

const closeBeforePosting: PrePostingFault = {
  name: 'closeBeforePosting',
  stage: 'beforePosting',
  what: 'reads the request, then closes the connection (FIN) without a byte',
  async strike(exchange) {
    exchange.takeOver(null).socket.destroySoon();
    return 'done';
  },
};

const hangBeforePosting: PrePostingFault = {
  name: 'hangBeforePosting',
  stage: 'beforePosting',
  what: 'reads the request and never answers',
  async strike(exchange) {
    exchange.takeOver(null);
    return 'done';
  },
};

const slowBeforePosting: PrePostingFault = {
  name: 'slowBeforePosting',
  stage: 'beforePosting',
  what: 'waits, then posts (even if the caller has gone) and answers properly',
  params: { delayMs: { type: ['number'], default: 1500, what: 'how long, in milliseconds' } },
  async strike(exchange, params) {
    await exchange.wait(numberOf(slowBeforePosting, params, 'delayMs'));
    return 'goOn';
  },
};

export const CONNECTION_FAULTS = [
  resetOnArrival,
  resetBeforePosting,
  closeBeforePosting,
  hangBeforePosting,
  slowBeforePosting,
] as const;
