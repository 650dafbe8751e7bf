import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DoctorContext } from '../../src/doctor/check.ts';
import { ledgerDurabilityCheck } from '../../src/doctor/ledger-checks.ts';
import {
  countNeededStandbys,
  type Durability,
  type DurabilitySetting,
  type Follower,
  judgeDurability,
} from '../../src/ledger/database/durability.ts';

const sync: Follower = { sync: 'sync', canTakeOver: true };
const async: Follower = { sync: 'async', canTakeOver: true };
const hidden: Follower = { canTakeOver: true };
const archive: Follower = { sync: 'async', canTakeOver: false };

const GOOD: Durability = {
  isStandby: false,
  isFlushed: true,
  writesFullPages: true,
  commit: 'on',
  synchronousNames: 'standby',
  followers: [sync],
};
const ALONE: Partial<Durability> = { synchronousNames: '', followers: [] };

const storage: DurabilitySetting = { kind: 'storage', by: 'M. Vance: Multi-AZ' };
const accepted: DurabilitySetting = { kind: 'accepted', by: 'M. Vance: until May' };

type Kind = ReturnType<typeof judgeDurability>['kind'];

const cases: [string, Partial<Durability> | null, Kind, DurabilitySetting?][] = [
  ['commits that wait for a standby', {}, 'sound'],
  ['SQLite, which has no standby', null, 'sound'],
  ['a standby whose state this role cannot read', { followers: [hidden] }, 'sound'],
  ['commits that wait for two of two standbys', { synchronousNames: 'ANY 2 (a, b)', followers: [sync, sync] }, 'sound'],
  [
    'commits that wait for any of two standbys',
    { synchronousNames: 'ANY 1 (a, b)', followers: [sync, sync] },
    'unknown',
  ],
  ['a synchronous and an asynchronous standby', { followers: [sync, async] }, 'unknown'],
  ['a log archive beside the standby', { followers: [sync, archive] }, 'sound'],
  ['an unreachable synchronous standby', { followers: [async] }, 'stalls'],
  ['no standby at all', ALONE, 'unknown'],
  ['a log archive without a standby', { ...ALONE, followers: [archive] }, 'unknown'],
  ['a standby that commits do not wait for', { ...ALONE, followers: [async] }, 'loses'],
  ['a synchronous log archive', { followers: [{ ...archive, sync: 'sync' }, async] }, 'loses'],
  ['a server that flushes nothing', { isFlushed: false }, 'loses'],
  ['pages that can be torn', { writesFullPages: false }, 'loses'],
  ['commits of this role that are not flushed', { commit: 'off' }, 'loses'],
  ['commits that are flushed locally, without another server', { ...ALONE, commit: 'local' }, 'unknown'],
  ['commits that wait for no standby', { commit: 'local' }, 'loses'],
  ['a standby in place of the primary', { isStandby: true }, 'loses'],
  ['storage that keeps commits', ALONE, 'sound', storage],
  ['storage that keeps pages whole', { ...ALONE, writesFullPages: false }, 'sound', storage],
  ['durable storage with an asynchronous standby', { ...ALONE, followers: [async] }, 'unknown', storage],
  ['durable storage with commits that are not flushed', { ...ALONE, commit: 'off' }, 'loses', storage],
  ['durable storage under a server that flushes nothing', { ...ALONE, isFlushed: false }, 'loses', storage],
  ['a possible loss that an operator accepted', { ...ALONE, followers: [async] }, 'unknown', accepted],
  ['a standby in place of the primary, although accepted', { isStandby: true }, 'loses', accepted],
];

const STATUS = { sound: 'pass', unknown: 'warn', stalls: 'fail', loses: 'fail' } as const;

const REPLICATION: DurabilitySetting = { kind: 'replication' };

for (const [what, change, kind, setting = REPLICATION] of cases) {
  test(`the verdict on ${what}${setting.kind === 'replication' ? '' : ` (${setting.kind})`} is ${kind}`, async () => {
    const found = change && { ...GOOD, ...change };
    const verdict = judgeDurability(found, setting);
    assert.equal(verdict.kind, kind, verdict.detail);
    if (setting.by !== undefined && kind !== 'loses') assert.match(verdict.detail, /M\. Vance/);
    for (const environment of ['production', 'uat']) {
      const context = {
        config: { environment, ledger: { durability: setting } },
        ledger: async () => ({ durability: found }),
      } as unknown as DoctorContext;
      const finding = await ledgerDurabilityCheck.run(context, new AbortController().signal);
      const isWarning = environment === 'uat' && kind !== 'sound';
      assert.equal(finding.status, isWarning ? 'warn' : STATUS[kind]);
      assert.equal(finding.toDo === undefined, kind === 'sound');
    }
  });
}

test('the number of standbys is read from each form of synchronous_standby_names', () => {
  const forms = { '': 0, 'a, b': 1, '*': 1, '2 (a, b, c)': 2, 'FIRST 3 (*)': 3, 'any 2 ("a", b)': 2, 'ANY 1(a)': 1 };
  for (const [names, needed] of Object.entries(forms)) assert.equal(countNeededStandbys(names), needed, names);
});
