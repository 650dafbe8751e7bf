/** Beside the list: how much waits for a person, and the filters. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { HoldCounts, Session } from '../api/schemas.ts';
import type { Polled } from '../base/polled.ts';
import { type Filters, goTo, queueAddress } from '../base/route.ts';
import { Age } from '../base/when.tsx';

interface SideProps {
  filters: Filters;
  counts: Polled<HoldCounts>;
  session: Session;
  /** What the rows have, to choose from. */
  known: { profiles: readonly string[]; endUsers: readonly string[] };
  now: number;
}

export function Side({ filters, counts, session, known, now }: SideProps) {
  const { failureType: _, ...others } = filters;
  // Where there is little room they are asked for; those that are in force are always shown.
  const [isOpen] = useState(() => matchMedia('(min-width: 64rem)').matches || Object.keys(others).length > 0);
  return (
    <aside class="side" aria-label="Counts and filters">
      <section>
        <h2>By failure type</h2>
        <ul class="counts">
          {(counts.data?.counts ?? []).map(({ kind, failureType, count, oldest }) => (
            <li key={`${kind} ${failureType}`}>
              <a
                href={queueAddress(filters.failureType === failureType ? others : { ...others, failureType })}
                aria-current={filters.failureType === failureType ? 'true' : undefined}
              >
                <span class="name">{failureType}</span> <span class="number">{count.toLocaleString('en')}</span>{' '}
                <span class="oldest">
                  oldest <Age since={oldest} now={now} />
                </span>
              </a>
            </li>
          ))}
          {counts.data?.counts.length === 0 ? <li class="none">Nothing.</li> : null}
        </ul>
      </section>
      <details open={isOpen}>
        <summary>Show only</summary>
        <FilterForm {...{ filters, session, known }} />
      </details>
    </aside>
  );
}

const KINDS = { held: 'waits for a decision', flagged: 'to look at' };

function FilterForm({ filters, session, known }: Pick<SideProps, 'filters' | 'session' | 'known'>) {
  const set = (change: Filters) => goTo(queueAddress({ ...filters, ...change }));
  const isAny = Object.values(filters).some(Boolean);
  const profiles = session.profiles === '*' ? known.profiles : session.profiles;
  const endUsers = session.endUsers === '*' ? known.endUsers : session.endUsers;
  return (
    <form class="filters" onSubmit={(event) => event.preventDefault()}>
      <Choice label="Kind" value={filters.kind} onChange={(kind) => set({ kind })}>
        {Object.entries(KINDS).map(([kind, words]) => (
          <option key={kind} value={kind}>
            {words}
          </option>
        ))}
      </Choice>
      <Named label="Profile" value={filters.profile} among={profiles} onChange={(profile) => set({ profile })} />
      <Named
        label="End user’s code"
        value={filters.endUserCode}
        among={endUsers}
        onChange={(endUserCode) => set({ endUserCode })}
      />
      {isAny ? <a href={queueAddress()}>Show everything</a> : null}
    </form>
  );
}

interface ChoiceProps {
  label: string;
  value: string | undefined;
  onChange: (value: string) => void;
  children: ComponentChildren;
}

function Choice({ label, value, onChange, children }: ChoiceProps) {
  return (
    <label>
      {label}
      <select value={value ?? ''} onChange={(event) => onChange(event.currentTarget.value)}>
        <option value="">all</option>
        {children}
      </select>
    </label>
  );
}

interface NamedProps extends Omit<ChoiceProps, 'children'> {
  among: readonly string[];
}

/** A name may be one that no row on the screen has. */
function Named({ label, value, among, onChange }: NamedProps) {
  const list = `known-${label.replaceAll(/\W/g, '')}`;
  return (
    <label>
      {label}
      <input
        type="text"
        list={list}
        maxLength={64}
        placeholder="all"
        autocomplete="off"
        spellcheck={false}
        value={value ?? ''}
        onChange={(event) => onChange(event.currentTarget.value.trim())}
      />
      <datalist id={list}>
        {among.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </label>
  );
}
