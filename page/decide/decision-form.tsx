/** The decision about one hold: its questions, what will be sent, and the result. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ActionGuide } from '../api/guide.ts';
import type { Hold, Session } from '../api/schemas.ts';
import { useKeys } from '../base/keys.ts';
import { say } from '../base/say.tsx';
import { capital } from '../base/words.ts';
import { AnswerGroup, focusFirstStep, focusStep } from './answer-group.tsx';
import {
  bodyOf,
  type Draft,
  doesWords,
  draftOf,
  dropDraft,
  keepDraft,
  type Outcome,
  permittedWords,
  renewed,
} from './draft.ts';
import { DecidedBefore } from './outcome.tsx';
import { ReferenceFields } from './reference-fields.tsx';
import { type Result, send, type Taken } from './sending.ts';

interface FormProps {
  hold: Hold;
  guide: ActionGuide;
  session: Session;
  /** The hold is no longer on the list, while this form is open. */
  isGone: boolean;
  onTaken: (answer: Taken) => void;
  onCancel: () => void;
}

const MOST_REASON = 500;

export function DecisionForm({ hold, guide, session, isGone, onTaken, onCancel }: FormProps) {
  const { action } = guide;
  const [draft, show] = useState(() => draftOf(hold, guide));
  const [result, tell] = useState<Result<Taken>>();
  const [missing, miss] = useState('');
  const isSending = useRef(false);
  const [isBusy, setBusy] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => focusFirstStep(form.current), []);
  const change = (part: Partial<Draft>) => {
    const next = { ...draft, ...part };
    keepDraft(hold, next);
    show(next);
    miss('');
  };
  const made = bodyOf(hold, guide, draft);

  const submit = async () => {
    if (isSending.current) return;
    if ('missing' in made) {
      miss(made.missing.words);
      const step = form.current?.querySelector<HTMLElement>(`[data-step="${made.missing.step}"]`);
      if (step) focusStep(step);
      return;
    }
    isSending.current = true;
    setBusy(true);
    keepDraft(hold, draft);
    const came = await send<Taken>(hold.decideAt ?? '', made.body);
    isSending.current = false;
    setBusy(false);
    tell(came);
    if (came.result === 'taken') {
      dropDraft(hold, action);
      say('Decided.');
      onTaken(came.answer);
    } else if (came.result === 'unanswered') {
      change({ isUnanswered: true });
    } else {
      const next = renewed(draft);
      keepDraft(hold, next);
      show(next);
    }
  };
  useKeys({ 'Ctrl+Enter': () => void submit(), Escape: onCancel });

  const isLocked = draft.isUnanswered || isBusy;
  const words = permittedWords(guide, draft.outcome);
  const asksToConfirm = result?.result === 'refused' && /confirm/i.test(result.words);
  const title = `decide-${action}`;
  return (
    <form
      ref={form}
      class="decision"
      aria-labelledby={title}
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <h3 id={title}>{capital(action)}</h3>
      <p class="does">{doesWords(guide, draft)}</p>
      {isGone && !result ? (
        <p role="alert" class="warning">
          This hold is no longer on the list: another operator may have decided, or the gateway may have answered. Look
          at the run first.
        </p>
      ) : null}
      {action === 'accept' ? (
        <AnswerGroup
          step="outcome"
          legend="Which outcome does the provider give?"
          answers={(guide.outcomes ?? []).map(({ outcome, words }) => ({ value: outcome, words }))}
          value={draft.outcome}
          isLocked={isLocked}
          onChoose={(outcome) => change({ outcome: outcome as Outcome })}
        />
      ) : null}
      {action === 'seen' ? null : (
        <AnswerGroup
          step="providerSaid"
          legend={`What did the provider say about ${hold.attempt ? `attempt ${hold.attempt}` : 'it'}?`}
          answers={words.map((value) => ({ value, words: hold.guide.providerWords[value] ?? value }))}
          value={draft.providerSaid}
          isLocked={isLocked}
          onChoose={(providerSaid) => change({ providerSaid })}
        />
      )}
      {action === 'accept' && draft.outcome === 'record' ? (
        <ReferenceFields {...{ hold, draft, change, isLocked, asksToConfirm }} />
      ) : null}
      {action === 'amend' ? (
        <p class="note">
          The new inquiry is for the same applicants. This page does not accept corrected ones, which are personal data:{' '}
          <code>credit-journey resolve --file</code> accepts them.
        </p>
      ) : null}
      <div data-step="reason" class="reason">
        <label for={`reason-${action}`}>Reason</label>
        <textarea
          id={`reason-${action}`}
          rows={2}
          maxLength={MOST_REASON}
          disabled={isLocked}
          aria-describedby={`reason-note-${action}`}
          value={draft.reason}
          onInput={(event) => change({ reason: event.currentTarget.value })}
        />
        <p class="note" id={`reason-note-${action}`}>
          The ledger keeps it readable, with your name. Write nothing personal about the consumer.
        </p>
      </div>
      {missing ? (
        <p role="alert" class="warning">
          {missing}
        </p>
      ) : null}
      {result && result.result !== 'taken' ? <NotTaken result={result} /> : null}
      <p class="buttons">
        <button type="submit" class="primary" disabled={isBusy} aria-keyshortcuts="Control+Enter">
          {isBusy ? 'Sending …' : draft.isUnanswered ? 'Send the same again' : `Send: ${action}`} <kbd>Ctrl Enter</kbd>
        </button>
        <button type="button" onClick={onCancel}>
          Back <kbd>Esc</kbd>
        </button>
      </p>
      <WillBeSent path={hold.decideAt ?? ''} by={session.by} made={made} />
    </form>
  );
}

interface SentProps {
  path: string;
  by: string | undefined;
  made: ReturnType<typeof bodyOf>;
}

function WillBeSent({ path, by, made }: SentProps) {
  return (
    <section class="sent" aria-label="What will be sent">
      <h4>
        What will be sent
        {by ? `, in the name of ${by}` : '. The API will refuse it, because your token does not say who acts.'}
      </h4>
      {'missing' in made ? (
        <p class="none">{made.missing.words}</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys
        <pre tabIndex={0}>{`POST ${path}\n${JSON.stringify(made.body, null, 2)}`}</pre>
      )}
    </section>
  );
}

function NotTaken({ result }: { result: Exclude<Result<Taken>, { result: 'taken' }> }) {
  if (result.result === 'decided') {
    return <DecidedBefore decided={result.decided} words={result.words} />;
  }
  return (
    <div role="alert" class="warning">
      <p>
        {result.words}{' '}
        {result.result === 'unanswered'
          ? 'Send the same decision again: it takes effect once, however often it arrives.'
          : 'Nothing was decided.'}
      </p>
    </div>
  );
}
