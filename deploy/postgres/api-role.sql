-- What the HTTP API may do with the ledger: read, and write decisions, what was seen, and who has read a report.
-- It can claim no attempt, and so cause no inquiry; nor can it change a consent, a pause, a report or a table.
-- Run it as the ledger's owner or an administrator, in the ledger's database, after `credit-journey setup` and after
-- each migration. May be run again. Then: ALTER ROLE ledger_api LOGIN PASSWORD '…'.
DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'ledger_api') THEN CREATE ROLE ledger_api NOLOGIN; END IF;
  EXECUTE format('GRANT CONNECT ON DATABASE %I TO ledger_api', current_database());
END $$;

-- What an earlier version of this file has granted.
REVOKE ALL ON ALL TABLES IN SCHEMA public FROM ledger_api;
GRANT USAGE ON SCHEMA public TO ledger_api;
GRANT SELECT ON ALL TABLES IN SCHEMA public TO ledger_api;

-- A decision, its entry in the audit chain, and what it does: an accepted attempt, an abandoned inquiry. The row of the
-- inquiry is written where it is missing; without one in `attempts` nothing is sent under it.
GRANT INSERT ON decisions, inquiries, audit_chain, report_references, report_consumers TO ledger_api;
GRANT INSERT, UPDATE ON audit_head TO ledger_api;
GRANT UPDATE (state, accepted_by, accepted_answer, outcome, applicant_outcomes) ON attempts TO ledger_api;
GRANT UPDATE (abandoned_at) ON inquiries TO ledger_api;

-- What needs a person, and what a person has seen.
GRANT INSERT, UPDATE ON work_for_people TO ledger_api;
GRANT INSERT ON attention_seen TO ledger_api;
GRANT UPDATE (seen_at, seen_by, seen_reason) ON kept_consents TO ledger_api;

-- Who has read what.
GRANT INSERT ON report_accesses TO ledger_api;
