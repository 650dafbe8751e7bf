/** A hold of a run: what happened, what may be done about it now, and the form of what is being done. */
import { useEffect, useState } from 'preact/hooks';
import type { ActionGuide } from '../api/guide.ts';
import type { Hold, Session } from '../api/schemas.ts';
import { useKeys } from '../base/keys.ts';
import { goTo, runAddress } from '../base/route.ts';
import { timeWords } from '../base/time.ts';
import { Age, Time } from '../base/when.tsx';
import { capital } from '../base/words.ts';
import { DecisionForm } from '../decide/decision-form.tsx';
import { TakenNotice } from '../decide/outcome.tsx';
import type { Taken } from '../decide/sending.ts';
import { whatWords } from '../queue/group-table.tsx';
import { latestHolds } from '../queue/use-queue.ts';
import { may } from '../shell/session.ts';
import { Refusal } from './kept-data.tsx';

/** `a` is accept, `b` abandons, and so on. */
const KEYS: Readonly<Record<string, string>> = { resend: 'r', accept: 'a', amend: 'm', abandon: 'b', seen: 's' };

interface CardProps {
  hold: Hold;
  session: Session;
  now: number;
  /** The one that keys are about. */
  isCurrent: boolean;
  isGone: boolean;
  /** Chosen by the address. */
  action: string | undefined;
  onDecided: () => void;
}

export function HoldCard({ hold, session, now, isCurrent, isGone, action, onDecided }: CardProps) {
  const [taken, take] = useState<{ action: string; answer: Taken }>();
  const { actions } = hold.guide;
  const isAllowed = hold.decideAt !== undefined && may(session, 'holds:decide');
  const chosen = isAllowed && !taken ? actions.find((one) => one.action === action) : undefined;
  const choose = (name: string | undefined) =>
    goTo(runAddress(hold.runKey, { holdId: hold.holdId, ...(name ? { action: name } : {}) }), { replace: true });
  const next = nextHold(hold.holdId);
  const isOpen = isCurrent && !chosen && !taken && isAllowed;
  useKeys({
    ...Object.fromEntries(
      actions.map((one) => [KEYS[one.action] ?? one.action, isOpen ? () => choose(one.action) : undefined]),
    ),
    ...(taken && isCurrent && next ? { n: () => goTo(runAddress(next.runKey, { holdId: next.holdId })) } : {}),
  });
  useEffect(() => {
    if (taken) document.getElementById('taken')?.focus();
  }, [taken]);
  const id = `hold-${hold.holdId}`;
  return (
    <article class={`hold ${isCurrent ? 'current' : ''} ${chosen ? 'deciding' : ''}`} aria-labelledby={id}>
      <header>
        <h2 id={id} tabIndex={-1}>
          {hold.failureType} <span class="about">{whatWords(hold)}</span>
        </h2>
        {taken ? null : (
          <p class="since">
            for <Age since={hold.since} now={now} />, since <Time at={hold.since} />
          </p>
        )}
      </header>
      {taken ? null : (
        <div class="held">
          <Meaning hold={hold} runbookUrl={session.runbookUrl} />
          <Facts hold={hold} now={now} />
          {hold.refusalKept && may(session, 'reports:read') ? <Refusal hold={hold} session={session} /> : null}
        </div>
      )}
      {taken ? (
        <>
          <TakenNotice hold={hold} {...taken} onGone={onDecided} />
          <p class="buttons">
            {next ? (
              <a class="button primary" href={runAddress(next.runKey, { holdId: next.holdId })}>
                Next: {next.failureType} of {next.runKey} <kbd>n</kbd>
              </a>
            ) : null}
            <a class="button" href="#/holds">
              The queue <kbd>Esc</kbd>
            </a>
          </p>
        </>
      ) : null}
      {taken || chosen ? null : <Actions {...{ actions, isAllowed, isGone, hold, choose, isCurrent }} />}
      {chosen ? (
        <DecisionForm
          key={chosen.action}
          hold={hold}
          guide={chosen}
          session={session}
          isGone={isGone}
          onCancel={() => {
            choose(undefined);
            setTimeout(() => document.getElementById(id)?.focus(), 0);
          }}
          onTaken={(answer) => {
            take({ action: chosen.action, answer });
            choose(undefined);
            onDecided();
          }}
        />
      ) : null}
    </article>
  );
}

