#!/bin/sh
# Starts the server, whose own configuration takes the database's password from a variable alone: it is put there from
# its file, for this process and nobody else.
set -eu

POSTGRES_PWD="$(cat "${SECRETS_DIR:-/run/secrets}/temporal_db_password")"
export POSTGRES_PWD
exec "$@"
