#!/bin/sh
# Gives workers and HTTP API a role each in the ledger's database, with its grants and the password of its
# file. After `credit-journey setup`, which makes the tables. May be run again. Reads PGHOST, PGPORT and PGUSER, as psql does.
set -eu

secrets="${SECRETS_DIR:-/run/secrets}"
grants="$(dirname "$0")/roles.sql"
PGPASSWORD="$(cat "$secrets/postgres_password")"
export PGPASSWORD PGDATABASE=ledger

give_password() { # role, file
  psql --quiet --no-psqlrc --set ON_ERROR_STOP=1 --command "ALTER ROLE $1 LOGIN"
  # psql sends a hash, since the server's log may keep the statement. It asks twice, and without a terminal it reads from
  # here. The password is in no argument, which every process of the machine could read.
  password="$(cat "$2")"
  printf '%s\n%s\n' "$password" "$password" | setsid psql --quiet --no-psqlrc --command "\\password $1"
}

psql --quiet --no-psqlrc --set ON_ERROR_STOP=1 --single-transaction --file "$grants"
give_password ledger_worker "$secrets/ledger_worker_db_password"
give_password ledger_api "$secrets/ledger_api_db_password"
