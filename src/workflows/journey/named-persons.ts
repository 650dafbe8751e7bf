/** Whom each `applicantId` of a journey has named, in order. A consent is the word of the person named when it came. Pure. */
import { differingPaths } from '../../base/differing-paths.ts';
import { parseInstantMs } from '../../base/instants.ts';
import { isRecord } from '../../base/is-record.ts';
import type { ConsentRecord } from '../../consent/consent-record.ts';
import type { Applicant } from '../../model/applicant.ts';

type Person = Pick<Applicant, 'names' | 'ssn' | 'dob'>;
type Named = Person & Pick<Applicant, 'applicantId'>;

/** Plain data; personal like the journey's own input. */
export interface NamedPerson {
  applicantId: string;
  person: Person;
  /** When the id began to name this person, RFC 3339; absent for the first whom it named. */
  since?: string;
}

export class NamedPersons {
  readonly #list: NamedPerson[];

  constructor(past: readonly NamedPerson[] = []) {
    this.#list = [...past];
  }

  get list(): readonly NamedPerson[] {
    return this.#list;
  }

  /** Takes the applicants who apply from now on. They may be unchecked. */
  name(applicants: readonly Named[]): void {
    for (const one of applicants) {
      if (!isRecord(one)) continue;
      const { applicantId } = one;
      const known = this.#latest(applicantId);
      if (known && isSame(known.person, one)) continue;
      this.#list.push({ applicantId, person: personOf(one), ...(known ? { since: new Date().toISOString() } : {}) });
    }
  }

  /** Whether these applicants have another person under the id than the one whom it names now. */
  isOtherAmong(applicants: readonly Named[], applicantId: string): boolean {
    const known = this.#latest(applicantId);
    return (
      known !== undefined && applicants.some((one) => one.applicantId === applicantId && !isSame(known.person, one))
    );
  }

  /** Whether the id names the same person now as when the list had `length` entries. */
  isStill(applicantId: string, length: number): boolean {
    const [before, now] = [this.#latest(applicantId, length), this.#latest(applicantId)];
    return !before || !now || isSame(before.person, now.person);
  }

  /**
   * Whether a consent came from the person whom its id named when the list had `length` entries. One of the same
   * millisecond as a change may be of either person, and so is of neither.
   */
  isWordOf({ applicantId, receivedAt }: ConsentRecord, length: number): boolean {
    const asked = this.#latest(applicantId, length);
    if (!asked) return true;
    const atMs = parseInstantMs(receivedAt) ?? 0;
    let speaker: Person | undefined;
    for (const { applicantId: id, person, since } of this.#list) {
      if (id !== applicantId) continue;
      const sinceMs = since === undefined ? Number.NEGATIVE_INFINITY : (parseInstantMs(since) ?? 0);
      if (sinceMs === atMs) return false;
      if (sinceMs < atMs) speaker = person;
    }
    return speaker !== undefined && isSame(asked.person, speaker);
  }

  #latest(applicantId: string, length = this.#list.length): NamedPerson | undefined {
    return this.#list.findLast((one, index) => index < length && one.applicantId === applicantId);
  }
}

/** A corrected typing error makes another person, too: a run cannot tell the two apart. */
function isSame(one: Person, other: Person): boolean {
  // Mostly it is the same entry, and there may be thousands of grants.
  return one === other || differingPaths(personOf(one), personOf(other)).length === 0;
}

function personOf({ names, ssn, dob }: Person): Person {
  return { names, ssn, dob };
}
