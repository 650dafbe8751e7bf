/** An invariant: a promise of docs/protocol.md, judged by the evidence alone. */
import type { Evidence } from '../evidence.ts';

export interface Verdict {
  name: string;
  /** How many things were checked: an invariant that checked nothing proves nothing. */
  count: number;
  /** One for each violation; ids only. */
  failures: string[];
  /** A measured value that is no violation, in words. */
  remark?: string;
}

export interface Invariant {
  name: string;
  judge(evidence: Evidence): Promise<Omit<Verdict, 'name'>> | Omit<Verdict, 'name'>;
}
