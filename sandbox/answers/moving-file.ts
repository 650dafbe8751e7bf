/** A file that changes between preapproval and closing: that of the magic applicant 0020. */

/** A consumer's credit data (interface 2.4). */
export interface Consumer {
  names: Record<string, string>[];
  ssn: string;
  dob: string;
  addresses: Record<string, string>[];
  accounts: Record<string, string>[];
}

const OPEN = '11';
const CLOSED = '13';

/** Before the change the first two tradelines are open, and the new loan does not exist yet. */
export function movingFile(consumer: Consumer, state: 'before' | 'after'): Consumer {
  const [first, second, third, ...others] = consumer.accounts;
  if (!first || !second || !third) return consumer;
  const before = {
    ...consumer,
    accounts: [{ ...first, statusCode: OPEN }, { ...second, statusCode: OPEN }, third, ...others],
  };
  return state === 'before' ? before : moved(before);
}

function moved(before: Consumer): Consumer {
  const [first, second, , ...others] = before.accounts;
  const [name] = before.names;
  const taken = {
    contributor: 'SAMPLE AUTO FINANCE',
    accountNumber: 'XXXXXXXXXXXX2026',
    type: '00',
    opened: '2026-01-15',
    balance: '18500.00',
    creditLimit: '20000.00',
    statusCode: OPEN,
  };
  const drawn = { ...first, balance: (Number(first?.balance) + 1500).toFixed(2) };
  const closed = { ...second, balance: '0.00', statusCode: CLOSED };
  return {
    ...before,
    names: [...before.names, { ...name, first: name?.first?.slice(0, 1) ?? '', middle: '' }],
    addresses: [
      ...before.addresses,
      { line1: '77 MOVING LANE', line2: '', city: 'SPRINGFIELD', state: 'IL', zip: '62701' },
    ],
    // The third tradeline has vanished.
    accounts: [drawn, closed, ...others, taken],
  };
}
