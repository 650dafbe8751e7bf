/** One decision about several holds: made, previewed row by row, then sent. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { wordsOf } from '../api/call.ts';
import type { ActionGuide } from '../api/guide.ts';
import type { Hold, Session } from '../api/schemas.ts';
import { keptWhileSignedIn } from '../base/kept.ts';
import { say } from '../base/say.tsx';
import { capital } from '../base/words.ts';
import { AnswerGroup, focusFirstStep, focusStep } from '../decide/answer-group.tsx';
import { newDecisionId, permittedWords } from '../decide/draft.ts';
import { may } from '../shell/session.ts';
import { OutcomeTable } from './outcome-table.tsx';
import { type Common, type Decided, decideAll, named, preview } from './same-decision.ts';

interface PileDraft {
  decisionId: string;
  action?: string;
  providerSaid?: string;
  outcome?: 'noRecord' | 'noReport';
  reason: string;
  isUnanswered: boolean;
}

interface PileProps {
  title: string;
  holds: readonly Hold[];
  /** By the provider's file; otherwise it is asked. */
  said?: 'posted' | 'notPosted';
  session: Session;
  onDecided: (holdIds: readonly string[]) => void;
}

/** In memory, until they are answered: the same pile has the same id again. */
const drafts = keptWhileSignedIn<PileDraft>();

const TOGETHER = ['resend', 'accept', 'abandon'];
const MOST_REASON = 500;

export function Pile({ title, holds, said, session, onDecided }: PileProps) {
  const key = `${said ?? ''} ${holds
    .map(({ holdId, attempt }) => `${holdId}.${attempt}`)
    .sort()
    .join(' ')}`;
  const [draft, show] = useState<PileDraft>(
    () =>
      drafts.get(key) ?? {
        decisionId: newDecisionId(),
        reason: '',
        isUnanswered: false,
        ...(said ? { providerSaid: said } : {}),
      },
  );
  const [previewed, showPreview] = useState<{ rows: readonly Decided[]; common: Common }>();
  const [decided, showDecided] = useState<readonly Decided[]>();
  /** What came of some, where of others nothing is known: the same is sent again about all. */
  const [partly, showPartly] = useState<readonly Decided[]>([]);
  const [progress, count] = useState(0);
  const [words, tell] = useState('');
  const [isBusy, setBusy] = useState(false);
  const sending = useRef(false);
  const form = useRef<HTMLFormElement>(null);
  const go = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (said === undefined) focusFirstStep(form.current);
  }, [said]);
  useEffect(() => {
    if (previewed && !decided && !isBusy) go.current?.focus();
  }, [previewed, decided, isBusy]);

  const [first] = holds;
  if (!first) return null;
  const guides = guidesOf(holds);
  const guide = guides.find(({ action }) => action === draft.action);
  const permitted = guide ? permittedWords(guide, draft.outcome) : [];
  const change = (part: Partial<PileDraft>) => {
    const next = { ...draft, ...part };
    drafts.set(key, next);
    show(next);
    showPreview(undefined);
    showPartly([]);
    tell('');
  };
  const made = commonOf(draft, permitted);
  const isLocked = draft.isUnanswered || isBusy || decided !== undefined;

  const toSend = (previewed?.rows ?? [])
    .filter(({ result }) => result === 'decidable')
    .map(({ runKey, customerTraceNumber, attempt }) => ({ runKey, customerTraceNumber, attempt }));
  const decidable = toSend.length;

  const busily = async (work: () => Promise<void>) => {
    if (sending.current) return;
    sending.current = true;
    setBusy(true);
    try {
      await work();
    } catch (error) {
      tell(wordsOf(error));
    }
    sending.current = false;
    setBusy(false);
  };
  const look = () =>
    busily(async () => {
      if ('missing' in made) {
        tell(made.words);
        const step = form.current?.querySelector<HTMLElement>(`[data-step="${made.missing}"]`);
        if (step) focusStep(step);
        return;
      }
      const rows = await preview(made, holds.map(named));
      showPreview({ rows, common: made });
      say(`${rows.filter(({ result }) => result === 'decidable').length} of ${rows.length} would be decided`);
    });
  const decide = () =>
    busily(async () => {
      if (!previewed) return;
      count(0);
      const { decided: came, stopped } = await decideAll(previewed.common, toSend, count);
      const failed = came.some(({ result }) => result === 'failed');
      if (stopped || failed) {
        // The preview stays: the same again is sent about the same rows.
        const isOpen = stopped?.result !== 'refused' || came.length > 0;
        const next = isOpen ? { ...draft, isUnanswered: true } : { ...draft, decisionId: newDecisionId() };
        drafts.set(key, next);
        show(next);
        if (!isOpen) showPreview(undefined);
        showPartly(came);
        tell(stopped ? stoppedWords(stopped.words, came.length, toSend.length) : SOME_UNKNOWN);
        return;
      }
      drafts.delete(key);
      showDecided(came);
      const done = came.filter(({ result }) => result === 'decided' || result === 'duplicate');
      say(`${done.length} of ${came.length} decided`);
      const traces = new Set(done.map(({ customerTraceNumber }) => customerTraceNumber));
      onDecided(holds.filter((one) => traces.has(one.customerTraceNumber ?? '')).map(({ holdId }) => holdId));
    });

  const id = `pile-${said ?? 'chosen'}`;
  return (
    <form
      ref={form}
      class="decision pile"
      aria-labelledby={id}
      onSubmit={(event) => {
        event.preventDefault();
        void (previewed ? decide() : look());
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
        event.preventDefault();
        if (!decided) void (previewed ? decide() : look());
      }}
    >
      <h2 id={id}>{title}</h2>
      <AnswerGroup
        step="action"
        legend="What should be done about all of them?"
        answers={guides.map(({ action, does }) => ({ value: action, name: capital(action), words: does }))}
        value={draft.action}
        isLocked={isLocked}
        onChoose={(action) => change({ action })}
      />
      {draft.action === 'accept' ? (
        <AnswerGroup
          step="outcome"
          legend="Which outcome does the provider give for each?"
          answers={(guide?.outcomes ?? [])
            .filter(({ outcome }) => outcome !== 'record')
            .map(({ outcome, words }) => ({ value: outcome, words }))}
          value={draft.outcome}
          isLocked={isLocked}
          onChoose={(outcome) => change({ outcome: outcome as 'noRecord' | 'noReport' })}
        />
      ) : null}
      {said === undefined ? (
        <AnswerGroup
          step="providerSaid"
          legend="What did the provider say about every one of them?"
          answers={permitted.map((value) => ({ value, words: first.guide.providerWords[value] ?? value }))}
          value={draft.providerSaid}
          isLocked={isLocked || !guide}
          onChoose={(providerSaid) => change({ providerSaid })}
        />
      ) : (
        <p data-step="providerSaid" class="note">
          The provider says of each: {first.guide.providerWords[said]}.{' '}
          {guide && !permitted.includes(said) ? `This answer does not permit ${guide.action}.` : ''}
        </p>
      )}
      <div data-step="reason" class="reason">
        <label for={`${id}-reason`}>Reason</label>
        <textarea
          id={`${id}-reason`}
          rows={2}
          maxLength={MOST_REASON}
          disabled={isLocked}
          value={draft.reason}
          onInput={(event) => change({ reason: event.currentTarget.value })}
        />
        <p class="note">The ledger keeps it readable, with your name. Write nothing personal about the consumers.</p>
      </div>
      {previewed && !decided ? (
        <section class="sent" aria-label="What will be sent">
          <h3>What will be sent{session.by ? `, in the name of ${session.by}` : ''}</h3>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys */}
          <pre tabIndex={0}>{exactly(previewed.common, toSend)}</pre>
          <OutcomeTable
            previewed={previewed.rows.filter((row) => !isAmong(partly, row))}
            decided={partly}
            isPartly={draft.isUnanswered}
          />
        </section>
      ) : null}
      {decided ? (
        <OutcomeTable decided={decided} leftOut={previewed?.rows.filter(({ result }) => result !== 'decidable')} />
      ) : null}
      {words ? (
        <p role="alert" class="warning">
          {words}
        </p>
      ) : null}
      {decided ? null : (
        <p class="buttons">
          {previewed ? (
            <button
              ref={go}
              type="submit"
              class="primary"
              disabled={isBusy || decidable === 0 || !may(session, 'holds:decide')}
            >
              {isBusy && progress > 0 ? `Decided ${progress} of ` : ''}
              {draft.isUnanswered ? `Send the same again: ${decidable}` : `Decide ${decidable}: ${draft.action}`}{' '}
              <kbd>Ctrl Enter</kbd>
            </button>
          ) : (
            <button type="submit" class="primary" disabled={isBusy || !may(session, 'holds:decide')}>
              Preview {holds.length} <kbd>Ctrl Enter</kbd>
            </button>
          )}
        </p>
      )}
    </form>
  );
}

