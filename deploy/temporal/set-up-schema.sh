#!/bin/sh
# Makes or updates the schema of Temporal's two databases. May be run again: each version is applied once.
# Reads SQL_HOST, SQL_PORT and SQL_USER, as temporal-sql-tool does.
set -eu

SQL_PASSWORD="$(cat "${SECRETS_DIR:-/run/secrets}/temporal_db_password")"
export SQL_PASSWORD SQL_PLUGIN=postgres12

set_up() { # database, schema
  temporal-sql-tool --database "$1" setup-schema --version 0.0
  temporal-sql-tool --database "$1" update-schema --schema-name "postgresql/v12/$2"
}

set_up temporal temporal
set_up temporal_visibility visibility
