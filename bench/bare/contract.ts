import type { Applicant } from '../../src/model/applicant.ts';

export interface BareInput {
  id: string;
  endUserCode: string;
  permissiblePurposeCode: string;
  applicants: Applicant[];
  /** Whether it waits for a signal after the first stage. */
  waitsAfterFirst?: boolean;
}

export interface BareActivities {
  acquireToken(): Promise<void>;
  /** Returns the `reportReferenceNumber`. */
  pull(request: BareInput & { productCode: string; customerTraceNumber: string }): Promise<string>;
}
