#!/bin/sh
# Gives the HTTP API its own role in the ledger's database, with its grants and the password of its file. After
# `credit-journey setup`, which makes the tables. May be run again. Reads PGHOST, PGPORT and PGUSER, as psql does.
set -eu

secrets="${SECRETS_DIR:-/run/secrets}"
grants="$(dirname "$0")/api-role.sql"
PGPASSWORD="$(cat "$secrets/postgres_password")"
PASSWORD_FILE="$secrets/ledger_api_db_password"
export PGPASSWORD PASSWORD_FILE PGDATABASE=ledger

psql --quiet --no-psqlrc --set ON_ERROR_STOP=1 --single-transaction --file "$grants"
# The password is in no argument, which every process of the machine could read.
psql --quiet --no-psqlrc --set ON_ERROR_STOP=1 <<'SQL'
\set password `cat "$PASSWORD_FILE"`
SELECT format('ALTER ROLE ledger_api LOGIN PASSWORD %L', :'password') \gexec
SQL
