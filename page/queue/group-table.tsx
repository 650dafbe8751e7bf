/** The holds of one failure type: rows on a wide screen, cards on a narrow one. */
import type { Hold } from '../api/schemas.ts';
import { queueAddress, runAddress } from '../base/route.ts';
import { Age } from '../base/when.tsx';
import { plural } from '../base/words.ts';
import { canBeChosen, chooseAll, toggle } from './chosen.ts';
import type { Group, Row } from './rows.ts';

interface GroupProps {
  group: Group;
  /** Of the API's count; what is loaded may be less. */
  total: { count: number; oldest: string } | undefined;
  now: number;
  mayDecide: boolean;
  chosen: ReadonlyMap<string, Hold>;
  isOnly: boolean;
}

export function GroupTable({ group, total, now, mayDecide, chosen, isOnly }: GroupProps) {
  const { kind, failureType, rows } = group;
  const open = rows.filter(({ isGone }) => !isGone);
  const meaning = rows[0]?.hold.guide.meaning;
  const count = Math.max(total?.count ?? 0, open.length);
  const oldest = open[0]?.hold.since ?? total?.oldest;
  const id = `type-${failureType}`;
  const canChoose = mayDecide && kind === 'held' && open.some(({ hold }) => canBeChosen(hold, new Map()));
  return (
    <section class="group" aria-labelledby={id}>
      <header>
        <h3 id={id}>{failureType}</h3>
        <p class="count">
          {plural(count, 'hold').replace('hold', kind === 'held' ? 'hold' : 'flag')}
          {count > open.length ? `, ${open.length} shown` : ''}
          {oldest ? (
            <>
              {count > 1 ? ', the oldest for' : ', for'} <Age since={oldest} now={now} />
            </>
          ) : null}
        </p>
        <p class="tools">
          {canChoose && open.length > 1 ? (
            <button type="button" class="quiet" onClick={() => chooseAll(open.map(({ hold }) => hold))}>
              Choose all {open.length}
            </button>
          ) : null}
          {isOnly ? null : <a href={queueAddress({ failureType })}>Only these</a>}
        </p>
        {meaning ? <p class="meaning">{meaning}</p> : null}
      </header>
      <table>
        <colgroup>
          {canChoose ? <col class="choose" /> : null}
          <col class="age" />
          <col class="run" />
          <col class="what" />
          <col class="trace" />
          <col class="whose" />
        </colgroup>
        <thead>
          <tr>
            {canChoose ? (
              <th scope="col" class="choose">
                <span class="unseen">Choose</span>
              </th>
            ) : null}
            <th scope="col" class="age">
              For
            </th>
            <th scope="col" class="run">
              Run
            </th>
            <th scope="col" class="what">
              Inquiry
            </th>
            <th scope="col" class="trace">
              Trace number
            </th>
            <th scope="col" class="whose">
              End user, profile
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <HoldRow key={row.hold.holdId} {...{ row, now, canChoose, chosen }} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

interface RowProps {
  row: Row;
  now: number;
  canChoose: boolean;
  chosen: ReadonlyMap<string, Hold>;
}

function HoldRow({ row: { hold, isGone }, now, canChoose, chosen }: RowProps) {
  const { holdId, runKey, since, customerTraceNumber, attempt } = hold;
  const isChosen = chosen.has(holdId);
  return (
    <tr class={isGone ? 'gone' : isChosen ? 'chosen' : undefined} data-hold={holdId}>
      {canChoose ? (
        <td class="choose">
          {isGone ? null : (
            <input
              type="checkbox"
              tabIndex={-1}
              aria-label={`Choose ${runKey} for a decision together`}
              checked={isChosen}
              disabled={!isChosen && !canBeChosen(hold, chosen)}
              onChange={() => toggle(hold)}
            />
          )}
        </td>
      ) : null}
      <td class="age">
        <Age since={since} now={now} />
      </td>
      <th scope="row" class="run">
        <a href={runAddress(runKey, { holdId })} class="hold-link">
          {runKey}
        </a>
        {isGone ? <span class="tag">no longer on the list</span> : null}
      </th>
      <td class="what">{whatWords(hold)}</td>
      <td class="trace">
        {customerTraceNumber ? <code>{customerTraceNumber}</code> : <span class="none">none</span>}
        {attempt ? <span class="attempt"> attempt {attempt}</span> : null}
      </td>
      <td class="whose">
        {hold.endUser ?? hold.endUserCode ?? ''}
        <span class="profile"> {hold.profile}</span>
      </td>
    </tr>
  );
}

/** `SECONDUSE of share S-1` */
export function whatWords({ productCode, shareId }: Hold): string {
  if (productCode === undefined) return '';
  return shareId === undefined ? productCode : `${productCode} of share ${shareId}`;
}
