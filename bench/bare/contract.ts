import type { Applicant } from '../../src/model/applicant.ts';

export interface BareInput {
  id: string;
  endUserCode: string;
  permissiblePurposeCode: string;
  applicants: Applicant[];
  /** After the first stage it waits for a signal. */
  waitsAfterFirst?: boolean;
}

export interface BareActivities {
  acquireToken(): Promise<void>;
  /** Returns the `reportReferenceNumber`. */
  pull(request: BareInput & { productCode: string; customerTraceNumber: string }): Promise<string>;
}
