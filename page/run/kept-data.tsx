/** What the ledger keeps sealed: reports and refusals. Masked, unless who may asks for the whole. */
import { useState } from 'preact/hooks';
import { get, SignedOutError, withQuery, wordsOf } from '../api/call.ts';
import type { Hold, Session, StoredRefusal, StoredReport } from '../api/schemas.ts';
import { timeWords } from '../base/time.ts';
import { may, signedOut } from '../shell/session.ts';

interface KeptProps<T> {
  title: string;
  path: string;
  session: Session;
  contentOf: (answer: T) => unknown;
  about: (answer: T) => string;
}

function Kept<T extends { redacted: boolean; storedAt: string }>({
  title,
  path,
  session,
  contentOf,
  about,
}: KeptProps<T>) {
  const [shown, show] = useState<{ answer?: T; words?: string }>();
  const mayReveal = may(session, 'reports:reveal');
  const read = async (reveal: boolean) => {
    try {
      show({ answer: await get<T>(withQuery(path, { reveal: reveal ? 'true' : undefined })) });
    } catch (error) {
      if (error instanceof SignedOutError) signedOut();
      show({ words: wordsOf(error) });
    }
  };
  const answer = shown?.answer;
  if (!shown) {
    return (
      <button type="button" class="quiet" onClick={() => void read(false)}>
        {title}, masked
      </button>
    );
  }
  return (
    <section class="kept" aria-label={title}>
      <h3>
        {title}
        {answer ? `, kept ${timeWords(answer.storedAt)}${about(answer)}: ${answer.redacted ? 'masked' : 'whole'}` : ''}
      </h3>
      {answer ? (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys
        <pre tabIndex={0}>{pretty(contentOf(answer))}</pre>
      ) : (
        <p role="alert">{shown.words}</p>
      )}
      <p class="buttons">
        {answer?.redacted && mayReveal ? (
          <>
            <button type="button" onClick={() => void read(true)}>
              Reveal
            </button>
            <span class="note">The log and the ledger record who has read it whole.</span>
          </>
        ) : null}
        {answer?.redacted && !mayReveal ? (
          <span class="note">
            To read it whole, a token needs <code>reports:reveal</code>.
          </span>
        ) : null}
        <button type="button" class="quiet" onClick={() => show(undefined)}>
          Hide
        </button>
      </p>
    </section>
  );
}

function pretty(content: unknown): string {
  return typeof content === 'string' ? content : JSON.stringify(content, null, 2);
}

export function Refusal({ hold: { customerTraceNumber, attempt }, session }: { hold: Hold; session: Session }) {
  return (
    <Kept<StoredRefusal>
      title="What the gateway wrote"
      path={`/v1/inquiries/${encodeURIComponent(customerTraceNumber ?? '')}/attempts/${attempt}/refusal`}
      session={session}
      contentOf={({ body }) => body}
      about={({ httpStatus, isWhole }) =>
        `${httpStatus === undefined ? '' : `, HTTP ${httpStatus}`}${isWhole ? '' : ', as far as it could be read'}`
      }
    />
  );
}

export function Report({ path, productCode, session }: { path: string; productCode: string; session: Session }) {
  return (
    <Kept<StoredReport>
      title={`The newest report of ${productCode}`}
      path={path}
      session={session}
      contentOf={({ report }) => report}
      about={() => ''}
    />
  );
}
