/** Notices that the ledger takes no more writes from this program version, so that its worker stops. */
import type { Ledger } from '../ledger/ledger.ts';

export interface WriterWatch {
  /** Whether the ledger asks for a newer program; it never takes that back. */
  readonly isTooOld: boolean;
  close(): void;
}

/** The ledger refuses claims in any case: this only decides how soon newer workers get the work. */
const ASKED_EVERY_MS = 2_000;

/** @param onTooOld called once */
export function watchWriter(
  ledger: Pick<Ledger, 'mayWrite'>,
  onTooOld: () => void,
  askedEveryMs = ASKED_EVERY_MS,
): WriterWatch {
  let isTooOld = false;
  let isAsking = false;
  const timer = setInterval(async () => {
    if (isAsking) return;
    isAsking = true;
    // A ledger that does not answer says nothing about versions.
    isTooOld = !(await ledger.mayWrite().catch(() => true));
    isAsking = false;
    if (!isTooOld) return;
    clearInterval(timer);
    onTooOld();
  }, askedEveryMs);
  return {
    get isTooOld() {
      return isTooOld;
    },
    close: () => clearInterval(timer),
  };
}
