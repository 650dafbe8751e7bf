/** One decision about many inquiries: previewed first, then sent, a hundred at a time under one id. */
import { post } from '../api/call.ts';
import type { DecidedMany, Hold, SameDecision } from '../api/schemas.ts';
import { type Result, send } from '../decide/sending.ts';

export type Common = Omit<SameDecision, 'inquiries' | 'preview'>;
export type Decided = DecidedMany['inquiries'][number];
type Named = SameDecision['inquiries'][number];

const AT_ONCE = 100;

export function named({ runKey, customerTraceNumber = '', attempt = 1 }: Hold): Named {
  return { runKey, customerTraceNumber, attempt };
}

function inHundreds(inquiries: readonly Named[]): Named[][] {
  const count = Math.ceil(inquiries.length / AT_ONCE);
  return Array.from({ length: count }, (_, at) => inquiries.slice(at * AT_ONCE, (at + 1) * AT_ONCE));
}

export async function preview(common: Common, inquiries: readonly Named[]): Promise<Decided[]> {
  const all: Decided[] = [];
  for (const some of inHundreds(inquiries)) {
    const answer = await post<DecidedMany>('/v1/decisions', { ...common, inquiries: some, preview: true });
    all.push(...answer.inquiries);
  }
  return all;
}

/** What came of each so far, and of the request that was not answered, if one was not: then the same is sent again. */
export async function decideAll(
  common: Common,
  inquiries: readonly Named[],
  onProgress: (count: number) => void,
): Promise<{ decided: Decided[]; stopped?: Exclude<Result<DecidedMany>, { result: 'taken' }> }> {
  const decided: Decided[] = [];
  for (const some of inHundreds(inquiries)) {
    const came = await send<DecidedMany>('/v1/decisions', { ...common, inquiries: some });
    if (came.result !== 'taken') return { decided, stopped: came };
    decided.push(...came.answer.inquiries);
    onProgress(decided.length);
  }
  return { decided };
}