/** The one after it in the queue as the reader has last seen it; the first where this was the last. */
function nextHold(holdId: string): Hold | undefined {
  const holds = latestHolds.get();
  const at = holds.findIndex((hold) => hold.holdId === holdId);
  return holds[at + 1] ?? holds.find((hold) => hold.holdId !== holdId);
}

function Meaning({ hold: { guide }, runbookUrl }: { hold: Hold; runbookUrl: string | undefined }) {
  return (
    <div class="meaning">
      <p>{guide.meaning}</p>
      {guide.onFile ? (
        <p>
          <b>On the consumer’s file:</b> {guide.onFile}
        </p>
      ) : null}
      {guide.ask ? (
        <figure>
          <figcaption>Ask the provider</figcaption>
          <blockquote>{guide.ask}</blockquote>
        </figure>
      ) : null}
      {guide.runbook ? (
        <p class="note">
          Runbook: <RunbookPage path={guide.runbook} runbookUrl={runbookUrl} />
        </p>
      ) : null}
    </div>
  );
}

/** A link where it is known where the runbook is served. */
function RunbookPage({ path, runbookUrl }: { path: string; runbookUrl: string | undefined }) {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (runbookUrl === undefined) return <code>{path}</code>;
  return (
    <a href={`${runbookUrl}/${name}`} target="_blank" rel="noreferrer">
      {name.replace(/\.md$/, '')}
    </a>
  );
}

interface ActionsProps {
  actions: readonly ActionGuide[];
  isAllowed: boolean;
  isGone: boolean;
  hold: Hold;
  isCurrent: boolean;
  choose: (action: string) => void;
}

function Actions({ actions, isAllowed, isGone, hold, choose, isCurrent }: ActionsProps) {
  if (isGone) return <p class="none">It is no longer on the list: there is nothing to decide.</p>;
  if (actions.length === 0 || hold.decideAt === undefined) {
    return <p class="none">There is nothing to decide here. It leaves the list once its cause is fixed.</p>;
  }
  return (
    <>
      <ul class="actions" aria-label="What may be done">
        {actions.map(({ action, does }) => (
          <li key={action}>
            <button
              type="button"
              disabled={!isAllowed}
              onClick={() => choose(action)}
              aria-keyshortcuts={isCurrent ? KEYS[action] : undefined}
              aria-describedby={`does-${hold.holdId}-${action}`}
            >
              {capital(action)} {isCurrent ? <kbd>{KEYS[action]}</kbd> : null}
            </button>
            <span id={`does-${hold.holdId}-${action}`}>{does}</span>
          </li>
        ))}
      </ul>
      {isAllowed ? null : (
        <p class="note">
          You may not decide: your token lacks <code>holds:decide</code>.
        </p>
      )}
    </>
  );
}

function Facts({ hold, now }: { hold: Hold; now: number }) {
  const { customerTraceNumber, attempt, applicantIds, httpStatus, returnCode, returnReasonCode } = hold;
  const { otherTraceNumber, resendFrom, problems, endUser, endUserCode, profile } = hold;
  const facts: [string, preact.ComponentChildren][] = [];
  if (customerTraceNumber) {
    facts.push(['Trace number', <code key="t">{customerTraceNumber}</code>]);
    if (attempt) facts.push(['Attempt', attempt]);
  }
  if (applicantIds) facts.push(['Applicants', applicantIds.join(', ')]);
  facts.push(['For', [endUser, endUserCode].filter(Boolean).join(', ') || 'not known'], ['Profile', profile]);
  if (httpStatus !== undefined) facts.push(['HTTP status', httpStatus]);
  if (returnCode) facts.push(['Return code', [returnCode, returnReasonCode].filter(Boolean).join(', reason ')]);
  if (otherTraceNumber) facts.push(['Other trace number', <code key="o">{otherTraceNumber}</code>]);
  if (resendFrom && Date.parse(resendFrom) > now) facts.push(['Resend from', timeWords(resendFrom, now)]);
  if (problems?.length) {
    facts.push([
      'What is wrong',
      <ul key="p">
        {problems.map(({ path, rule }) => (
          <li key={path + rule}>
            <code>{path || '/'}</code> {rule}
          </li>
        ))}
      </ul>,
    ]);
  }
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
