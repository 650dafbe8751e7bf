/**
 * Loaded before the worker's own program (`node --import`). It makes the process stop at named points of an attempt and
 * ask its parent whether to continue. The rest of the worker is unchanged.
 */
import type { Payload } from '@temporalio/common';
import { Worker, type WorkerOptions } from '@temporalio/worker';
import { GatewayClient } from '../../src/gateway/gateway-client.ts';
import { SqlLedger } from '../../src/ledger/ledger.ts';

/** The points in the order in which an attempt reaches them. */
export type Point = 'beforeClaim' | 'afterClaim' | 'afterAnswer' | 'afterRecord' | 'encodeResult' | 'decodeResult';

/** `fail`: throw here. `enlarge` (only at `encodeResult`): make the result larger than any server accepts. */
export type PointAnswer = 'goOn' | 'fail' | 'enlarge';

/** The message to the parent. */
export interface PointQuestion {
  id: number;
  point: Point;
  /** Unknown if only a payload is visible. */
  journeyId?: string;
}

/** The parent's answer. */
export interface PointReply {
  id: number;
  answer: PointAnswer;
}

/** Over the limit of a payload (2 MB by default), and below the limit of a message (4 MB). */
const TOO_LARGE_BYTES = 3 * 1024 * 1024;

const asked = new Map<number, (answer: PointAnswer) => void>();
let lastId = 0;
process.on('message', ({ id, answer }: PointReply) => {
  asked.get(id)?.(answer);
  asked.delete(id);
});
// Without its parent the process could never continue.
process.on('disconnect', () => process.exit(1));
// The open channel must not keep a stopping worker alive.
process.channel?.unref();

async function ask(point: Point, journeyId?: string): Promise<PointAnswer> {
  const { promise, resolve } = Promise.withResolvers<PointAnswer>();
  const id = ++lastId;
  asked.set(id, resolve);
  process.send?.({ id, point, ...(journeyId === undefined ? {} : { journeyId }) } satisfies PointQuestion);
  const answer = await promise;
  if (answer === 'fail') throw new Error('made to fail by a test');
  return answer;
}

const journeyIds = new Map<string, string>();

const { claim, recordOutcome } = SqlLedger.prototype;
SqlLedger.prototype.claim = async function (request) {
  const { runKey, customerTraceNumber } = request.inquiry;
  journeyIds.set(customerTraceNumber, runKey);
  await ask('beforeClaim', runKey);
  const verdict = await claim.call(this, request);
  if (verdict.kind === 'claimed') await ask('afterClaim', runKey);
  return verdict;
};
SqlLedger.prototype.recordOutcome = async function (record, report, refusal) {
  const verdict = await recordOutcome.call(this, record, report, refusal);
  await ask('afterRecord', journeyIds.get(record.customerTraceNumber));
  return verdict;
};

const { submit } = GatewayClient.prototype;
GatewayClient.prototype.submit = async function (options) {
  try {
    return await submit.call(this, options);
  } finally {
    await ask('afterAnswer', journeyIds.get(options.request.customerTraceNumber));
  }
};

const RESULT_MARK = '{"kind":"answered"';

const resultCodec = {
  encode: (payloads: Payload[]): Promise<Payload[]> =>
    Promise.all(
      payloads.map(async (payload) => {
        if (!isResult(payload) || (await ask('encodeResult')) !== 'enlarge') return payload;
        // Spaces after a JSON text do not change its value.
        return { ...payload, data: Buffer.concat([payload.data ?? Buffer.of(), Buffer.alloc(TOO_LARGE_BYTES, ' ')]) };
      }),
    ),
  async decode(payloads: Payload[]): Promise<Payload[]> {
    if (payloads.some(isResult)) await ask('decodeResult');
    return payloads;
  },
};

/** Recognizes an attempt's answer. All other payloads pass unchanged. */
function isResult({ data }: Payload): boolean {
  const text = Buffer.from(data ?? []).toString();
  return text.startsWith(RESULT_MARK) || text.includes(`"first":${RESULT_MARK}`);
}

const create = Worker.create.bind(Worker);
Worker.create = (options: WorkerOptions) => {
  const payloadCodecs = [resultCodec, ...(options.dataConverter?.payloadCodecs ?? [])];
  return create({ ...options, dataConverter: { ...options.dataConverter, payloadCodecs } });
};