const SOME_UNKNOWN =
  'The page does not know whether some were decided. Send the same again: each is decided once, however often the request arrives.';

function stoppedWords(words: string, answered: number, all: number): string {
  if (answered === 0) return words;
  return `The results of ${answered} of ${all} are known and shown above. The others are not known. Send the same again: each is decided once, however often the request arrives.`;
}

function isAmong(rows: readonly Decided[], { runKey, customerTraceNumber, attempt }: Decided): boolean {
  return rows.some(
    (one) => one.runKey === runKey && one.customerTraceNumber === customerTraceNumber && one.attempt === attempt,
  );
}

/** What is sent, an inquiry a line. */
function exactly(common: Common, inquiries: readonly object[]): string {
  const lines = inquiries.map((one) => `    ${JSON.stringify(one)}`).join(',\n');
  const members = JSON.stringify(common, null, 2).slice(0, -2);
  return `POST /v1/decisions\n${members},\n  "inquiries": [\n${lines}\n  ]\n}`;
}

/** What every one of them allows, in the words of the first, with each effect. */
function guidesOf(holds: readonly Hold[]): ActionGuide[] {
  const [first, ...others] = holds;
  return TOGETHER.flatMap((action) => {
    const isAllowed = (hold: Hold | undefined) => hold?.allowedActions.some((one) => one === action) ?? false;
    if (!isAllowed(first) || !others.every(isAllowed)) return [];
    const guides = holds.flatMap(({ guide }) => guide.actions.filter((one) => one.action === action));
    const does = [...new Set(guides.map((guide) => guide.does))].join(' Or: ');
    return guides.slice(0, 1).map((guide) => ({ ...guide, does }));
  });
}

function commonOf(draft: PileDraft, permitted: readonly string[]): Common | { missing: string; words: string } {
  const { decisionId, action, providerSaid, outcome } = draft;
  const reason = draft.reason.trim().replaceAll(/\s+/g, ' ');
  if (!action) return { missing: 'action', words: 'Choose an action.' };
  if (action === 'accept' && !outcome) return { missing: 'outcome', words: 'Choose the outcome of each.' };
  if (!providerSaid || !permitted.includes(providerSaid)) {
    return { missing: 'providerSaid', words: 'Say what the provider said: this action needs it.' };
  }
  if (!reason) return { missing: 'reason', words: 'Give a reason.' };
  const given = { decisionId, action, providerSaid, ...(action === 'accept' ? { outcome } : {}), reason };
  return given as Common;
}
