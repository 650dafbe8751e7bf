/** Of `accept` with a record: what the provider says that the report is. */
import type { Hold } from '../api/schemas.ts';
import type { Draft } from './draft.ts';

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
      {draft.consumerIds.map(({ applicantId, consumerId }, at) => {
        const set = (part: object) =>
          change({ consumerIds: draft.consumerIds.with(at, { applicantId, consumerId, ...part }) });
        return (
          <div key={at} class="consumer">
            {hold.applicantIds ? null : (
              <label>
                Applicant
                <input
                  type="text"
                  maxLength={2}
                  autocomplete="off"
                  value={applicantId}
                  onInput={(event) => set({ applicantId: event.currentTarget.value })}
                />
              </label>
            )}
            <label>
              Consumer id of {applicantId}
              <input
                type="text"
                maxLength={16}
                autocomplete="off"
                value={consumerId}
                onInput={(event) => set({ consumerId: event.currentTarget.value })}
              />
            </label>
          </div>
        );
      })}
      {hold.applicantIds ? null : (
        <button
          type="button"
          class="quiet"
          onClick={() => {
            const next = { applicantId: `${draft.consumerIds.length + 1}A`, consumerId: '' };
            change({ consumerIds: [...draft.consumerIds, next] });
          }}
        >
          One more applicant
        </button>
      )}
      {asksToConfirm || draft.confirmConsumerIds ? (
        <label class="check">
          <input
            type="checkbox"
            checked={draft.confirmConsumerIds}
            onChange={(event) => change({ confirmConsumerIds: event.currentTarget.checked })}
          />
          The provider has confirmed that these consumer ids belong to these applicants
        </label>
      ) : null}
    </fieldset>
  );
}
