/** The attempts at the gateway, with authorization and outcome, for readers of what happened. */
import { useState } from 'preact/hooks';
import { get, SignedOutError, withQuery, wordsOf } from '../api/call.ts';
import type { InquiriesPage, InquiryAttempt, Session } from '../api/schemas.ts';
import { Time } from '../base/when.tsx';
import { may, signedOut } from '../shell/session.ts';
import { Report } from './kept-data.tsx';

/** Where the newest report of a product is; a share's is its journey's, and a review has one for each row. */
function reportPath(runKey: string, productCode: string): string | undefined {
  const isReview = runKey.startsWith('portfolio:') && !runKey.includes('/');
  if (isReview || productCode === 'SECONDUSE' || productCode === 'FAILSAFE') return undefined;
  return `/v1/runs/${encodeURIComponent(runKey)}/reports/${productCode}`;
}

export function Inquiries({ runKey, session }: { runKey: string; session: Session }) {
  const [shown, show] = useState<{ list: readonly InquiryAttempt[]; next?: string | undefined; words?: string }>();
  const [isReading, setReading] = useState(false);
  const read = async (after?: string) => {
    setReading(true);
    try {
      const { data, next } = await get<InquiriesPage>(withQuery('/v1/inquiries', { runKey, after, limit: '100' }));
      show({ list: [...(after ? (shown?.list ?? []) : []), ...data], next });
    } catch (error) {
      if (error instanceof SignedOutError) signedOut();
      show({ list: shown?.list ?? [], words: wordsOf(error) });
    }
    setReading(false);
  };
  if (!may(session, 'inquiries:read')) return null;
  const reported = [
    ...new Set(shown?.list.filter(({ outcome }) => outcome === 'record').map((one) => one.productCode)),
  ];
  return (
    <section class="inquiries" aria-labelledby="inquiries-title">
      <h2 id="inquiries-title">What was asked of the gateway</h2>
      {shown ? null : (
        <p>
          <button type="button" class="quiet" disabled={isReading} onClick={() => void read()}>
            Read the attempts
          </button>
        </p>
      )}
      {shown?.words ? <p role="alert">{shown.words}</p> : null}
      {shown?.list.length === 0 && !shown.words ? <p class="none">Nothing was sent.</p> : null}
      {shown && shown.list.length > 0 ? <Attempts list={shown.list} /> : null}
      {shown?.next ? (
        <p>
          <button type="button" disabled={isReading} onClick={() => void read(shown.next)}>
            More
          </button>
        </p>
      ) : null}
      {may(session, 'reports:read')
        ? reported.map((productCode) => {
            const path = reportPath(runKey, productCode);
            return path ? <Report key={productCode} {...{ path, productCode, session }} /> : null;
          })
        : null}
    </section>
  );
}

function Attempts({ list }: { list: readonly InquiryAttempt[] }) {
  return (
    <table class="attempts">
      <thead>
        <tr>
          {['Claimed', 'Inquiry', 'Trace number', 'Purpose', 'Outcome', 'Posted', 'Decision'].map((name) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {list.map((one) => (
          <tr key={`${one.customerTraceNumber} ${one.attempt}`}>
            <td data-label="Claimed">
              <Time at={one.claimedAt} />
            </td>
            <th scope="row" data-label="Inquiry">
              {one.productCode}
              {one.shareId ? ` of share ${one.shareId}` : ''}
            </th>
            <td data-label="Trace number" class="trace">
              <code>{one.customerTraceNumber}</code> <span class="attempt">attempt {one.attempt}</span>
            </td>
            <td data-label="Purpose">{one.permissiblePurposeCode ?? ''}</td>
            <td data-label="Outcome">
              {one.outcome}
              {one.returnCode ? `, code ${one.returnCode}` : ''}
            </td>
            <td data-label="Posted">{one.posted}</td>
            <td data-label="Decision">
              {one.decision ? (
                <>
                  {one.decision.action} by {one.decision.by}, <Time at={one.decision.decidedAt} />:{' '}
                  {one.decision.reason}
                </>
              ) : (
                ''
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
