#!/bin/sh
# Makes the users and databases of Temporal and of the ledger where they are missing, and gives the users the passwords
# of their files. May be run again. Reads PGHOST, PGPORT and PGUSER, as psql does.
set -eu

secrets="${SECRETS_DIR:-/run/secrets}"
PGPASSWORD="$(cat "$secrets/postgres_password")"
export PGPASSWORD PGDATABASE=postgres

make_user() { # user
  export NEW_USER="$1"
  psql --quiet --no-psqlrc --set ON_ERROR_STOP=1 <<'SQL'
\set user `printf %s "$NEW_USER"`
SELECT format('CREATE ROLE %I LOGIN', :'user')
  WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = :'user') \gexec
-- An administrator who is no superuser, as of a managed server, may give a database to such a role alone.
SELECT format('GRANT %I TO CURRENT_USER', :'user')
  FROM pg_roles WHERE rolname = current_user AND NOT rolsuper \gexec
SQL
  # psql sends a hash, since the server's log may keep the statement. It asks twice, and without a terminal it reads from
  # here. The password is in no argument, which every process of the machine could read.
  password="$(cat "$secrets/$1_db_password")"
  printf '%s\n%s\n' "$password" "$password" | setsid psql --quiet --no-psqlrc --command "\\password $1"
}

make_database() { # database, owner
  export NEW_DATABASE="$1" OWNER="$2"
  psql --quiet --no-psqlrc --set ON_ERROR_STOP=1 <<'SQL'
\set database `printf %s "$NEW_DATABASE"`
\set owner `printf %s "$OWNER"`
SELECT format('CREATE DATABASE %I OWNER %I', :'database', :'owner')
  WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = :'database') \gexec
SELECT format('REVOKE ALL ON DATABASE %I FROM PUBLIC', :'database') \gexec
SQL
}

make_user temporal
make_user ledger
make_database temporal temporal
make_database temporal_visibility temporal
make_database ledger ledger
