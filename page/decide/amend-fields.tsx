/** Of `amend`: the same applicants, or corrected ones. Persons' data are typed only by who may read them, too. */
import type { Applicant, Hold, Session } from '../api/schemas.ts';
import { may } from '../shell/session.ts';
import { AnswerGroup } from './answer-group.tsx';
import { ALONE, emptyApplicant, type Field, REPEATED } from './applicant-fields.ts';
import { blankApplicants, type Draft } from './draft.ts';

interface AmendProps {
  hold: Hold;
  draft: Draft;
  change: (part: Partial<Draft>) => void;
  isLocked: boolean;
  session: Session;
}

export function AmendFields({ hold, draft, change, isLocked, session }: AmendProps) {
  const mayType = may(session, 'reports:reveal');
  const { applicants } = draft;
  const put = (at: number, applicant: Applicant | undefined) => {
    const next = (applicants ?? []).flatMap((one, place) => (place === at ? (applicant ?? []) : one));
    change({ applicants: next.length > 0 ? next : blankApplicants(hold) });
  };
  return (
    <>
      <AnswerGroup
        step="applicants"
        legend="For whom is the new inquiry?"
        answers={[
          { value: 'same', words: 'the same applicants, as they were' },
          ...(mayType ? [{ value: 'corrected', words: 'corrected applicants: all of them, typed here' }] : []),
        ]}
        value={applicants ? 'corrected' : 'same'}
        isLocked={isLocked}
        onChoose={(who) => change({ applicants: who === 'same' ? undefined : blankApplicants(hold) })}
      />
      {mayType ? null : (
        <p class="note">
          Corrected applicants are personal data: typing them takes a token with <code>reports:reveal</code>.
        </p>
      )}
      {applicants ? (
        <p class="note">
          These fields start empty. The ledger keeps no applicants, and those of the run’s start may have been replaced
          since. Somebody who knows the applicants must type what is sent.
        </p>
      ) : null}
      {applicants?.map((applicant, at) => (
        <ApplicantFields
          key={at}
          applicant={applicant}
          isLocked={isLocked}
          canGo={applicants.length > 1}
          onChange={(next) => put(at, next)}
        />
      ))}
      {applicants ? (
        <p>
          <button
            type="button"
            disabled={isLocked}
            onClick={() => change({ applicants: [...applicants, emptyApplicant(`${applicants.length + 1}A`)] })}
          >
            One more applicant
          </button>
        </p>
      ) : null}
    </>
  );
}

interface ApplicantProps {
  applicant: Applicant;
  isLocked: boolean;
  canGo: boolean;
  onChange: (next: Applicant | undefined) => void;
}

type Values = Readonly<Record<string, string>>;

function ApplicantFields({ applicant, isLocked, canGo, onChange }: ApplicantProps) {
  const all = applicant as unknown as Record<string, unknown>;
  const set = (name: string, value: unknown) => onChange({ ...all, [name]: value } as unknown as Applicant);
  return (
    <fieldset class="fields applicant" data-step={`applicant-${applicant.applicantId}`} disabled={isLocked}>
      <legend>Applicant {applicant.applicantId}</legend>
      {ALONE.map((field) => (
        <Input
          key={field.name}
          field={field}
          value={String(all[field.name] ?? '')}
          onInput={(v) => set(field.name, v)}
        />
      ))}
      {Object.entries(REPEATED).map(([group, { one, fields }]) => {
        const items = all[group] as Values[];
        return (
          <div key={group} class="repeated">
            {items.map((item, at) => (
              <div key={at} class="fields">
                {fields.map((field) => (
                  <Input
                    key={field.name}
                    field={field}
                    value={item[field.name] ?? ''}
                    onInput={(value) => set(group, items.with(at, { ...item, [field.name]: value }))}
                  />
                ))}
                {items.length > 1 ? (
                  <button type="button" class="quiet" onClick={() => set(group, items.toSpliced(at, 1))}>
                    Without this {one}
                  </button>
                ) : null}
              </div>
            ))}
            <button
              type="button"
              class="quiet"
              onClick={() => set(group, [...items, Object.fromEntries(fields.map(({ name }) => [name, '']))])}
            >
              One more {one}
            </button>
          </div>
        );
      })}
      {canGo ? (
        <button type="button" class="quiet" onClick={() => onChange(undefined)}>
          Without this applicant
        </button>
      ) : null}
    </fieldset>
  );
}

function Input({ field, value, onInput }: { field: Field; value: string; onInput: (value: string) => void }) {
  const { label, isOptional = false, among, example, maxLength, pattern } = field;
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: it holds one of two
    <label>
      {label}
      {isOptional ? ' (optional)' : ''}
      {among ? (
        <select value={value} onChange={(event) => onInput(event.currentTarget.value)}>
          {isOptional ? <option value="" /> : null}
          {among.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      ) : (
        <input
          type="text"
          {...{ maxLength, pattern }}
          placeholder={example}
          autocomplete="off"
          spellcheck={false}
          value={value}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      )}
    </label>
  );
}
