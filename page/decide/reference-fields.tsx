/** Of `accept` with a record: what the provider says that the report is. */
import type { Hold } from '../api/schemas.ts';
import { type Draft, referenceApplicants } from './draft.ts';

interface ReferenceProps {
  hold: Hold;
  draft: Draft;
  change: (part: Partial<Draft>) => void;
  isLocked: boolean;
  /** The API has asked whether these ids are right. */
  asksToConfirm: boolean;
}

export function ReferenceFields({ hold, draft, change, isLocked, asksToConfirm }: ReferenceProps) {
  return (
    <fieldset class="fields" data-step="reference" disabled={isLocked}>
      <legend>The record, as the provider names it</legend>
      <label>
        Report reference number
        <input
          type="text"
          maxLength={30}
          autocomplete="off"
          value={draft.reportReferenceNumber}
          onInput={(event) => change({ reportReferenceNumber: event.currentTarget.value })}
        />
      </label>
      <label>
        Requested at
        <input
          type="text"
          placeholder="2026-01-31T14:00:00Z"
          autocomplete="off"
          value={draft.requestedAt}
          onInput={(event) => change({ requestedAt: event.currentTarget.value })}
        />
      </label>
      {referenceApplicants(hold, draft).map((applicantId) => (
        <label key={applicantId}>
          Consumer id of {applicantId}
          <input
            type="text"
            maxLength={16}
            autocomplete="off"
            value={draft.consumerIds[applicantId] ?? ''}
            onInput={(event) =>
              change({ consumerIds: { ...draft.consumerIds, [applicantId]: event.currentTarget.value } })
            }
          />
        </label>
      ))}
      {asksToConfirm || draft.confirmConsumerIds ? (
        <label class="check">
          <input
            type="checkbox"
            checked={draft.confirmConsumerIds}
            onChange={(event) => change({ confirmConsumerIds: event.currentTarget.checked })}
          />
          The provider has confirmed that these consumer ids are these applicants’
        </label>
      ) : null}
    </fieldset>
  );
}
