-- The roles of the ledger's database, and what each may do. Its owner is for `credit-journey setup` alone.
--
--   ledger_worker  workers, and operators' commands: writes each row as the code does, and takes none back
--   ledger_api     the HTTP API: reads, and writes decisions, pauses, legal holds, what was seen, and who has read a report
--
-- None makes, changes or drops a table, a trigger or a function. Run it as the ledger's owner or an administrator, in the
-- ledger's database, after `credit-journey setup` and after each migration. May be run again. Then, for each role:
-- ALTER ROLE … LOGIN PASSWORD '…'.

-- The policies below wait for every reader of their table, such as a backup, and all programs would wait behind them.
SET lock_timeout = '1s';

DO $$
DECLARE role TEXT;
BEGIN
  FOREACH role IN ARRAY ARRAY['ledger_worker', 'ledger_api'] LOOP
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role) THEN EXECUTE format('CREATE ROLE %I NOLOGIN', role); END IF;
    EXECUTE format('GRANT CONNECT ON DATABASE %I TO %I', current_database(), role);
  END LOOP;
END $$;

-- What an earlier version of this file has granted. Taking a right on a table takes those on its columns, too.
REVOKE ALL ON ALL TABLES IN SCHEMA public FROM ledger_worker, ledger_api;
GRANT USAGE ON SCHEMA public TO ledger_worker, ledger_api;
-- Before PostgreSQL 15 every role may make tables and functions there, and an upgraded database keeps that.
DO $$ BEGIN
  EXECUTE format('GRANT CREATE ON SCHEMA public TO %I',
    (SELECT tableowner FROM pg_tables WHERE schemaname = 'public' AND tablename = 'ledger_identity'));
  REVOKE CREATE ON SCHEMA public FROM PUBLIC;
  -- Who may not revoke it only gets a warning.
  IF has_schema_privilege('ledger_api', 'public', 'CREATE') THEN
    RAISE EXCEPTION 'every role may make tables in schema public: an administrator has to run this file';
  END IF;
END $$;
GRANT SELECT ON ALL TABLES IN SCHEMA public TO ledger_worker, ledger_api;

-- ledger_worker ------------------------------------------------------------------------------------------------------

GRANT INSERT ON inquiries, attempts, closed_attempts, decisions, consents, attempt_consents,
  report_shares, sealed_bodies, report_references, report_consumers, report_accesses,
  audit_chain, orders, operator_tasks
  TO ledger_worker;

-- Whose inquiry it is, for what and under which number stays as the claim has written it.
GRANT UPDATE (digest, applicant_ids, permitted_repeat, paused_at, abandoned_at, disposed_at)
  ON inquiries TO ledger_worker;
-- How it ended; never its place, when it was claimed, until when its answer may come, or who permitted it.
GRANT UPDATE (state, requested_at, recorded_at, http_status, failure_type, retry_after_ms, answer_kind, outcome, return_code,
  return_reason_code, applicant_outcomes, answer, accepted_by, accepted_answer, late_at, late_state, late_news,
  late_answer) ON attempts TO ledger_worker;
GRANT UPDATE (last_position) ON attempt_counter TO ledger_worker;
GRANT UPDATE (chain_entries, chain_hash, chain_mac) ON ledger_identity TO ledger_worker;
GRANT UPDATE (told_to, unmatched, listed_from, fault, seen_at, seen_by, seen_reason) ON consents TO ledger_worker;
GRANT UPDATE (held_since, closed_at, closed_how, closed_by) ON operator_tasks TO ledger_worker;

-- Disposal and `keys rewrap`. A trigger lets nothing be put in the place of a sealed report: it can only be destroyed.
GRANT UPDATE (body, key_id, wrapped_key) ON sealed_bodies TO ledger_worker;
GRANT DELETE ON report_consumers TO ledger_worker;
GRANT UPDATE (key_id, wrapped_key) ON ledger_identity TO ledger_worker;
-- The vacuum after a disposal. Before PostgreSQL 17 only an owner may vacuum: `dispose` then says that old row versions
-- are left to the server's own vacuum.
DO $$ BEGIN
  IF current_setting('server_version_num')::INT >= 170000 THEN
    EXECUTE 'GRANT MAINTAIN ON inquiries, attempts, sealed_bodies TO ledger_worker';
  END IF;
END $$;

-- ledger_api ---------------------------------------------------------------------------------------------------------

-- It can claim no attempt, and so cause no inquiry; nor can it dispose of anything, accept a restored ledger, or change a
-- consent, a report or a table.
-- A decision, its entry in the audit chain, and what it does: an accepted attempt, an abandoned inquiry. The row of the
-- inquiry is written where it is missing; without one in `attempts` nothing is sent under it.
GRANT INSERT ON decisions, inquiries, audit_chain, report_references, report_consumers TO ledger_api;
GRANT UPDATE (chain_entries, chain_hash, chain_mac) ON ledger_identity TO ledger_api;
-- A decision also notes that an answer can no longer come (failure_type).
GRANT UPDATE (state, failure_type, accepted_by, accepted_answer, outcome, applicant_outcomes) ON attempts TO ledger_api;
GRANT UPDATE (abandoned_at) ON inquiries TO ledger_api;
-- Pauses, legal holds, and who cancelled a review or has seen a flag, and why. A pause locks the counter of attempts: that takes a right to update a column, and a CHECK keeps
-- this one as it is. The end of a pause forgets whose runs it has woken.
GRANT INSERT ON orders TO ledger_api;
GRANT UPDATE (only_row) ON attempt_counter TO ledger_api;
GRANT UPDATE (paused_at) ON inquiries TO ledger_api;
-- The first policy keeps everything as the grants say. The second one takes all other orders from the API.
ALTER TABLE orders ENABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS orders_by_grants ON orders;
CREATE POLICY orders_by_grants ON orders USING (true) WITH CHECK (true);
DROP POLICY IF EXISTS orders_of_api ON orders;
CREATE POLICY orders_of_api ON orders AS RESTRICTIVE FOR INSERT TO ledger_api
  WITH CHECK (kind IN ('pauseBegun', 'pauseEnded', 'legalHoldSet', 'legalHoldReleased', 'cancel', 'seen'));
-- What needs a person, and what a person has seen.
GRANT INSERT, UPDATE (closed_at, closed_how, closed_by) ON operator_tasks TO ledger_api;
GRANT UPDATE (seen_at, seen_by, seen_reason) ON consents TO ledger_api;
-- Who has read what.
GRANT INSERT ON report_accesses TO ledger_api;
