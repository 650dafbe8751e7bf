/** Indexes by which a person finds a record by its own name alone. Part of version 10. */

export function namesIndexed(): string[] {
  return [
    'CREATE INDEX decisions_by_id ON decisions (decision_id)',
    'CREATE INDEX run_decisions_by_id ON run_decisions (decision_id)',
    'CREATE INDEX attention_seen_by_id ON attention_seen (decision_id)',
    'CREATE INDEX report_shares_by_id ON report_shares (share_id)',
    'CREATE INDEX consents_by_share ON consents (share_id)',
    'CREATE INDEX inquiries_by_share ON inquiries (share_id) WHERE share_id IS NOT NULL',
  ];
}
